import {unchecked} from '../../client.ts'
import type {Gateway} from '../../connect.ts'
import {NO_SECRETS, type ResourceKind} from '../kind.ts'

interface Row {
  readonly id: string
  readonly workspace_id: string
  readonly scim_group: string
  readonly scim_group_id: string
  readonly role: string
}

/** Groups of a directory outside, and the role that their people have in a workspace. */
export const group: ResourceKind = {
  name: 'group',
  folder: 'groups',
  lives_in: 'workspace',
  needs: ['workspace'],
  may_be_off: true,
  remark:
    'A directory group (SCIM), by its name. `role` is the workspace role of its members, the same in every workspace.',
  create: 'scim_mappings.create',
  fields: {role: {}},
  secrets: NO_SECRETS,
  async read({gateway, handleOf}) {
    const rows = await mappings(gateway)
    return rows.map(({id, workspace_id, scim_group, role}) => ({
      kind: 'group',
      workspace: handleOf(workspace_id),
      slug: scim_group,
      id,
      spec: {role},
    }))
  },
  body: ({slug, workspace, spec}, {slugOf}) => ({workspace_id: slugOf(workspace!), scim_group_name: slug, ...spec}),
  async make(place, resource) {
    await place.gateway.call('scim_mappings.create', {body: unchecked(group.body!(resource, place))})
    return undefined
  },
  /** A group has one role: where another is given to it, it is given in all of its workspaces. */
  async change({gateway}, {slug, spec}) {
    const others = (await mappings(gateway)).filter(({scim_group, role}) => scim_group === slug && role !== spec.role)
    for (const {id} of others) await gateway.call('scim_mappings.delete', {params: {scimWorkspaceGroupId: id}})
    for (const {workspace_id, scim_group_id} of others)
      await gateway.call('scim_mappings.create', {body: unchecked({workspace_id, scim_group_id, role: spec.role})})
  },
  async remove({gateway}, {id}) {
    await gateway.call('scim_mappings.delete', {params: {scimWorkspaceGroupId: id}})
  },
}

const PAGE = 1000

async function mappings({call}: Gateway): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let page = 0; ; page++) {
    const reply = await call('scim_mappings.list', {query: {page, page_size: PAGE}})
    rows.push(...reply.mappings)
    if (reply.mappings.length < PAGE) return rows
  }
}
