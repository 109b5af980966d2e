import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {isAllowed} from '../../identity/access.ts'
import {userOf} from '../../identity/subject.ts'
import {McpConnectionQuery, McpConnectionRow, McpConnectionsQuery} from '../../schema/mcp-connections.ts'
import {mcpList, mcpListOf, Success} from '../../schema/mcp-integrations.ts'
import {Handle} from '../../schema/names.ts'
import {
  deleteMcpConnection,
  findMcpConnection,
  listMcpConnections,
  type McpConnectionKey,
} from '../../store/mcp-connections.ts'
import type {McpServerRow} from '../../store/mcp-servers.ts'
import {type OperationCall, operation} from '../operation.ts'
import {type CallerScope, found, invalid, isAdmin, namedWorkspace} from '../tenancy.ts'
import {reachMcpServer} from './servers.ts'

const tag = 'MCP Servers > Connections'
const path = '/mcp-servers/:mcpServerId/connections'
const params = z.strictObject({mcpServerId: Handle})
/** No row of a user has it. */
const NO_USER = ' '

/** Sign-ins of users at the server behind an MCP server. */
export const mcpConnections = [
  operation({
    id: 'mcp_servers.list_connections',
    tag,
    method: 'GET',
    path,
    summary: 'List the users who are signed in at the server behind an MCP server',
    scopes: ['mcp_servers.read'],
    params,
    query: McpConnectionsQuery,
    reply: mcpListOf(McpConnectionRow),
    handle: listed,
  }),
  operation({
    id: 'mcp_servers.delete_connection',
    tag,
    method: 'DELETE',
    path,
    summary: 'End the sign-in of a user at the server behind an MCP server',
    scopes: ['mcp_servers.update', 'mcp_servers.read'],
    audit: {resource: 'mcp-server', action: 'update'},
    params,
    query: McpConnectionQuery,
    reply: Success,
    handle: endedConnection,
  }),
] as const

async function listed(call: OperationCall<typeof params, typeof McpConnectionsQuery>) {
  const server = await reachedServer(call, call.query.workspace_id)
  const user_id = namedUser(call, call.query.user_id, null)
  const {rows, total} = await listMcpConnections(call.db, {mcp_server_id: server.id, user_id}, call.query)
  const data = rows.map(({user_id, created_at, last_updated_at}) => ({
    ...{user_id, created_at, last_updated_at},
    connected: true,
  }))
  return mcpList(data, total, call.query)
}

/**
 * Its tokens are gone with the reply; the server that gave them is requested to revoke them. A user who may read the
 * MCP server may end his own.
 */
export async function endedConnection(call: OperationCall<typeof params, typeof McpConnectionQuery>) {
  const {actor, app, db, query} = call
  const server = await reachedServer(call, query.workspace_id)
  const user_id = namedUser(call, query.user_id, userOf(actor.subject))
  if (user_id === undefined) throw invalid('user_id', 'is required where the caller is no user')
  const is_own = user_id === userOf(actor.subject) || user_id === NO_USER
  if (!is_own && !isAllowed(actor, ['mcp_servers.update']))
    throw new Refusal('scope.missing', {scope: 'mcp_servers.update'})
  const key = connectionKey(server, user_id)
  const connection = found(user_id === NO_USER ? undefined : await findMcpConnection(db, key), 'connection')
  await deleteMcpConnection(db, key)
  call.afterCommit(() => app.mcp?.revokeTokens(connection))
  call.auditTarget(server.id, server.workspace_id)
  return {success: true as const}
}

/** The connection of a user at a server. */
export function connectionKey(
  {id, mcp_integration_id, organisation_id}: McpServerRow,
  user_id: string,
): McpConnectionKey {
  return {mcp_integration_id, mcp_server_id: id, user_id, organisation_id}
}

export async function reachedServer(
  call: CallerScope & {readonly params: {readonly mcpServerId: string}},
  workspace: string | undefined,
): Promise<McpServerRow> {
  const server = await reachMcpServer(call, call.params.mcpServerId)
  const named = await namedWorkspace(call, workspace)
  return found(workspace === undefined || named?.id === server.workspace_id ? server : undefined, 'MCP server')
}

/**
 * The user whose connection is meant; undefined: all. A caller who is no admin reaches his own alone. A caller who is
 * no user has to name one, but for the operator, who may list all.
 */
export function namedUser({actor}: CallerScope, named: string | undefined, usual: string | null): string | undefined {
  const own = userOf(actor.subject)
  if (own !== null && !isAdmin(actor)) return named === undefined || named === own ? own : NO_USER
  if (own === null && named === undefined && actor.subject.kind !== 'operator')
    throw invalid('user_id', 'is required where the caller is no user')
  return named ?? usual ?? undefined
}
