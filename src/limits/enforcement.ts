import type {EntityLimit, LimitClaim} from './claims.ts'

/**
 * A limit as calls claim it when they come in. A strict one of tokens or cost takes nothing yet, for what the call may
 * come to is known once its target is: it asks only that something is left, and each attempt then holds what it may use
 * (`hold.ts`).
 */
export function atEntry(claim: LimitClaim): LimitClaim {
  if (claim.mode !== 'strict' || claim.type === 'requests') return claim
  // of type `requests`, so that the end of the call adds nothing: the attempts' holds do
  return {...claim, type: 'requests', amount: 0, held: claim}
}

/** True when an entity has a strict limit, of whatever kind. */
export function isStrict({usage, rates}: Pick<EntityLimit, 'usage' | 'rates'>): boolean {
  return Boolean(usage?.includes(STRICT) || rates?.includes(STRICT))
}

const STRICT = '"enforcement":"strict"'
