import {type Migration, types} from './support.ts'

/** What a write changed stands in its record: each field before and after, as JSON. */
export const auditChanges: Migration = {
  name: '0019_audit_changes',
  area: 'control',
  async up(db, kind) {
    await db.schema.alterTable('audit_logs').addColumn('changes', types(kind).text).execute()
  },
}
