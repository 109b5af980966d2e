import {Refusal} from '../../base/errors.ts'
import type {Call} from '../call/call.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'

type Services = Uses<'settings'>

/**
 * Refuses (403) an operation that hands the client a credential or an address of the provider, where something binds
 * the caller that it would go past (`EPHEMERAL_KEYS`). Judged when the limits of caller and target are known.
 */
export function checkDelegation(call: Call, target: Target, {settings}: Services): void {
  const operation = call.operation?.operation
  if (!operation?.delegates || settings.ephemeral_keys === 'allow') return
  const reason = settings.ephemeral_keys === 'deny' ? 'EPHEMERAL_KEYS is deny' : bindingOf(call, target)
  if (reason) throw new Refusal('delegation.refused', {operation: operation.name, reason})
}

/** The limit that binds the call and would not bind the holder of such a credential; null for none. */
function bindingOf({admissions, target_admissions, caller}: Call, {managed, guards}: Target): string | null {
  if ([...admissions, ...target_admissions].some(each => each.counts_usage))
    return 'a limit of cost or tokens covers the call'
  if (managed?.models || managed?.disabled.size || caller.models) return 'a list of models covers the call'
  if (guards && [...guards.input, ...guards.output].some(({deny}) => deny))
    return 'a guardrail that denies covers the call'
  return null
}
