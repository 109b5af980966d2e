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

/** The purpose of a connection decides which files it opens and how long it waits for another's lock (core rule 7). */
export type SqliteRole = 'server' | 'operator' | 'flusher' | 'reader'

export interface SqliteOptions {
  readonly folder: string
  readonly role: SqliteRole
  /** The native addon as an object, where it cannot be found by path (the executable). */
  readonly binding?: object | undefined
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
  let last: Promise<unknown> = Promise.resolve()
  const transact = <T>(work: (transaction: Db) => Promise<T>): Promise<T> => {
    const turn = last.then(() => whileBusy(() => db.transaction().execute(work)))
    last = turn.catch(() => undefined)
    return turn
  }
  return {
    kind: 'sqlite',
    db,
    ...notedWrites(transact),
    migrate: transact,
    async dataVersion() {
      return poll.pragma('main.data_version', {simple: true}) as number
    },
    async revisions() {
      const rows = poll.prepare<[], {name: string; revision: number}>(REVISIONS).all()
      return new Map(rows.map(({name, revision}) => [name, revision]))
    },
    onReconnect: () => undefined,
    givenUp: () => 0,
    async close() {
      await last
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

/**
 * Tries again on a timer while another process holds the lock: the loop is never blocked for longer than
 * `busy_timeout`.
 */
async function whileBusy<T>(work: () => Promise<T>): Promise<T> {
  for (const started = Date.now(); ; ) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error) || Date.now() - started > BUSY_FOR_MS) throw error
      await new Promise(resolve => setTimeout(resolve, 15))
    }
  }
}
