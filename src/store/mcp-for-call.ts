import {memberIds, readVirtual} from '../schema/mcp-virtual.ts'
import type {Db} from './database.ts'
import {mcpServersOf} from './mcp-servers.ts'
import {type Remembered, RowCache} from './remembered.ts'
import type {CapabilityType, McpIntegrationsTable, McpServersTable, PinState} from './tables/registry.ts'

/** An MCP server with all the rows that decide its calls. Its workspace and integration are active. */
export interface McpServerForCall {
  readonly server: McpServersTable
  readonly workspace: {readonly id: string; readonly slug: string; readonly name: string}
  readonly integration: McpIntegrationsTable
  /** True where the integration is open to the workspace. */
  readonly is_granted: boolean
  /** Those that are gone too: their switches hold when they come back. */
  readonly capabilities: readonly CapabilityForCall[]
  /** The servers that a virtual one has tools of, as far as they are active; null of a server of an integration. */
  readonly members: readonly {readonly id: string; readonly slug: string}[] | null
  /** Users who have a row of their own, and its switch; all others have `server.default_user_access`. */
  readonly users: ReadonlyMap<string, boolean>
}

export interface CapabilityForCall {
  readonly type: CapabilityType
  /** That of a second resource of one name is its address. */
  readonly name: string
  /** The address of a resource, or the pattern of a template's. */
  readonly uri: string | null
  /** Switched on by the integration and by the server. */
  readonly enabled: boolean
  /** JSON: the `inputSchema` of a tool that repeats arguments in headers. */
  readonly header_schema: string | null
  /** Null: no sync has read it yet. */
  readonly pin_state: PinState | null
  readonly approved_hashes: readonly string[]
  /** Hashes of definitions that were seen and are not approved. */
  readonly seen_hashes: readonly string[]
  readonly gone_at: string | null
}

export interface McpServerName {
  readonly organisation_id: string
  /** Slug or id; null: that of the server, whichever it is. */
  readonly workspace: string | null
  /** Its slug. */
  readonly server: string
}

/** The active server of this slug, made of an active integration, in three queries; null where there is none. */
export async function mcpServerForCall(db: Db, named: McpServerName): Promise<McpServerForCall | null> {
  const rows: Omit<McpServerForCall, 'members' | 'capabilities' | 'users'> | null = await findRows(db, named)
  if (!rows) return null
  const {id} = rows.server
  const users = await db
    .selectFrom('mcp_server_users')
    .select(['user_id', 'enabled'])
    .where('mcp_server_id', '=', id)
    .execute()
  return {
    ...rows,
    members: await membersOf(db, rows.server),
    capabilities: await capabilitiesOf(db, rows.server),
    users: new Map(users.map(({user_id, enabled}) => [user_id, enabled === 1])),
  }
}

async function findRows(db: Db, {organisation_id, workspace, server}: McpServerName) {
  let rows = db
    .selectFrom('mcp_servers as s')
    .innerJoin('mcp_integrations as i', 'i.id', 's.mcp_integration_id')
    .innerJoin('workspaces as w', 'w.id', 's.workspace_id')
    .leftJoin('mcp_integration_workspaces as iw', join =>
      join.onRef('iw.mcp_integration_id', '=', 'i.id').onRef('iw.workspace_id', '=', 's.workspace_id'),
    )
    .selectAll('i')
    .select(['s.id as s_id', 's.name as s_name', 's.description as s_description', 's.owner_id as s_owner_id'])
    .select(['s.created_at as s_created_at', 's.last_updated_at as s_last_updated_at', 's.default_user_access'])
    .select('s.virtual as s_virtual')
    .select(['w.id as w_id', 'w.slug as w_slug', 'w.name as w_name', 'iw.enabled as own_enabled'])
    .where('s.organisation_id', '=', organisation_id)
    .where('s.slug', '=', server)
    .where('s.status', '=', 'active')
    .where('i.status', '=', 'active')
    .where('w.status', '=', 'active')
  if (workspace !== null) rows = rows.where(e => e.or([e('w.slug', '=', workspace), e('w.id', '=', workspace)]))
  const row = await rows.executeTakeFirst()
  if (!row) return null
  const {s_id, s_name, s_description, s_owner_id, s_created_at, s_last_updated_at, s_virtual, ...rest} = row
  const {w_id, w_slug, w_name, own_enabled, default_user_access, ...integration} = rest
  const by_default = integration.workspace_id === w_id ? 1 : integration.global_access_enabled
  return {
    server: {
      ...{id: s_id, organisation_id, workspace_id: w_id, mcp_integration_id: integration.id, slug: server},
      ...{name: s_name, description: s_description, status: 'active' as const, default_user_access},
      ...{owner_id: s_owner_id, created_at: s_created_at, last_updated_at: s_last_updated_at, virtual: s_virtual},
    },
    workspace: {id: w_id, slug: w_slug, name: w_name},
    integration,
    is_granted:
      (own_enabled ?? by_default) === 1 && (integration.workspace_id === null || integration.workspace_id === w_id),
  }
}

async function membersOf(db: Db, {virtual, workspace_id}: McpServersTable) {
  const ids = virtual && memberIds(readVirtual(virtual))
  if (!ids) return null
  return (await mcpServersOf(db, ids)).filter(row => row.workspace_id === workspace_id)
}

async function capabilitiesOf(db: Db, server: McpServersTable): Promise<CapabilityForCall[]> {
  const rows = await db
    .selectFrom('mcp_capabilities as c')
    .leftJoin('mcp_server_capabilities as own', join =>
      join.onRef('own.type', '=', 'c.type').onRef('own.name', '=', 'c.name').on('own.mcp_server_id', '=', server.id),
    )
    .select(['c.type', 'c.name', 'c.uri', 'c.enabled', 'c.header_schema', 'c.pin_state'])
    .select(['c.approved_hashes', 'c.seen_hashes', 'c.gone_at', 'own.enabled as own_enabled'])
    .where('c.mcp_integration_id', '=', server.mcp_integration_id)
    .execute()
  return rows.map(row => ({
    type: row.type,
    name: row.name,
    uri: row.uri ?? null,
    enabled: row.enabled === 1 && row.own_enabled !== 0,
    header_schema: row.header_schema ?? null,
    pin_state: row.pin_state ?? null,
    approved_hashes: hashesOf(row.approved_hashes),
    seen_hashes: hashesOf(row.seen_hashes),
    gone_at: row.gone_at ?? null,
  }))
}

function hashesOf(text: string | null | undefined): readonly string[] {
  return text ? (JSON.parse(text) as string[]) : []
}

/** Servers that were called lately, remembered until one of their rows changes. */
export interface McpServersForCalls {
  find(named: McpServerName): Promise<McpServerForCall | null>
  readonly remembered: readonly Remembered[]
}

/** Capabilities of all servers that are remembered together. */
const KNOWN_CAPABILITIES = 100_000

export function mcpServersForCalls(db: Db): McpServersForCalls {
  const servers = new RowCache<McpServerForCall>({
    maxSize: KNOWN_CAPABILITIES,
    sizeCalculation: ({capabilities, users}) => 10 + capabilities.length + users.size,
  })
  const loading = new Map<string, Promise<McpServerForCall | null>>()

  const load = async (key: string, named: McpServerName) => {
    const born = servers.generation
    const found = await mcpServerForCall(db, named)
    if (found) {
      const {server, workspace, integration} = found
      // also those that are not active: they may be gone since
      const members = server.virtual ? memberIds(readVirtual(server.virtual)) : []
      servers.set(key, found, {born, rows: [server.id, workspace.id, integration.id, ...members]})
    }
    return found
  }

  /** Read once, however many calls wait for it. */
  const loadOnce = (key: string, named: McpServerName) => {
    const known = loading.get(key)
    if (known) return known
    const begun = load(key, named).finally(() => {
      if (loading.get(key) === begun) loading.delete(key)
    })
    loading.set(key, begun)
    return begun
  }

  const forget = (ids: readonly string[] | null) => {
    loading.clear() // what is read now may be old
    servers.forget(ids)
  }
  return {
    async find(named) {
      const key = JSON.stringify([named.organisation_id, named.workspace, named.server])
      return servers.get(key) ?? loadOnce(key, named)
    },
    remembered: [
      {of: new Set(['mcp_servers', 'mcp_integrations', 'workspaces']), forget},
      // without ids: these rows have none
      {
        of: new Set([
          'mcp_integration_workspaces',
          'mcp_capabilities',
          'mcp_server_capabilities',
          'mcp_server_users',
        ] as const),
        forget: () => forget(null),
      },
    ],
  }
}
