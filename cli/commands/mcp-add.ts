import type {Command} from 'commander'
import {unchecked} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {readPairs} from '../option-parsers.ts'
import {leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {workspaceFor} from '../workspace.ts'

interface AddOptions extends WorkspaceOption {
  readonly auth?: string
  readonly header?: readonly string[]
  readonly transport: string
}

interface FoundRow {
  readonly type: string
  readonly name: string
  readonly description: string | null
}

const COLUMNS: readonly TableColumn<FoundRow>[] = [
  {title: 'type', value: row => row.type},
  {title: 'name', value: row => row.name, whole: true, essential: true},
  {title: 'description', value: row => row.description},
]

const LOOK_EVERY_MS = 500
const PATIENCE_MS = 30_000

/** `gateway mcp add`: a server of tools from its address to its list, in one command. */
export function added(): Command {
  const command = leaf('add', 'Add a server of tools: register it, open it to a workspace, and show what it offers', [
    'gateway mcp add tickets https://mcp.example.com/mcp --workspace research',
    'gateway mcp add tickets https://mcp.example.com/mcp --workspace research --header authorization="Bearer $TOKEN"',
  ])
    .argument('<slug>', 'slug to give it: clients call /SLUG/mcp')
    .argument('<server-url>', 'where the server is')
    .option('--auth <type>', 'oauth_auto, oauth_client_credentials, headers or none (default: headers with --header)')
    .option('--header <name=value...>', 'headers that the server gets with each request; kept sealed')
    .option('--transport <transport>', 'http or sse', 'http')
  return withWorkspace(command, 'the workspace that may use it').action(
    (slug: string, url: string, options: AddOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {print} = gateway
        const server = await made(gateway, slug, url, options)
        const status = await read(gateway, server.id)
        const {data, total} = await gateway.call('mcp_servers.list_capabilities', {
          params: {mcpServerId: server.id},
          query: {page: 1, page_size: 500},
        })
        if (print.json) return print.json_reply({...server, sync_status: status, total, data})
        print.note(`Clients call ${server.url}.`)
        if (status === 'synced') return print.list({total, data}, data, COLUMNS, total)
        print.note(nextStep(gateway, status, slug))
      }),
  )
}

/** All of it or nothing: where a step fails, what the ones before made is taken back. */
async function made(gateway: Gateway, slug: string, url: string, {auth, header, transport, workspace}: AddOptions) {
  const {call} = gateway
  const workspace_id = await workspaceFor(gateway, workspace)
  const auth_type = auth ?? (header ? 'headers' : 'none')
  const configurations = header && {custom_headers: readPairs(header, '--header')}
  const fields = {slug, name: slug, url, auth_type, transport, ...(configurations && {configurations})}
  const integration = await call('mcp_integrations.create', {body: unchecked(fields)})
  const params = {mcpIntegrationId: integration.id}
  try {
    if (workspace_id !== undefined)
      await call('mcp_integrations.update_workspaces', {
        params,
        body: {workspaces: [{id: workspace_id, enabled: true}]},
      })
    const body = {
      name: slug,
      slug,
      mcp_integration_id: integration.id,
      ...(workspace_id !== undefined && {workspace_id}),
    }
    const server = await call('mcp_servers.create', {body})
    const {data} = await call('mcp_servers.list', {query: {id: server.id}})
    return {...server, url: data[0]?.url ?? `/${slug}/mcp`}
  } catch (fault) {
    await call('mcp_integrations.delete', {params})
    throw fault
  }
}

/** Waits until the gateway has read the server; gives the status of that, `pending` where nothing reads it here. */
async function read({call, world, kind}: Gateway, mcpServerId: string): Promise<string> {
  const params = {mcpServerId}
  const until = world.now() + PATIENCE_MS
  for (;;) {
    const {sync_status} = await call('mcp_servers.get_metadata', {params})
    if (sync_status !== 'pending' || kind === 'here' || world.now() >= until) return sync_status ?? 'pending'
    await world.sleep(LOOK_EVERY_MS)
  }
}

function nextStep({typed}: Gateway, status: string, slug: string): string {
  if (status === 'auth_required') return `Somebody has to sign in there first: ${typed(`mcp connect ${slug}`)}`
  if (status === 'failed') return `It could not be read. See why: ${typed(`mcp test ${slug}`)}`
  return `A gateway that runs reads it next. See then: ${typed(`mcp tools ${slug}`)}`
}
