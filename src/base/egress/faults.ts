import {Refusal} from '../errors.ts'

/**
 * Why no socket was to be had: the wall forbids it, the place could not be reached, or too many calls wait for it
 * already.
 */
export type FaultKind = 'blocked' | 'unreachable' | 'queue_full'

/** A call that never left. the client may see `reason`: it names no address and no secret; `cause` stays in our log. */
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

/** Describes why a socket could not be opened, without addresses. */
export function faultOf(error: unknown): EgressFault {
  if (error instanceof EgressFault) return error
  const code = codeOf(error)
  const reason =
    CONNECTING[code] ??
    (/^(ERR_SSL_|ERR_TLS_|EPROTO|CERT_|INVALID_CA|UNABLE_TO_)/.test(code)
      ? 'the TLS handshake failed'
      : 'the connection failed')
  return new EgressFault('unreachable', reason, {cause: error})
}

/**
 * The refusal that the client gets for `error`, which a pool gave for a call to `provider`: `host.blocked` (400),
 * `upstream.unreachable` (503) when no socket could be opened, `upstream.queue_full` (503), `upstream.bad_reply` (502)
 * for what is not HTTP, `upstream.broken` (502) when the socket went before the reply, `upstream.cut` (502) when it
 * went within it (`has_begun`), `draining` (503) when we closed it. A Refusal, with which calls are aborted, is
 * returned as it is; anything else is `internal`.
 */
export function refusalOf(error: unknown, provider: string, has_begun = false): Refusal {
  if (error instanceof Refusal) return error
  const options = {cause: error}
  if (error instanceof EgressFault) {
    if (error.kind === 'blocked') return new Refusal('host.blocked', {reason: error.reason}, options)
    if (error.kind === 'queue_full') return new Refusal('upstream.queue_full', {provider}, options)
    return new Refusal('upstream.unreachable', {provider, reason: error.reason}, options)
  }
  const code = codeOf(error)
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return new Refusal('draining', {}, options)
  if (CUT.has(code)) return new Refusal('upstream.cut', {provider}, options)
  const reason = Object.hasOwn(BAD_REPLY, code)
    ? BAD_REPLY[code]
    : code.startsWith('HPE_')
      ? 'it is not HTTP/1.1'
      : undefined
  if (reason !== undefined) return new Refusal('upstream.bad_reply', {provider, reason}, options)
  if (BROKEN.has(code) || code.startsWith('ERR_SSL_'))
    return new Refusal(has_begun ? 'upstream.cut' : 'upstream.broken', {provider}, options)
  return new Refusal('internal', {}, options)
}

const UNTRUSTED_CERTIFICATE =
  'its TLS certificate is not signed by an authority known here (NODE_EXTRA_CA_CERTS adds one)'

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

/** Sentences for replies that break HTTP/1.1, by the parser's code. */
const BAD_REPLY: Readonly<Record<string, string>> = {
  HPE_UNEXPECTED_CONTENT_LENGTH: 'it has two content-lengths',
  HPE_INVALID_CONTENT_LENGTH: 'its content-length is not a number',
  HPE_INVALID_TRANSFER_ENCODING: 'its transfer-encoding is not one of HTTP/1.1, or stands beside a content-length',
  HPE_INVALID_CHUNK_SIZE: 'a chunk of it has a malformed size',
  HPE_STRICT: 'a chunk of it does not end where it says',
  HPE_INVALID_HEADER_TOKEN: 'a header of it has a character that none may have',
  HPE_LF_EXPECTED: 'a line of its head ends with a bare CR',
  HPE_INVALID_STATUS: 'its status line is malformed',
  HPE_INVALID_VERSION: 'its version of HTTP is not 1.0 or 1.1',
  HPE_INVALID_CONSTANT: 'it does not begin with HTTP/1',
  HPE_TOO_MUCH_NEWS: 'too many replies of status 1xx come before it',
  HPE_UNASKED_UPGRADE: 'it changes to a protocol that nobody asked for',
  UND_ERR_HEADERS_OVERFLOW: 'its head is too long',
}

/** Codes of a reply that ended before its announced end. */
const CUT: ReadonlySet<string> = new Set(['HPE_INVALID_EOF_STATE', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'])

/** Codes of a socket that gave up on a call already sent. */
const BROKEN: ReadonlySet<string> = new Set([
  'UND_ERR_SOCKET',
  'UND_ERR_INFO',
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
