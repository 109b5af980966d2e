import {newId} from '../base/ids.ts'
import {makeSessionToken} from '../identity/keys.ts'
import type {Db} from '../store/database.ts'
import {insertSession} from '../store/sessions.ts'

/** Opens a session of a user and says its token, which is kept as a hash. */
export async function openSession(
  db: Db,
  {
    organisation_id,
    user_id,
    ttl_s,
  }: {readonly organisation_id: string; readonly user_id: string; readonly ttl_s: number},
  now: string,
): Promise<{readonly id: string; readonly token: string; readonly expires_at: string}> {
  const {key: token, hash} = makeSessionToken()
  const id = newId()
  const expires_at = new Date(Date.parse(now) + ttl_s * 1000).toISOString()
  await insertSession(db, {
    id,
    organisation_id,
    user_id,
    token_hash: hash,
    created_at: now,
    expires_at,
    revoked_at: null,
  })
  return {id, token, expires_at}
}
