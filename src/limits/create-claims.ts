import {readStoredRates, readUsageLimits} from '../schema/limits.ts'
import {budgetClaim} from './budget.ts'
import type {EntityLimit, LimitClaim} from './claims.ts'
import {rateClaim} from './rate.ts'

type ClaimAt = (time_ms: number) => LimitClaim

/**
 * The limits of one entity, read once: budgets are checked before rates (docs/limits.md, Errors that a caller sees).
 */
interface Parsed {
  readonly budgets: readonly ClaimAt[]
  readonly rates: readonly ClaimAt[]
}

const NONE: readonly LimitClaim[] = []

/**
 * The claims of a call on these limits, in the order in which it is refused. Column texts are read once for each limit
 * object.
 */
export function createClaims(): (limits: readonly EntityLimit[], time_ms: number) => readonly LimitClaim[] {
  const known = new WeakMap<EntityLimit, Parsed>()

  function parse(limit: EntityLimit): Parsed {
    const parsed: Parsed = {
      budgets: readUsageLimits(limit.usage).map(each => whileItLasts(time_ms => budgetClaim(limit, each, time_ms))),
      rates: readStoredRates(limit.rates).map(each => whileItLasts(time_ms => rateClaim(limit, each, time_ms))),
    }
    known.set(limit, parsed)
    return parsed
  }

  return (limits, time_ms) => {
    let claims: LimitClaim[] | undefined
    for (const kind of ['budgets', 'rates'] as const) {
      for (const limit of limits) {
        if (limit.usage === null && limit.rates === null) continue
        for (const claimAt of (known.get(limit) ?? parse(limit))[kind]) {
          claims ??= []
          claims.push(claimAt(time_ms))
        }
      }
    }
    return claims ?? NONE
  }
}

/**
 * The claim is the same until its period ends. A clock that was far wrong and is put right is before that period again.
 */
function whileItLasts(make: ClaimAt): ClaimAt {
  let claim: LimitClaim | undefined
  let made_at_ms = 0
  return time_ms => {
    if (!claim || time_ms >= claim.ends_at_ms || time_ms < made_at_ms) {
      claim = make(time_ms)
      made_at_ms = time_ms
    }
    return claim
  }
}
