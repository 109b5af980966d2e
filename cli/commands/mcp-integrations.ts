import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {readPairs} from '../option-parsers.ts'
import {group, leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {structuredFrom} from '../structured.ts'
import type {TableColumn} from '../table.ts'
import {workspaceFor, workspaceIfSaid} from '../workspace.ts'
import {capabilitiesCommand, metadataCommand} from './capabilities.ts'
import {deleteCommand, listCommand, minute, type Noun, named, showCommand} from './rows.ts'

const noun: Noun<'mcp_integrations'> = {
  command: 'mcp-integrations',
  one: 'MCP integration',
  many: 'MCP integrations',
  operations: 'mcp_integrations',
  param: 'mcpIntegrationId',
  example: 'house-docs',
  one_in_workspace: false,
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'url', value: row => row.url},
    {title: 'of', value: row => row.type},
    {title: 'workspaces', value: row => row.workspaces_count, align: 'right'},
    {title: 'created', value: row => minute(row.created_at), optional: 1},
  ],
}

/** `gateway mcp-integrations`: servers of tools outside. */
export function mcpIntegrations(): Command {
  return group('mcp-integrations', 'MCP integrations: servers of tools outside, opened to workspaces', [
    create(),
    listCommand(noun),
    showCommand(noun),
    update(),
    deleteCommand(noun, 'the MCP servers made of it go with it'),
    workspaces(),
    capabilitiesCommand(noun),
    metadataCommand(noun),
  ])
}

interface WriteOptions {
  readonly name?: string
  readonly description?: string
  readonly server?: string
  readonly auth?: string
  readonly transport?: string
  readonly config?: string
  readonly secret?: readonly string[]
}

/** Of something new all three are there: the first is required, the others have a default. */
interface ServerOptions {
  readonly server: string
  readonly auth: string
  readonly transport: string
}

function create(): Command {
  const command = leaf(
    'create',
    "Create an MCP integration: the organisation's, or with --workspace that workspace's own",
    [
      'gateway mcp-integrations create house-docs --server https://mcp.example.com/mcp --auth oauth_auto',
      'gateway mcp-integrations create house-docs --server https://mcp.example.com/mcp --auth headers --config headers.json',
    ],
  )
    .argument('<slug>', 'slug to give it')
    .requiredOption('--server <url>', 'where it is')
    .option('--auth <type>', 'oauth_auto, oauth_client_credentials, headers or none', 'none')
    .option('--transport <transport>', 'http or sse', 'http')
  return withWorkspace(writes(command), 'of this workspace alone').action(
    (slug: string, options: WriteOptions & WorkspaceOption & ServerOptions, self: Command) =>
      withGateway(self, async gateway => {
        const workspace_id = await workspaceIfSaid(gateway, options.workspace)
        const fields = {...(workspace_id !== undefined && {workspace_id}), ...(await written(gateway, options))}
        const {server: url, auth: auth_type, transport} = options
        const body = {slug, name: slug, ...fields, url, auth_type, transport}
        const reply = await gateway.call('mcp_integrations.create', {body})
        gateway.print.made(reply, reply.slug, `Created the MCP integration ${reply.slug}.`)
      }),
  )
}

function update(): Command {
  const command = named(
    leaf('update', 'Change an MCP integration', ['gateway mcp-integrations update house-docs --config headers.json']),
    noun,
  )
    .option('--server <url>', 'where it is')
    .option('--auth <type>', 'oauth_auto, oauth_client_credentials, headers or none')
    .option('--transport <transport>', 'http or sse')
  return writes(command).action((slug: string, options: WriteOptions, self: Command) =>
    withGateway(self, async gateway => {
      const body = await written(gateway, options)
      if (!Object.keys(body).length)
        throw usageFault('Nothing to change was said.', 'See: gateway mcp-integrations update --help')
      const reply = await gateway.call('mcp_integrations.update', {params: {mcpIntegrationId: slug}, body})
      gateway.print.done(reply, `Changed the MCP integration ${slug}.`)
    }),
  )
}

function writes(command: Command): Command {
  return command
    .option('--config <file>', 'JSON or YAML with custom_headers and the like, or - for stdin; kept sealed')
    .option('--secret <field=reference...>', 'fields to fill from secret references')
    .option('--name <name>', 'name to show (default: the slug)')
    .option('--description <text>', 'what it is for')
}

async function written({world}: Gateway, options: WriteOptions) {
  const mappings = Object.entries(readPairs(options.secret ?? [], '--secret'))
  return {
    ...(options.name !== undefined && {name: options.name}),
    ...(options.description !== undefined && {description: options.description}),
    ...(options.server !== undefined && {url: options.server}),
    ...(options.auth !== undefined && {auth_type: options.auth}),
    ...(options.transport !== undefined && {transport: options.transport}),
    ...(options.config !== undefined && {configurations: await structuredFrom(world, options.config, '--config')}),
    ...(options.secret && {
      secret_mappings: mappings.map(([target_field, secret_reference_id]) => ({target_field, secret_reference_id})),
    }),
  }
}

interface AccessRow {
  readonly id: string
  readonly enabled: boolean
}

const ACCESS_COLUMNS: readonly TableColumn<AccessRow>[] = [
  {title: 'workspace', value: row => row.id, whole: true},
  {title: 'open', value: row => row.enabled},
]

interface AccessOptions {
  readonly open?: readonly string[]
  readonly close?: readonly string[]
  readonly all?: boolean
}

function workspaces(): Command {
  return named(
    leaf('workspaces', 'List the workspaces that may use an MCP integration, or change them', [
      'gateway mcp-integrations workspaces house-docs --open research',
    ]),
    noun,
  )
    .option('--open <workspace...>', 'open it to these workspaces')
    .option('--close <workspace...>', 'close it to these')
    .option('--all', 'open it to every workspace, those to come too')
    .option('--no-all', 'open it to those alone that are named')
    .action((slug: string, {open = [], close = [], all}: AccessOptions, self: Command) =>
      withGateway(self, async gateway => {
        const params = {mcpIntegrationId: slug}
        const row = async (name: string, enabled: boolean) => ({
          id: (await workspaceFor(gateway, name)) ?? name,
          enabled,
        })
        const rows = await Promise.all([...open.map(name => row(name, true)), ...close.map(name => row(name, false))])
        const body = {workspaces: rows, ...(all !== undefined && {global_workspace_access: {enabled: all}})}
        if (rows.length || all !== undefined) await gateway.call('mcp_integrations.update_workspaces', {params, body})
        const reply = await gateway.call('mcp_integrations.list_workspaces', {params})
        gateway.print.list(reply, reply.workspaces ?? [], ACCESS_COLUMNS)
      }),
    )
}
