import {index, type Migration, strict, types} from './support.ts'

/** Files at providers whose rows guardrails have let pass, so that a batch of one is not judged again. */
export const judgedFiles: Migration = {
  name: '0026_judged_files',
  area: 'control',
  async up(db, kind) {
    const {integer, text} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('judged_files')
        .addColumn('key', text, c => c.primaryKey())
        .addColumn('digest', text, c => c.notNull())
        .addColumn('judged_at_ms', integer, c => c.notNull()),
    ).execute()
    await index(db, kind, 'judged_files', ['judged_at_ms'])
  },
}
