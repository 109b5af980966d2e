import {index, type Migration, strict, types} from './support.ts'

/** Organisations, workspaces, API keys, the audit log, and what the store knows of itself. */
export const identity: Migration = {
  name: '0001_identity',
  area: 'control',
  async up(db, kind) {
    const {text, integer} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('meta')
        .addColumn('key', text, c => c.primaryKey())
        .addColumn('value', text, c => c.notNull()),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('revisions')
        .addColumn('name', text, c => c.primaryKey())
        .addColumn('revision', integer, c => c.notNull()),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('organisations')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('slug', text, c => c.notNull().unique())
        .addColumn('name', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('workspaces')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('slug', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('name', text, c => c.notNull())
        .addColumn('description', text)
        .addColumn('icon', text)
        .addColumn('is_default', integer, c => c.notNull())
        .addColumn('status', text, c => c.notNull())
        .addColumn('defaults', text)
        .addColumn('usage_limits', text)
        .addColumn('rate_limits', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'workspaces', ['organisation_id', 'slug'], {unique: true})
    await strict(
      kind,
      db.schema
        .createTable('api_keys')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('workspace_id', text, c => c.references('workspaces.id'))
        .addColumn('user_id', text)
        .addColumn('kind', text, c => c.notNull())
        .addColumn('name', text, c => c.notNull())
        .addColumn('description', text)
        .addColumn('key_hash', text, c => c.notNull().unique())
        .addColumn('key_masked', text, c => c.notNull())
        .addColumn('scopes', text, c => c.notNull())
        .addColumn('usage_limits', text)
        .addColumn('rate_limits', text)
        .addColumn('defaults', text)
        .addColumn('alert_emails', text)
        .addColumn('status', text, c => c.notNull())
        .addColumn('creation_mode', text, c => c.notNull())
        .addColumn('expires_at', text)
        .addColumn('last_reset_at', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'api_keys', ['organisation_id', 'created_at'])
    await index(db, kind, 'api_keys', ['workspace_id', 'created_at'])
    await strict(
      kind,
      db.schema
        .createTable('audit_logs')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('at', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull())
        .addColumn('workspace_id', text)
        .addColumn('actor_type', text, c => c.notNull())
        .addColumn('actor_id', text)
        .addColumn('method', text, c => c.notNull())
        .addColumn('uri', text, c => c.notNull())
        .addColumn('request_id', text, c => c.notNull())
        .addColumn('request_headers', text, c => c.notNull())
        .addColumn('request_body', text)
        .addColumn('query_params', text)
        .addColumn('status', integer, c => c.notNull())
        .addColumn('resource_type', text, c => c.notNull())
        .addColumn('resource_id', text)
        .addColumn('action', text, c => c.notNull())
        .addColumn('client_ip', text),
    ).execute()
    await index(db, kind, 'audit_logs', ['organisation_id', 'at', 'id'])
  },
}
