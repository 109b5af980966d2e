import type {LimitClaim} from '../../limits/index.ts'
import type {Admission} from '../services.ts'

/** Strict limits of tokens and cost that cover a call at a target; null when none does. */
export function heldBy({
  admissions,
  target_admissions,
}: {
  readonly admissions: readonly Admission[]
  readonly target_admissions: readonly Admission[]
}): readonly LimitClaim[] | null {
  let held: readonly LimitClaim[] | null = null
  for (const admission of admissions) if (admission.held) held = held ? [...held, ...admission.held] : admission.held
  for (const admission of target_admissions) if (admission.held) held = held ? [...held, ...admission.held] : admission.held
  return held
}
