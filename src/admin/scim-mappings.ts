import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {ownWorkspace} from '../identity/access.ts'
import {syncMemberships} from '../identity/group-memberships.ts'
import {isKeyOf} from '../identity/subject.ts'
import {Handle} from '../schema/names.ts'
import {securityIn} from '../schema/organisations.ts'
import {ScimMappingCreate, ScimMappingsList, ScimMappingsQuery, ScimMappingView} from '../schema/scim-mappings.ts'
import type {Db} from '../store/database.ts'
import {findOrganisation} from '../store/organisations.ts'
import {keepMemberships, membersOfGroups} from '../store/scim-groups.ts'
import * as store from '../store/scim-mappings.ts'
import type {ScimGroupsTable} from '../store/tables/registry.ts'
import {guardLevel} from './members.ts'
import {type OperationCall, operation} from './operation.ts'
import {checkRoleGrant} from './role-rules.ts'
import {found, namedWorkspace, workspaceOf} from './tenancy.ts'

const tag = 'Workspaces'
const path = '/scim/workspaces'
const params = z.strictObject({scimWorkspaceGroupId: Handle})

/** Groups of a directory outside, and the role that their people have in workspaces. */
export const scimMappings = [
  operation({
    id: 'scim_mappings.list',
    tag,
    method: 'GET',
    path,
    summary: 'List the groups of a directory that are mapped to workspaces',
    scopes: ['workspaces.list'],
    flag: 'scim',
    query: ScimMappingsQuery,
    reply: ScimMappingsList,
    handle: listed,
  }),
  operation({
    id: 'scim_mappings.create',
    tag,
    method: 'POST',
    path,
    summary: 'Give a group of a directory a role in a workspace',
    scopes: ['workspaces.update'],
    flag: 'scim',
    audit: {resource: 'scim-mapping', action: 'create'},
    body: ScimMappingCreate,
    reply: ScimMappingView,
    handle: created,
  }),
  operation({
    id: 'scim_mappings.delete',
    tag,
    method: 'DELETE',
    path: `${path}/:scimWorkspaceGroupId`,
    summary: 'Take the role in a workspace from a group of a directory',
    scopes: ['workspaces.update'],
    flag: 'scim',
    audit: {resource: 'scim-mapping', action: 'delete'},
    params,
    reply: z.strictObject({success: z.literal(true)}),
    handle: deleted,
  }),
] as const

async function listed(call: OperationCall<undefined, typeof ScimMappingsQuery>) {
  const {actor, db, query} = call
  const workspace = await namedWorkspace(call, query.workspace_id)
  const {scim_group_id, role, page, page_size} = query
  const filter = {organisation_id: actor.organisation_id, workspace_id: workspace?.id, scim_group_id, role}
  const {rows, total} = await store.listScimMappings(db, filter, {current_page: page, page_size})
  return {mappings: rows.map(view), total_count: total}
}

async function created(call: OperationCall<undefined, undefined, typeof ScimMappingCreate>) {
  const {actor, db, body, now} = call
  guardLevel(actor, body.role)
  const workspace = await workspaceOf(call, body.workspace_id)
  if (!isKeyOf(actor.subject, 'workspace-user')) {
    const organisation = await findOrganisation(db, actor.organisation_id)
    checkRoleGrant(actor, `workspace ${body.role}`, securityIn(organisation?.settings, workspace.settings))
  }
  const group = await groupOf(call)
  const {rows} = await store.listScimMappings(
    db,
    {organisation_id: actor.organisation_id, scim_group_id: group.id},
    FIRST,
  )
  const other = rows.find(({role}) => role !== body.role)
  if (other)
    throw new Refusal('row.unfit', {
      reason: `The group ${group.name} is ${other.role} already: a group has one role. Delete that first.`,
    })
  const same = rows.find(({workspace_id}) => workspace_id === workspace.id)
  const row = same ?? {
    id: newId(),
    organisation_id: actor.organisation_id,
    workspace_id: workspace.id,
    scim_group_id: group.id,
    role: body.role,
    status: 'active' as const,
    created_at: now,
    last_updated_at: now,
  }
  if (!same) {
    await store.insertScimMapping(db, row)
    await syncMemberships({db, organisation_id: actor.organisation_id, now}, await memberIds(db, group.id))
  }
  call.auditTarget(row.id, workspace.id)
  return view({...row, scim_group: group.name})
}

const FIRST = {current_page: 0, page_size: 1000}

/** The group that a body names; one that is named before its directory sent it is noted. */
async function groupOf({
  actor,
  db,
  body,
  now,
}: OperationCall<undefined, undefined, typeof ScimMappingCreate>): Promise<ScimGroupsTable> {
  const {organisation_id} = actor
  if (body.scim_group_id !== undefined) {
    const group = await store.findScimGroup(db, organisation_id, {id: body.scim_group_id})
    if (group) return group
    throw new Refusal('parent.not_found', {field: 'scim_group_id', object: 'group', value: body.scim_group_id})
  }
  const name = body.scim_group_name!
  const known = await store.findScimGroup(db, organisation_id, {name})
  if (known) return known
  const group = {id: newId(), organisation_id, name, created_at: now}
  await store.insertScimGroup(db, group)
  return group
}

async function deleted(call: OperationCall<typeof params>) {
  const {actor, db, now} = call
  const row = await store.findScimMapping(db, actor.organisation_id, call.params.scimWorkspaceGroupId)
  const reached = row && (ownWorkspace(actor) ?? row.workspace_id) === row.workspace_id
  const {id, workspace_id, scim_group_id, role} = found(reached ? row : undefined, 'mapping')
  guardLevel(actor, role)
  await store.archiveScimMapping(db, id, now)
  // its people stay: what was given by the mapping counts as given by hand from now on
  await keepMemberships(db, workspace_id, await memberIds(db, scim_group_id))
  call.auditTarget(id, workspace_id)
  return {success: true as const}
}

async function memberIds(db: Db, group_id: string): Promise<readonly string[]> {
  const members = await membersOfGroups(db, [group_id])
  return (members.get(group_id) ?? []).map(({user_id}) => user_id)
}

function view({
  id,
  workspace_id,
  scim_group,
  scim_group_id,
  role,
}: store.ScimMappingRow): z.input<typeof ScimMappingView> {
  return {id, workspace_id, scim_group, scim_group_id, role}
}
