import {Refusal} from '../base/errors.ts'
import {type FoundKey, findKeyByHash, workedUntil} from '../store/api-keys.ts'
import type {Db} from '../store/database.ts'
import {findOrganisationUser} from '../store/users.ts'
import {type Access, asMember, heldByKey, type Person} from './access.ts'
import type {Authenticator, Showing} from './authenticator.ts'
import {hashKey} from './keys.ts'
import {findPerson} from './person.ts'
import {type SignInNeed, type SignInNeeds, signInNeed} from './sign-in-needs.ts'

/** A found key or token, with what ends it. It may be remembered: call `requireLive` each time it is used. */
export interface KnownKey {
  readonly access: Access
  /** ISO 8601 UTC; null where it works without end, or ended at a time that was not noted. */
  readonly expires_at: string | null
  /** The same as a number, for every call; `-Infinity` for one that has ended, `Infinity` without end. */
  readonly expires_at_ms: number
  readonly workspace_archived: boolean
  /** Of the key of a user, where its organisation has the setting. */
  readonly needs_sign_in: SignInNeed | null
}

/** API keys of every kind. The key of a user does what its scopes say, as far as the user's role goes. */
export function apiKeys(db: Db, needs: Pick<SignInNeeds, 'check'>): Authenticator {
  return {recognises: () => true, authenticate: (key, showing) => accessByKey(db, needs, key, showing)}
}

async function accessByKey(
  db: Db,
  needs: Pick<SignInNeeds, 'check'>,
  key: string,
  {now, client_ip}: Showing,
): Promise<Access> {
  const row = await findKeyByHash(db, hashKey(key))
  if (!row) throw new Refusal('key.unknown')
  const known = knownKey(row)
  const access = requireLive(known, Date.parse(now))
  await needs.check(known.needs_sign_in, client_ip)
  return row.kind === 'workspace-user' && row.user_id !== null ? boundToUser(db, access, row.user_id) : access
}

/** Reads the row of a key. The role of its user, which is in other rows, is left out. */
export function knownKey(row: FoundKey): KnownKey {
  const {id, kind, organisation_id, workspace_id, user_id} = row
  const expires_at = workedUntil(row)
  return {
    access: {
      subject: {kind: 'api_key', id, key_kind: kind, user_id},
      organisation_id,
      reach: workspace_id === null ? {kind: 'organisation'} : {kind: 'workspace', workspace_id},
      scopes: heldByKey(kind, JSON.parse(row.scopes) as string[]),
      person: null,
    },
    expires_at,
    expires_at_ms: row.status === 'expired' ? -Infinity : expires_at === null ? Infinity : Date.parse(expires_at),
    workspace_archived: row.workspace_status === 'archived',
    needs_sign_in: signInNeed(row),
  }
}

/** Refuses a key or a token that has ended by `now_ms`, or whose workspace is archived. */
export function requireLive({access, expires_at, expires_at_ms, workspace_archived}: KnownKey, now_ms: number): Access {
  if (expires_at_ms <= now_ms) {
    if (access.subject.kind === 'token') throw new Refusal('token.time', {reason: `expired at ${expires_at}`})
    throw new Refusal('key.expired', {expires_at: expires_at ?? 'an earlier time'})
  }
  if (workspace_archived) throw new Refusal('workspace.archived')
  return access
}

async function boundToUser(db: Db, access: Access, user_id: string): Promise<Access> {
  const user = await findOrganisationUser(db, access.organisation_id, user_id)
  if (user?.status !== 'active') throw new Refusal('key.unknown')
  const {person} = await findPerson(db, access.organisation_id, user_id, user.role)
  const of_key: Access = {...access, person: {...person, memberships: null}}
  if (!person.memberships) return {...of_key, scopes: heldByRole(access, person)}
  const {reach} = access
  const membership = person.memberships.find(
    ({workspace_id}) => reach.kind === 'workspace' && workspace_id === reach.workspace_id,
  )
  if (!membership) throw new Refusal('key.unknown')
  return {...asMember(of_key, membership), scopes: heldByRole(access, {role_scopes: membership.scopes})}
}

function heldByRole({scopes}: Access, {role_scopes}: Pick<Person, 'role_scopes'>): Access['scopes'] {
  return scopes === 'all' ? role_scopes : new Set([...scopes].filter(scope => role_scopes.has(scope)))
}
