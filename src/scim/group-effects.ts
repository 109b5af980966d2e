import {newId} from '../base/ids.ts'
import {syncMemberships} from '../identity/group-memberships.ts'
import {listMembers} from '../store/members.ts'
import * as groups from '../store/scim-groups.ts'
import {archiveScimMapping, insertScimMapping, listScimMappings, type ScimMappingRow} from '../store/scim-mappings.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'
import * as workspaces from '../store/workspaces.ts'
import {mappingIn} from './group-mapping.ts'
import type {ScimContext} from './services.ts'

const ALL = {current_page: 0, page_size: 1000}

/**
 * Has the automatic mapping of a group be what its name says; mappings that were made by hand stay. A group has one
 * role over all workspaces: a name that says another than a mapping by hand has no effect.
 */
export async function remap(context: ScimContext, group: {readonly id: string; readonly name: string}): Promise<void> {
  const {db, organisation_id, notes, now} = context
  const meant = mappingIn(group.name, context.rules)
  const before = await mappingsOf(context, group.id)
  const by_hand = before.filter(({is_automatic}) => is_automatic !== 1)
  const is_other = meant !== null && by_hand.some(({role}) => role !== meant.role)
  if (is_other) notes.push('mapping by name left out: the group has another role')
  const workspace = meant && !is_other ? await workspaceCalled(context, meant.workspace) : null
  const stays = before.find(
    each => each.is_automatic === 1 && each.workspace_id === workspace?.id && each.role === meant?.role,
  )
  const gone = before.filter(each => each.is_automatic === 1 && each !== stays)
  for (const {id} of gone) await archiveScimMapping(db, id, now)
  const is_mapped = stays || by_hand.some(each => each.workspace_id === workspace?.id)
  if (workspace && meant && !is_mapped)
    await insertScimMapping(db, {
      ...{id: newId(), organisation_id, workspace_id: workspace.id, scim_group_id: group.id, role: meant.role},
      ...{status: 'active', is_automatic: 1, created_at: now, last_updated_at: now},
    })
  const members = (await groups.membersOfGroups(db, [group.id])).get(group.id) ?? []
  await syncMemberships(
    context,
    members.map(({user_id}) => user_id),
  )
  for (const {workspace_id} of gone) await archiveUnmapped(context, workspace_id)
}

/** Ends the mappings of a group that is deleted. */
export async function dropMappings(context: ScimContext, group_id: string, member_ids: readonly string[]) {
  const before = await mappingsOf(context, group_id)
  for (const {id} of before) await archiveScimMapping(context.db, id, context.now)
  await syncMemberships(context, member_ids)
  for (const workspace_id of new Set(before.map(each => each.workspace_id)))
    await archiveUnmapped(context, workspace_id)
}

/**
 * A workspace that no group maps any more ends with its last group, where a directory made it or nothing is in it. The
 * default one stays.
 */
async function archiveUnmapped(context: ScimContext, workspace_id: string): Promise<void> {
  const {db, organisation_id, notes, now} = context
  const {total} = await listScimMappings(db, {organisation_id, workspace_id}, ALL)
  const workspace = total === 0 ? await workspaces.findWorkspace(db, organisation_id, workspace_id) : undefined
  if (!workspace || workspace.is_default || workspace.status !== 'active') return
  const {total: members} = await listMembers(db, {workspace_id}, {current_page: 0, page_size: 1})
  const is_empty = members === 0 && (await workspaces.workspaceDependants(db, workspace_id)).length === 0
  if (workspace.made_by_scim !== 1 && !is_empty) return
  await workspaces.archiveWorkspace(db, workspace_id, now)
  notes.push(`workspace ${workspace.slug} archived`)
}

/** By its exact name, whatever the case, or by its slug; one that is not there is made. */
async function workspaceCalled(context: ScimContext, name: string): Promise<WorkspacesTable> {
  const {db, organisation_id, notes, now, services} = context
  const there =
    (await workspaces.findWorkspaceByName(db, organisation_id, name)) ??
    (await workspaces.findWorkspace(db, organisation_id, name))
  if (there?.status === 'active') return there
  const made = await services.makeWorkspace(db, organisation_id, name, now)
  await workspaces.updateWorkspace(db, made.id, {made_by_scim: 1})
  notes.push(`workspace ${made.slug} made`)
  return made
}

async function mappingsOf(
  {db, organisation_id}: ScimContext,
  scim_group_id: string,
): Promise<readonly ScimMappingRow[]> {
  return (await listScimMappings(db, {organisation_id, scim_group_id}, ALL)).rows
}
