import {index, type Migration, types} from './support.ts'

/**
 * The model and the namespace of kept answers, by which they are listed and cleared; null in rows from before. SQLite
 * has them in the file of the cache.
 */
export const cacheMarks: Migration = {
  name: '0044_cache_marks',
  area: 'traffic',
  async up(db, kind) {
    if (kind === 'sqlite') return
    const {text} = types(kind)
    for (const table of ['traffic.cache_entries', 'traffic.semantic_entries']) {
      await db.schema.alterTable(table).addColumn('model', text).addColumn('namespace', text).execute()
    }
    await index(db, kind, 'traffic.semantic_entries', ['workspace_id'])
  },
}
