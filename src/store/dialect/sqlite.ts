import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from 'kysely'
import {isBusy} from '../busy.ts'
import type {Database, Db, Store} from '../database.ts'
import {notedWrites} from '../noted-writes.ts'
import {watchFile} from './watched-file.ts'

/** The purpose of a connection decides which files it opens and how long it waits for another's lock (core rule 7). */
export type SqliteRole = 'server' | 'operator' | 'flusher' | 'reader'

export interface SqliteOptions {
  readonly folder: string
  readonly role: SqliteRole
  /** The native addon as an object, where it cannot be found by path (the executable). */
  readonly binding?: object | undefined
  /** How long a write waits for a lock that another process holds (DB_QUERY_TIMEOUT_MS). @default 5000 */
  readonly query_timeout_ms?: number
}

export const CONTROL_FILE = 'gateway.db'
export const TRAFFIC_FILE = 'traffic.db'
/** Rows of the log and bodies are larger than the usual page has good room for. */
const TRAFFIC_PAGE_BYTES = 8192

/**
 * The raw connection: gateway.db with traffic.db attached as `traffic`; the flusher holds traffic.db alone, under the
 * same name.
 */
export function connect({folder, role, binding}: SqliteOptions): Sqlite.Database {
  const alone = role === 'flusher'
  const raw = new Sqlite(
    alone ? ':memory:' : join(folder, CONTROL_FILE),
    binding ? {nativeBinding: binding as unknown as string} : {},
  )
  raw.pragma(`busy_timeout = ${role === 'operator' ? 5000 : 10}`)
  raw.pragma('trusted_schema = OFF')
  raw.prepare('attach database ? as traffic').run(join(folder, TRAFFIC_FILE))
  raw.pragma(`traffic.page_size = ${TRAFFIC_PAGE_BYTES}`) // heeded while the file is empty
  for (const schema of alone ? ['traffic'] : ['main', 'traffic']) {
    raw.pragma(`${schema}.journal_mode = WAL`)
    raw.pragma(`${schema}.synchronous = FULL`)
    raw.pragma(`${schema}.journal_size_limit = ${64 << 20}`)
  }
  raw.pragma('foreign_keys = ON')
  if (role === 'reader') raw.pragma('query_only = ON')
  return raw
}

/** Opens the embedded database in `folder`, which must exist. */
export function openSqlite(options: SqliteOptions): Store {
  const raw = connect(options)
  const poll = connect({...options, role: 'reader'})
  const db: Db = new Kysely<Database>({dialect: new ImmediateSqliteDialect({database: raw})})
  let version: Sqlite.Statement<[], number> | undefined
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(attempt: () => Promise<T>): Promise<T> => {
    const turn = last.then(attempt)
    last = turn.catch(() => undefined)
    return turn
  }
  const transact = <T>(work: (transaction: Db) => Promise<T>): Promise<T> =>
    whileBusy(inTurn, () => db.transaction().execute(work), options.query_timeout_ms)
  return {
    kind: 'sqlite',
    db,
    ...notedWrites(transact),
    migrate: transact,
    async dataVersion() {
      version ??= poll.prepare<[], number>('pragma main.data_version').pluck()
      return version.get()!
    },
    async revisions() {
      const rows = poll.prepare<[], {name: string; revision: number}>(REVISIONS).all()
      return new Map(rows.map(({name, revision}) => [name, revision]))
    },
    watchWrites: (onWritten, onLost) => watchFile(join(options.folder, `${CONTROL_FILE}-wal`), {onWritten, onLost}),
    onReconnect: () => undefined,
    givenUp: () => 0,
    async close() {
      // a change that waits for a lock comes again until its time is over
      for (let seen: Promise<unknown> | undefined; seen !== last; await seen) seen = last
      poll.close()
      await db.destroy()
    },
  }
}

const REVISIONS = 'select name, revision from main.revisions'

/** Begins transactions with the write lock of gateway.db, so that a lost race is met before any work is done. */
class ImmediateSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig
  constructor(config: SqliteDialectConfig) {
    super(config)
    this.#config = config
  }
  override createDriver() {
    return new ImmediateSqliteDriver(this.#config)
  }
}

class ImmediateSqliteDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection) {
    await connection.executeQuery(CompiledQuery.raw('begin'))
    try {
      // `begin immediate` would lock traffic.db too, and wait for the flusher
      await connection.executeQuery(CompiledQuery.raw('delete from main.revisions where false'))
    } catch (error) {
      if (error instanceof Sqlite.SqliteError && error.message.startsWith('no such table')) return // not migrated yet
      await connection.executeQuery(CompiledQuery.raw('rollback'))
      throw error
    }
  }

  /**
   * A full or failing disk ends the transaction by itself: the error that there is none any more must not hide the
   * cause.
   */
  override async rollbackTransaction(connection: DatabaseConnection) {
    try {
      await super.rollbackTransaction(connection)
    } catch (error) {
      if (!(error instanceof Error && /no transaction is active/.test(error.message))) throw error
    }
  }
}

const BUSY_FOR_MS = 5_000
/** The loop is blocked for `busy_timeout` by each try, so that the next comes later than that. */
const PAUSE_MS = 15

type Tried<T> = {readonly result: T} | {readonly busy: unknown}

/** One try; where another process holds the lock, with a pause behind it while it may be tried again. */
async function tried<T>(work: () => Promise<T>, isLate: () => boolean): Promise<Tried<T>> {
  try {
    return {result: await work()}
  } catch (error) {
    if (!isBusy(error)) throw error
    if (!isLate()) await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
    return {busy: error}
  }
}

/**
 * Tries again while another process holds the lock, for at most `most_ms` since the first time: the loop is never
 * blocked for longer than `busy_timeout`. Each try has its turn behind those of others, which may need another file.
 */
async function whileBusy<T>(
  inTurn: (attempt: () => Promise<Tried<T>>) => Promise<Tried<T>>,
  work: () => Promise<T>,
  most_ms = BUSY_FOR_MS,
): Promise<T> {
  const started = performance.now()
  const isLate = () => performance.now() - started >= most_ms
  for (;;) {
    const outcome = await inTurn(() => tried(work, isLate))
    if ('result' in outcome) return outcome.result
    if (isLate()) throw outcome.busy
  }
}
