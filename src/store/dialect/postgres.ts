import type {ConnectionOptions} from 'node:tls'
import {Kysely, PostgresDialect} from 'kysely'
import pg from 'pg'
import type {Database, Db, Store} from '../database.ts'
import {notedWrites} from '../noted-writes.ts'

/** Plain data, so that it can be handed to another thread. */
export interface PostgresOptions {
  /** In the words of the `pg` driver. */
  readonly connection:
    | {readonly connectionString: string}
    | Readonly<Record<'host' | 'user' | 'database', string> & {port: number; password: string | undefined}>
  readonly ssl?: SslOptions
  readonly pool_size: number
  /** Statements that take longer are ended by the server. */
  readonly statement_timeout_ms?: number
}

export interface SslOptions {
  /** As the setting DB_SSL says: the names are MySQL's, which operators of the compatible product know. */
  readonly mode: 'DISABLED' | 'PREFERRED' | 'REQUIRED' | 'VERIFY_CA' | 'VERIFY_IDENTITY' | 'Amazon RDS'
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** Opens a pool on PostgreSQL; tables of `traffic` stand in a schema of that name. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const pool = new pg.Pool({
    ...options.connection,
    ssl: await sslOf(options),
    max: options.pool_size,
    ...(options.statement_timeout_ms === undefined ? {} : {statement_timeout: options.statement_timeout_ms}),
    types: TYPES,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  })
  pool.on('error', () => undefined) // a broken idle connection is replaced by the pool
  // one that breaks in use fails its query; without a listener it would end the process as well
  pool.on('connect', client => client.on('error', () => undefined))
  const db: Db = new Kysely<Database>({dialect: new PostgresDialect({pool})})
  const transact = <T>(work: (transaction: Db) => Promise<T>): Promise<T> => db.transaction().execute(work)
  return {
    kind: 'postgres',
    db,
    ...notedWrites(transact),
    migrate: transact,
    async dataVersion() {
      const {revision} = await db
        .selectFrom('revisions')
        .select(e => e.fn.sum<number>('revision').as('revision'))
        .executeTakeFirstOrThrow()
      return Number(revision ?? 0)
    },
    close: () => db.destroy(),
  }
}

/** Integers come as numbers where they are exact, as BigInt beyond. */
const TYPES = {
  getTypeParser(id: number, format?: 'text' | 'binary') {
    if (id === pg.types.builtins.INT8 || id === pg.types.builtins.NUMERIC) return exact
    return format === 'binary' ? pg.types.getTypeParser(id, 'binary') : pg.types.getTypeParser(id, 'text')
  },
} as pg.CustomTypesConfig

function exact(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? number : BigInt(text)
}

async function sslOf({connection, ssl}: PostgresOptions): Promise<false | ConnectionOptions> {
  if (!ssl || ssl.mode === 'DISABLED') return false
  const own = {ca: ssl.ca, cert: ssl.cert, key: ssl.key}
  switch (ssl.mode) {
    case 'PREFERRED':
      return (await offersTls(connection)) ? {...own, rejectUnauthorized: false} : false
    case 'REQUIRED':
      return {...own, rejectUnauthorized: false}
    case 'VERIFY_CA':
      return {...own, rejectUnauthorized: true, checkServerIdentity: () => undefined}
    default:
      return {...own, rejectUnauthorized: true}
  }
}

async function offersTls(connection: PostgresOptions['connection']): Promise<boolean> {
  const client = new pg.Client({...connection, ssl: {rejectUnauthorized: false}})
  try {
    await client.connect()
    return true
  } catch (error) {
    if (error instanceof Error && /does not support SSL/.test(error.message)) return false
    throw error
  } finally {
    await client.end().catch(() => undefined)
  }
}
