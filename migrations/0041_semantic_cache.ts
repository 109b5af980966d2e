import {sql} from 'kysely'
import {index, type Migration, types} from './support.ts'

/**
 * Answers that may be given to requests in other words, beside the answers (0005): not logged either, and on SQLite in
 * the file of the cache.
 */
export const semanticCache: Migration = {
  name: '0041_semantic_cache',
  area: 'traffic',
  async up(db, kind) {
    if (kind === 'sqlite') return
    const {text, integer, bytes} = types(kind)
    await db.schema
      .createTable('traffic.semantic_entries')
      .modifyFront(sql`unlogged`)
      .addColumn('id', integer, c => c.primaryKey().generatedAlwaysAsIdentity())
      .addColumn('partition', text, c => c.notNull())
      .addColumn('created_at_ms', integer, c => c.notNull())
      .addColumn('expires_at_ms', integer, c => c.notNull())
      .addColumn('signs', bytes, c => c.notNull())
      .addColumn('workspace_id', text, c => c.notNull())
      .addColumn('digest', text, c => c.notNull())
      .addColumn('log_id', text, c => c.notNull())
      .addColumn('features', text, c => c.notNull())
      .addColumn('vector', bytes, c => c.notNull())
      .execute()
    await index(db, kind, 'traffic.semantic_entries', ['partition', 'digest'], {unique: true})
    await index(db, kind, 'traffic.semantic_entries', ['partition', 'created_at_ms'])
    await index(db, kind, 'traffic.semantic_entries', ['expires_at_ms'])
    await sql`alter table traffic.semantic_entries alter column vector set storage external`.execute(db)
  },
}
