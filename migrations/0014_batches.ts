import {index, type Migration, strict, types} from './support.ts'

/** Batches that calls made at providers, with whom they are to be charged to once they are done. */
export const batches: Migration = {
  name: '0014_batches',
  area: 'control',
  async up(db, kind) {
    const {text} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('batches')
        .addColumn('call_id', text, c => c.primaryKey())
        .addColumn('workspace_id', text, c => c.notNull())
        .addColumn('provider', text, c => c.notNull())
        .addColumn('integration_id', text, c => c.notNull())
        .addColumn('batch_id', text, c => c.notNull())
        .addColumn('charge', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('settled_at', text),
    ).execute()
    await index(db, kind, 'batches', ['workspace_id', 'batch_id', 'provider', 'integration_id'], {unique: true})
  },
}
