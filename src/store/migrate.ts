import {setTimeout as sleep} from 'node:timers/promises'
import {type Kysely, sql} from 'kysely'
import {MIGRATIONS, type Migration} from '../../migrations/index.ts'
import type {Db, Store} from './database.ts'

/** The database was written by a newer version, or a step failed; nothing of that step was kept. */
export class MigrationFault extends Error {}

export interface MigrationState {
  readonly applied: readonly string[]
  readonly pending: readonly Migration[]
}

const AREAS = {control: 'migrations', traffic: 'traffic.migrations'} as const
const LOCK = 7_236_817_001 // names the lock of migrations on PostgreSQL; any fixed number does

/** The applied steps and those that wait; refuses a database with steps that we do not know. */
export async function migrationState(store: Store, steps: readonly Migration[] = MIGRATIONS): Promise<MigrationState> {
  const applied = [...(await appliedIn(store, 'control')), ...(await appliedIn(store, 'traffic'))].sort()
  const unknown = applied.filter(name => !steps.some(step => step.name === name))
  if (unknown.length) {
    throw new MigrationFault(
      `The database was written by a newer version of gateway (it has the step ${unknown.join(', ')}). Install that version, or restore a backup.`,
    )
  }
  return {applied, pending: steps.filter(step => !applied.includes(step.name))}
}

/**
 * Applies what is pending, each step in a transaction of its own that also notes it; says what was applied.
 * `onBeforeUpgrade` runs once, first, when there is something to lose: it takes the backup.
 */
export async function migrate(
  store: Store,
  options: {
    now: () => Date
    onBeforeUpgrade?: () => Promise<void>
    steps?: readonly Migration[]
    /** How long another process that migrates is waited for. @default 600000 */
    lock_ms?: number
  },
): Promise<string[]> {
  return locked(store, options.lock_ms ?? LOCK_MS, async () => {
    const {applied, pending} = await migrationState(store, options.steps)
    if (pending.length && applied.length) await options.onBeforeUpgrade?.()
    for (const step of pending) await apply(store, step, options.now)
    return pending.map(step => step.name)
  })
}

async function apply(store: Store, step: Migration, now: () => Date) {
  await store.migrate(async transaction => {
    const db = transaction as unknown as Kysely<unknown>
    if (store.kind === 'postgres') await sql`create schema if not exists traffic`.execute(db)
    await sql`create table if not exists ${sql.table(AREAS[step.area])} (name text primary key, applied_at text not null)`.execute(
      db,
    )
    await step.up(db, store.kind)
    await sql`insert into ${sql.table(AREAS[step.area])} values (${step.name}, ${now().toISOString()})`.execute(db)
  })
}

async function appliedIn(store: Store, area: keyof typeof AREAS): Promise<string[]> {
  const [schema, table] =
    area === 'traffic' ? ['traffic', 'migrations'] : [store.kind === 'sqlite' ? 'main' : 'public', 'migrations']
  const {rows: found} =
    store.kind === 'sqlite'
      ? await sql`select 1 from ${sql.table(`${schema}.sqlite_master`)} where type = 'table' and name = ${table}`.execute(
          store.db,
        )
      : await sql`select 1 from information_schema.tables where table_schema = ${schema === 'public' ? sql`current_schema()` : schema} and table_name = ${table}`.execute(
          store.db,
        )
  if (!found.length) return []
  const {rows} = await sql<{name: string}>`select name from ${sql.table(AREAS[area])} order by name`.execute(store.db)
  return rows.map(row => row.name)
}

/** One migrator at a time. On SQLite the data directory has one owner already. */
async function locked<T>(store: Store, lock_ms: number, work: () => Promise<T>): Promise<T> {
  if (store.kind === 'sqlite') return work()
  return store.db.connection().execute(async connection => {
    await lock(connection, lock_ms)
    try {
      return await work()
    } finally {
      await sql`select pg_advisory_unlock(${LOCK})`.execute(connection)
    }
  })
}

/** Asks again and again: a statement that waited for the lock would wait for longer than a statement may. */
async function lock(connection: Db, lock_ms: number): Promise<void> {
  for (const started = performance.now(); ; ) {
    const {rows} = await sql<{is_ours: boolean}>`select pg_try_advisory_lock(${LOCK}) as is_ours`.execute(connection)
    if (rows[0]?.is_ours) return
    if (performance.now() - started >= lock_ms)
      throw new MigrationFault(
        `Another process has been migrating the database for ${Math.round(lock_ms / 1000)} s. ` +
          'Stop it, or start again later.',
      )
    await sleep(LOCK_AGAIN_MS)
  }
}

const LOCK_AGAIN_MS = 50
/** A migration by another process may build an index over every row there is. */
const LOCK_MS = 600_000
