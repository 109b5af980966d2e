import {isIPv4, isIPv6} from 'node:net'
import {Refusal} from '../errors.ts'
import {endsInNumber, isName} from './hosts.ts'
import {hasDotSegments} from './path.ts'

/** A base URL taken apart. */
export interface BaseUrl {
  readonly secure: boolean
  /** Lower case; an IPv6 address is canonical and without brackets. */
  readonly hostname: string
  readonly port: number
  /** `/v1`, without a slash at its end; empty when the URL names the host alone. */
  readonly path: string
}

const LONGEST = 2048
const MAX_LABELS = 10

/**
 * Reads the text of a base URL by a grammar far narrower than the WHATWG parser's, before that parser can turn
 * `0x7f.1`, full-width dots or tabs into something harmless to look at. Refuses all else with `host.blocked` and says
 * what is wrong. It judges the form only; whether the host may be called is for `readDestination`.
 */
export function readBaseUrl(text: string): BaseUrl {
  if (text.length > LONGEST) refuse(`a base URL has at most ${LONGEST} characters`)
  const trimmed = text.trim()
  if (/[\x00-\x20\x7f]/.test(trimmed)) refuse('spaces and control characters are not allowed')
  if (/[^\x21-\x7e]/.test(trimmed)) refuse('only ASCII characters are allowed')
  const [, scheme = '', authority = '', tail = ''] =
    /^(https?):\/\/([^/?#\\]*)(.*)$/i.exec(trimmed) ?? refuse('it must begin with http:// or https://')
  if (trimmed.includes('@')) refuse('a user, a password or an @ is not allowed')
  const secure = scheme.length === 5
  const {hostname, port} = readAuthority(authority)
  return {secure, hostname, port: readPort(port, secure), path: readBasePath(tail)}
}

function readAuthority(authority: string): {hostname: string; port: string | undefined} {
  const [, v6, afterV6] = /^\[([^\]]*)\](?::(.*))?$/.exec(authority) ?? []
  if (v6 !== undefined) return {hostname: readV6(v6), port: afterV6}
  const colon = authority.indexOf(':')
  const host = colon < 0 ? authority : authority.slice(0, colon)
  return {hostname: readHost(host.toLowerCase()), port: colon < 0 ? undefined : authority.slice(colon + 1)}
}

function readHost(host: string): string {
  if (!host) refuse('it names no host')
  if (host.includes('%')) refuse('a % is not allowed in the host')
  if (!/^[a-z0-9._-]+$/.test(host)) refuse('a host takes a-z, 0-9, hyphens and dots')
  if (host.endsWith('.')) refuse('a dot at the end of the host is not allowed')
  if (host.split('.').length > MAX_LABELS) refuse(`a host has at most ${MAX_LABELS} labels`)
  if (/(?:^|\.)xn--/.test(host)) refuse('internationalised (xn--) hosts are not allowed')
  if (endsInNumber(host))
    return isIPv4(host) ? host : refuse('an IPv4 address is four decimal numbers from 0 to 255, without leading zeros')
  return isName(host) ? host : refuse('a label of the host has 1 to 63 characters and no hyphen at its ends')
}

function readV6(address: string): string {
  if (address.includes('%')) refuse('an IPv6 zone is not allowed')
  if (!isIPv6(address)) refuse('the IPv6 address between [ and ] cannot be read')
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

function readPort(text: string | undefined, secure: boolean): number {
  if (text === undefined) return secure ? 443 : 80
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0
  return port > 0 && port < 65_536 ? port : refuse('a port is a number from 1 to 65535')
}

function readBasePath(tail: string): string {
  if (tail.includes('?')) refuse('a query (?) is not allowed')
  if (tail.includes('#')) refuse('a fragment (#) is not allowed')
  if (!/^(?:[\w.~!$&'()*+,;=:/-]|%[0-9a-f]{2})*$/i.test(tail))
    refuse('its path has characters that must be percent-encoded')
  if (tail.includes('//') || hasDotSegments(tail) || /\/(?:\.|%2e)(?:\/|$)/i.test(tail))
    refuse('its path must have no //, /./ or /../')
  return tail.endsWith('/') ? tail.slice(0, -1) : tail
}

function refuse(reason: string): never {
  throw new Refusal('host.blocked', {reason})
}
