import type {Insertable} from 'kysely'
import type {Db} from './database.ts'
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
