import {sql} from 'kysely'
import {type Migration, strict, types} from './support.ts'

/** The last time that an identity provider let each person in: keys may need one. Sessions and links may be gone. */
export const lastSignIns: Migration = {
  name: '0031_last_sign_ins',
  area: 'control',
  async up(db, kind) {
    const {text} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('last_sign_ins')
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('user_id', text, c => c.notNull().references('users.id'))
        .addColumn('at', text, c => c.notNull())
        .addPrimaryKeyConstraint('last_sign_ins_key', ['organisation_id', 'user_id'] as never),
    ).execute()
    await sql`
      insert into last_sign_ins (organisation_id, user_id, at)
      select organisation_id, user_id, max(at) from (
        select organisation_id, user_id, created_at as at from sessions
        where method in ('oidc', 'saml', 'ldap') and kind = 'browser'
        union all
        select organisation_id, user_id, last_seen_at as at from identities where last_seen_at > created_at
      ) as seen group by organisation_id, user_id`.execute(db)
  },
}
