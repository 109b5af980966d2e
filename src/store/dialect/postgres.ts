import type {ConnectionOptions} from 'node:tls'
import {Kysely, PostgresDialect} from 'kysely'
import pg from 'pg'
import type {Database, Db, Store} from '../database.ts'
import {notedWrites} from '../noted-writes.ts'
import {boundedPool} from './bounded-pool.ts'
import {unreachable} from './postgres-faults.ts'
import {RevisionReader} from './revision-reader.ts'

/** Plain data, so that it can be handed to another thread. */
export interface PostgresOptions {
  /** In the words of the `pg` driver. */
  readonly connection:
    | {readonly connectionString: string}
    | Readonly<Record<'host' | 'user' | 'database', string> & {port: number; password: string | undefined}>
  readonly ssl?: SslOptions
  readonly pool_size: number
  /** How long calls and the administration wait for an answer (DB_QUERY_TIMEOUT_MS). @default 5000 */
  readonly query_timeout_ms?: number
  /** The same for lists, reports and the ledger's writer. @default 60000 */
  readonly list_timeout_ms?: number
}

/**
 * The waiting party, which decides the deadline: calls and the administration; lists, reports, commands and work in the
 * background; statements that read or write every row there is.
 */
export type Patience = 'calls' | 'lists' | 'everything'

export interface SslOptions {
  /** As the setting DB_SSL says: the names are MySQL's, which operators of the compatible product know. */
  readonly mode: 'DISABLED' | 'PREFERRED' | 'REQUIRED' | 'VERIFY_CA' | 'VERIFY_IDENTITY' | 'Amazon RDS'
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

export const QUERY_TIMEOUT_MS = 5_000
const LIST_TIMEOUT_MS = 60_000
/** A step of a migration may build an index over every row there is, and a verification reads them. */
const EVERYTHING_MS = 3_600_000

/** Opens a pool on PostgreSQL; tables of `traffic` are in a schema of that name. */
export async function openPostgres(options: PostgresOptions, patience: Patience = 'calls'): Promise<Store> {
  const {query_timeout_ms: brief_ms = QUERY_TIMEOUT_MS, list_timeout_ms = LIST_TIMEOUT_MS} = options
  const config = {...options.connection, ssl: await sslOf(options, brief_ms), types: TYPES, keepAlive: true}
  const listeners: (() => void)[] = []
  let is_lost = false
  const hooks = {
    onLost: () => {
      is_lost = true
    },
    onMade: () => {
      if (is_lost) for (const listener of listeners) listener()
      is_lost = false
    },
  }
  const limits_ms = {calls: brief_ms, lists: Math.max(brief_ms, list_timeout_ms), everything: EVERYTHING_MS}
  const pool = boundedPool(
    {...config, max: options.pool_size},
    {brief_ms, most_ms: limits_ms[patience], for_lists: patience === 'lists', ...hooks},
  )
  const db: Db = new Kysely<Database>({dialect: new PostgresDialect({pool})})
  const revisions = new RevisionReader(config, {brief_ms, onSilent: pool.renew})
  let migrations: Db | undefined
  const transact = <T>(work: (transaction: Db) => Promise<T>): Promise<T> => db.transaction().execute(work)
  return {
    kind: 'postgres',
    db,
    ...notedWrites(transact),
    migrate(work) {
      const slow = () => boundedPool({...config, max: 1}, {brief_ms, most_ms: EVERYTHING_MS, ...hooks})
      migrations ??= new Kysely<Database>({dialect: new PostgresDialect({pool: slow()})})
      return migrations.transaction().execute(work)
    },
    dataVersion: (within_ms = brief_ms) => revisions.sum(within_ms),
    revisions: (within_ms = brief_ms) => revisions.all(within_ms),
    onReconnect: listener => void listeners.push(listener),
    givenUp: () => pool.given_up + revisions.given_up,
    async close() {
      await Promise.all([revisions.close(), db.destroy(), migrations?.destroy()])
    },
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

async function sslOf({connection, ssl}: PostgresOptions, within_ms: number): Promise<false | ConnectionOptions> {
  if (!ssl || ssl.mode === 'DISABLED') return false
  const own = {ca: ssl.ca, cert: ssl.cert, key: ssl.key}
  switch (ssl.mode) {
    case 'PREFERRED':
      return (await offersTls(connection, within_ms)) ? {...own, rejectUnauthorized: false} : false
    case 'REQUIRED':
      return {...own, rejectUnauthorized: false}
    case 'VERIFY_CA':
      return {...own, rejectUnauthorized: true, checkServerIdentity: () => undefined}
    default:
      return {...own, rejectUnauthorized: true}
  }
}

async function offersTls(connection: PostgresOptions['connection'], within_ms: number): Promise<boolean> {
  const client = new pg.Client({...connection, ssl: {rejectUnauthorized: false}, connectionTimeoutMillis: within_ms})
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch (error) {
    if (error instanceof Error && /does not support SSL/.test(error.message)) return false
    throw unreachable(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}
