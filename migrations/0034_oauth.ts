import type {CreateTableBuilder, Kysely} from 'kysely'
import {index, type Kind, type Migration, strict, types} from './support.ts'

/** Clients of MCP that come by OAuth: who they are, what people let them do, and the tokens that they were given. */
export const oauth: Migration = {
  name: '0034_oauth',
  area: 'control',
  async up(db, kind) {
    await clients(db, kind)
    await transactions(db, kind)
    await grants(db, kind)
  },
}

async function clients(db: Kysely<unknown>, kind: Kind) {
  const {integer, text} = types(kind)
  await table(kind, db, 'mcp_oauth_clients', t =>
    t
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('kind', text, c => c.notNull())
      .addColumn('organisation_id', text, c => c.references('organisations.id'))
      .addColumn('workspace_id', text)
      .addColumn('name', text, c => c.notNull())
      .addColumn('secret_hash', text)
      .addColumn('auth_method', text, c => c.notNull())
      .addColumn('redirect_uris', text, c => c.notNull())
      .addColumn('grant_types', text, c => c.notNull())
      .addColumn('scopes', text)
      .addColumn('details', text, c => c.notNull())
      .addColumn('skips_consent', integer, c => c.notNull())
      .addColumn('created_by', text)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('last_updated_at', text, c => c.notNull())
      .addColumn('last_used_at', text)
      .addColumn('expires_at', text),
  )
  await index(db, kind, 'mcp_oauth_clients', ['organisation_id'])
  await index(db, kind, 'mcp_oauth_clients', ['kind', 'last_used_at', 'created_at'])
}

async function transactions(db: Kysely<unknown>, kind: Kind) {
  const {bytes, integer, text} = types(kind)
  await table(kind, db, 'mcp_oauth_transactions', t =>
    t
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('handle_hash', text, c => c.notNull().unique())
      .addColumn('client_id', text, c => c.notNull())
      .addColumn('redirect_uri', text, c => c.notNull())
      .addColumn('state', bytes)
      .addColumn('code_challenge', text, c => c.notNull())
      .addColumn('scopes', text, c => c.notNull())
      .addColumn('workspace_named', text)
      .addColumn('server_named', text)
      .addColumn('asks_again', integer, c => c.notNull())
      .addColumn('organisation_id', text)
      .addColumn('user_id', text)
      .addColumn('client_ip', text)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull())
      .addColumn('used_at', text),
  )
  await index(db, kind, 'mcp_oauth_transactions', ['expires_at'])
  await index(db, kind, 'mcp_oauth_transactions', ['user_id'])
}

async function grants(db: Kysely<unknown>, kind: Kind) {
  const {integer, text} = types(kind)
  await table(kind, db, 'mcp_oauth_grants', t =>
    t
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('client_id', text, c => c.notNull())
      .addColumn('user_id', text, c => c.references('users.id'))
      .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
      .addColumn('workspace_id', text, c => c.notNull())
      .addColumn('server_id', text, c => c.notNull())
      .addColumn('resource', text, c => c.notNull())
      .addColumn('scopes', text, c => c.notNull())
      .addColumn('redirect_uri', text)
      .addColumn('code_hash', text)
      .addColumn('code_challenge', text)
      .addColumn('code_expires_at', text)
      .addColumn('code_used_at', text)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull())
      .addColumn('last_used_at', text)
      .addColumn('revoked_at', text)
      .addColumn('revoked_for', text),
  )
  await index(db, kind, 'mcp_oauth_grants', ['code_hash'], {unique: true, where: 'code_hash is not null'})
  for (const column of ['user_id', 'client_id', 'expires_at']) await index(db, kind, 'mcp_oauth_grants', [column])
  await table(kind, db, 'mcp_oauth_tokens', t =>
    t
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('grant_id', text, c => c.notNull())
      .addColumn('kind', text, c => c.notNull())
      .addColumn('token_hash', text, c => c.notNull().unique())
      .addColumn('scopes', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull())
      .addColumn('rotated_at', text)
      .addColumn('reuses', integer, c => c.notNull())
      .addColumn('revoked_at', text),
  )
  for (const column of ['grant_id', 'expires_at']) await index(db, kind, 'mcp_oauth_tokens', [column])
  await table(kind, db, 'mcp_oauth_consents', t =>
    t
      .addColumn('key', text, c => c.primaryKey())
      .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
      .addColumn('user_id', text, c => c.notNull().references('users.id'))
      .addColumn('client_id', text, c => c.notNull())
      .addColumn('server_id', text, c => c.notNull())
      .addColumn('scopes', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull()),
  )
  for (const column of ['user_id', 'client_id', 'expires_at']) await index(db, kind, 'mcp_oauth_consents', [column])
}

async function table(
  kind: Kind,
  db: Kysely<unknown>,
  name: string,
  columns: (builder: CreateTableBuilder<string, never>) => CreateTableBuilder<string, string>,
) {
  await strict(kind, columns(db.schema.createTable(name) as CreateTableBuilder<string, never>)).execute()
}
