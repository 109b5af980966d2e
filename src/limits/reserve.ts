import {Refusal} from '../base/errors.ts'
import type {Counters, MaybePromise, Reserved} from '../ports/counters/index.ts'
import {type LimitClaim, refusalFrom} from './claims.ts'
import type {Rebuild} from './rebuild.ts'

/** What is asked of the counters for one call. */
export interface Asked {
  /** Of the reservation. */
  readonly id: string
  readonly call_id: string
  readonly claims: readonly LimitClaim[]
  readonly time_ms: number
  readonly deadline_ms: number
}

export interface ReserveOptions {
  readonly counters: Counters
  readonly rebuild: Rebuild
  readonly onShadow: ((limit: LimitClaim, call_id: string) => void) | undefined
}

/** How often counters may be missing again, once restored, before the store counts as silent. */
const MOST_REBUILDS = 3

/**
 * Claims all or none, and gives the claims that were made. Counters that are missing are restored from the ledger first; what cannot be
 * restored fails open, or closed when it is strict. Refuses with the limit that is reached (429, 412), or that cannot be held now (503).
 */
export function createReserve({counters, rebuild, onShadow}: ReserveOptions): (asked: Asked) => MaybePromise<readonly LimitClaim[]> {
  function decide(asked: Asked, reserved: Reserved<LimitClaim>, rebuilds: number): MaybePromise<readonly LimitClaim[]> {
    switch (reserved.outcome) {
      case 'taken':
        for (const claim of reserved.over) onShadow?.(claim, asked.call_id)
        return asked.claims
      case 'refused':
        return refuse(reserved.claim, asked.time_ms)
      case 'missing':
        return afterRebuild(asked, reserved.claims, reserved.generation, rebuilds)
      case 'closed':
        throw new Refusal('limit.unavailable', {limit: reserved.claim.label})
      default:
        return asked.claims
    }
  }

  function refuse(claim: LimitClaim, time_ms: number): Promise<never> {
    const refusal = refusalFrom(counters, claim, time_ms)
    if (!(refusal instanceof Promise)) throw refusal
    return refusal.then(said => {
      throw said
    })
  }

  async function afterRebuild(asked: Asked, missing: readonly LimitClaim[], generation: string, rebuilds: number) {
    const lost = rebuilds < MOST_REBUILDS ? await rebuild(missing, generation) : missing
    const strict = lost.find(claim => claim.mode === 'strict')
    if (strict) throw new Refusal('limit.unavailable', {limit: strict.label})
    const again = {...asked, claims: asked.claims.filter(claim => !lost.includes(claim))}
    return decide(again, await counters.reserve(again.id, again.claims, again.deadline_ms), rebuilds + 1)
  }

  return asked => {
    const reserved = counters.reserve(asked.id, asked.claims, asked.deadline_ms)
    return reserved instanceof Promise ? reserved.then(answer => decide(asked, answer, 0)) : decide(asked, reserved, 0)
  }
}
