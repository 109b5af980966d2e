import type {Db} from './database.ts'
import type {ScimTokensTable} from './tables/directories.ts'

/** Those that work, the oldest first. */
export function listScimTokens(db: Db, organisation_id: string, now: string): Promise<ScimTokensTable[]> {
  return db
    .selectFrom('scim_tokens')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('revoked_at', 'is', null)
    .where(e => e.or([e('expires_at', 'is', null), e('expires_at', '>', now)]))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export function findScimTokenByHash(db: Db, token_hash: string): Promise<ScimTokensTable | undefined> {
  return db.selectFrom('scim_tokens').selectAll().where('token_hash', '=', token_hash).executeTakeFirst()
}

export async function insertScimToken(db: Db, row: ScimTokensTable) {
  await db.insertInto('scim_tokens').values(row).execute()
}

/** False when the organisation has none of this id that works. */
export async function revokeScimToken(db: Db, organisation_id: string, id: string, now: string): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('scim_tokens')
    .set({revoked_at: now})
    .where('organisation_id', '=', organisation_id)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function noteScimTokenUse(db: Db, id: string, now: string) {
  await db.updateTable('scim_tokens').set({last_used_at: now}).where('id', '=', id).execute()
}
