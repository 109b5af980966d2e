import type {LimitClaim} from '../../limits/index.ts'
import type {Admission} from '../services.ts'

/** Strict limits of tokens and cost that cover a call at a target; null when none does. */
export function strictLimitsOf({
  admissions,
  target_admissions,
}: {
  readonly admissions: readonly Admission[]
  readonly target_admissions: readonly Admission[]
}): readonly LimitClaim[] | null {
  let held: readonly LimitClaim[] | null = null
  for (const admission of admissions)
    if (admission.strict_claims) held = held ? [...held, ...admission.strict_claims] : admission.strict_claims
  for (const admission of target_admissions)
    if (admission.strict_claims) held = held ? [...held, ...admission.strict_claims] : admission.strict_claims
  return held
}
