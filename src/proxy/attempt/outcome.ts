import {Refusal, type RefusalCode} from '../../base/errors.ts'
import {GuardrailDenial} from '../inbound/denial.ts'
import type {AttemptOutcome} from '../records/attempt-result.ts'
import type {Target} from '../targets/target.ts'
import type {OpenResponse} from './open-response.ts'

/** A response came, and came to its end. */
export const ANSWERED: AttemptOutcome = {outcome: 'ok', kind: 'answer', fault: null}

/** The outcome of an attempt that ended with `fault`; `has_ended`: its provider had sent all by then. */
export function outcomeOf(fault: Refusal, has_ended: boolean): AttemptOutcome {
  const {code} = fault
  if (code === 'client.gone' || code === 'client.slow' || code === 'draining')
    return {outcome: 'aborted', kind: 'gateway', fault}
  if (code === 'internal') return {outcome: 'failed', kind: 'gateway', fault}
  if (code === 'upstream.timeout') return {outcome: 'timeout', kind: 'timeout', fault}
  if (OF_LIMITS.test(code)) return {outcome: 'aborted', kind: 'refusal', fault}
  // A response that was denied when it was whole is paid for in full.
  const outcome = fault instanceof GuardrailDenial && has_ended ? 'ok' : 'failed'
  const is_of_client = OF_CLIENTS.has(code) || (fault instanceof GuardrailDenial && fault.is_of_rows)
  return {outcome, kind: is_of_client ? 'refusal' : 'network_error', fault}
}

/** Refusals of limits, which end a stream too (core rule 10). */
const OF_LIMITS = /^limit\.|exhausted$|rate_reached$/
/** A refusal by a provider operation is the client's fault, not the network's. */
const OF_CLIENTS: ReadonlySet<RefusalCode> = new Set([
  'body.untranslatable',
  'body.invalid',
  'header.invalid',
  'model.not_allowed',
  'provider.no_credentials',
  'provider.own_identity',
  'rows.unjudged',
  'rows.redacted',
  'rows.late',
])

/** Why a response is given up that did not pass. */
export function notPassed({stream, status}: OpenResponse, {provider}: Target): Refusal {
  return new Refusal('upstream.told', {message: stream?.failed?.message ?? `${provider.slug} answered ${status}`})
}
