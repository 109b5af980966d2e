import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {isAbove, scopesOfRole} from '../identity/roles.ts'
import {securityIn} from '../schema/organisations.ts'
import {Empty, list, listOf} from '../schema/paging.ts'
import {MemberParams, MembersAdd, MembersParams, MembersQuery, MemberUpdate, MemberView} from '../schema/users.ts'
import * as store from '../store/members.ts'
import {findOrganisation} from '../store/organisations.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'
import type {WorkspaceRole} from '../store/tables/people.ts'
import {findOrganisationUser} from '../store/users.ts'
import {type OperationCall, operation} from './operation.ts'
import type {Actor} from './services.ts'
import {type CallerScope, found, invalid, levelOf, workspaceOf} from './tenancy.ts'

const tag = 'Workspaces > Members'
type One<Body extends z.ZodType | undefined = undefined> = OperationCall<typeof MemberParams, undefined, Body>

/** The members of a workspace, with their roles. No member gives or takes a role above his own. */
export const members = [
  operation({
    id: 'members.list',
    tag,
    method: 'GET',
    path: '/admin/workspaces/:workspaceId/users',
    summary: 'List the members of a workspace',
    scopes: ['workspace_users.list'],
    params: MembersParams,
    query: MembersQuery,
    reply: listOf(MemberView),
    handle: listed,
  }),
  operation({
    id: 'members.add',
    tag,
    method: 'POST',
    path: '/admin/workspaces/:workspaceId/users',
    summary: 'Make users of the organisation members of a workspace',
    scopes: ['workspace_users.create'],
    audit: {resource: 'workspace-user', action: 'create'},
    params: MembersParams,
    body: MembersAdd,
    reply: Empty,
    handle: added,
  }),
  operation({
    id: 'members.get',
    tag,
    method: 'GET',
    path: '/admin/workspaces/:workspaceId/users/:userId',
    summary: 'Show a member of a workspace',
    scopes: ['workspace_users.read'],
    params: MemberParams,
    reply: MemberView,
    async handle(call) {
      const {workspace, member} = await memberOf(call)
      return (await viewer(call, workspace))(member)
    },
  }),
  operation({
    id: 'members.update',
    tag,
    method: 'PUT',
    path: '/admin/workspaces/:workspaceId/users/:userId',
    summary: 'Change the role of a member',
    scopes: ['workspace_users.update'],
    audit: {resource: 'workspace-user', action: 'update'},
    params: MemberParams,
    body: MemberUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'members.remove',
    tag,
    method: 'DELETE',
    path: '/admin/workspaces/:workspaceId/users/:userId',
    summary: 'End a membership: the user’s keys in the workspace work no longer',
    scopes: ['workspace_users.delete'],
    audit: {resource: 'workspace-user', action: 'delete'},
    params: MemberParams,
    reply: Empty,
    handle: removed,
  }),
] as const

async function listed(call: OperationCall<typeof MembersParams, typeof MembersQuery>) {
  const workspace = await workspaceOf(call, call.params.workspaceId)
  const {role, email} = call.query
  return list(
    await store.listMembers(call.db, {workspace_id: workspace.id, role, email}, call.query),
    await viewer(call, workspace),
  )
}

async function added(call: OperationCall<typeof MembersParams, undefined, typeof MembersAdd>) {
  const {actor, body} = call
  for (const {role} of body.users) guardLevel(actor, role)
  const workspace = await workspaceOf(call, call.params.workspaceId)
  for (const [index, {id, role}] of body.users.entries())
    await join(call, workspace, {id, role, field: `users[${index}].id`})
  call.auditTarget(body.users.map(({id}) => id).join(','), workspace.id)
  return {}
}

async function updated(call: One<typeof MemberUpdate>) {
  const {actor, db, body, now} = call
  guardLevel(actor, body.role)
  const {workspace, member} = await memberOf(call)
  guardLevel(actor, member.role)
  if (member.role === body.role) throw invalid('role', `is ${body.role} already`)
  await store.updateMember(db, workspace.id, member.user_id, {role: body.role, source: null, last_updated_at: now})
  call.auditTarget(member.user_id, workspace.id)
  return {}
}

async function removed(call: One) {
  const {workspace, member} = await memberOf(call)
  guardLevel(call.actor, member.role)
  await store.removeMember(call.db, workspace.id, member.user_id, call.now)
  call.auditTarget(member.user_id, workspace.id)
  return {}
}

/** Makes a user of the organisation a member; one who is not of it is an unknown id in `field`. */
export async function join(
  {actor, db, now}: CallerScope & {readonly now: string},
  workspace: WorkspacesTable,
  {id, role, field}: {id: string; role: WorkspaceRole; field: string},
) {
  const user = await findOrganisationUser(db, actor.organisation_id, id)
  if (user?.status !== 'active') throw new Refusal('parent.not_found', {field, object: 'user', value: id})
  if (await store.findMember(db, workspace.id, id))
    throw new Refusal('row.exists', {object: 'member', field: 'user', value: id})
  await store.insertMember(db, {
    workspace_id: workspace.id,
    user_id: id,
    organisation_id: actor.organisation_id,
    role,
    created_at: now,
    last_updated_at: now,
  })
}

export const MemberViews = z.array(MemberView)

/** The members of a workspace, as its details tell them. */
export async function memberViews(call: CallerScope, workspace: WorkspacesTable): Promise<z.input<typeof MemberViews>> {
  const {rows} = await store.listMembers(call.db, {workspace_id: workspace.id}, {current_page: 0, page_size: 1000})
  return rows.map(await viewer(call, workspace))
}

async function memberOf(call: CallerScope & {readonly params: z.output<typeof MemberParams>}) {
  const workspace = await workspaceOf(call, call.params.workspaceId)
  return {workspace, member: found(await store.findMember(call.db, workspace.id, call.params.userId), 'member')}
}

/** Refuses a role above the caller's own. */
export function guardLevel(actor: Actor, role: WorkspaceRole) {
  const own = levelOf(actor)
  if (isAbove(role, own)) throw new Refusal('role.above', {role, own})
}

async function viewer({actor, db}: CallerScope, workspace: WorkspacesTable) {
  const organisation = await findOrganisation(db, actor.organisation_id)
  const security = securityIn(organisation?.settings, workspace.settings)
  return (row: store.Member): z.input<typeof MemberView> => ({
    id: row.user_id,
    first_name: row.first_name,
    last_name: row.last_name,
    org_role: row.org_role,
    role: row.role,
    created_at: row.created_at,
    last_updated_at: row.last_updated_at,
    status: 'active',
    workspace_id: row.workspace_id,
    email: row.email,
    scopes: [
      ...scopesOfRole(row.org_role === 'member' ? `workspace ${row.role}` : `organisation ${row.org_role}`, security),
    ],
    settings: null,
    object: 'workspace-user',
  })
}
