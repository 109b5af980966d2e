import {Refusal} from '../base/errors.ts'
import type {Db} from '../store/database.ts'
import {findSessionByHash} from '../store/sessions.ts'
import type {Access} from './access.ts'
import type {Authenticator} from './authenticator.ts'
import {hashKey, isSessionToken} from './keys.ts'
import {findPerson} from './person.ts'

/** Persons, by the token of a session that was opened here. */
export function sessions(db: Db): Authenticator {
  return {recognises: isSessionToken, authenticate: (token, {now}) => accessBySession(db, token, now)}
}

async function accessBySession(db: Db, token: string, now: string): Promise<Access> {
  const session = await findSessionByHash(db, hashKey(token))
  if (!session || session.revoked_at !== null || session.user_status !== 'active') throw new Refusal('session.unknown')
  if (session.expires_at <= now) throw new Refusal('session.expired', {expires_at: session.expires_at})
  const {organisation_id, user_id, role} = session
  const {person, reach} = await findPerson(db, organisation_id, user_id, role)
  return {subject: {kind: 'user', id: user_id}, organisation_id, reach, scopes: person.role_scopes, person}
}
