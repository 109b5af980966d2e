import type {IncomingHttpHeaders} from 'node:http'
import {Refusal} from '../base/errors.ts'
import {hashKey, isSessionToken, sentKey} from '../identity/keys.ts'
import {scopesOfRole, seesAll} from '../identity/roles.ts'
import {securityIn} from '../schema/organisations.ts'
import {findKeyByHash, workedUntil} from '../store/api-keys.ts'
import type {Db} from '../store/database.ts'
import {membershipsOf} from '../store/members.ts'
import {findOrganisation} from '../store/organisations.ts'
import {findSessionByHash} from '../store/sessions.ts'
import type {OrganisationRole} from '../store/tables/people.ts'
import {findOrganisationUser} from '../store/users.ts'
import type {Actor, Membership} from './services.ts'

/**
 * The caller whose key or session token the headers carry. Refuses one that is missing, unknown, or works no longer.
 */
export async function callerByHeaders(db: Db, headers: IncomingHttpHeaders, now: string): Promise<Actor> {
  const {key, prefix} = sentKey(headers)
  if (key === undefined) throw new Refusal('key.missing', {header: `${prefix}-api-key`})
  return isSessionToken(key) ? callerBySession(db, key, now) : callerByKey(db, key, now)
}

async function callerByKey(db: Db, key: string, now: string): Promise<Actor> {
  const row = await findKeyByHash(db, hashKey(key))
  if (!row) throw new Refusal('key.unknown')
  const expires_at = workedUntil(row)
  if (row.status === 'expired' || (expires_at !== null && expires_at <= now)) {
    throw new Refusal('key.expired', {expires_at: expires_at ?? 'an earlier time'})
  }
  if (row.workspace_status === 'archived') throw new Refusal('workspace.archived')
  const {id, kind, organisation_id, workspace_id, user_id} = row
  const scopes = new Set(JSON.parse(row.scopes) as string[])
  const actor: Actor = {type: 'api_key', id, kind, organisation_id, workspace_id, user_id, scopes}
  return kind === 'workspace-user' && user_id !== null ? boundToUser(db, actor, scopes, user_id) : actor
}

/** A user's key does what its scopes say, as far as the user's role goes. */
async function boundToUser(db: Db, actor: Actor, scopes: ReadonlySet<string>, user_id: string): Promise<Actor> {
  const user = await findOrganisationUser(db, actor.organisation_id, user_id)
  if (user?.status !== 'active') throw new Refusal('key.unknown')
  const standing = await standingOf(db, actor.organisation_id, user_id, user.role)
  if (!standing.memberships) {
    return {
      ...actor,
      organisation_role: user.role,
      workspace_role: 'admin',
      role_scopes: standing.scopes,
      scopes: both(scopes, standing.scopes),
    }
  }
  const membership = standing.memberships.find(each => each.workspace_id === actor.workspace_id)
  if (!membership) throw new Refusal('key.unknown')
  return {...asMember(actor, membership), organisation_role: user.role, scopes: both(scopes, membership.scopes)}
}

async function callerBySession(db: Db, token: string, now: string): Promise<Actor> {
  const session = await findSessionByHash(db, hashKey(token))
  if (!session || session.revoked_at !== null || session.user_status !== 'active') throw new Refusal('session.unknown')
  if (session.expires_at <= now) throw new Refusal('session.expired', {expires_at: session.expires_at})
  const {organisation_id, user_id, role} = session
  const {scopes, memberships} = await standingOf(db, organisation_id, user_id, role)
  const actor: Actor = {
    type: 'user',
    id: user_id,
    kind: 'user',
    organisation_id,
    workspace_id: null,
    user_id,
    scopes,
    role_scopes: scopes,
    organisation_role: role,
  }
  return memberships ? {...actor, workspace_id: '', memberships} : actor
}

/** The permissions of a user: everywhere, or in each of the workspaces he is a member of. */
async function standingOf(
  db: Db,
  organisation_id: string,
  user_id: string,
  role: OrganisationRole,
): Promise<{readonly scopes: ReadonlySet<string>; readonly memberships?: readonly Membership[]}> {
  const organisation = await findOrganisation(db, organisation_id)
  if (role !== 'member') return {scopes: scopesOfRole(`organisation ${role}`, securityIn(organisation?.settings))}
  const memberships = (await membershipsOf(db, organisation_id, user_id)).map(({workspace_settings, ...row}) => {
    const security = securityIn(organisation?.settings, workspace_settings)
    return {
      ...row,
      scopes: scopesOfRole(`workspace ${row.role}`, security),
      sees_own_only: !seesAll(row.role, security),
    }
  })
  return {scopes: new Set(memberships.flatMap(({scopes}) => [...scopes])), memberships}
}

/**
 * The user with his role in the workspace of a call: the one it names by id or slug, else the only one he is in.
 * Undefined when he is in several and none is named. One that he is not in is not found.
 */
export function inWorkspace(actor: Actor, named: string | undefined): Actor | undefined {
  const {memberships = []} = actor
  if (named === undefined && memberships.length !== 1) return undefined
  const membership =
    named === undefined
      ? memberships[0]
      : memberships.find(({workspace_id, slug}) => named === workspace_id || named === slug)
  if (!membership) throw new Refusal('row.not_found', {object: 'workspace'})
  return {...asMember(actor, membership), scopes: membership.scopes}
}

/** True for a user whose workspace for this call is not known. */
export function needsWorkspace({workspace_id}: Actor): boolean {
  return workspace_id === ''
}

function asMember(actor: Actor, {workspace_id, role, scopes, sees_own_only}: Membership): Actor {
  return {...actor, workspace_id, workspace_role: role, role_scopes: scopes, sees_own_only}
}

function both(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...one].filter(scope => other.has(scope)))
}

/** The caller of an operation that is open to everyone: it reaches no row. */
export const ANONYMOUS: Actor = {
  type: 'api_key',
  id: null,
  kind: 'workspace-user',
  organisation_id: '',
  workspace_id: '',
  user_id: null,
  scopes: new Set(),
}
