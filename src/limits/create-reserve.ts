import {Refusal} from '../base/errors.ts'
import type {MaybePromise} from '../base/maybe-promise.ts'
import type {Counters, Reserved} from '../ports/counters/index.ts'
import {fullOf, type LimitClaim, refusalFrom} from './claims.ts'
import type {Rebuild} from './rebuild.ts'

/** A request to the counters for one call. */
export interface ReservationRequest {
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
  readonly onFull: ((limit: LimitClaim) => void) | undefined
}

/** How often counters may be missing again, once restored, before the store counts as silent. */
const MAX_REBUILDS = 3

/**
 * Claims all or none, and gives the claims that were made. Counters that are missing are restored from the ledger
 * first; what cannot be restored fails open, or closed when it is strict. Refuses with the limit that is reached (429,
 * 412), that has no room for another entity (429), or that cannot be held now (503).
 */
export function createReserve({
  counters,
  rebuild,
  onShadow,
  onFull,
}: ReserveOptions): (request: ReservationRequest) => MaybePromise<readonly LimitClaim[]> {
  function decide(
    request: ReservationRequest,
    reserved: Reserved<LimitClaim>,
    rebuilds: number,
  ): MaybePromise<readonly LimitClaim[]> {
    switch (reserved.outcome) {
      case 'taken':
        for (const claim of reserved.over) onShadow?.(claim, request.call_id)
        return request.claims
      case 'refused':
        return refuse(reserved.claim, request.time_ms)
      case 'missing':
        return afterRebuild(request, reserved.claims, reserved.generation, rebuilds)
      case 'full':
        onFull?.(reserved.claim)
        throw fullOf(reserved.claim)
      case 'closed':
        throw new Refusal('limit.unavailable', {limit: reserved.claim.label})
      default:
        return request.claims
    }
  }

  function refuse(claim: LimitClaim, time_ms: number): Promise<never> {
    const refusal = refusalFrom(counters, claim, time_ms)
    if (!(refusal instanceof Promise)) throw refusal
    return refusal.then(resolved => {
      throw resolved
    })
  }

  async function afterRebuild(
    request: ReservationRequest,
    missing: readonly LimitClaim[],
    generation: string,
    rebuilds: number,
  ) {
    const lost = rebuilds < MAX_REBUILDS ? await rebuild(missing, generation) : missing
    const strict = lost.find(claim => claim.mode === 'strict')
    if (strict) throw new Refusal('limit.unavailable', {limit: strict.label})
    const again = {...request, claims: request.claims.filter(claim => !lost.includes(claim))}
    return decide(again, await counters.reserve(again.id, again.claims, again.deadline_ms), rebuilds + 1)
  }

  return request => {
    const reserved = counters.reserve(request.id, request.claims, request.deadline_ms)
    return reserved instanceof Promise
      ? reserved.then(answer => decide(request, answer, 0))
      : decide(request, reserved, 0)
  }
}
