import {type Kysely, sql} from 'kysely'
import {index, type Kind, type Migration, strict, types} from './support.ts'

/** Directories outside: the domains of an organisation, and the people and groups that SCIM brings. */
export const directories: Migration = {
  name: '0028_directories',
  area: 'control',
  async up(db, kind) {
    const {integer, text} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('domains')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('domain', text, c => c.notNull())
        .addColumn('allow_subdomains', integer, c => c.notNull())
        .addColumn('status', text, c => c.notNull())
        .addColumn('code', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('verified_at', text),
    ).execute()
    await index(db, kind, 'domains', ['organisation_id', 'domain'], {unique: true})
    await index(db, kind, 'domains', ['domain'], {unique: true, where: "status = 'verified'"})
    await strict(
      kind,
      db.schema
        .createTable('scim_tokens')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('name', text, c => c.notNull())
        .addColumn('token_hash', text, c => c.notNull().unique())
        .addColumn('masked', text, c => c.notNull())
        .addColumn('gives_owners', integer, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('expires_at', text)
        .addColumn('last_used_at', text)
        .addColumn('revoked_at', text),
    ).execute()
    await index(db, kind, 'scim_tokens', ['organisation_id', 'created_at'])
    await people(db, kind)
  },
}

async function people(db: Kysely<unknown>, kind: Kind) {
  const {integer, text} = types(kind)
  await strict(
    kind,
    db.schema
      .createTable('scim_users')
      .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
      .addColumn('user_id', text, c => c.notNull().references('users.id'))
      .addColumn('external_id', text)
      .addColumn('user_name', text, c => c.notNull())
      .addColumn('addresses', text, c => c.notNull())
      .addColumn('resource', text, c => c.notNull())
      .addColumn('version', integer, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('last_updated_at', text, c => c.notNull())
      .addColumn('deleted_at', text)
      .addPrimaryKeyConstraint('scim_users_row', ['organisation_id', 'user_id']),
  ).execute()
  await index(db, kind, 'scim_users', ['organisation_id', 'external_id'], {
    unique: true,
    where: 'external_id is not null and deleted_at is null',
  })
  await index(db, kind, 'scim_users', ['organisation_id', 'user_name'])
  await strict(
    kind,
    db.schema
      .createTable('scim_group_members')
      .addColumn('group_id', text, c => c.notNull().references('scim_groups.id'))
      .addColumn('user_id', text, c => c.notNull().references('users.id'))
      .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
      .addPrimaryKeyConstraint('scim_group_members_row', ['group_id', 'user_id']),
  ).execute()
  await index(db, kind, 'scim_group_members', ['user_id', 'organisation_id'])
  for (const [name, type] of [
    ['name_folded', text],
    ['external_id', text],
    ['resource', text],
    ['version', integer],
    ['last_updated_at', text],
    ['deleted_at', text],
  ] as const)
    await db.schema.alterTable('scim_groups').addColumn(name, type).execute()
  await sql`update scim_groups set name_folded = lower(name), version = 0`.execute(db)
  await index(db, kind, 'scim_groups', ['organisation_id', 'name_folded'])
  await db.schema.alterTable('scim_mappings').addColumn('is_automatic', integer).execute()
  await db.schema.alterTable('workspaces').addColumn('made_by_scim', integer).execute()
  await db.schema.alterTable('workspace_users').addColumn('source', text).execute()
  await db.schema.alterTable('organisation_users').addColumn('role_source', text).execute()
}
