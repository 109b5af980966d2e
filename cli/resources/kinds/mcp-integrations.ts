import {isSecretConfiguration} from '../../../src/admin/mcp/secret-configurations.ts'
import {McpAccessUpdate} from '../../../src/schema/mcp-integrations.ts'
import {explain} from '../../../src/schema/validation-message.ts'
import {inOrder, unknownWorkspaces} from '../access.ts'
import type {Resource, Spec} from '../document.ts'
import {CLEARED, TEXT, withoutDefaults} from '../fields.ts'
import {type ApplyTarget, bodyOf, changesOf, eachOf, everyRow, plainWrites, type ResourceKind, specOf} from '../kind.ts'
import {MAPPINGS, mappingsOf, unknownReferences} from '../mappings.ts'

interface Access {
  readonly id: string
  readonly enabled: boolean
}

const base: ResourceKind['fields'] = {
  name: TEXT,
  description: CLEARED,
  url: TEXT,
  auth_type: TEXT,
  transport: TEXT,
  configurations: {none: {}},
  secret_mappings: MAPPINGS,
}
const accessFields: ResourceKind['fields'] = {
  global_workspace_access: {none: {enabled: false}, normal: value => withoutDefaults(value, {enabled: false})},
  workspaces: {none: [], normal: value => inOrder(value, 'id', each => each)},
}
const fields: ResourceKind['fields'] = {...base, ...accessFields}

/**
 * MCP integrations: servers of tools outside, how they are reached, and which workspaces may make MCP servers of them.
 */
export const mcpIntegration: ResourceKind = {
  name: 'mcp-integration',
  folder: 'mcp-integrations',
  lives_in: 'either',
  is_slug_unique: true,
  needs: ['workspace', 'secret-reference'],
  remark:
    '`global_workspace_access` and `workspaces`: who may use it. `secret_mappings` name secret references by slug. Capabilities are read from its server, and are in no file.',
  create: 'mcp_integrations.create',
  fields,
  secrets: {
    below: ['configurations'],
    isSecret: path => path[0] === 'configurations' && isSecretConfiguration(path.slice(1)),
  },
  async read(place) {
    const {gateway, handleOf, knows} = place
    return eachOf(await everyRow(gateway, 'mcp_integrations.list'), async ({id, slug, workspace_id}) => {
      const workspace = workspace_id && handleOf(workspace_id)
      knows(id, {kind: 'mcp-integration', workspace, slug})
      const params = {mcpIntegrationId: id}
      const shown = await gateway.call('mcp_integrations.get', {params})
      const {workspaces: listed = []} = await gateway.call('mcp_integrations.list_workspaces', {params})
      const is_open = workspace_id !== null || shown.global_workspace_access?.enabled
      const workspaces = listed
        .filter(({enabled}) => enabled !== is_open)
        .map(({id: of, enabled}) => ({id: handleOf(of), enabled}))
      const secret_mappings = mappingsOf(shown, place)
      return {
        kind: 'mcp-integration',
        workspace,
        slug,
        id,
        spec: specOf(fields, {...shown, secret_mappings, workspaces}),
      }
    })
  },
  body: (resource, place) => bodyOf({...resource, spec: partOf(resource.spec, base)}, place),
  ...plainWrites('mcp_integrations', 'mcpIntegrationId', () => mcpIntegration),
  async make(place, resource) {
    await plainWrites('mcp_integrations', 'mcpIntegrationId', () => mcpIntegration).make(place, resource)
    await writeAccess(place, resource, Object.keys(resource.spec))
    return undefined
  },
  async change(place, resource, {id}, changed) {
    const body = changesOf(
      mcpIntegration,
      resource.spec,
      changed.filter(name => name in base),
    )
    if (Object.keys(body).length)
      await place.gateway.call('mcp_integrations.update', {params: {mcpIntegrationId: id}, body})
    await writeAccess(place, resource, changed)
  },
  async faults({spec, workspace}, known) {
    const {workspaces = [], global_workspace_access} = spec
    const value = {
      workspaces,
      override_existing_workspace_access: true,
      ...(global_workspace_access !== undefined && {global_workspace_access}),
    }
    const {error} = McpAccessUpdate.safeParse(value)
    if (error) return [explain(error, McpAccessUpdate, value, {root: 'spec'}).replace(/\.$/, '')]
    if (workspace !== null && global_workspace_access)
      return ['global_workspace_access: belongs to integrations of the organisation']
    const ids = (workspaces as Access[]).map(({id}) => id)
    return [...unknownReferences(spec, known), ...unknownWorkspaces(ids, at => `workspaces[${at}].id`, known)]
  },
}

function partOf(spec: Spec, of: ResourceKind['fields']): Spec {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => name in of))
}

async function writeAccess(
  {gateway, slugOf}: ApplyTarget,
  {slug, workspace, spec}: Resource,
  changed: readonly string[],
) {
  if (!changed.some(name => name in accessFields)) return
  const workspaces = ((spec.workspaces ?? []) as Access[]).map(({id, enabled}) => ({id: slugOf(id), enabled}))
  const global_workspace_access = {enabled: false, ...(spec.global_workspace_access as object)}
  const body = {
    workspaces,
    ...(workspace === null && {global_workspace_access}),
    override_existing_workspace_access: true,
  }
  await gateway.call('mcp_integrations.update_workspaces', {params: {mcpIntegrationId: slug}, body})
}
