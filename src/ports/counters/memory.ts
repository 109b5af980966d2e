import {SeenTime} from '../../base/clock.ts'
import {IdMap} from '../../base/id-map.ts'
import type {Base, Claim, Counters, CounterValue, Reserved} from './index.ts'
import {CORRECTABLE_MS, correction, most} from './rules.ts'

interface Counter {
  used: bigint
  /** Of one that was restored. */
  revision: number | null
  held: bigint
  readonly ends_at_ms: number
}

interface Reservation {
  claims: readonly Claim[]
  readonly deadline_ms: number
}

export interface MemoryCountersOptions {
  readonly most_counters?: number
  /** A clock that nobody sets; milliseconds. */
  readonly steady?: () => number
}

const GENERATION = 'process'
const TAKEN = {outcome: 'taken', over: []} as const
/** Entries looked at, in each map, at every reservation: more than one makes room faster than it is taken. */
const SWEPT_AT_ONCE = 2

/**
 * Counters of this process, answered at once. Exact while no more than `most_counters` are live; beyond that the oldest are
 * forgotten, so that budgets are rebuilt from the ledger and windows begin anew.
 */
export function createMemoryCounters({most_counters = 500_000, steady}: MemoryCountersOptions = {}): Counters {
  const counters = new Map<string, Counter>()
  const reservations = new IdMap<Reservation>()
  const sweepCounters = sweeper(counters, counter => counter.ends_at_ms)
  const seen = new SeenTime(steady)
  let time_ms = 0
  let revisions = 0

  return {
    time: now_ms => (time_ms = seen.at(now_ms)),
    reserve(id, claims, deadline_ms) {
      sweepCounters(time_ms)
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
      for (const base of bases) if (!counters.has(base.key)) create(base, ++revisions)
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
    for (const claim of claims) {
      const used = counters.get(claim.key)?.used
      if (used === undefined && claim.rebuilds) missing = [...(missing ?? []), claim]
      else if ((used ?? 0n) <= most(claim)) continue
      else if (claim.mode === 'shadow') over = [...(over ?? []), claim]
      else refused ??= claim
    }
    if (missing) return {outcome: 'missing', claims: missing, generation: GENERATION}
    if (refused) return {outcome: 'refused', claim: refused}
    for (const {key, amount, ends_at_ms} of claims) {
      if (!counters.has(key)) create({key, used: BigInt(amount), ends_at_ms}, null)
      else if (amount > 0) takeFrom(key, amount)
    }
    return over ? {outcome: 'taken', over} : TAKEN
  }

  function takeAway(id: string): readonly Claim[] | undefined {
    return reservations.take(id)?.claims
  }

  function takeFrom(key: string, amount: number) {
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
    return counter && counter.revision !== null ? {used: counter.used, held: counter.held, revision: String(counter.revision)} : null
  }

  function create({key, used, ends_at_ms}: Base, revision: number | null) {
    if (counters.size >= most_counters) counters.delete(counters.keys().next().value!)
    counters.set(key, {used, held: 0n, revision, ends_at_ms})
  }

  function add(key: string, amount: number) {
    const counter = counters.get(key)
    if (!counter || amount === 0) return
    counter.used = atLeastNothing(counter.used + BigInt(amount))
  }
}

const atLeastNothing = (amount: bigint) => (amount < 0n ? 0n : amount)

/** What is held in all, one claim a counter: a call is counted there once, in however many slices it was held. */
function merged(held: readonly Claim[], more: readonly Claim[]): Claim[] {
  const all = new Map(held.map(claim => [claim.key, claim]))
  for (const claim of more) all.set(claim.key, {...claim, amount: claim.amount + (all.get(claim.key)?.amount ?? 0)})
  return [...all.values()]
}

/** Forgets what has ended, a few entries at a time: no call ever pays for a walk over all of them. */
function sweeper<T>(map: Map<string, T>, endOf: (value: T) => number): (time_ms: number) => void {
  let entries = map.entries()
  return time_ms => {
    for (let n = 0; n < SWEPT_AT_ONCE; n++) {
      const next = entries.next()
      if (next.done) {
        entries = map.entries()
        return
      }
      const [key, value] = next.value
      if (endOf(value) <= time_ms) map.delete(key)
    }
  }
}
