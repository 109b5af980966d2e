import {McpFault, printable} from '../wire/faults.ts'
import {type HeaderFields, headerValue} from '../wire/header-values.ts'

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i

/** Origins and hosts that requests may name. */
export interface KnownPlaces {
  /** The public address. */
  readonly base: URL
  /** Other origins, exactly as browsers write them. */
  readonly allowed_origins: readonly string[]
  /** True where the gateway listens on loopback alone: a page of another name may be led there by its DNS. */
  readonly is_local: boolean
}

/** Throws `origin_refused` or `host_refused` (403) for a request that a page of another place made. */
export function checkPlaces(headers: HeaderFields, {base, allowed_origins, is_local}: KnownPlaces): void {
  const origin = headerValue(headers, 'origin')
  const host = headerValue(headers, 'host') ?? ''
  const is_own = is_local && LOOPBACK.test(host) && origin === `http://${host}`
  if (origin !== undefined && !is_own && !isKnownOrigin(origin, base, allowed_origins))
    throw new McpFault('origin_refused', {origin: printable(origin)})
  if (!is_local) return
  if (!LOOPBACK.test(host) && host.toLowerCase() !== base.host)
    throw new McpFault('host_refused', {host: printable(host)})
}

function isKnownOrigin(origin: string, base: URL, allowed: readonly string[]): boolean {
  return origin === base.origin || (origin !== 'null' && allowed.includes(origin))
}
