import {isObject} from '../../../src/base/json-object.ts'
import {UserAccessUpdate} from '../../../src/schema/mcp-servers.ts'
import {defaultToolName, SEARCH_ABOVE} from '../../../src/schema/mcp-virtual.ts'
import {explain} from '../../../src/schema/validation-message.ts'
import {inOrder} from '../access.ts'
import type {Resource, Spec} from '../document.ts'
import {CLEARED, TEXT} from '../fields.ts'
import {
  type ApplyTarget,
  bodyOf,
  changesOf,
  eachOf,
  everyRow,
  type Known,
  NO_SECRETS,
  plainWrites,
  type ResourceKind,
  specOf,
} from '../kind.ts'

interface Override {
  readonly user: string
  readonly enabled: boolean
}
interface UserRow {
  readonly user_id: string
  readonly enabled: boolean
  readonly has_override: boolean
}

const base: ResourceKind['fields'] = {
  name: TEXT,
  description: CLEARED,
  mcp_integration_id: {none: null, is_fixed: true},
  virtual: {none: null, normal: virtualNormal},
}
const usualAccess = (spec: Spec) => spec.default_user_access !== 'deny'
const accessFields: ResourceKind['fields'] = {
  default_user_access: {none: 'allow', normal: value => (value === 'allow' ? undefined : value)},
  user_access: {
    none: [],
    normal: (value, spec) =>
      inOrder(value, 'user', each => (isObject(each) && each.enabled === usualAccess(spec) ? undefined : each)),
  },
}
const fields: ResourceKind['fields'] = {...base, ...accessFields}

/** MCP servers: a workspace's use of an MCP integration, and which of its members may use it. */
export const mcpServer: ResourceKind = {
  name: 'mcp-server',
  folder: 'mcp-servers',
  lives_in: 'workspace',
  is_slug_unique: true,
  needs: ['workspace', 'member', 'secret-reference', 'mcp-integration'],
  remark:
    '`mcp_integration_id`: the slug of its integration; or `virtual` with tools of other servers of the workspace. ' +
    '`default_user_access`, and `user_access` with members by e-mail address.',
  create: 'mcp_servers.create',
  fields,
  secrets: NO_SECRETS,
  async read(place) {
    const {gateway, handleOf, knows, named} = place
    return eachOf(await everyRow(gateway, 'mcp_servers.list'), async row => {
      const {id, slug} = row
      const workspace = handleOf(row.workspace_id)
      knows(id, {kind: 'mcp-server', workspace, slug})
      const access = await accessOf(place, id)
      const of_integration = row.mcp_integration_id === null ? null : named(row.mcp_integration_id)
      const spec = specOf(fields, {...row, mcp_integration_id: of_integration, ...access})
      return {kind: 'mcp-server', workspace, slug, id, spec}
    })
  },
  body: ({spec: {default_user_access: _, user_access: __, ...spec}, ...rest}, place) => bodyOf({...rest, spec}, place),
  ...plainWrites('mcp_servers', 'mcpServerId', () => mcpServer),
  async make(place, resource) {
    await plainWrites('mcp_servers', 'mcpServerId', () => mcpServer).make(place, resource)
    await writeAccess(place, resource, {}, Object.keys(resource.spec))
    return undefined
  },
  async change(place, resource, {id, spec: before}, changed) {
    const own = changed.filter(name => name in base)
    if (own.length)
      await place.gateway.call('mcp_servers.update', {
        params: {mcpServerId: id},
        body: changesOf(mcpServer, resource.spec, own),
      })
    await writeAccess(place, resource, before, changed)
  },
  async faults({spec, workspace}, known) {
    const {default_user_access, user_access = []} = spec
    if (!Array.isArray(user_access) || !user_access.every(isObject)) return ['user_access: expected a list of users']
    const value = {
      ...(default_user_access !== undefined && {default_user_access}),
      user_access: user_access.map(({user, ...rest}) => ({user_id: user, ...rest})),
    }
    const {error} = UserAccessUpdate.safeParse(value)
    if (error)
      return [explain(error, UserAccessUpdate, value, {root: 'spec'}).replace(/\.$/, '').replaceAll('user_id', 'user')]
    const wrong = madeOf({spec, workspace}, known)
    const strangers = (user_access as unknown as Override[]).flatMap(({user}, at) =>
      known({kind: 'member', workspace, slug: user})
        ? []
        : [`user_access[${at}].user: there is no member ${user.slice(0, 80)}`],
    )
    return [...wrong, ...strangers]
  },
  within: ({spec}) => serversIn(spec),
}

/** The tools of a virtual server, without what would be the same unsaid. */
function virtualNormal(value: unknown): unknown {
  if (!isObject(value) || !Array.isArray(value.tools)) return value
  const tools = value.tools.map(each => {
    if (!isObject(each) || each.name !== defaultToolName(String(each.server), String(each.tool))) return each
    const {name: _, ...rest} = each
    return rest
  })
  const {search_above} = value
  return {tools, ...(search_above !== undefined && search_above !== SEARCH_ABOVE && {search_above})}
}

/** The servers whose tools a virtual server offers. */
function serversIn({virtual}: Spec): readonly string[] {
  if (!isObject(virtual) || !Array.isArray(virtual.tools)) return []
  return [...new Set(virtual.tools.flatMap(each => (isObject(each) ? [String(each.server)] : [])))]
}

/** Faults of the integration, or of the servers, that a server is made of. */
function madeOf({spec, workspace}: Pick<Resource, 'spec' | 'workspace'>, known: Known): readonly string[] {
  if (spec.virtual !== undefined)
    return serversIn(spec).flatMap(slug =>
      known({kind: 'mcp-server', workspace, slug}) ? [] : [`virtual: there is no mcp-server ${slug.slice(0, 80)}`],
    )
  const slug = String(spec.mcp_integration_id)
  const of = [workspace, null].map(home => ({kind: 'mcp-integration', workspace: home, slug}))
  return of.some(known) ? [] : [`mcp_integration_id: there is no mcp-integration ${slug.slice(0, 80)}`]
}

async function accessOf({gateway, users}: ApplyTarget, id: string): Promise<Spec> {
  const rows: UserRow[] = []
  for (let page = 1; ; page++) {
    const query = {page, page_size: 100}
    const reply = await gateway.call('mcp_servers.list_user_access', {params: {mcpServerId: id}, query})
    rows.push(...reply.data.filter(({has_override}) => has_override))
    if (reply.has_more) continue
    const {ids} = rows.length ? await users() : {ids: new Map<string, string>()}
    const user_access = rows.map(({user_id, enabled}) => ({user: ids.get(user_id) ?? user_id, enabled}))
    return {default_user_access: reply.default_user_access, user_access}
  }
}

/** A setting of a user cannot be removed, only made equal to the default. */
async function writeAccess(
  {gateway, users}: ApplyTarget,
  {slug, spec}: Resource,
  before: Spec,
  changed: readonly string[],
) {
  if (!changed.some(name => name in accessFields)) return
  const wanted = (spec.user_access ?? []) as Override[]
  const gone = ((before.user_access ?? []) as Override[]).filter(({user}) => !wanted.some(each => each.user === user))
  const {emails} = await users()
  const user_access = [...wanted, ...gone.map(({user}) => ({user, enabled: usualAccess(spec)}))].map(
    ({user, enabled}) => ({
      user_id: emails.get(user.toLowerCase()) ?? user,
      enabled,
    }),
  )
  const default_user_access = String(spec.default_user_access ?? 'allow')
  await gateway.call('mcp_servers.update_user_access', {
    params: {mcpServerId: slug},
    body: {default_user_access, user_access},
  })
}
