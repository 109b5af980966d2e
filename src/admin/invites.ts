import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {ANONYMOUS} from '../identity/access.ts'
import {cookieJar} from '../identity/cookies.ts'
import {hashKey, makeInviteToken, makeKey} from '../identity/keys.ts'
import {openSession} from '../identity/open-session.ts'
import {provisioningSettings, ssoSettings} from '../schema/organisation-auth.ts'
import {type KeptOrganisationSettings, keyRules, readSettings, securityIn} from '../schema/organisations.ts'
import {Empty, list, listOf} from '../schema/paging.ts'
import {
  AcceptedInvite,
  CreatedInvite,
  InviteAccept,
  InviteCreate,
  InviteParams,
  InvitesQuery,
  InviteView,
  pageOfCamel,
  ResentInvite,
} from '../schema/users.ts'
import {countUserKeys, insertKey} from '../store/api-keys.ts'
import type {Db} from '../store/database.ts'
import * as store from '../store/invites.ts'
import {findMember, insertMember} from '../store/members.ts'
import {findOrganisation} from '../store/organisations.ts'
import {findScimUser} from '../store/scim-users.ts'
import type {InvitesTable, UsersTable, WorkspaceRole} from '../store/tables/people.ts'
import {findOrganisationUser, findUserByEmail, insertUser, joinOrganisation} from '../store/users.ts'
import {findWorkspace} from '../store/workspaces.ts'
import {checkGrant, expiryUnder} from './key-rules.ts'
import {linkBase} from './link-base.ts'
import {newKey} from './new-key.ts'
import {type OperationCall, operation} from './operation.ts'
import {checkRoleGrant} from './role-rules.ts'
import type {AdminServices} from './services.ts'
import {type CallerScope, found, invalid} from './tenancy.ts'

const tag = 'User-invites'
/** How long an invite can be accepted (docs/access.md, Add people). */
const LIFETIME_MS = 2 * 86_400_000
const SESSION_S = 3600
type One = OperationCall<typeof InviteParams>

/** Invites: the way into an organisation. The maker of the invite passes the link on. */
export const invites = [
  operation({
    id: 'invites.list',
    tag,
    method: 'GET',
    path: '/admin/users/invites',
    summary: 'List invites',
    scopes: ['organisation_users.list'],
    query: InvitesQuery,
    reply: listOf(InviteView),
    handle: listed,
  }),
  operation({
    id: 'invites.create',
    tag,
    method: 'POST',
    path: '/admin/users/invites',
    summary: 'Invite a person; the link in the reply accepts for 2 days',
    scopes: ['organisation_users.create'],
    audit: {resource: 'invite', action: 'create'},
    body: InviteCreate,
    reply: CreatedInvite,
    handle: created,
  }),
  operation({
    id: 'invites.get',
    tag,
    method: 'GET',
    path: '/admin/users/invites/:inviteId',
    summary: 'Show an invite',
    scopes: ['organisation_users.read'],
    params: InviteParams,
    reply: InviteView,
    handle: async call => view(await inviteOf(call), call.now),
  }),
  operation({
    id: 'invites.delete',
    tag,
    method: 'DELETE',
    path: '/admin/users/invites/:inviteId',
    summary: 'Cancel an invite: its link works no longer',
    scopes: ['organisation_users.delete'],
    audit: {resource: 'invite', action: 'delete'},
    params: InviteParams,
    reply: Empty,
    handle: cancelled,
  }),
  operation({
    id: 'invites.resend',
    tag,
    method: 'POST',
    path: '/admin/users/invites/:inviteId/resend',
    summary: 'Make a new link for an invite, for another 2 days; the old one works no longer',
    scopes: ['organisation_users.create'],
    audit: {resource: 'invite', action: 'update'},
    params: InviteParams,
    reply: ResentInvite,
    handle: resent,
  }),
  operation({
    id: 'invites.accept',
    refuses: [401, 409],
    tag,
    method: 'POST',
    path: '/invites/accept',
    summary: 'Accept an invite with the token of its link; the reply holds a session of an hour',
    scopes: null,
    audit: {resource: 'invite', action: 'manage'},
    body: InviteAccept,
    reply: AcceptedInvite,
    handle: accepted,
  }),
] as const

async function listed({actor, db, query, now}: OperationCall<undefined, typeof InvitesQuery>) {
  const {role, email, status} = query
  const page = await store.listInvites(
    db,
    {organisation_id: actor.organisation_id, role, email, status, now},
    pageOfCamel(query),
  )
  return list(page, row => view(row, now))
}

async function created(call: OperationCall<undefined, undefined, typeof InviteCreate>) {
  const {actor, app, db, body, now} = call
  const {organisation_id} = actor
  const scopes =
    body.workspace_api_key_details && checkGrant(actor, 'workspace-user', body.workspace_api_key_details.scopes)
  if (scopes && !body.workspaces.length) throw invalid('workspace_api_key_details', 'has no effect without workspaces')
  const settings = (await findOrganisation(db, organisation_id))?.settings
  if (body.role === 'admin') checkRoleGrant(actor, 'organisation admin', securityIn(settings))
  const user = await findUserByEmail(db, body.email)
  const known = user && (await findOrganisationUser(db, organisation_id, user.id))
  if (known?.status === 'active')
    throw new Refusal('row.unfit', {
      reason: `${body.email} is a user of this organisation already. Add the user to workspaces instead.`,
    })
  const open = await store.listInvites(
    db,
    {organisation_id, email: body.email, status: 'pending', now},
    {current_page: 0, page_size: 1},
  )
  if (open.total)
    throw new Refusal('row.unfit', {
      reason: `An invite for ${body.email} is open already. Send that one again, or cancel it.`,
    })
  const workspaces = await placesOf(call, body.workspaces, settings)
  const {key, hash} = makeInviteToken()
  const id = newId()
  await store.insertInvite(db, {
    id,
    organisation_id,
    email: body.email,
    role: body.role,
    workspaces: JSON.stringify(workspaces),
    key_scopes: scopes ? JSON.stringify(scopes) : null,
    token_hash: hash,
    status: 'pending',
    invited_by: actor.subject.id,
    created_at: now,
    expires_at: after(now, LIFETIME_MS),
    accepted_at: null,
  })
  call.auditTarget(id, null)
  return {id, invite_link: linkOf(app, key), object: 'invite' as const}
}

async function cancelled(call: One) {
  const invite = await openInvite(call)
  await store.updateInvite(call.db, invite.id, {status: 'cancelled'})
  return {}
}

async function resent(call: One) {
  const {app, db, now} = call
  const invite = await openInvite(call)
  const {key, hash} = makeInviteToken()
  await store.updateInvite(db, invite.id, {token_hash: hash, expires_at: after(now, LIFETIME_MS)})
  return {inviteLink: linkOf(app, key)}
}

async function accepted(
  call: OperationCall<undefined, undefined, typeof InviteAccept>,
): Promise<z.input<typeof AcceptedInvite>> {
  const {app, db, body, now} = call
  const invite = await store.findInviteByToken(db, hashKey(body.token))
  if (!invite || statusOf(invite, now) !== 'pending') throw new Refusal('invite.unknown')
  const {organisation_id} = invite
  await requireOpenWay(call, organisation_id)
  const user = await userFor(call, invite.email)
  const before = await findOrganisationUser(db, organisation_id, user.id)
  if (before?.status === 'archived') await requireDirectory(call, organisation_id, user.id)
  if (before?.status !== 'active') {
    const times = {created_at: now, last_updated_at: now}
    await joinOrganisation(db, {
      organisation_id,
      user_id: user.id,
      role: invite.role,
      role_source: 'invite',
      status: 'active',
      ...times,
    })
  }
  const api_keys = []
  for (const {id, role} of JSON.parse(invite.workspaces) as Place[]) {
    const workspace = await findWorkspace(db, organisation_id, id)
    if (workspace?.status !== 'active') continue
    const times = {created_at: now, last_updated_at: now}
    if (!(await findMember(db, id, user.id)))
      await insertMember(db, {workspace_id: id, user_id: user.id, organisation_id, role, ...times})
    const key = await keyFor(call, invite, user, id)
    if (key) api_keys.push(key)
  }
  await store.updateInvite(db, invite.id, {status: 'accepted', accepted_at: now})
  const session = await openSession(
    db,
    {organisation_id, user_id: user.id, ttl_s: SESSION_S, kind: 'invite', method: 'invite'},
    now,
  )
  call.auditActor({...ANONYMOUS, subject: {kind: 'user', id: user.id, session_id: session.id}, organisation_id})
  call.auditTarget(invite.id, null)
  if (call.is_own_page) {
    const cookies = cookieJar(app.settings.session_cookie_secure)
    call.setCookie(cookies.set(cookies.session, session.token))
  }
  const {id, token, expires_at} = session
  const shown = {id, expires_at, ...(!call.is_own_page && {token})}
  return {user_id: user.id, organisation_id, session: shown, api_keys, object: 'accepted-invite'}
}

/**
 * An organisation that lets people in by its own sign-in alone accepts invites there: the link by itself would go past
 * it. Where the directory makes users, an invite makes none.
 */
async function requireOpenWay({db, app}: Pick<CallerScope, 'db'> & {app: AdminServices}, organisation_id: string) {
  const auth = (await findOrganisation(db, organisation_id))?.auth
  if (ssoSettings(auth).required)
    throw new Refusal('session.way', {login_url: `${linkBase(app)}/v2/auth/login?organisation_id=${organisation_id}`})
  if (provisioningSettings(auth).scim_only)
    throw new Refusal('row.unfit', {
      reason: 'Users of this organisation are made by its directory alone (provisioning.scim_only).',
    })
}

/** A person who was switched off by the directory comes back by it alone. */
async function requireDirectory({db}: Pick<CallerScope, 'db'>, organisation_id: string, user_id: string) {
  const known = await findScimUser(db, organisation_id, user_id)
  if (known?.resource)
    throw new Refusal('row.unfit', {reason: 'The directory of this organisation says that this person left.'})
}

interface Place {
  readonly id: string
  readonly role: WorkspaceRole
}

/** The workspaces of an invite by id; each must be an active one of the organisation. */
async function placesOf(
  {actor, db}: CallerScope,
  values: readonly Place[],
  settings: string | null | undefined,
): Promise<Place[]> {
  const places: Place[] = []
  for (const [index, {id, role}] of values.entries()) {
    const workspace = await findWorkspace(db, actor.organisation_id, id)
    if (workspace?.status !== 'active')
      throw new Refusal('parent.not_found', {field: `workspaces[${index}].id`, object: 'workspace', value: id})
    checkRoleGrant(actor, `workspace ${role}`, securityIn(settings, workspace.settings))
    places.push({id: workspace.id, role})
  }
  return places
}

async function userFor(
  {db, body, now}: {db: Db; body: z.output<typeof InviteAccept>; now: string},
  email: string,
): Promise<UsersTable> {
  const known = await findUserByEmail(db, email)
  if (known) return known
  const {first_name = null, last_name = null} = body
  const user = {id: newId(), email, first_name, last_name, created_at: now, last_updated_at: now}
  await insertUser(db, user)
  return user
}

/** The user's key that the invite promised, unless the workspace has as many as it may have. */
async function keyFor({db, now}: {db: Db; now: string}, invite: InvitesTable, user: UsersTable, workspace_id: string) {
  if (invite.key_scopes === null) return undefined
  const {organisation_id} = invite
  const rules = keyRules(
    readSettings<KeptOrganisationSettings>((await findOrganisation(db, organisation_id))?.settings).api_keys,
  )
  const most = rules.max_user_keys_per_workspace
  if (most !== null && (await countUserKeys(db, workspace_id)) >= most) return undefined
  const made = makeKey()
  const scopes = JSON.parse(invite.key_scopes) as string[]
  const row = newKey(
    {
      organisation_id,
      workspace_id,
      user_id: user.id,
      kind: 'workspace-user',
      name: user.email,
      creation_mode: 'auto',
      expires_at: expiryUnder(rules, undefined, now),
    },
    made,
    scopes,
    now,
  )
  await insertKey(db, row)
  return {workspace_id, id: row.id, key: made.key}
}

async function inviteOf({
  actor,
  db,
  params,
}: CallerScope & {readonly params: {readonly inviteId: string}}): Promise<InvitesTable> {
  return found(await store.findInvite(db, actor.organisation_id, params.inviteId), 'invite')
}

/** One that can still be accepted, or could until it expired. */
async function openInvite(call: One): Promise<InvitesTable> {
  const invite = await inviteOf(call)
  if (invite.status !== 'pending') throw new Refusal('row.unfit', {reason: `The invite is ${invite.status}.`})
  call.auditTarget(invite.id, null)
  return invite
}

function statusOf({status, expires_at}: InvitesTable, now: string): store.InviteStatus {
  return status === 'pending' && expires_at <= now ? 'expired' : status
}

function after(now: string, ms: number): string {
  return new Date(Date.parse(now) + ms).toISOString()
}

/** The token is behind the `#`, which no browser sends and no log keeps. */
function linkOf(app: Parameters<typeof linkBase>[0], token: string): string {
  return `${linkBase(app)}/v1/invites/accept#token=${token}`
}

function view(row: InvitesTable, now: string): z.input<typeof InviteView> {
  const {id, email, role, created_at, expires_at, accepted_at, invited_by} = row
  const workspaces = JSON.parse(row.workspaces) as Place[]
  return {
    id,
    email,
    role,
    created_at,
    expires_at,
    accepted_at,
    status: statusOf(row, now),
    invited_by,
    workspaces,
    object: 'invite',
  }
}
