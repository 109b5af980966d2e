import type {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {newId} from '../../base/ids.ts'
import {
  defaultToolName,
  memberIds,
  readVirtual,
  SEARCH_ABOVE,
  type VirtualRow,
  type VirtualTools,
  type VirtualView,
} from '../../schema/mcp-virtual.ts'
import type {Db} from '../../store/database.ts'
import {findMcpServer, type McpServerRow, mcpServersOf} from '../../store/mcp-servers.ts'
import type {McpIntegrationsTable, McpServersTable} from '../../store/tables/registry.ts'
import {type CallerScope, invalid} from '../tenancy.ts'

/** Virtual servers: tools of other servers of a workspace. */

/**
 * The column for tools that a caller chose. Refuses a server that the workspace has not, a virtual one, and two tools
 * of one name.
 */
export async function virtualColumn(
  {actor, db}: Pick<CallerScope, 'actor' | 'db'>,
  workspace_id: string,
  {tools, search_above = SEARCH_ABOVE}: VirtualTools,
): Promise<string> {
  const {organisation_id} = actor
  const servers = new Map<string, McpServerRow>()
  const places = new Map<string, string>()
  const chosen: VirtualRow['tools'][number][] = []
  for (const [at, {server: named, tool, name}] of tools.entries()) {
    const field = `virtual.tools[${at}]`
    const server = servers.get(named) ?? (await findMcpServer(db, {organisation_id, workspace_id, named}))
    if (!server) throw new Refusal('parent.not_found', {field: `${field}.server`, object: 'MCP server', value: named})
    if (server.virtual) throw invalid(`${field}.server`, 'is a virtual server: name the server that has the tool')
    servers.set(named, server)
    const shown = name ?? defaultToolName(server.slug, tool)
    const place = `${field} (${server.slug}/${tool})`
    const before = places.get(shown)
    if (before) throw invalid(place, `has the name ${shown}, as has ${before}: give one of them another name`)
    places.set(shown, place)
    chosen.push({server_id: server.id, tool, ...(name !== undefined && {name})})
  }
  return JSON.stringify({tools: chosen, search_above} satisfies VirtualRow)
}

/** The tools of virtual servers as they are shown, by the servers' ids. Those of servers that are gone are left out. */
export async function virtualViews(
  db: Db,
  servers: readonly Pick<McpServersTable, 'id' | 'virtual'>[],
): Promise<ReadonlyMap<string, z.input<typeof VirtualView>>> {
  const rows = servers.flatMap(({id, virtual}) => (virtual ? [{id, row: readVirtual(virtual)}] : []))
  const members = await mcpServersOf(db, [...new Set(rows.flatMap(({row}) => memberIds(row)))])
  const slugs = new Map(members.map(({id, slug}) => [id, slug]))
  return new Map(
    rows.map(({id, row: {tools, search_above}}) => {
      const shown = tools.flatMap(({server_id, tool, name}) => {
        const server = slugs.get(server_id)
        return server === undefined ? [] : [{server, tool, name: name ?? defaultToolName(server, tool)}]
      })
      return [id, {tools: shown, search_above}]
    }),
  )
}

/** The integration of a virtual server: whatever joins the two finds one, and no caller sees it. */
export function emptyIntegration(
  server: Pick<McpServersTable, 'organisation_id' | 'workspace_id' | 'name' | 'owner_id' | 'created_at'>,
): McpIntegrationsTable {
  const {organisation_id, workspace_id, name, owner_id, created_at} = server
  const id = newId()
  return {
    ...{id, organisation_id, workspace_id, slug: id, name, owner_id, description: null, status: 'active'},
    ...{url: '', auth_type: 'none', transport: 'http', configurations: '{}', configurations_sealed: null},
    ...{secret_mappings: '[]', global_access_enabled: 1, trusts_host: 0, metadata: null, is_virtual: 1},
    ...{created_at, last_updated_at: created_at},
  }
}

/** Refuses what a virtual server has not: it is set at the servers whose tools it offers. */
export function refuseVirtual({virtual}: Pick<McpServersTable, 'virtual'>, what: string): void {
  if (virtual) throw invalid('mcpServerId', `names a virtual server, which has no ${what} of its own`)
}
