import type {Command} from 'commander'
import type {RowOf} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault} from '../fault.ts'
import {mcpFault, mcpRequest} from '../mcp-client.ts'
import {leaf} from '../options.ts'
import type {TableColumn} from '../table.ts'

interface ToolRow {
  readonly name: string
  readonly description: string | null
  /** Null: this caller may not read the switches, or is on the data directory. */
  readonly visible: boolean | null
  readonly on: boolean | null
  readonly pin: string | null
}

const COLUMNS: readonly TableColumn<ToolRow>[] = [
  {title: 'tool', value: row => row.name, whole: true, essential: true},
  {title: 'visible', value: row => row.visible},
  {title: 'on', value: row => row.on},
  {title: 'pin', value: row => row.pin},
  {title: 'description', value: row => row.description},
]

/** `gateway mcp tools`: the tools of a server as this caller has them. */
export function tools(): Command {
  return leaf('tools', 'List the tools of a server: what you see, what is switched off, what waits for an approval', [
    'gateway mcp tools docs',
    'gateway mcp tools docs --json',
  ])
    .argument('<server>', 'slug of the MCP server')
    .action((server: string, _: object, self: Command) =>
      withGateway(self, async gateway => {
        const seen = gateway.kind === 'there' ? await seenTools(gateway, server) : null
        const known = await knownTools(gateway, server)
        const names = new Set([...(seen?.keys() ?? []), ...(known?.keys() ?? [])])
        const data = [...names].map(name => rowOf(name, seen, known))
        gateway.print.list({total: data.length, data}, data, COLUMNS)
      }),
    )
}

interface SeenTool {
  readonly name: string
  readonly description?: string
}

const MOST_PAGES = 200

/** The list that the server's own address gives. */
export async function seenTools(gateway: Gateway, server: string): Promise<ReadonlyMap<string, SeenTool>> {
  const found = new Map<string, SeenTool>()
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const params = cursor === undefined ? {} : {cursor}
    const {result, error} = await mcpRequest(gateway, server, {method: 'tools/list', params})
    if (error) throw mcpFault(error, server, gateway)
    const {tools = [], nextCursor} = result as {readonly tools?: readonly SeenTool[]; readonly nextCursor?: string}
    for (const tool of tools) found.set(tool.name, tool)
    if (typeof nextCursor !== 'string' || nextCursor === cursor) break
    cursor = nextCursor
  }
  return found
}

type Known = RowOf<'mcp_servers.list_capabilities'>

/** The rows with switches and pins; null for a caller who may not read them. */
async function knownTools({call}: Gateway, server: string): Promise<ReadonlyMap<string, Known> | null> {
  const found = new Map<string, Known>()
  try {
    for (let page = 1, more = true; more; page++) {
      const query = {type: 'tool' as const, page, page_size: 500}
      const params = {mcpServerId: server.split('/').at(-1)!}
      const {data, has_more} = await call('mcp_servers.list_capabilities', {params, query})
      for (const row of data) found.set(row.name, row)
      more = has_more
    }
    return found
  } catch (fault) {
    if (fault instanceof CommandFault && fault.status === 403) return null
    throw fault
  }
}

function rowOf(
  name: string,
  seen: ReadonlyMap<string, SeenTool> | null,
  known: ReadonlyMap<string, Known> | null,
): ToolRow {
  const row = known?.get(name)
  return {
    name,
    description: seen?.get(name)?.description ?? row?.description ?? null,
    visible: seen?.has(name) ?? null,
    on: row ? row.enabled && row.integration_enabled : null,
    pin: row?.pin?.state ?? null,
  }
}
