import {existsSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {Kysely, SqliteDialect, sql} from 'kysely'
import type {KeptEntry, KeptFilter} from '../schema/cache.ts'
import type {Page, Paged} from '../schema/paging.ts'
import {isOwned} from './data-dir.ts'
import type {Database, Db} from './database.ts'
import {keptEntry, matchesKept} from './kept-entries.ts'
import {paged} from './rows.ts'
import type {CacheEntriesTable} from './tables/cache.ts'

export const CACHE_FILE = 'cache.db'
/** A file of another make is thrown away. */
const MAKE = 3

export interface CacheFileOptions {
  readonly folder: string
  readonly binding?: object | undefined
}

/**
 * The embedded cache: a file of its own, so that its writes wait for no other's lock, no backup carries answers, and it
 * can be deleted. It is written without waiting for the disk, and synced when it is closed: one that was not closed may
 * be spoilt, and is thrown away. Only the owner of the data directory opens it (core rule 3).
 */
export function openCacheFile(options: CacheFileOptions): {readonly db: Db; close(): Promise<void>} {
  if (existsSync(join(options.folder, `${CACHE_FILE}-wal`))) discard(options.folder)
  let raw: Sqlite.Database
  try {
    raw = connect(options)
  } catch (fault) {
    if (!(fault instanceof Sqlite.SqliteError && SPOILT.has(fault.code))) throw fault
    discard(options.folder)
    raw = connect(options)
  }
  const db: Db = new Kysely<Database>({dialect: new SqliteDialect({database: raw})})
  return {
    db,
    async close() {
      raw.pragma('traffic.synchronous = NORMAL')
      raw.pragma('traffic.wal_checkpoint(TRUNCATE)')
      await db.destroy()
    },
  }
}

/**
 * The same file beside the gateway that has it open, for a command: each change is small and at once. Null where none
 * is kept: there is no file, it is of another make, or a gateway did not close it, so that the next one discards it.
 */
export function openCacheBeside(options: CacheFileOptions): {readonly db: Db; close(): Promise<void>} | null {
  const {folder, binding} = options
  if (!existsSync(join(folder, CACHE_FILE))) return null
  if (existsSync(join(folder, `${CACHE_FILE}-wal`)) && !isOwned(folder, binding)) return null
  const raw = attach(options, BESIDE_PATIENCE_MS)
  if (raw.pragma('traffic.user_version', {simple: true}) !== MAKE) {
    raw.close()
    return null
  }
  const db: Db = new Kysely<Database>({dialect: new SqliteDialect({database: raw})})
  return {db, close: () => db.destroy()}
}

/** A gateway's own writes wait less: they are made again with the next answer. */
const PATIENCE_MS = 10
const BESIDE_PATIENCE_MS = 5_000

const SPOILT: ReadonlySet<string> = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB'])

function connect(options: CacheFileOptions): Sqlite.Database {
  const raw = attach(options, PATIENCE_MS)
  try {
    if (raw.pragma('traffic.user_version', {simple: true}) !== MAKE) make(raw)
    return raw
  } catch (fault) {
    raw.close()
    throw fault
  }
}

/** The table has the name that it has on PostgreSQL: the file is attached as `traffic`. */
function attach({folder, binding}: CacheFileOptions, patience_ms: number): Sqlite.Database {
  const raw = new Sqlite(':memory:', binding ? {nativeBinding: binding as unknown as string} : {})
  try {
    raw.pragma(`busy_timeout = ${patience_ms}`)
    raw.pragma('trusted_schema = OFF')
    raw.prepare('attach database ? as traffic').run(join(folder, CACHE_FILE))
    raw.pragma('traffic.page_size = 8192')
    raw.pragma('traffic.journal_mode = WAL')
    raw.pragma('traffic.synchronous = OFF')
    raw.pragma(`traffic.journal_size_limit = ${16 << 20}`)
    return raw
  } catch (fault) {
    raw.close()
    throw fault
  }
}

function make(raw: Sqlite.Database) {
  raw.exec(`
    begin;
    drop table if exists traffic.cache_entries;
    drop table if exists traffic.semantic_entries;
    create table traffic.cache_entries (
      digest text primary key,
      workspace_id text not null,
      model text,
      namespace text,
      stored_at_ms integer not null,
      expires_at_ms integer not null,
      bytes integer not null,
      body blob not null
    ) strict;
    create index traffic.cache_entries_expires_at_ms on cache_entries (expires_at_ms, bytes);
    create index traffic.cache_entries_workspace_id on cache_entries (workspace_id);
    create table traffic.semantic_entries (
      id integer primary key autoincrement,
      "partition" text not null,
      created_at_ms integer not null,
      expires_at_ms integer not null,
      signs blob not null,
      workspace_id text not null,
      model text,
      namespace text,
      digest text not null,
      log_id text not null,
      features text not null,
      vector blob not null
    ) strict;
    create unique index traffic.semantic_entries_partition_digest on semantic_entries ("partition", digest);
    create index traffic.semantic_entries_partition_created_at_ms on semantic_entries ("partition", created_at_ms);
    create index traffic.semantic_entries_expires_at_ms on semantic_entries (expires_at_ms);
    create index traffic.semantic_entries_workspace_id on semantic_entries (workspace_id);
    pragma traffic.user_version = ${MAKE};
    commit`)
}

function discard(folder: string) {
  for (const end of ['', '-wal', '-shm']) rmSync(join(folder, CACHE_FILE + end), {force: true})
}

/** The queries of the cache, on either kind of database. */
export function cacheTable(db: Db) {
  return {
    /** The row, unless its time is over at `now_ms`. */
    find: (workspace_id: string, digest: string, now_ms: number) =>
      db
        .selectFrom('traffic.cache_entries')
        .select(['stored_at_ms', 'expires_at_ms', 'body'])
        .where('digest', '=', digest)
        .where('workspace_id', '=', workspace_id)
        .where('expires_at_ms', '>', now_ms)
        .executeTakeFirst(),
    /** Writes a row in place of the one of its digest. */
    async put(row: CacheEntriesTable): Promise<void> {
      const {digest: _, ...columns} = row
      await db
        .insertInto('traffic.cache_entries')
        .values(row)
        .onConflict(conflict => conflict.column('digest').doUpdateSet(columns))
        .execute()
    },
    async delete(workspace_id: string, digest: string): Promise<void> {
      await db
        .deleteFrom('traffic.cache_entries')
        .where('digest', '=', digest)
        .where('workspace_id', '=', workspace_id)
        .execute()
    },
    /** Deletes some rows of a workspace; true when there may be more. */
    async purge(workspace_id: string): Promise<boolean> {
      const rows = await sizes(db).where('workspace_id', '=', workspace_id).execute()
      return deleteSlice(db, rows)
    },
    /**
     * Deletes some of the rows whose time is over, else of those that are too many bytes, the next to end first. True
     * when there may be more.
     */
    async prune(now_ms: number, most_bytes: number): Promise<boolean> {
      const over = await sizes(db).where('expires_at_ms', '<=', now_ms).orderBy('expires_at_ms').execute()
      if (over.length > 0) {
        await deleteSlice(db, over)
        return true
      }
      const excess = (await bytesOf(db)) - most_bytes
      return excess > 0 && deleteSlice(db, await sizes(db).orderBy('expires_at_ms').execute(), excess)
    },
    /** Rows that match, the newest first, and how many there are. */
    async list(filter: KeptFilter, now_ms: number, page: Page): Promise<Paged<KeptEntry>> {
      const {total, rows} = await paged(
        db
          .selectFrom('traffic.cache_entries')
          .select(['digest', 'workspace_id', 'model', 'namespace', 'stored_at_ms', 'expires_at_ms', 'bytes'])
          .select(sql<null>`null`.as('log_id'))
          .where(matchesKept(filter))
          .where('expires_at_ms', '>', now_ms)
          .orderBy('stored_at_ms', 'desc')
          .orderBy('digest'),
        page,
      )
      return {total, rows: rows.map(keptEntry)}
    },
    /** Deletes some rows that match; how many: none when none is left. */
    async clear(filter: KeptFilter): Promise<number> {
      const rows = await db
        .selectFrom('traffic.cache_entries')
        .select('digest')
        .where(matchesKept(filter))
        .limit(CLEARED_ROWS)
        .execute()
      const digests = rows.map(({digest}) => digest)
      if (digests.length > 0) await db.deleteFrom('traffic.cache_entries').where('digest', 'in', digests).execute()
      return digests.length
    },
    /** The size of all rows together. */
    bytes: () => bytesOf(db),
  }
}

/** Of a clearing: their bodies are not read. */
const CLEARED_ROWS = 200
/** A slice is no more rows than this, and about no more bytes. */
const SLICE_ROWS = 50
const SLICE_BYTES = 4 << 20
/** About what a row takes besides its body. */
const ROW_BYTES = 300

function sizes(db: Db) {
  return db.selectFrom('traffic.cache_entries').select(['digest', 'bytes']).limit(SLICE_ROWS)
}

async function bytesOf(db: Db): Promise<number> {
  const {bytes, rows} = await db
    .selectFrom('traffic.cache_entries')
    .select(e => [e.fn.sum<number | null>('bytes').as('bytes'), e.fn.countAll<number>().as('rows')])
    .executeTakeFirstOrThrow()
  return Number(bytes ?? 0) + Number(rows) * ROW_BYTES
}

/**
 * Deletes the first of `rows`, until a slice is full or it is enough; true when some were left, or there may be others.
 */
async function deleteSlice(
  db: Db,
  rows: readonly {readonly digest: string; readonly bytes: number}[],
  enough = SLICE_BYTES,
) {
  const digests: string[] = []
  let bytes = 0
  for (const row of rows) {
    if (bytes >= Math.min(enough, SLICE_BYTES)) break
    digests.push(row.digest)
    bytes += row.bytes + ROW_BYTES
  }
  if (digests.length > 0) await db.deleteFrom('traffic.cache_entries').where('digest', 'in', digests).execute()
  return digests.length < rows.length || rows.length === SLICE_ROWS
}
