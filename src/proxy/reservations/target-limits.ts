import type {MaybePromise} from '../../base/maybe-promise.ts'
import type {Call} from '../call/call.ts'
import type {EntityLimit, Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'
import {TargetFacts} from './policy-facts.ts'

type Services = Uses<'findPolicies'>

const NONE: readonly EntityLimit[] = []

/**
 * The limits of a visit to a target: its integration's, its provider's, and those of the policies that cover the call
 * there.
 */
export function limitsAt(
  call: Pick<Call, 'caller' | 'metadata' | 'prompt'>,
  target: Target,
  model: string | null,
  services: Services,
): MaybePromise<readonly EntityLimit[]> {
  const own = target.managed?.limits ?? NONE
  const policies = services.findPolicies(call.caller.workspace_id)
  if (policies === null) return own
  const join = (known: Awaited<typeof policies>) => {
    const matched = known?.match(new TargetFacts(call, target, model)) ?? NONE
    return matched.length === 0
      ? own
      : own.length === 0
        ? (matched as readonly EntityLimit[])
        : [...own, ...(matched as readonly EntityLimit[])]
  }
  return policies instanceof Promise ? policies.then(join) : join(policies)
}
