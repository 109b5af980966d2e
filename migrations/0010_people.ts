import {type Kysely, sql} from 'kysely'
import {index, type Kind, type Migration, strict, types} from './support.ts'

/**
 * People: users, their roles, invites and sessions; settings of organisations and workspaces; keys in transition; the
 * chain of the audit log.
 */
export const people: Migration = {
  name: '0010_people',
  area: 'control',
  async up(db, kind) {
    const {text} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('users')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('email', text, c => c.notNull().unique())
        .addColumn('first_name', text)
        .addColumn('last_name', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('organisation_users')
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('user_id', text, c => c.notNull().references('users.id'))
        .addColumn('role', text, c => c.notNull())
        .addColumn('status', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull())
        .addPrimaryKeyConstraint('organisation_users_row', ['organisation_id', 'user_id']),
    ).execute()
    await index(db, kind, 'organisation_users', ['user_id'])
    await strict(
      kind,
      db.schema
        .createTable('workspace_users')
        .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
        .addColumn('user_id', text, c => c.notNull().references('users.id'))
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('role', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull())
        .addPrimaryKeyConstraint('workspace_users_row', ['workspace_id', 'user_id']),
    ).execute()
    await index(db, kind, 'workspace_users', ['user_id', 'organisation_id'])
    await strict(
      kind,
      db.schema
        .createTable('invites')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('email', text, c => c.notNull())
        .addColumn('role', text, c => c.notNull())
        .addColumn('workspaces', text, c => c.notNull())
        .addColumn('key_scopes', text)
        .addColumn('token_hash', text, c => c.notNull().unique())
        .addColumn('status', text, c => c.notNull())
        .addColumn('invited_by', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('expires_at', text, c => c.notNull())
        .addColumn('accepted_at', text),
    ).execute()
    await index(db, kind, 'invites', ['organisation_id', 'created_at'])
    await strict(
      kind,
      db.schema
        .createTable('sessions')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('user_id', text, c => c.notNull().references('users.id'))
        .addColumn('token_hash', text, c => c.notNull().unique())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('expires_at', text, c => c.notNull())
        .addColumn('revoked_at', text),
    ).execute()
    await index(db, kind, 'sessions', ['organisation_id', 'user_id'])
    await db.schema.alterTable('organisations').addColumn('settings', text).execute()
    await db.schema.alterTable('workspaces').addColumn('settings', text).execute()
    await db.schema.alterTable('api_keys').addColumn('previous_key_hash', text).execute()
    await db.schema.alterTable('api_keys').addColumn('previous_key_expires_at', text).execute()
    await index(db, kind, 'api_keys', ['previous_key_hash'], {unique: true})
    await index(db, kind, 'api_keys', ['user_id'])
    await chain(db, kind)
  },
}

/** Rows of the audit log are linked, one chain for each organisation, and are never changed or taken away. */
async function chain(db: Kysely<unknown>, kind: Kind) {
  const {text, integer} = types(kind)
  await db.schema.alterTable('audit_logs').addColumn('sequence', integer).execute()
  await db.schema.alterTable('audit_logs').addColumn('chain', text).execute()
  await index(db, kind, 'audit_logs', ['organisation_id', 'sequence'], {unique: true})
  await strict(
    kind,
    db.schema
      .createTable('audit_chains')
      .addColumn('organisation_id', text, c => c.primaryKey())
      .addColumn('sequence', integer, c => c.notNull())
      .addColumn('chain', text, c => c.notNull()),
  ).execute()
  const said = 'the audit log is only added to'
  if (kind === 'sqlite') {
    for (const deed of ['update', 'delete']) {
      await sql`create trigger ${sql.raw(`audit_logs_no_${deed}`)} before ${sql.raw(deed)} on audit_logs begin select raise(abort, ${sql.lit(said)}); end`.execute(
        db,
      )
    }
    return
  }
  await sql`create function audit_logs_stay() returns trigger language plpgsql as ${sql.lit(`begin raise exception '${said}'; end`)}`.execute(
    db,
  )
  await sql`create trigger audit_logs_stay before update or delete or truncate on audit_logs for each statement execute function audit_logs_stay()`.execute(
    db,
  )
}
