import {sql} from 'kysely'
import type {Db, Store} from './database.ts'
import type {WorkersTable} from './tables/traffic.ts'

/** A job, and for one that each process does for itself, the process; else empty. */
export interface WorkerKey {
  readonly name: string
  readonly process: string
}

export type Claimed =
  | {readonly claimed: true}
  /** Not due yet, or with another process: to be tried again then. */
  | {readonly claimed: false; readonly again_at_ms: number}

export interface WorkerClaim {
  readonly holder: string
  readonly now_ms: number
  readonly lease_ms: number
  /** No job is due much later than this from now on: a later time was written while a clock was wrong. */
  readonly every_ms: number
}

/**
 * Takes a due job without a holder, for `lease_ms`; one statement decides between processes. An unknown job is due at
 * once.
 */
export async function claimJob(
  store: Store,
  key: WorkerKey,
  {holder, now_ms, lease_ms, every_ms}: WorkerClaim,
): Promise<Claimed> {
  const lease_until_ms = now_ms + lease_ms
  return store.write(async db => {
    await db
      .insertInto('traffic.workers')
      .values({...key, ...IDLE, due_at_ms: now_ms})
      .onConflict(conflict => conflict.columns(['name', 'process']).doNothing())
      .execute()
    const {numUpdatedRows} = await at(db.updateTable('traffic.workers'), key)
      .set({holder, lease_until_ms, started_at: new Date(now_ms).toISOString()})
      .where(e => e.or([e('due_at_ms', '<=', now_ms), e('due_at_ms', '>', now_ms + every_ms + MAX_SKEW_MS)]))
      .where(e =>
        e.or([
          e('lease_until_ms', 'is', null),
          e('lease_until_ms', '<=', now_ms),
          e('lease_until_ms', '>', now_ms + lease_ms + MAX_SKEW_MS),
        ]),
      )
      .executeTakeFirst()
    if (numUpdatedRows > 0) return {claimed: true}
    const row = await at(db.selectFrom('traffic.workers'), key)
      .select(['due_at_ms', 'lease_until_ms'])
      .executeTakeFirstOrThrow()
    return {claimed: false, again_at_ms: Math.max(Number(row.due_at_ms), Number(row.lease_until_ms ?? 0))}
  })
}

/** Keeps a job a while longer; false when it is another's by now. */
export async function renewJob(store: Store, key: WorkerKey, holder: string, lease_until_ms: number): Promise<boolean> {
  return store.write(async db => {
    const {numUpdatedRows} = await held(db, key, holder).set({lease_until_ms}).executeTakeFirst()
    return numUpdatedRows > 0
  })
}

export interface WorkerRunEnd {
  readonly ended_at: string
  readonly duration_ms: number
  /** Null when it succeeded. */
  readonly error: string | null
  readonly due_at_ms: number
}

/** Gives a job back, with what came of it; false when it is another's by now. */
export async function endJob(store: Store, key: WorkerKey, holder: string, ended: WorkerRunEnd): Promise<boolean> {
  return store.write(async db => {
    const {numUpdatedRows} = await held(db, key, holder)
      .set({
        ...ended,
        lease_until_ms: null,
        runs: sql`runs + 1`,
        failures: ended.error === null ? sql`failures` : sql`failures + 1`,
      })
      .executeTakeFirst()
    return numUpdatedRows > 0
  })
}

/** Every job that was ever heard of, by name. */
export function listJobs(db: Db): Promise<WorkersTable[]> {
  return db.selectFrom('traffic.workers').selectAll().orderBy('name').orderBy('process').execute()
}

/** Forgets what processes that are gone did for themselves. */
export async function forgetProcesses(db: Db, before: string) {
  await db.deleteFrom('traffic.workers').where('process', '<>', '').where('ended_at', '<', before).execute()
}

/**
 * Clocks of processes differ, and a claim may wait for the database; what is further ahead a clock wrote that was
 * wrong.
 */
const MAX_SKEW_MS = 600_000

const IDLE = {
  holder: null,
  lease_until_ms: null,
  started_at: null,
  ended_at: null,
  duration_ms: null,
  error: null,
  runs: 0,
  failures: 0,
} as const

const held = (db: Db, key: WorkerKey, holder: string) =>
  at(db.updateTable('traffic.workers'), key).where('holder', '=', holder).where('lease_until_ms', 'is not', null)

function at<Q>(query: Q, {name, process}: WorkerKey): Q {
  const any = query as {where(column: string, is: '=', value: string): typeof any}
  return any.where('name', '=', name).where('process', '=', process) as Q
}
