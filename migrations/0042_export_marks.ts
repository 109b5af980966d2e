import {type Migration, strict, types} from './support.ts'

/** How far each export of telemetry has read the journal of each writer. */
export const exportMarks: Migration = {
  name: '0042_export_marks',
  area: 'traffic',
  async up(db, kind) {
    const {integer, text} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('traffic.export_marks')
        .addColumn('writer', text, c => c.notNull())
        .addColumn('export', text, c => c.notNull())
        .addColumn('epoch', integer, c => c.notNull())
        .addColumn('segment', integer, c => c.notNull())
        .addColumn('position', integer, c => c.notNull())
        .addPrimaryKeyConstraint('export_marks_row', ['writer', 'export']),
    ).execute()
  },
}
