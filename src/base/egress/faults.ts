import {Refusal} from '../errors.ts'

/** Why no socket was to be had: the wall forbids it, the place could not be reached, or too many calls wait for it already. */
export type FaultKind = 'blocked' | 'unreachable' | 'queue_full'

/** A call that never left. `reason` may be told to the client: it names no address and no secret; `cause` stays in our log. */
export class EgressFault extends Error {
  readonly kind: FaultKind
  readonly reason: string

  constructor(kind: FaultKind, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'EgressFault'
    this.kind = kind
    this.reason = reason
  }
}

/** What went wrong while a socket was opened, in words without addresses. */
export function faultOf(error: unknown): EgressFault {
  if (error instanceof EgressFault) return error
  const code = codeOf(error)
  const reason =
    CONNECTING[code] ??
    (/^(ERR_SSL_|ERR_TLS_|EPROTO|CERT_|INVALID_CA|UNABLE_TO_)/.test(code) ? 'the TLS handshake failed' : 'the connection failed')
  return new EgressFault('unreachable', reason, {cause: error})
}

/**
 * What the client is told of `error`, which a pool gave for a call to `provider`: `host.blocked` (400), `upstream.unreachable` (503)
 * when no socket was had, `upstream.queue_full` (503), `upstream.broken` (502) when the socket went before the reply, `draining`
 * (503) when we closed it. A Refusal, which is what calls are aborted with, is given back as it is; anything else is `internal`.
 */
export function refusalOf(error: unknown, provider: string): Refusal {
  if (error instanceof Refusal) return error
  const options = {cause: error}
  if (error instanceof EgressFault) {
    if (error.kind === 'blocked') return new Refusal('host.blocked', {reason: error.reason}, options)
    if (error.kind === 'queue_full') return new Refusal('upstream.queue_full', {provider}, options)
    return new Refusal('upstream.unreachable', {provider, reason: error.reason}, options)
  }
  const code = codeOf(error)
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return new Refusal('draining', {}, options)
  if (BROKEN.has(code) || code.startsWith('HPE_') || code.startsWith('ERR_SSL_')) return new Refusal('upstream.broken', {provider}, options)
  return new Refusal('internal', {}, options)
}

const UNTRUSTED_CERTIFICATE = 'its TLS certificate is not signed by an authority known here (NODE_EXTRA_CA_CERTS adds one)'

const CONNECTING: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host name does not resolve',
  ENODATA: 'its host name does not resolve',
  EAI_AGAIN: 'its host name could not be looked up now',
  EAI_FAIL: 'its host name could not be looked up now',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset while it was opened',
  EPIPE: 'the connection was reset while it was opened',
  ETIMEDOUT: 'the connection was not answered',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  EADDRNOTAVAIL: 'there is no route to it',
  EMFILE: 'the gateway has too many open files',
  ENFILE: 'the gateway has too many open files',
  CERT_HAS_EXPIRED: 'its TLS certificate has expired',
  CERT_NOT_YET_VALID: 'its TLS certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED_CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED_CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED_CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED_CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED_CERTIFICATE,
}

/** Codes of a socket or parser that gave up on a call already sent. */
const BROKEN: ReadonlySet<string> = new Set([
  'UND_ERR_SOCKET',
  'UND_ERR_INFO',
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
