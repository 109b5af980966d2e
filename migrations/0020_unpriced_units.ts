import {type Migration, strict, types} from './support.ts'

/** What was used without a price, by the hour. */
export const unpricedUnits: Migration = {
  name: '0020_unpriced_units',
  area: 'traffic',
  async up(db, kind) {
    const {text, integer} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('traffic.unpriced_hourly')
        .addColumn('hour', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull())
        .addColumn('workspace_id', text, c => c.notNull())
        .addColumn('api_key_id', text, c => c.notNull())
        .addColumn('provider', text, c => c.notNull())
        .addColumn('model', text, c => c.notNull())
        .addColumn('unit', text, c => c.notNull())
        .addColumn('requests', integer, c => c.notNull())
        .addPrimaryKeyConstraint('unpriced_hourly_key', [
          'hour',
          'workspace_id',
          'api_key_id',
          'provider',
          'model',
          'unit',
        ]),
    ).execute()
  },
}
