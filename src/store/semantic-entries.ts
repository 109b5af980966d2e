import {type Insertable, sql} from 'kysely'
import type {KeptEntry, KeptFilter} from '../schema/cache.ts'
import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {keptEntry, matchesKept} from './kept-entries.ts'
import {paged} from './rows.ts'
import type {SemanticEntriesTable} from './tables/semantic.ts'

export type NewSemanticEntry = Omit<Insertable<SemanticEntriesTable>, 'id'>

/** The queries of the semantic cache, on either kind of database. Each reads or deletes a slice at most. */
export function semanticTable(db: Db) {
  return {
    /** Rows of a partition before the row `before`, the newest first: the part of them that a search by signs needs. */
    signsOf: (partition: string, before: number, now_ms: number, most: number) =>
      db
        .selectFrom('traffic.semantic_entries')
        .select(['id', 'created_at_ms', 'expires_at_ms', 'signs'])
        .where('partition', '=', partition)
        .where('id', '<', before)
        .where('expires_at_ms', '>', now_ms)
        .orderBy('id', 'desc')
        .limit(most)
        .execute(),
    /** The same of rows that were written from `since_ms` on, the newest first. */
    writtenSince: (partition: string, since_ms: number, most: number) =>
      db
        .selectFrom('traffic.semantic_entries')
        .select(['id', 'created_at_ms', 'expires_at_ms', 'signs'])
        .where('partition', '=', partition)
        .where('created_at_ms', '>=', since_ms)
        .orderBy('created_at_ms', 'desc')
        .limit(most)
        .execute(),
    /** Whole rows by their ids. */
    rows: (ids: readonly number[]) =>
      db
        .selectFrom('traffic.semantic_entries')
        .selectAll()
        .where('id', 'in', [...ids])
        .execute(),
    /** Writes a row in place of the one of its answer in this partition; its id. */
    async put(row: NewSemanticEntry): Promise<number> {
      const {partition: _, digest: __, ...columns} = row
      const {id} = await db
        .insertInto('traffic.semantic_entries')
        .values(row)
        .onConflict(conflict => conflict.columns(['partition', 'digest']).doUpdateSet(columns))
        .returning('id')
        .executeTakeFirstOrThrow()
      return Number(id)
    },
    async delete(ids: readonly number[]): Promise<void> {
      if (ids.length > 0)
        await db
          .deleteFrom('traffic.semantic_entries')
          .where('id', 'in', [...ids])
          .execute()
    },
    /** Rows that match and whose time is not over, the newest first. */
    async list(filter: KeptFilter, now_ms: number, page: Page): Promise<Paged<KeptEntry>> {
      const {total, rows} = await paged(
        db
          .selectFrom('traffic.semantic_entries')
          .select(['digest', 'workspace_id', 'model', 'namespace', 'expires_at_ms', 'log_id'])
          .select('created_at_ms as stored_at_ms')
          .select(sql<number>`length(vector) + length(features)`.as('bytes'))
          .where(matchesKept(filter))
          .where('expires_at_ms', '>', now_ms)
          .orderBy('id', 'desc'),
        page,
      )
      return {total, rows: rows.map(keptEntry)}
    },
    /** Deletes some rows that match; how many: none when none is left. */
    async clear(filter: KeptFilter): Promise<number> {
      const rows = await ids(db).where(matchesKept(filter)).execute()
      await this.delete(rows.map(({id}) => id))
      return rows.length
    },
    /** Deletes some rows whose time is over, else the oldest of those that are too many. True: there may be more. */
    async prune(now_ms: number, most_rows: number): Promise<boolean> {
      const over = await ids(db).where('expires_at_ms', '<=', now_ms).execute()
      if (over.length > 0) {
        await this.delete(over.map(({id}) => id))
        return true
      }
      const {rows} = await db
        .selectFrom('traffic.semantic_entries')
        .select(e => e.fn.countAll<number>().as('rows'))
        .executeTakeFirstOrThrow()
      const excess = Number(rows) - most_rows
      if (excess <= 0) return false
      const oldest = await ids(db).orderBy('id').limit(Math.min(excess, SLICE_ROWS)).execute()
      await this.delete(oldest.map(({id}) => id))
      return excess > SLICE_ROWS
    },
  }
}

const SLICE_ROWS = 50

const ids = (db: Db) => db.selectFrom('traffic.semantic_entries').select('id').limit(SLICE_ROWS)
