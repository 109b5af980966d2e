import {index, type Migration, types} from './support.ts'

/** When work that goes on behind a call is asked for by the gateway itself. */
export const deferredAsks: Migration = {
  name: '0022_deferred_asks',
  area: 'control',
  async up(db, kind) {
    const {integer} = types(kind)
    for (const column of ['asks', 'next_ask_ms'])
      await db.schema
        .alterTable('batches')
        .addColumn(column, integer, c => c.notNull().defaultTo(0))
        .execute()
    await index(db, kind, 'batches', ['next_ask_ms'], {where: 'settled_at is null'})
  },
}
