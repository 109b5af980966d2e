import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type {Database, Db} from '../database.ts'

/** Runs a statement somewhere else and gives its rows. */
export type AskRows = (sql: string, parameters: readonly unknown[]) => Promise<readonly unknown[]>

/** SQLite's words, read by a connection that is not in this thread. It only reads: transactions are refused. */
export function remoteSqlite(ask: AskRows): Db {
  const connection: DatabaseConnection = {
    async executeQuery<R>({sql, parameters}: CompiledQuery): Promise<QueryResult<R>> {
      return {rows: (await ask(sql, parameters)) as R[]}
    },
    // biome-ignore lint/correctness/useYield: rows come all at once
    async *streamQuery() {
      throw new Error('Rows of another thread come all at once.')
    },
  }
  const refused = async () => {
    throw new Error('A connection that only reads has no transactions.')
  }
  const nothing = async () => undefined
  const driver: Driver = {
    init: nothing,
    acquireConnection: async () => connection,
    beginTransaction: refused,
    commitTransaction: refused,
    rollbackTransaction: refused,
    releaseConnection: nothing,
    destroy: nothing,
  }
  const dialect: Dialect = {
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: db => new SqliteIntrospector(db),
  }
  return new Kysely<Database>({dialect})
}
