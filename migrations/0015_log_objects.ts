import {type Migration, strict, types} from './support.ts'

/** Which bodies lie in a store of objects, and under what keys. Age is in the id of the row, a UUID of version 7. */
export const logObjects: Migration = {
  name: '0015_log_objects',
  area: 'traffic',
  async up(db, kind) {
    const {text, integer} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('traffic.log_objects')
        .addColumn('log_id', text, c => c.primaryKey())
        .addColumn('key', text, c => c.notNull())
        .addColumn('format', text, c => c.notNull())
        .addColumn('bytes', integer, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull()),
    ).execute()
  },
}
