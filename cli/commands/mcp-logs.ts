import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {readWhole} from '../option-parsers.ts'
import {leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {reportedWorkspace} from '../workspace.ts'
import {COLUMNS, follow, type ListedCall} from './logs.ts'

interface LogsOptions extends WorkspaceOption {
  readonly tool?: string
  readonly follow?: true
  readonly lines: string
}

const PAGE = 1000
const MOST_PAGES = 20

/** `gateway mcp logs`: requests of MCP in the log. */
export function mcpLogs(): Command {
  const command = leaf('logs', 'Show the requests of MCP clients in the log, the newest first', [
    'gateway mcp logs',
    'gateway mcp logs docs --tool search',
    'gateway mcp logs docs --follow',
  ])
    .argument('[server]', 'slug of an MCP server: its requests alone')
    .option('--tool <name>', 'of a server: calls of this tool alone')
    .option('--follow', 'show requests as they end, until Ctrl-C')
    .option('--lines <n>', 'requests to show, or to begin with', '20')
  return withWorkspace(command, 'only requests of this workspace').action(
    (server: string | undefined, options: LogsOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {tool, workspace} = options
        if (tool !== undefined && server === undefined)
          throw usageFault('--tool is of a server: name that too.', 'For example: gateway mcp logs docs --tool search')
        const isMeant = meant(server, tool)
        if (options.follow) return follow(gateway, options, isMeant)
        const lines = readWhole(options.lines, '--lines', 1, PAGE)
        const workspace_id = await reportedWorkspace(gateway, workspace)
        const query = {
          ...(workspace_id !== undefined && {workspace_id}),
          ...(tool !== undefined && {ai_model: `${server}/${tool}`}),
          page_size: PAGE,
        }
        const data: ListedCall[] = []
        for (let current_page = 0; current_page < MOST_PAGES && data.length < lines; current_page++) {
          const page = await gateway.call('logs.list', {query: {...query, current_page}})
          data.push(...page.data.filter(isMeant))
          if (page.data.length < PAGE) break
        }
        const rows = data.slice(0, lines)
        gateway.print.list({object: 'list', total: rows.length, data: rows}, rows, COLUMNS)
      }),
  )
}

/** Requests of MCP have `mcp` as their provider, and SERVER or SERVER/NAME as their model. */
function meant(server: string | undefined, tool: string | undefined): (row: ListedCall) => boolean {
  return ({ai_org, ai_model}) => {
    if (ai_org !== 'mcp') return false
    if (server === undefined) return true
    return tool === undefined
      ? ai_model === server || ai_model?.startsWith(`${server}/`) === true
      : ai_model === `${server}/${tool}`
  }
}
