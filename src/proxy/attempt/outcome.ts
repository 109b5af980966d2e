import {Refusal, type RefusalCode} from '../../base/errors.ts'
import type {TryResult} from '../../routing/retry.ts'
import type {Outcome} from '../../schema/records.ts'
import {GuardrailDenial} from '../inbound/denial.ts'
import type {Target} from '../targets/target.ts'
import type {Stream} from '../upstream/stream.ts'

/** What an attempt came to that ended with `fault`: for its settlement, and for what is asked after it. */
export function outcomeOf(fault: Refusal, has_ended: boolean): {readonly outcome: Outcome; readonly kind: TryResult['kind']} {
  const {code} = fault
  if (code === 'client.gone' || code === 'client.slow' || code === 'draining') return {outcome: 'aborted', kind: 'gateway'}
  if (code === 'internal') return {outcome: 'failed', kind: 'gateway'}
  if (code === 'upstream.timeout') return {outcome: 'timeout', kind: 'timeout'}
  if (OF_LIMITS.test(code)) return {outcome: 'aborted', kind: 'refusal'}
  // Of an answer that was denied when it was whole the provider had said all that it will be paid for.
  const outcome = fault instanceof GuardrailDenial && has_ended ? 'ok' : 'failed'
  return {outcome, kind: OF_CLIENTS.has(code) ? 'refusal' : 'network_error'}
}

/** Refusals of limits, which end a stream too (core rule 10). */
const OF_LIMITS = /^limit\.|exhausted$|rate_reached$/
/** What an errand refuses is the client's fault, not the network's. */
const OF_CLIENTS: ReadonlySet<RefusalCode> = new Set([
  'body.untranslatable',
  'body.invalid',
  'header.invalid',
  'model.not_allowed',
  'provider.no_credentials',
  'provider.own_identity',
])

/** Why an answer is given up that did not pass. */
export function notPassed(stream: Stream | undefined, {provider}: Target, status: number): Refusal {
  return new Refusal('upstream.told', {message: stream?.failed?.message ?? `${provider.slug} answered ${status}`})
}
