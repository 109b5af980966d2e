import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {userOf} from '../../identity/subject.ts'
import {McpClientInfo, McpConnectionQuery, McpTokenState, McpTokensUpdate} from '../../schema/mcp-connections.ts'
import {Success} from '../../schema/mcp-integrations.ts'
import {Handle} from '../../schema/names.ts'
import {deleteMcpConnection, findMcpConnection, putMcpConnection, sealMcpTokens} from '../../store/mcp-connections.ts'
import {findLatestMcpRegistration, openMcpClient} from '../../store/mcp-registrations.ts'
import type {McpServerRow} from '../../store/mcp-servers.ts'
import {findSyncedIntegration} from '../../store/mcp-syncs.ts'
import type {McpConnectionsTable} from '../../store/tables/mcp-connections.ts'
import {type OperationCall, operation} from '../operation.ts'
import {found, invalid} from '../tenancy.ts'
import {connectionKey, endedConnection, namedUser, reachedServer} from './connections.ts'
import {reachMcpServer} from './servers.ts'
import {isAdmitted} from './user-access.ts'

const tag = 'MCP Servers > Connections'
const path = '/mcp-servers/:mcpServerId'
const params = z.strictObject({mcpServerId: Handle})

/** The sign-in of one user at the server behind an MCP server, by its tokens. None of them is ever shown. */
export const mcpTokens = [
  operation({
    id: 'mcp_servers.get_tokens',
    tag,
    method: 'GET',
    path: `${path}/tokens`,
    summary: 'Say whether a user is signed in at the server behind an MCP server, and until when',
    scopes: ['mcp_servers.read'],
    params,
    query: McpConnectionQuery,
    reply: McpTokenState,
    handle: shown,
  }),
  operation({
    id: 'mcp_servers.set_tokens',
    tag,
    method: 'PUT',
    path: `${path}/tokens`,
    summary: 'Keep tokens that the caller has of the server behind an MCP server',
    scopes: ['mcp_servers.update', 'mcp_servers.read'],
    audit: {resource: 'mcp-server', action: 'update'},
    params,
    body: McpTokensUpdate,
    reply: McpTokenState,
    handle: kept,
  }),
  operation({
    id: 'mcp_servers.delete_tokens',
    tag,
    method: 'DELETE',
    path: `${path}/tokens`,
    summary: 'Drop the tokens that a user has of the server behind an MCP server',
    scopes: ['mcp_servers.update', 'mcp_servers.read'],
    audit: {resource: 'mcp-server', action: 'update'},
    params,
    query: McpConnectionQuery,
    reply: Success,
    handle: endedConnection,
  }),
  operation({
    id: 'mcp_servers.get_client_info',
    tag,
    method: 'GET',
    path: `${path}/client-info`,
    summary: 'Show the OAuth client that the gateway is at the server behind an MCP server',
    scopes: ['mcp_servers.read'],
    params,
    reply: McpClientInfo,
    handle: clientShown,
  }),
] as const

async function shown(call: OperationCall<typeof params, typeof McpConnectionQuery>) {
  const server = await reachedServer(call, call.query.workspace_id)
  const user_id = namedUser(call, call.query.user_id, userOf(call.actor.subject))
  if (user_id === undefined) throw invalid('user_id', 'is required where the caller is no user')
  return stateOf(await findMcpConnection(call.db, connectionKey(server, user_id)))
}

/** They replace those that were there: connections of these end, for the new ones may be of another account. */
async function kept(call: OperationCall<typeof params, undefined, typeof McpTokensUpdate>) {
  const {actor, app, db, body, now} = call
  const server = await reachMcpServer(call, call.params.mcpServerId)
  const user_id = userOf(actor.subject)
  if (user_id === null)
    throw invalid('access_token', 'belongs to a user, and the caller is none: use a key or a session of that user')
  if (!(await isAdmitted(db, server, user_id))) throw new Refusal('scope.missing', {scope: 'mcp.invoke'})
  const integration = found(await findSyncedIntegration(db, server.mcp_integration_id), 'MCP integration')
  if (integration.auth_type !== 'oauth_auto')
    throw invalid('access_token', 'is for servers at which each user signs in (auth_type oauth_auto)')
  if (!app.mcp) throw new Refusal('internal')
  const key = connectionKey(server, user_id)
  const before = await findMcpConnection(db, key)
  const row = {
    ...{...key, upstream: new URL(integration.url).origin, issuer: before?.issuer ?? null},
    ...{tokens: sealMcpTokens(app.seal, key, await app.mcp.givenTokens(integration, body, before))},
    ...{scope: null, expires_at: null, refresh_at: null, held_off_until: null},
    ...{created_at: now, last_updated_at: now},
  }
  await deleteMcpConnection(db, key)
  await putMcpConnection(db, row)
  call.auditTarget(server.id, server.workspace_id)
  return stateOf(row)
}

async function clientShown(call: OperationCall<typeof params>) {
  const {app, db} = call
  const server = await reachMcpServer(call, call.params.mcpServerId)
  const configured = configuredClientId(server)
  if (configured !== undefined) return {client_id: configured}
  const row = await findLatestMcpRegistration(db, server.mcp_integration_id)
  if (!row) return {client_id: null}
  const {client_id} = JSON.parse(openMcpClient(app.seal, row)) as {readonly client_id: string}
  return {client_id}
}

function configuredClientId({integration_configurations}: McpServerRow): string | undefined {
  const {oauth_metadata = {}} = JSON.parse(integration_configurations) as {oauth_metadata?: {client_id?: string}}
  return oauth_metadata.client_id
}

function stateOf(row: Pick<McpConnectionsTable, 'expires_at' | 'scope'> | undefined) {
  return {connected: row !== undefined, expires_at: row?.expires_at ?? null, scope: row?.scope ?? null}
}
