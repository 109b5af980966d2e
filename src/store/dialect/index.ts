import type {Store} from '../database.ts'
import {openPostgres, type PostgresOptions} from './postgres.ts'
import {openSqlite, type SqliteOptions} from './sqlite.ts'

export type StoreOptions = ({readonly kind: 'sqlite'} & SqliteOptions) | ({readonly kind: 'postgres'} & PostgresOptions)

/** Opens the database that the settings name. It is not migrated by this. */
export async function openStore(options: StoreOptions): Promise<Store> {
  return options.kind === 'sqlite' ? openSqlite(options) : openPostgres(options)
}
