import {sql} from 'kysely'
import {index, type Migration, types} from './support.ts'

/**
 * Answers that several processes share on PostgreSQL. The table is not logged: after a crash it is empty, as a cache
 * may be, and no replica is sent its bodies. On SQLite the cache is a file of its own that no migration knows
 * (`src/store/cache.ts`).
 */
export const cache: Migration = {
  name: '0005_cache',
  area: 'traffic',
  async up(db, kind) {
    if (kind === 'sqlite') return
    const {text, integer, bytes} = types(kind)
    await db.schema
      .createTable('traffic.cache_entries')
      .modifyFront(sql`unlogged`)
      .addColumn('digest', text, c => c.primaryKey())
      .addColumn('workspace_id', text, c => c.notNull())
      .addColumn('stored_at_ms', integer, c => c.notNull())
      .addColumn('expires_at_ms', integer, c => c.notNull())
      .addColumn('bytes', integer, c => c.notNull())
      .addColumn('body', bytes, c => c.notNull())
      .execute()
    await index(db, kind, 'traffic.cache_entries', ['expires_at_ms', 'bytes'])
    await index(db, kind, 'traffic.cache_entries', ['workspace_id'])
    // Bodies come in JSON; what the table would save by packing them it would pay at every hit.
    await sql`alter table traffic.cache_entries alter column body set storage external`.execute(db)
  },
}
