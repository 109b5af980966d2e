import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {userOf} from '../../identity/subject.ts'
import {mcpList, Success} from '../../schema/mcp-integrations.ts'
import {UserAccessCheck, UserAccessList, UserAccessQuery, UserAccessUpdate} from '../../schema/mcp-servers.ts'
import {Handle} from '../../schema/names.ts'
import type {Db} from '../../store/database.ts'
import * as store from '../../store/mcp-servers.ts'
import {findMember} from '../../store/members.ts'
import {type OperationCall, operation} from '../operation.ts'
import {reachMcpServer} from './servers.ts'

const tag = 'MCP Servers > User Access'
const path = '/mcp-servers/:mcpServerId/user-access'
const params = z.strictObject({mcpServerId: Handle})

/** Which members of its workspace may use an MCP server. */
export const mcpUserAccess = [
  operation({
    id: 'mcp_servers.list_user_access',
    tag,
    method: 'GET',
    path,
    summary: 'List the members of the workspace, and whether each may use an MCP server',
    scopes: ['mcp_servers.read'],
    params,
    query: UserAccessQuery,
    reply: UserAccessList,
    handle: listed,
  }),
  operation({
    id: 'mcp_servers.update_user_access',
    tag,
    method: 'PUT',
    path,
    summary: 'Say who may use an MCP server: members one by one, and all others',
    scopes: ['mcp_servers.update'],
    audit: {resource: 'mcp-server', action: 'update'},
    params,
    body: UserAccessUpdate,
    reply: Success,
    handle: updated,
  }),
  operation({
    id: 'mcp_servers.check_user_access',
    tag,
    method: 'GET',
    path: `${path}/check`,
    summary: 'Say whether the caller may use an MCP server',
    scopes: ['mcp_servers.read'],
    params,
    reply: UserAccessCheck,
    handle: checked,
  }),
] as const

/** A service is no user: it may use all that its workspace may. */
async function checked(call: OperationCall<typeof params>) {
  const server = await reachMcpServer(call, call.params.mcpServerId)
  const user_id = userOf(call.actor.subject)
  const allowed = user_id === null || (await isAdmitted(call.db, server, user_id))
  return {allowed, user_id, mcp_server_id: server.id}
}

/** True for a person who may use a server. */
export async function isAdmitted(
  db: Db,
  server: Pick<store.McpServerRow, 'id' | 'default_user_access'>,
  user_id: string,
): Promise<boolean> {
  const own = await store.findMcpUser(db, server.id, user_id)
  return own === undefined ? server.default_user_access === 'allow' : own.enabled === 1
}

async function listed(call: OperationCall<typeof params, typeof UserAccessQuery>) {
  const server = await reachMcpServer(call, call.params.mcpServerId)
  const {page, page_size, search} = call.query
  const current = {current_page: page - 1, page_size}
  const {rows, total} = await store.listMcpUsers(call.db, server, search, current)
  const data = rows.map(({enabled, is_connected, ...user}) => ({
    ...user,
    enabled: enabled === null ? server.default_user_access === 'allow' : enabled === 1,
    has_override: enabled !== null,
    connection_status: Number(is_connected) === 1 ? ('connected' as const) : ('not_connected' as const),
  }))
  return {...mcpList(data, total, current), default_user_access: server.default_user_access}
}

async function updated(call: OperationCall<typeof params, undefined, typeof UserAccessUpdate>) {
  const {db, body, now} = call
  const server = await reachMcpServer(call, call.params.mcpServerId)
  for (const [at, {user_id, enabled}] of (body.user_access ?? []).entries()) {
    if (!(await findMember(db, server.workspace_id, user_id)))
      throw new Refusal('parent.not_found', {field: `user_access[${at}].user_id`, object: 'member', value: user_id})
    await store.putMcpUser(db, {mcp_server_id: server.id, user_id, enabled: enabled ? 1 : 0})
  }
  await store.updateMcpServer(db, server.id, {
    ...(body.default_user_access && {default_user_access: body.default_user_access}),
    last_updated_at: now,
  })
  call.auditTarget(server.id, server.workspace_id)
  return {success: true as const}
}
