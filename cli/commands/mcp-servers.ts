import type {Command} from 'commander'
import type {VirtualTools} from '../../src/schema/mcp-virtual.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {readWhole} from '../option-parsers.ts'
import {group, leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {memberFor} from '../user.ts'
import {workspaceFor} from '../workspace.ts'
import {capabilitiesCommand, metadataCommand} from './capabilities.ts'
import {signInCommands} from './mcp-sign-ins.ts'
import {deleteCommand, listCommand, minute, type Noun, named, showCommand} from './rows.ts'

const noun: Noun<'mcp_servers'> = {
  command: 'mcp-servers',
  one: 'MCP server',
  many: 'MCP servers',
  operations: 'mcp_servers',
  param: 'mcpServerId',
  example: 'docs',
  one_in_workspace: false,
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'workspace', value: row => row.workspace_slug},
    {title: 'integration', value: row => row.mcp_integration_slug ?? 'virtual'},
    {title: 'url', value: row => row.url},
  ],
}

/** `gateway mcp-servers`: what workspaces use of MCP integrations. */
export function mcpServers(): Command {
  return group('mcp-servers', 'MCP servers: what a workspace uses of an MCP integration', [
    create(),
    listCommand(noun),
    showCommand(noun),
    update(),
    deleteCommand(noun, 'clients find it no longer'),
    capabilitiesCommand(noun),
    metadataCommand(noun),
    users(),
    connections(),
    ...signInCommands(noun),
  ])
}

interface WriteOptions {
  readonly name?: string
  readonly description?: string
  readonly tool?: readonly string[]
  readonly searchAbove?: string
}

function create(): Command {
  const command = leaf('create', 'Create an MCP server in a workspace', [
    'gateway mcp-servers create docs --integration house-docs --workspace research',
    'gateway mcp-servers create desk --workspace research --tool handbook/search handbook/read=read_page',
  ])
    .argument('<slug>', 'slug to give it, 3 to 50 characters; a part of its URL')
    .option('--integration <slug>', 'MCP integration it is made of')
  return withWorkspace(writes(command), 'workspace it is for').action(
    (slug: string, options: WriteOptions & WorkspaceOption & {integration?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const {integration} = options
        if ((integration === undefined) === (options.tool === undefined))
          throw usageFault(
            'Say --integration, or --tool for a virtual server.',
            'See: gateway mcp-servers create --help',
          )
        const workspace_id = await workspaceFor(gateway, options.workspace)
        const made_of = integration === undefined ? {} : {mcp_integration_id: integration}
        const body = {slug, name: slug, ...made_of, workspace_id, ...written(options)}
        const reply = await gateway.call('mcp_servers.create', {body})
        gateway.print.made(reply, reply.slug, `Created the MCP server ${reply.slug}.`)
      }),
  )
}

function update(): Command {
  const command = leaf('update', 'Change the name or description of an MCP server, or the tools of a virtual one', [
    'gateway mcp-servers update docs --name Documents',
    'gateway mcp-servers update desk --tool handbook/search --search-above 10',
  ])
  return writes(named(command, noun)).action((slug: string, options: WriteOptions, self: Command) =>
    withGateway(self, async gateway => {
      const body = written(options, await virtualOf(gateway, slug, options))
      if (!Object.keys(body).length)
        throw usageFault('Nothing to change was said.', 'See: gateway mcp-servers update --help')
      const reply = await gateway.call('mcp_servers.update', {params: {mcpServerId: slug}, body})
      gateway.print.done(reply, `Changed the MCP server ${slug}.`)
    }),
  )
}

function writes(command: Command): Command {
  return command
    .option('--name <name>', 'name to show (default: the slug)')
    .option('--description <text>', 'what it is for')
    .option('--tool <tool...>', 'SERVER/TOOL or SERVER/TOOL=NAME: the tools of a virtual server, in order')
    .option('--search-above <count>', 'with more tools than this, clients search them (default: 30)')
}

type GivenTool = VirtualTools['tools'][number]

function written({name, description, tool, searchAbove}: WriteOptions, before: VirtualTools | null = null): object {
  const search_above =
    searchAbove === undefined ? before?.search_above : readWhole(searchAbove, '--search-above', 0, 1000)
  const virtual = {
    tools: tool?.map(readTool) ?? before?.tools ?? [],
    ...(search_above !== undefined && {search_above}),
  }
  return {
    ...(name !== undefined && {name}),
    ...(description !== undefined && {description}),
    ...((tool !== undefined || searchAbove !== undefined) && {virtual}),
  }
}

/** The tools and the bound of a virtual server as they are, where only one of the two was given. */
async function virtualOf(gateway: Gateway, slug: string, {tool, searchAbove}: WriteOptions) {
  if ((tool === undefined) === (searchAbove === undefined)) return null
  return (await gateway.call('mcp_servers.get', {params: {mcpServerId: slug}})).virtual ?? null
}

/** Names have no `=`; the last one of a tool's own name is a part of it unless a name of ours follows. */
function readTool(text: string): GivenTool {
  const [, server, tool, name] = /^([^/]+)\/(.+?)(?:=([A-Za-z0-9_-]+))?$/s.exec(text) ?? []
  if (server === undefined || tool === undefined)
    throw usageFault(`${text.slice(0, 80)} is no tool of a server.`, 'Say SERVER/TOOL or SERVER/TOOL=NAME.')
  return {server, tool, ...(name !== undefined && {name})}
}

interface UserRow {
  readonly user_id: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly enabled: boolean
  readonly has_override: boolean
}

const USER_COLUMNS: readonly TableColumn<UserRow>[] = [
  {title: 'user', value: row => row.user_id, whole: true},
  {title: 'name', value: row => [row.first_name, row.last_name].filter(Boolean).join(' ')},
  {title: 'may use it', value: row => row.enabled},
  {title: 'said for the user', value: row => row.has_override},
]

interface UserOptions {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly others?: string
}

function users(): Command {
  return named(
    leaf('users', 'List who may use an MCP server, or change it', [
      'gateway mcp-servers users docs',
      'gateway mcp-servers users docs --allow ada@example.com --others deny',
    ]),
    noun,
  )
    .option('--allow <user...>', 'let these members use it')
    .option('--deny <user...>', 'refuse these')
    .option('--others <word>', 'allow or deny: what holds for members of whom nothing is said')
    .action((slug: string, options: UserOptions, self: Command) =>
      withGateway(self, async gateway => {
        const params = {mcpServerId: slug}
        const body = await accessOf(gateway, slug, options)
        if (Object.keys(body).length) await gateway.call('mcp_servers.update_user_access', {params, body})
        const reply = await gateway.call('mcp_servers.list_user_access', {
          params,
          query: {page_size: 500},
        })
        gateway.print.list(reply, reply.data, USER_COLUMNS, reply.total)
      }),
    )
}

async function accessOf(gateway: Gateway, slug: string, {allow = [], deny = [], others}: UserOptions): Promise<object> {
  const users = [...allow.map(user => ({user, enabled: true})), ...deny.map(user => ({user, enabled: false}))]
  const user_access = []
  if (users.length) {
    const {workspace_id} = await gateway.call('mcp_servers.get', {params: {mcpServerId: slug}})
    for (const {user, enabled} of users)
      user_access.push({user_id: await memberFor(gateway, workspace_id, user), enabled})
  }
  return {...(user_access.length && {user_access}), ...(others !== undefined && {default_user_access: others})}
}

interface ConnectionRow {
  readonly user_id: string
  readonly connected: boolean
  readonly created_at: string
}

const CONNECTION_COLUMNS: readonly TableColumn<ConnectionRow>[] = [
  {title: 'user', value: row => row.user_id, whole: true},
  {title: 'connected', value: row => row.connected},
  {title: 'since', value: row => minute(row.created_at)},
]

function connections(): Command {
  return named(
    leaf('connections', 'List the users who are signed in at the server of an MCP server, or end a sign-in there', [
      'gateway mcp-servers connections docs --user ada@example.com',
      'gateway mcp-servers connections docs --disconnect ada@example.com',
    ]),
    noun,
  )
    .option('--user <user>', 'this user alone')
    .option('--disconnect <user>', 'end the sign-in of this user')
    .action((slug: string, options: {readonly user?: string; readonly disconnect?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const params = {mcpServerId: slug}
        const idOf = async (user: string) => {
          const {workspace_id} = await gateway.call('mcp_servers.get', {params})
          return memberFor(gateway, workspace_id, user)
        }
        if (options.disconnect !== undefined) {
          const query = {user_id: await idOf(options.disconnect)}
          const reply = await gateway.call('mcp_servers.delete_connection', {params, query})
          return gateway.print.done(reply, `Ended the sign-in of ${options.disconnect} at the server of ${slug}.`)
        }
        const query = {page_size: 500, ...(options.user !== undefined && {user_id: await idOf(options.user)})}
        const reply = await gateway.call('mcp_servers.list_connections', {params, query})
        gateway.print.list(reply, reply.data, CONNECTION_COLUMNS, reply.total)
      }),
    )
}
