import {sql} from 'kysely'
import type {Spent} from '../schema/spent.ts'
import type {Db} from './database.ts'

/** A claim as `traffic.reserve_counters` reads it: beyond 2^53 numbers travel as text. */
export interface CounterClaim {
  readonly key: string
  readonly type: string
  readonly amount: number
  readonly most: string
  readonly ends_at_ms: number | null
  readonly rebuilds: boolean
  readonly shadow: boolean
  /** The policy whose entity it counts. */
  readonly group: string | null
  /** False where no further counter of that policy may be made. */
  readonly makes: boolean
}

export interface CounterReservationRow {
  readonly id: string
  readonly claims: readonly CounterClaim[]
  readonly deadline_ms: number | null
}

export interface CounterSettlement {
  readonly id: string
  readonly actual: Spent | null
}

export interface CounterAnswer {
  readonly word: 'taken' | 'refused' | 'missing' | 'full' | 'unknown'
  /** The clock of the database. */
  readonly now_ms: number
  readonly places: readonly number[]
  /** The claims whose counters were made. */
  readonly made?: readonly number[]
}

export interface CounterStanding {
  readonly used: bigint
  readonly held: bigint
  readonly revision: string
}

/** The counters that processes share on PostgreSQL. There are none on SQLite. */
export function counterTable(db: Db) {
  return {
    /**
     * Claims under each `id`; with no deadline, more under a reservation that is open. All of one statement name the
     * same counters.
     */
    async reserve(reservations: readonly CounterReservationRow[]): Promise<readonly CounterAnswer[]> {
      const {rows} = await sql<{answer: CounterAnswer}>`
        select traffic.reserve_counters(a.item->>'id', a.item->'claims', (a.item->>'deadline_ms')::bigint) as answer
        from jsonb_array_elements(${JSON.stringify(reservations)}::jsonb) with ordinality as a(item, place) order by a.place`.execute(
        db,
      )
      return rows.map(({answer}) => answer)
    },
    /** False when nothing is held under an id. Null gives everything back. */
    async settle(settlements: readonly CounterSettlement[]): Promise<readonly boolean[]> {
      const {rows} = await sql<{known: boolean}>`
        select traffic.settle_counters(a.item->>'id', coalesce((a.item->'actual'->>'tokens')::bigint, 0),
          coalesce((a.item->'actual'->>'cost_nanousd')::bigint, 0), a.item->'actual' = 'null'::jsonb) as known
        from jsonb_array_elements(${JSON.stringify(settlements)}::jsonb) with ordinality as a(item, place) order by a.place`.execute(
        db,
      )
      return rows.map(({known}) => known)
    },
    async read(keys: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
      const {rows} = await sql<{key: string; used: number | bigint}>`
        select key, used from traffic.counters where key = any(${keys})`.execute(db)
      return new Map(rows.map(row => [row.key, BigInt(row.used)]))
    },
    /** Adds counters that are not there; the others stay as they are. */
    async insert(
      counters: readonly {
        readonly key: string
        readonly used: bigint
        readonly ends_at_ms: number | null
        readonly group: string | null
      }[],
    ) {
      await sql`
        insert into traffic.counters (key, used, ends_at_ms, policy_id, revision)
        select key, used, ends_at_ms, policy_id, nextval('traffic.counter_revisions') from unnest(${columnOf(counters, 'key')}::text[], ${columnOf(counters, 'used')}::bigint[], ${columnOf(counters, 'ends_at_ms')}::bigint[], ${columnOf(counters, 'group')}::text[]) as c(key, used, ends_at_ms, policy_id)
        order by key collate "C"
        on conflict (key) do nothing`.execute(db)
    },
    /** Adds to counters that are there, their rows locked in the order of their keys. */
    async add(changes: readonly {readonly key: string; readonly amount: number}[]) {
      await sql`
        with locked as (select key from traffic.counters where key = any(${columnOf(changes, 'key')}) order by key for update)
        update traffic.counters as c set used = least(${MOST}::numeric, c.used::numeric + change.amount)::bigint
        from unnest(${columnOf(changes, 'key')}::text[], ${columnOf(changes, 'amount')}::bigint[]) as change(key, amount)
        where c.key = change.key and c.key in (select key from locked)`.execute(db)
    },
    /** The keys of counters that were inserted, and did not begin with a claim. */
    async restored(): Promise<readonly string[]> {
      const {rows} = await sql<{key: string}>`select key from traffic.counters where revision is not null`.execute(db)
      return rows.map(({key}) => key)
    },
    /** The values of inserted counters, all at one moment. */
    async standings(keys: readonly string[]): Promise<ReadonlyMap<string, CounterStanding>> {
      const {rows} = await sql<{key: string; used: string; held: string; revision: string}>`
        select c.key, c.used::text as used, coalesce(sum(h.amount), 0)::text as held, c.revision::text as revision
        from traffic.counters as c left join traffic.counter_holds as h on h.key = c.key and h.type <> 'requests'
        where c.key = any(${keys}) and c.revision is not null
        group by c.key`.execute(db)
      return new Map(
        rows.map(({key, used, held, revision}) => [key, {used: BigInt(used), held: BigInt(held), revision}]),
      )
    },
    /** Adds to a counter of that revision, and gives it the next; false when it has another. */
    async correct(key: string, amount: bigint, revision: string): Promise<boolean> {
      const {numAffectedRows} = await sql`
        update traffic.counters set used = greatest(0, least(${MOST}::numeric, used::numeric + ${String(amount)}::bigint))::bigint, revision = nextval('traffic.counter_revisions')
        where key = ${key} and revision = ${revision}::bigint`.execute(db)
      return numAffectedRows === 1n
    },
    /** How many counters each policy has. */
    async sizes(): Promise<ReadonlyMap<string, number>> {
      const {rows} = await sql<{policy_id: string; counters: number}>`
        select policy_id, count(*) as counters from traffic.counters where policy_id is not null group by policy_id`.execute(
        db,
      )
      return new Map(rows.map(({policy_id, counters}) => [policy_id, counters]))
    },
    /**
     * Forgets counters of policies: those that ended before, and the oldest that the ledger can restore and nothing is
     * held of.
     */
    async makeRoom(ended_before_ms: number, restorable: number, policy_id: string | null) {
      await sql`delete from traffic.counters where key in (
        select key from traffic.counters where policy_id is not null and ends_at_ms < ${ended_before_ms}
        limit ${ROOM_AT_ONCE} for update skip locked)`.execute(db)
      if (restorable < 1) return
      await sql`delete from traffic.counters where key in (
        select key from traffic.counters where policy_id is not null and (${policy_id}::text is null or policy_id = ${policy_id})
        and revision is not null and key not in (select key from traffic.counter_holds where amount > 0)
        order by revision limit ${Math.min(restorable, ROOM_AT_ONCE)} for update skip locked)`.execute(db)
    },
    /** Forgets counters and holds that ended before; rows that someone uses now are left for the next time. */
    async sweep(counters_before_ms: number, holds_before_ms: number) {
      await sql`delete from traffic.counters where key in (
        select key from traffic.counters where ends_at_ms < ${counters_before_ms} limit 1000 for update skip locked)`.execute(
        db,
      )
      await sql`delete from traffic.counter_holds where (id, key) in (
        select id, key from traffic.counter_holds where deadline_ms < ${holds_before_ms} limit 1000 for update skip locked)`.execute(
        db,
      )
    },
  }
}

/** Sums stay there. */
const MOST = '9223372036854775807'
const ROOM_AT_ONCE = 10_000

function columnOf<T>(rows: readonly T[], name: keyof T): (string | null)[] {
  return rows.map(row => (row[name] === null ? null : String(row[name])))
}
