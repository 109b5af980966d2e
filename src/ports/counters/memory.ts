import {SeenTime} from '../../base/clock.ts'
import {IdMap} from '../../base/id-map.ts'
import {BoundedMap, type CounterBounds} from './bounded.ts'
import type {Claim, Counters, CounterValue, Reserved} from './index.ts'
import {BOUNDS, CORRECTABLE_MS, correction, most} from './rules.ts'

interface Reservation {
  claims: readonly Claim[]
  readonly deadline_ms: number
}

export interface MemoryCountersOptions extends Partial<CounterBounds> {
  /** A clock that is never set; milliseconds. */
  readonly steady?: () => number
}

const GENERATION = 'process'
const TAKEN = {outcome: 'taken', over: []} as const
/** Reservations looked at, at every reservation: more than one makes room faster than it is taken. */
const SWEPT_AT_ONCE = 2

/**
 * Counters of this process, answered at once. Exact whatever their number: at the bounds budgets are forgotten, which
 * the ledger rebuilds, and no window ever begins again.
 */
export function createMemoryCounters({steady, ...bounds}: MemoryCountersOptions = {}): Counters {
  const counters = new BoundedMap({...BOUNDS, ...bounds})
  const reservations = new IdMap<Reservation>()
  const seen = new SeenTime(steady)
  let time_ms = 0
  let revisions = 0

  return {
    time: now_ms => (time_ms = seen.at(now_ms)),
    reserve(id, claims, deadline_ms) {
      counters.sweep(time_ms)
      reservations.sweep(SWEPT_AT_ONCE, ({deadline_ms}) => deadline_ms + CORRECTABLE_MS <= time_ms)
      const reserved = take(claims)
      if (reserved.outcome !== 'taken') return reserved
      const before = reservations.get(id)
      reservations.set(id, {claims: before ? merged(before.claims, claims) : claims, deadline_ms})
      return reserved
    },
    extend(id, claims) {
      const reservation = reservations.get(id)
      if (!reservation || reservation.deadline_ms <= time_ms) return {outcome: 'unknown'}
      const reserved = take(claims)
      if (reserved.outcome === 'taken') reservation.claims = merged(reservation.claims, claims)
      return reserved
    },
    settle(id, actual) {
      const claims = takeAway(id)
      for (const {key, type, amount} of claims ?? []) {
        add(key, correction(type, amount, actual))
        letGo(key, amount)
      }
      return claims !== undefined
    },
    release(id) {
      const claims = takeAway(id)
      for (const {key, amount} of claims ?? []) {
        add(key, -amount)
        letGo(key, amount)
      }
      return claims !== undefined
    },
    read: keys => keys.map(key => counters.get(key)?.used ?? null),
    restore(bases) {
      for (const base of bases)
        if (!counters.has(base.key) && counters.makesRoom(base, 1, bases, time_ms)) counters.create(base, ++revisions)
    },
    adjust(changes) {
      for (const {key, amount} of changes) add(key, amount)
    },
    restored: () => [...counters].flatMap(([key, {revision}]) => (revision === null ? [] : [key])),
    standings: keys => keys.map(standingOf),
    correct(key, amount, revision) {
      const counter = counters.get(key)
      if (!counter || String(counter.revision) !== revision) return false
      counter.used = atLeastNothing(counter.used + amount)
      counter.revision = ++revisions
      return true
    },
    close: async () => undefined,
  }

  function take<C extends Claim>(claims: readonly C[]): Reserved<C> {
    let over: C[] | undefined
    let missing: C[] | undefined
    let refused: C | undefined
    let full: C | undefined
    let fresh = 0
    for (const claim of claims) {
      const used = counters.get(claim.key)?.used
      if (used === undefined && !counters.makesRoom(claim, ++fresh, claims, time_ms)) {
        if (claim.mode === 'shadow') over = [...(over ?? []), claim]
        else full ??= claim
      } else if (used === undefined && claim.rebuilds) missing = [...(missing ?? []), claim]
      else if ((used ?? 0n) <= most(claim)) continue
      else if (claim.mode === 'shadow') over = [...(over ?? []), claim]
      else refused ??= claim
    }
    if (missing) return {outcome: 'missing', claims: missing, generation: GENERATION}
    if (refused) return {outcome: 'refused', claim: refused}
    if (full) return {outcome: 'full', claim: full}
    for (const claim of claims) {
      const {key, amount, ends_at_ms, group} = claim
      if (counters.has(key)) takeFrom(key, amount)
      else if (!over?.includes(claim) || counters.makesRoom(claim, 1, claims, time_ms))
        counters.create({key, used: BigInt(amount), ends_at_ms, group}, null)
    }
    return over ? {outcome: 'taken', over} : TAKEN
  }

  function takeAway(id: string): readonly Claim[] | undefined {
    return reservations.take(id)?.claims
  }

  function takeFrom(key: string, amount: number) {
    if (amount === 0) return
    const counter = counters.get(key)!
    counter.used += BigInt(amount)
    if (counter.revision !== null) counter.held += BigInt(amount)
  }

  function letGo(key: string, amount: number) {
    const counter = amount > 0 ? counters.get(key) : undefined
    if (counter) counter.held = atLeastNothing(counter.held - BigInt(amount))
  }

  function standingOf(key: string): CounterValue | null {
    const counter = counters.get(key)
    return counter && counter.revision !== null
      ? {used: counter.used, held: counter.held, revision: String(counter.revision)}
      : null
  }

  function add(key: string, amount: number) {
    const counter = counters.get(key)
    if (!counter || amount === 0) return
    counter.used = atLeastNothing(counter.used + BigInt(amount))
  }
}

const atLeastNothing = (amount: bigint) => (amount < 0n ? 0n : amount)

/** All held claims, one a counter: a call is counted there once, in however many slices it was held. */
function merged(held: readonly Claim[], more: readonly Claim[]): Claim[] {
  const all = new Map(held.map(claim => [claim.key, claim]))
  for (const claim of more) all.set(claim.key, {...claim, amount: claim.amount + (all.get(claim.key)?.amount ?? 0)})
  return [...all.values()]
}
