import {index, type Migration, strict, types} from './support.ts'

/**
 * Prices that were installed here. A revision holds from `effective_at` until it is withdrawn; a price of it that is
 * null takes the model's price of an earlier revision away. Rows are never changed: what a call was charged at can be
 * read for ever.
 */
export const prices: Migration = {
  name: '0007_prices',
  area: 'control',
  async up(db, kind) {
    const {text, integer} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('price_revisions')
        .addColumn('revision', integer, c => c.primaryKey())
        .addColumn('kind', text, c => c.notNull())
        .addColumn('origin', text, c => c.notNull())
        .addColumn('digest', text, c => c.notNull())
        .addColumn('key_id', text)
        .addColumn('serial', integer)
        .addColumn('effective_at', text, c => c.notNull())
        .addColumn('withdrawn_at', text)
        .addColumn('added', integer, c => c.notNull())
        .addColumn('changed', integer, c => c.notNull())
        .addColumn('removed', integer, c => c.notNull())
        .addColumn('created_by', text)
        .addColumn('created_at', text, c => c.notNull()),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('prices')
        .addColumn('revision', integer, c => c.notNull().references('price_revisions.revision'))
        .addColumn('provider', text, c => c.notNull())
        .addColumn('model', text, c => c.notNull())
        .addColumn('price', text)
        .addPrimaryKeyConstraint('prices_key', ['revision', 'provider', 'model']),
    ).execute()
    await index(db, kind, 'prices', ['provider', 'model'])
  },
}
