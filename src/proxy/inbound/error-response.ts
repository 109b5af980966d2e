import type {IncomingHttpHeaders} from 'node:http'
import {Refusal, type RefusalCode} from '../../base/errors.ts'
import {writtenHeader} from '../../base/header-values.ts'
import {REQUEST_ENCODINGS} from '../../base/request-encoding.ts'
import {storeRefusal} from '../../base/store-fault.ts'
import {isValueFault} from '../../base/value-fault.ts'
import {messagesClient} from '../../providers/messages/index.ts'
import {GuardrailDenial} from './denial.ts'
import {isSharedPath} from './doors.ts'
import {vendorEnvelope} from './vendor-envelope.ts'

/** An answer of our own: a status and a JSON text. */
export interface ErrorResponse {
  readonly status: number
  readonly body: string
  readonly retry_after_s: number | null
  /** It is the last on its connection. */
  readonly closes: boolean
}

/** Codes of the control plane that a refusal at the door carries too (decisions: errors). */
const WITH_ADMIN: ReadonlySet<RefusalCode> = new Set([
  'scope.missing',
  'key.missing',
  'key.unknown',
  'key.admin_inference',
  'config.invalid',
  'config.unknown',
])
/**
 * Refusals that stand for a target's answer: the plain OpenAI envelope, so that a client sees what a provider would
 * say.
 */
const OF_TARGET =
  /^(upstream|model|provider\.(expired|exhausted|rate_reached)|integration|policy|limit|endpoint|client)\b/

/**
 * The error body for `fault`, in the envelope of the dialect that `path` (after `/v1`) speaks, or the client by its
 * headers.
 */
export function errorResponse(fault: Refusal, path: string, headers: IncomingHttpHeaders = {}): ErrorResponse {
  if (fault instanceof GuardrailDenial)
    return {status: fault.status, body: fault.body, retry_after_s: null, closes: false}
  const {type, code, admin} = fault.codes
  const error = {message: fault.message, type, param: null, code}
  return {
    status: fault.status,
    body: JSON.stringify(envelope(fault, error, admin, {path, headers})),
    retry_after_s: fault.retry_after_s,
    closes: fault.code === 'client.slow',
  }
}

interface ClientWords {
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

function envelope(
  fault: Refusal,
  error: object & {message: string},
  admin: string,
  {path, headers}: ClientWords,
): object {
  const vendor = vendorEnvelope(fault, path)
  if (vendor) return vendor.body
  if (speaksMessages(path, headers))
    return messagesClient.error(fault.status, {...fault.codes, message: fault.message, param: null})
  if (OF_TARGET.test(fault.code)) return {error}
  const body = {status: 'failure', message: error.message, error}
  if (!WITH_ADMIN.has(fault.code)) return body
  const issues = fault.code === 'config.invalid' ? {errors: String(fault.details.issues).split('; ')} : {}
  return {...body, success: false, ...issues, data: {message: error.message, errorCode: admin}}
}

function speaksMessages(path: string, headers: IncomingHttpHeaders): boolean {
  return path.startsWith('/messages') || isSharedPath(path, headers)
}

interface RefusedCall extends ClientWords {
  /** Of our headers. */
  readonly prefix: string
  readonly trace_id: string
}

/** The headers of a refusal (name, value, ...) beside its body; Anthropic's clients show `request-id` with an error. */
export function refusalHeaders(fault: Refusal, {prefix, path, headers, trace_id}: RefusedCall): string[] {
  const id = speaksMessages(path, headers) ? ['request-id', writtenHeader(trace_id)] : []
  return [...id, ...ownHeadersOf(fault, prefix), ...(vendorEnvelope(fault, path)?.headers ?? [])]
}

function ownHeadersOf(fault: Refusal, prefix: string): string[] {
  if (fault.code === 'body.encoding') return ['accept-encoding', REQUEST_ENCODINGS]
  return fault.code === 'route.method' ? ['allow', String(fault.details.allow)] : rateHeaders(fault, prefix)
}

/**
 * The rate that a call was over, in headers (name, value, ...): its limit, that nothing is left of it, and the seconds
 * to its next window.
 */
export function rateHeaders({details}: Refusal, prefix: string): string[] {
  const {rate_limit, retry_after_s} = details
  if (rate_limit === undefined || retry_after_s === undefined) return []
  const name = `${prefix}-ratelimit`
  return [`${name}-limit`, String(rate_limit), `${name}-remaining`, '0', `${name}-reset`, String(retry_after_s)]
}

/** Input that a provider's format cannot express, or an option that it would not take, as a refusal (400). */
export function asUntranslatable(fault: Error, provider: string): Refusal {
  return new Refusal('body.untranslatable', {provider, reason: `${fault.message}.`}, {cause: fault})
}

/**
 * Any fault as a refusal: an outage of a store as such (503), a store's refusal of a value of the call too (400); any
 * other error is our own, with a fixed sentence.
 */
export function asRefusal(fault: unknown): Refusal {
  if (fault instanceof Refusal) return fault
  if (isValueFault(fault)) return new Refusal('value.unfit', {}, {cause: fault})
  return storeRefusal(fault) ?? new Refusal('internal', {}, {cause: fault})
}
