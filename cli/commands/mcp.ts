import type {Command} from 'commander'
import type {RowOf} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {group, leaf} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {added} from './mcp-add.ts'
import {called} from './mcp-call.ts'
import {connected} from './mcp-connect.ts'
import {mcpLogs} from './mcp-logs.ts'
import {tools} from './mcp-tools.ts'

type Capability = RowOf<'mcp_integrations.list_capabilities'>

/** One line of what is to be approved: a capability, and one place in which it differs. */
interface ChangeRow {
  readonly type: string
  readonly name: string
  readonly state: string
  readonly path: string
  readonly was: string
  readonly is: string
}

const COLUMNS: readonly TableColumn<ChangeRow>[] = [
  {title: 'type', value: row => row.type},
  {title: 'name', value: row => row.name, whole: true},
  {title: 'state', value: row => row.state},
  {title: 'where', value: row => row.path, optional: 1},
  {title: 'was', value: row => row.was},
  {title: 'is', value: row => row.is},
]

/** `gateway mcp`: what servers of tools offer, and what of it changed. */
export function mcp(): Command {
  return group('mcp', 'Servers of tools: add, try and call them, and approve what they changed', [
    added(),
    tools(),
    called(),
    connected(),
    mcpLogs(),
    tried(),
    synced(),
    difference(),
    approved(),
  ])
}

interface ServerOption {
  readonly server?: true
}

function tried(): Command {
  return leaf('test', 'Try a server: reach it, and read its lists', [
    'gateway mcp test house-docs',
    'gateway mcp test docs --server',
  ])
    .argument('<name>', 'which MCP integration')
    .option('--server', 'the name is that of an MCP server, which is tried with your own credential')
    .action((name: string, {server}: ServerOption, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const reply = server
          ? await call('mcp_servers.test', {params: {mcpServerId: name}, body: {}})
          : await call('mcp_integrations.test', {params: {mcpIntegrationId: name}, body: {}})
        const {success, error, response_time_ms, protocol_version, url} = reply
        if (!success)
          throw new CommandFault(`${url} cannot be used: ${error}.`, {exit: EXIT.failure, code: 'mcp.unusable'})
        print.done(reply, `${url} answers, in ${response_time_ms} ms, by the revision ${protocol_version}.`)
      }),
    )
}

interface SyncOptions extends ServerOption {
  readonly metadata?: true
}

function synced(): Command {
  return leaf('sync', 'Have the gateway read what a server offers', [
    'gateway mcp sync house-docs',
    'gateway mcp sync docs --server',
  ])
    .argument('<name>', 'which MCP integration')
    .option('--server', 'the name is that of an MCP server')
    .option('--metadata', 'of an MCP server: for its description of itself')
    .action((name: string, {server, metadata}: SyncOptions, self: Command) =>
      withGateway(self, async ({call, print}) => {
        if (metadata && !server) throw usageFault('--metadata is for an MCP server; give --server too.')
        const of_server = metadata ? 'mcp_servers.sync_metadata' : 'mcp_servers.sync_capabilities'
        const reply = server
          ? await call(of_server, {params: {mcpServerId: name}, body: {}})
          : await call('mcp_integrations.sync', {params: {mcpIntegrationId: name}, body: {}})
        print.done(reply, `The gateway reads ${name} now.`)
      }),
    )
}

function difference(): Command {
  return leaf('diff', 'Show what a server defines otherwise than it was approved', ['gateway mcp diff house-docs'])
    .argument('<name>', 'which MCP integration')
    .action((name: string, _: object, self: Command) =>
      withGateway(self, async gateway => {
        const open = await toApprove(gateway, name)
        const reply = {total: open.length, data: open}
        gateway.print.list(reply, open.flatMap(changesOf), COLUMNS)
      }),
    )
}

interface ApproveOptions {
  readonly type?: string
  readonly all?: true
}

function approved(): Command {
  return leaf('approve', 'Approve what a server defines now', [
    'gateway mcp approve house-docs delete_page',
    'gateway mcp approve house-docs --all',
  ])
    .argument('<name>', 'which MCP integration')
    .argument('[capabilities...]', 'names of tools, or of what --type says')
    .option('--type <type>', 'tool, prompt, resource or resource_template', 'tool')
    .option('--all', 'everything that gateway mcp diff shows')
    .action((name: string, names: readonly string[], {type, all}: ApproveOptions, self: Command) =>
      withGateway(self, async gateway => {
        if (all ? names.length > 0 : names.length === 0) throw usageFault('Name what to approve, or give --all.')
        const open = await toApprove(gateway, name)
        const chosen = all ? open : names.map(each => chosenOf(open, type!, each))
        if (chosen.length === 0) return gateway.print.done({success: true}, 'There is nothing to approve.')
        const capabilities = chosen.flatMap(({pin, ...row}) =>
          pin?.seen_hash ? [{type: row.type, name: row.name, approved_hash: pin.seen_hash}] : [],
        )
        const params = {mcpIntegrationId: name}
        const reply = await gateway.call('mcp_integrations.update_capabilities', {params, body: {capabilities}})
        gateway.print.done(reply, `Approved ${capabilities.map(each => each.name).join(', ')}.`)
      }),
    )
}

function chosenOf(open: readonly Capability[], type: string, name: string): Capability {
  const found = open.find(each => each.type === type && each.name === name)
  if (found) return found
  throw usageFault(`No ${type} ${name} waits for an approval.`, 'See: gateway mcp diff')
}

const PAGE_SIZE = 500

/** Capabilities whose definition is not approved, those that changed first. */
async function toApprove({call}: Gateway, mcpIntegrationId: string): Promise<readonly Capability[]> {
  const found: Capability[] = []
  for (const pin_state of ['changed', 'new'] as const)
    for (let page = 1, more = true; more; page++) {
      const query = {pin_state, page, page_size: PAGE_SIZE}
      const {data, has_more} = await call('mcp_integrations.list_capabilities', {params: {mcpIntegrationId}, query})
      found.push(...data)
      more = has_more
    }
  return found
}

function changesOf({type, name, pin}: Capability): ChangeRow[] {
  const row = {type, name, state: pin?.state ?? ''}
  return (pin?.difference ?? []).map(({path, was, is}) => ({...row, path, was: textOf(was), is: textOf(is)}))
}

function textOf(value: unknown): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}
