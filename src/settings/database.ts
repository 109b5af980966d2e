import type {Settings} from './table.ts'

/** A PostgreSQL database as the settings name it. */
export interface DatabaseSettings {
  /** In the words of the `pg` driver. */
  readonly connection:
    | {readonly connectionString: string}
    | {
        readonly host: string
        readonly port: number
        readonly user: string
        readonly password: string | undefined
        readonly database: string
      }
  /** `PREFERRED`: TLS when the server offers it, else plain. `Amazon RDS`: as `VERIFY_IDENTITY`, against `ca`. */
  readonly ssl: {
    readonly mode: Settings['db_ssl']
    readonly ca: string | undefined
    readonly cert: string | undefined
    readonly key: string | undefined
  }
  readonly pool_size: number
  readonly query_timeout_ms: number
}

/** The PostgreSQL database to use; undefined means SQLite in the data directory. It holds secrets: do not print it. */
export function databaseSettings(settings: Settings): DatabaseSettings | undefined {
  const {database_url, db_host: host, db_port: port, db_user: user, db_pass: password, db_name: database} = settings
  const shared = {
    ssl: {mode: settings.db_ssl, ca: settings.db_ssl_ca, cert: settings.db_ssl_cert, key: settings.db_ssl_key},
    pool_size: settings.db_pool_size,
    query_timeout_ms: settings.db_query_timeout_ms,
  }
  if (database_url) return {connection: {connectionString: database_url}, ...shared}
  if (host && user && database) return {connection: {host, port, user, password, database}, ...shared}
  return undefined
}
