import {createHash} from 'node:crypto'
import type {Seal} from '../../base/seal.ts'
import {pinRulesOf} from '../../schema/mcp-pins.ts'
import {defaultToolName, readVirtual, type VirtualRow} from '../../schema/mcp-virtual.ts'
import {ToolPriceList} from '../../schema/tool-prices.ts'
import type {CapabilityForCall, McpServerForCall} from '../../store/mcp-for-call.ts'
import {openConfigurations} from '../../store/mcp-integrations.ts'
import type {CapabilityType} from '../../store/tables/registry.ts'
import {McpFault} from '../wire/faults.ts'
import {Pins} from './pins.ts'
import type {McpServer, VirtualOffer} from './server.ts'
import {Switches} from './switches.ts'
import {toolPrices} from './tool-prices.ts'

/** The rows of a server, opened for calls. `members`: the servers that a virtual one has tools of, by their ids. */
export function openServer(
  seal: Seal,
  found: McpServerForCall,
  members: ReadonlyMap<string, McpServer> = new Map(),
): McpServer {
  const {server, workspace, integration, capabilities, users} = found
  const {tool_prices} = openConfigurations(seal, integration)
  const rules = pinRulesOf(integration)
  const switches = capabilities
    .filter(({gone_at}) => gone_at === null)
    .map(({type, name, uri, enabled}) => ({type, name, uri, is_on: enabled}))
  const pins = new Pins(
    rules,
    capabilities.map(row => ({...row, key: row.uri ?? row.name})),
  )
  const virtual = server.virtual ? virtualTools(readVirtual(server.virtual), members) : null
  return {
    id: server.id,
    slug: server.slug,
    name: server.name,
    organisation_id: server.organisation_id,
    workspace_id: workspace.id,
    workspace_slug: workspace.slug,
    integration_id: integration.id,
    version: digestOf([integration.url, integration.transport, integration.auth_type, integration.last_updated_at]),
    place: {
      url: integration.url,
      transport: integration.transport === 'sse' ? 'sse' : null,
      asker: integration.trusts_host
        ? {kind: 'integration', id: integration.id, host: new URL(integration.url).hostname}
        : {kind: 'caller'},
      workspace_id: workspace.id,
      server: server.slug,
    },
    integration,
    switches: new Switches(switches, rules.new_capabilities === 'allow'),
    pins,
    virtual,
    prices: toolPrices(pricesIn(tool_prices, server.slug)),
    hidden: types => (virtual ? hiddenOf(virtual, types) : hiddenRows(types)),
    admits: user_id => user_id === null || (users.get(user_id) ?? server.default_user_access === 'allow'),
  }

  function hiddenRows(types: readonly CapabilityType[]) {
    return capabilities
      .filter(row => types.includes(row.type) && isHidden(row, pins))
      .map(({type, name, uri}) => `${type} ${uri ?? name}`)
      .sort()
  }
}

function virtualTools({tools, search_above}: VirtualRow, members: ReadonlyMap<string, McpServer>): VirtualOffer {
  return {
    is_searched: tools.length > search_above,
    tools: tools.flatMap(({server_id, tool, name}) => {
      const server = members.get(server_id)
      return server ? [{name: name ?? defaultToolName(server.slug, tool), server, tool}] : []
    }),
  }
}

/**
 * All that decides, beside its servers' own lists, what clients of a virtual server see: its tools in their order, and
 * those of them that are off or in quarantine. One that its server has no more is that server's own news.
 */
function hiddenOf({tools, is_searched}: VirtualOffer, types: readonly CapabilityType[]): readonly string[] {
  if (!types.includes('tool')) return []
  const each = tools.map(({name, server: {id, switches, pins}, tool}) => {
    const is_on = switches.isOn('tool', tool) && pins.judge('tool', tool, null).callable
    return `${name} ${id} ${JSON.stringify(tool)} ${is_on}`
  })
  return [String(is_searched), ...each]
}

/** Prices that cannot be read make a server unfit: a call for nothing would be wrong. */
function pricesIn(tool_prices: unknown, server: string): ToolPriceList | undefined {
  const read = ToolPriceList.optional().safeParse(tool_prices)
  if (read.success) return read.data
  throw new McpFault('integration_unfit', {server, reason: 'configurations.tool_prices cannot be read'})
}

function isHidden({enabled, gone_at, type, name, uri}: CapabilityForCall, pins: Pins): boolean {
  return !enabled || gone_at !== null || !pins.judge(type, uri ?? name, null).callable
}

function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16)
}
