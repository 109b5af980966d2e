import {MOST_SHOWN_MAPPINGS, ScimGroupsList, ScimGroupsQuery} from '../schema/scim-mappings.ts'
import * as store from '../store/scim-mappings.ts'
import {type OperationCall, operation} from './operation.ts'
import {namedWorkspace} from './tenancy.ts'

/** The groups of directories outside. In capitals the path is the directories' own (`src/scim`). */
export const scimGroups = [
  operation({
    id: 'scim_groups.list',
    tag: 'Workspaces',
    method: 'GET',
    path: '/scim/groups',
    summary: 'List the groups of a directory, with how many are in them and where they are mapped',
    scopes: ['workspaces.list'],
    flag: 'scim',
    query: ScimGroupsQuery,
    reply: ScimGroupsList,
    handle: listed,
  }),
] as const

async function listed(call: OperationCall<undefined, typeof ScimGroupsQuery>) {
  const {actor, db, query} = call
  const {organisation_id} = actor
  const {search, page, page_size} = query
  const workspace_id = (await namedWorkspace(call, query.workspace_id))?.id
  const filter = {organisation_id, search, workspace_id}
  const {rows, total} = await store.findScimGroups(db, filter, {current_page: page, page_size})
  const group_ids = rows.map(({id}) => id)
  const of_groups = {group_ids, workspace_id, most: MOST_SHOWN_MAPPINGS}
  const mappings = await store.mappingsOfGroups(db, organisation_id, of_groups)
  const groups = rows.map(({id, name, external_id, members}) => ({
    ...{id, name, external_id: external_id ?? null, members: Number(members)},
    mappings: (mappings.get(id) ?? []).map(each => ({
      ...{id: each.id, workspace_id: each.workspace_id, role: each.role},
    })),
  }))
  return {groups, total_count: total}
}
