import {Refusal, type RefusalCode} from '../../base/errors.ts'
import {REQUEST_ENCODINGS} from '../../base/request-encoding.ts'
import {storeRefusal} from '../../base/store-fault.ts'
import {isValueFault} from '../../base/value-fault.ts'
import {messagesClient} from '../../providers/messages/index.ts'
import {GuardrailDenial} from './denial.ts'
import {type RefusedCall, refusalIds, speaksMessages} from './error-ids.ts'
import {vendorEnvelope} from './vendor-envelope.ts'

/** An answer of our own: a status and a JSON text. */
export interface ErrorResponse {
  readonly status: number
  readonly body: string
  /** Those that clients read with the body (name, value, ...): the id of the call, and what its vendor writes there. */
  readonly headers: readonly string[]
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

/** The answer to a call that `fault` refuses, in the envelope that its client reads: by its path or its headers. */
export function errorResponse(fault: Refusal, call: RefusedCall): ErrorResponse {
  const {status, retry_after_s, code} = fault
  const ids = refusalIds(call)
  if (fault instanceof GuardrailDenial)
    return {status, body: fault.body, headers: ids, retry_after_s: null, closes: false}
  const vendor = vendorEnvelope(fault, call)
  return {
    status,
    body: JSON.stringify(vendor?.body ?? envelope(fault, speaksMessages(call))),
    headers: [...(vendor?.headers ?? []), ...ids],
    retry_after_s,
    closes: code === 'client.slow',
  }
}

function envelope(fault: Refusal, is_messages: boolean): object {
  const {message} = fault
  const {type, code, admin} = fault.codes
  if (is_messages) return messagesClient.error(fault.status, {...fault.codes, message, param: null})
  const error = {message, type, param: null, code}
  if (OF_TARGET.test(fault.code)) return {error}
  const body = {status: 'failure', message, error}
  if (!WITH_ADMIN.has(fault.code)) return body
  const issues = fault.code === 'config.invalid' ? {errors: String(fault.details.issues).split('; ')} : {}
  return {...body, success: false, ...issues, data: {message, errorCode: admin}}
}

/** Headers of a refusal (name, value, ...) that are not of its envelope; ours are under `prefix`. */
export function refusalHeaders(fault: Refusal, prefix: string): string[] {
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
