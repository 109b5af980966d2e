import {type CreateTableBuilder, type Kysely, sql} from 'kysely'
import {index, type Kind, type Migration, strict, types} from './support.ts'

/** Sign-in by what the house has: connections to identity providers, links to their people, sessions of browsers. */
export const signIn: Migration = {
  name: '0029_sign_in',
  area: 'control',
  async up(db, kind) {
    const {bytes, integer, text} = types(kind)
    await table(kind, db, 'connections', t =>
      t
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('name', text, c => c.notNull())
        .addColumn('type', text, c => c.notNull())
        .addColumn('is_enabled', integer, c => c.notNull())
        .addColumn('domains', text, c => c.notNull())
        .addColumn('settings', text, c => c.notNull())
        .addColumn('secrets', bytes)
        .addColumn('lets_owners_in', integer, c => c.notNull())
        .addColumn('revision', integer, c => c.notNull())
        .addColumn('position', integer, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    )
    await index(db, kind, 'connections', ['organisation_id', 'name'], {unique: true})
    await table(kind, db, 'identities', t =>
      t
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('issuer', text, c => c.notNull())
        .addColumn('subject', text, c => c.notNull())
        .addColumn('user_id', text, c => c.notNull().references('users.id'))
        .addColumn('email', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_seen_at', text, c => c.notNull()),
    )
    await index(db, kind, 'identities', ['organisation_id', 'issuer', 'subject'], {unique: true})
    await index(db, kind, 'identities', ['user_id'])
    await underWay(db, kind)
    await sessions(db, kind)
  },
}

async function underWay(db: Kysely<unknown>, kind: Kind) {
  const {bytes, integer, text} = types(kind)
  await table(kind, db, 'sign_ins', t =>
    t
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
      .addColumn('connection_id', text, c => c.notNull())
      .addColumn('connection_revision', integer, c => c.notNull())
      .addColumn('type', text, c => c.notNull())
      .addColumn('state_hash', text, c => c.notNull().unique())
      .addColumn('browser_hash', text, c => c.notNull())
      .addColumn('secrets', bytes)
      .addColumn('request_id', text)
      .addColumn('return_to', text, c => c.notNull())
      .addColumn('user_id', text)
      .addColumn('invite_id', text)
      .addColumn('client_ip', text)
      .addColumn('handle_hash', text)
      .addColumn('result', bytes)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull())
      .addColumn('used_at', text),
  )
  await index(db, kind, 'sign_ins', ['request_id'], {unique: true, where: 'request_id is not null'})
  await index(db, kind, 'sign_ins', ['handle_hash'], {unique: true, where: 'handle_hash is not null'})
  await index(db, kind, 'sign_ins', ['expires_at'])
  await table(kind, db, 'seen_assertions', t =>
    t.addColumn('hash', text, c => c.primaryKey()).addColumn('expires_at', text, c => c.notNull()),
  )
  await table(kind, db, 'sign_in_failures', t =>
    t
      .addColumn('key', text, c => c.primaryKey())
      .addColumn('count', integer, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull()),
  )
  await table(kind, db, 'user_passwords', t =>
    t
      .addColumn('user_id', text, c => c.primaryKey().references('users.id'))
      .addColumn('phc', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull()),
  )
  await table(kind, db, 'login_codes', t =>
    t
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('kind', text, c => c.notNull())
      .addColumn('code_hash', text, c => c.notNull().unique())
      .addColumn('user_code_hash', text)
      .addColumn('client', text, c => c.notNull())
      .addColumn('host', text, c => c.notNull())
      .addColumn('client_ip', text)
      .addColumn('challenge', text)
      .addColumn('status', text, c => c.notNull())
      .addColumn('organisation_id', text)
      .addColumn('user_id', text)
      .addColumn('method', text)
      .addColumn('connection_id', text)
      .addColumn('session_ends_at', text)
      .addColumn('interval_s', integer, c => c.notNull())
      .addColumn('polled_at', text)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull()),
  )
  await index(db, kind, 'login_codes', ['user_code_hash'])
  await index(db, kind, 'login_codes', ['user_id'])
}

/** Sessions that are there were opened by the operator or by an invite: both keep the life they were given. */
async function sessions(db: Kysely<unknown>, kind: Kind) {
  const {bytes, integer, text} = types(kind)
  for (const [name, type] of [
    ['kind', text],
    ['method', text],
    ['connection_id', text],
    ['client_ip', text],
    ['user_agent', text],
    ['last_seen_at', text],
    ['idle_timeout_s', integer],
    ['id_token', bytes],
  ] as const)
    await db.schema.alterTable('sessions').addColumn(name, type).execute()
  await sql`update sessions set kind = 'operator', method = 'operator'`.execute(db)
}

async function table(
  kind: Kind,
  db: Kysely<unknown>,
  name: string,
  columns: (builder: CreateTableBuilder<string, never>) => CreateTableBuilder<string, string>,
) {
  await strict(kind, columns(db.schema.createTable(name) as CreateTableBuilder<string, never>)).execute()
}
