import type {Store} from '../database.ts'
import type {Patience, PostgresOptions} from './postgres.ts'
import {openSqlite, type SqliteOptions} from './sqlite.ts'

export type StoreOptions = ({readonly kind: 'sqlite'} & SqliteOptions) | ({readonly kind: 'postgres'} & PostgresOptions)

/** Opens the database that the settings name. It is not migrated by this. */
export async function openStore(options: StoreOptions, patience?: Patience): Promise<Store> {
  if (options.kind === 'sqlite') return openSqlite(options)
  const {openPostgres} = await import('./postgres.ts') // its driver is memory that SQLite does not need
  return openPostgres(options, patience)
}
