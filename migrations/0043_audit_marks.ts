import {type Migration, strict, types} from './support.ts'

/** How far each sink of the audit log has taken the chain of each organisation. */
export const auditMarks: Migration = {
  name: '0043_audit_marks',
  area: 'control',
  async up(db, kind) {
    const {integer, text} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('audit_marks')
        .addColumn('sink', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull())
        .addColumn('sequence', integer, c => c.notNull())
        .addColumn('chain', text, c => c.notNull())
        .addPrimaryKeyConstraint('audit_marks_row', ['sink', 'organisation_id']),
    ).execute()
  },
}
