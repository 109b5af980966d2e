import {index, type Migration, strict, types} from './support.ts'

/** Saved guardrails with their versions, and what runs on every call of an organisation. */
export const guardrails: Migration = {
  name: '0006_guardrails',
  area: 'control',
  async up(db, kind) {
    const {text, integer, bytes} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('guardrails')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('slug', text, c => c.notNull().unique())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('workspace_id', text, c => c.references('workspaces.id'))
        .addColumn('name', text, c => c.notNull())
        .addColumn('status', text, c => c.notNull())
        .addColumn('version_id', text, c => c.notNull())
        .addColumn('owner_id', text)
        .addColumn('updated_by', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'guardrails', ['organisation_id', 'created_at'])
    await index(db, kind, 'guardrails', ['workspace_id', 'created_at'])
    await strict(
      kind,
      db.schema
        .createTable('guardrail_versions')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('guardrail_id', text, c => c.notNull().references('guardrails.id'))
        .addColumn('version', integer, c => c.notNull())
        .addColumn('checks', text, c => c.notNull())
        .addColumn('checks_sealed', bytes)
        .addColumn('actions', text, c => c.notNull())
        .addColumn('updated_by', text)
        .addColumn('created_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'guardrail_versions', ['guardrail_id', 'version'], {unique: true})
    await db.schema.alterTable('organisations').addColumn('defaults', text).execute()
  },
}
