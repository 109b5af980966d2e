import {IdMap} from '../../base/id-map.ts'
import type {Spent} from '../../schema/spent.ts'
import {Gather} from './batching.ts'
import type {CounterBounds} from './bounded.ts'
import {GroupSizes} from './group-sizes.ts'
import type {Base, Claim, Counters, CounterValue, Reserved} from './index.ts'
import {createRemote, type RemoteOptions} from './remote.ts'
import {BOUNDS, CORRECTABLE_MS, most, most64} from './rules.ts'

/** A reservation as the statement takes it; with no deadline, more under one that is open. */
interface ReservationRow {
  readonly id: string
  readonly claims: readonly {
    readonly key: string
    readonly type: string
    readonly amount: number
    readonly most: string
    readonly ends_at_ms: number | null
    readonly rebuilds: boolean
    readonly shadow: boolean
    readonly group: string | null
    readonly makes: boolean
  }[]
  readonly deadline_ms: number | null
}

interface Answer {
  readonly word: 'taken' | 'refused' | 'missing' | 'full' | 'unknown'
  readonly now_ms: number
  readonly places: readonly number[]
  readonly made?: readonly number[]
}

/** The statements, as the store says them (`counterTable`). Each does all its work in one, in that order. */
export interface CounterTable {
  reserve(rows: readonly ReservationRow[]): Promise<readonly Answer[]>
  settle(rows: readonly {readonly id: string; readonly actual: Spent | null}[]): Promise<readonly boolean[]>
  read(keys: readonly string[]): Promise<ReadonlyMap<string, bigint>>
  insert(
    rows: readonly {
      readonly key: string
      readonly used: bigint
      readonly ends_at_ms: number | null
      readonly group: string | null
    }[],
  ): Promise<void>
  add(changes: readonly {readonly key: string; readonly amount: number}[]): Promise<void>
  restored(): Promise<readonly string[]>
  standings(keys: readonly string[]): Promise<ReadonlyMap<string, CounterValue>>
  correct(key: string, amount: bigint, revision: string): Promise<boolean>
  sizes(): Promise<ReadonlyMap<string, number>>
  makeRoom(ended_before_ms: number, restorable: number, group: string | null): Promise<void>
  sweep(counters_before_ms: number, holds_before_ms: number): Promise<void>
}

/** The tables are as durable as the ledger: its counters are never lost behind our back. */
const GENERATION = 'tables'
const SWEEP_EVERY_MS = 60_000
const LINGER_MS = 60 * 60 * 1000

/** Reservations whose counters are remembered, so that they are settled together. */
const MAX_KNOWN = 100_000

export interface PostgresCountersOptions extends RemoteOptions, Partial<CounterBounds> {
  readonly table: CounterTable
}

/**
 * Counters shared through PostgreSQL: a claim is one statement, its rows locked in the order of their keys. Claims of
 * the same counters go together, those alone: two statements that lock several sets of rows in several orders would
 * wait for each other.
 */
export function createPostgresCounters({table, ...options}: PostgresCountersOptions): Counters {
  const remote = createRemote(options)
  const reserving = new Gather(table.reserve, remote.timeout_ms)
  const settling = new Gather(table.settle, remote.timeout_ms)
  /** The counters of open reservations, as one text. */
  const groups = new IdMap<string>()
  let sweeps_at_ms = options.now() + SWEEP_EVERY_MS
  const sizes = new GroupSizes({table, ...BOUNDS, ...options})

  return {
    time: remote.time,
    reserve(id, claims, deadline_ms) {
      sweep()
      return remote.claim(claims, () => take(id, claims, Math.trunc(deadline_ms)))
    },
    extend: (id, claims) => remote.claim(claims, () => take(id, claims, null)),
    settle: (id, actual) => remote.patiently(end(id, actual)),
    release: id => remote.patiently(end(id, null)),
    async read(keys) {
      if (keys.length === 0) return []
      const used = await remote.within(table.read(keys))
      return keys.map(key => used.get(key) ?? null)
    },
    async restore(bases) {
      if (bases.length > 0) await remote.within(table.insert(bases.map(rowOf)))
      for (const {group} of bases) sizes.made(group)
    },
    async adjust(changes) {
      if (changes.length > 0) await remote.within(table.add(changes))
    },
    restored: () => remote.within(table.restored()),
    async standings(keys) {
      if (keys.length === 0) return []
      const found = await remote.within(table.standings(keys))
      return keys.map(key => found.get(key) ?? null)
    },
    correct: (key, amount, revision) => remote.within(table.correct(key, amount, revision)),
    close: async () => undefined,
  }

  async function take<C extends Claim>(
    id: string,
    claims: readonly C[],
    deadline_ms: number | null,
  ): Promise<Reserved<C>> {
    const rows = claims.map(claim => ({
      key: claim.key,
      type: claim.type,
      amount: claim.amount,
      most: `${most(claim)}`,
      ends_at_ms: endOf(claim),
      rebuilds: claim.rebuilds,
      shadow: claim.mode === 'shadow',
      group: claim.group ?? null,
      makes: !sizes.isFull(claim.group) || claim.rebuilds,
    }))
    const group = claims.map(({key}) => key).join('\n')
    if (groups.size < MAX_KNOWN && deadline_ms !== null) groups.set(id, group)
    const {word, now_ms, places, made = []} = await reserving.ask(group, {id, claims: rows, deadline_ms})
    if (word !== 'taken' && deadline_ms !== null) groups.take(id)
    remote.heard(now_ms)
    for (const place of made) sizes.made(claims[place]!.group)
    const named = places.toSorted((a, b) => a - b).map(place => claims[place]!)
    if (word === 'taken') return {outcome: 'taken', over: named}
    if (word === 'refused') return {outcome: 'refused', claim: named[0]!}
    if (word === 'full') return {outcome: 'full', claim: named[0]!}
    return word === 'missing' ? {outcome: 'missing', claims: named, generation: GENERATION} : {outcome: 'unknown'}
  }

  function end(id: string, actual: Spent | null): Promise<boolean> {
    return settling.ask(groups.take(id) ?? id, {id, actual})
  }

  function sweep() {
    if (options.now() < sweeps_at_ms) return
    sweeps_at_ms = options.now() + SWEEP_EVERY_MS
    const now_ms = remote.time(options.now())
    sizes.refresh()
    table.sweep(now_ms - LINGER_MS, now_ms - CORRECTABLE_MS).catch(fault => options.onFault?.(fault))
  }
}

const rowOf = ({key, used, ends_at_ms, group}: Base) => ({
  key,
  used: most64(used),
  ends_at_ms: endOf({ends_at_ms}),
  group: group ?? null,
})
const endOf = ({ends_at_ms}: {readonly ends_at_ms: number}): number | null =>
  Number.isFinite(ends_at_ms) ? Math.trunc(ends_at_ms) : null
