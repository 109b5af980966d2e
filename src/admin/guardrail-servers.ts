import {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {GuardrailServers} from '../schema/guardrails.ts'
import {Handle} from '../schema/names.ts'
import {guardrailServers, putGuardrailServers} from '../store/guardrail-servers.ts'
import {findMcpServer} from '../store/mcp-servers.ts'
import {reachGuardrail} from './guardrails.ts'
import {type OperationCall, operation} from './operation.ts'
import {invalid} from './tenancy.ts'

const params = z.strictObject({guardrailId: Handle})
const path = '/guardrails/:guardrailId/mcp-servers'

/** The MCP servers whose calls of tools a guardrail judges, besides those that have it as a default. */
export const guardrailMcpServers = [
  operation({
    id: 'guardrails.get_mcp_servers',
    tag: 'Guardrails',
    method: 'GET',
    path,
    summary: 'Show the MCP servers whose calls of tools a guardrail judges',
    scopes: ['guardrails.read'],
    params,
    reply: GuardrailServers,
    handle: async call => shown(call, (await reachGuardrail(call, call.params.guardrailId)).id),
  }),
  operation({
    id: 'guardrails.update_mcp_servers',
    tag: 'Guardrails',
    method: 'PUT',
    path,
    summary: 'Set the MCP servers whose calls of tools a guardrail judges',
    scopes: ['guardrails.update'],
    audit: {resource: 'guardrail', action: 'update'},
    params,
    body: GuardrailServers,
    reply: GuardrailServers,
    handle: updated,
  }),
] as const

async function updated(call: OperationCall<typeof params, undefined, typeof GuardrailServers>) {
  const {db, body} = call
  const {id, organisation_id, workspace_id, target} = await reachGuardrail(call, call.params.guardrailId, 'writes')
  if (target !== 'mcp_tools' && body.mcp_servers.length > 0)
    throw invalid('mcp_servers', 'is for guardrails of target mcp_tools; this one judges calls of models')
  const servers: string[] = []
  for (const named of new Set(body.mcp_servers)) {
    const server = await findMcpServer(db, {organisation_id, workspace_id: workspace_id ?? undefined, named})
    if (!server) throw new Refusal('parent.not_found', {field: 'mcp_servers', object: 'MCP server', value: named})
    if (server.virtual) throw invalid('mcp_servers', `${named} is virtual: name the servers that have its tools`)
    servers.push(server.id)
  }
  await putGuardrailServers(db, id, [...new Set(servers)], body.run_on)
  call.auditTarget(id, workspace_id)
  return shown(call, id)
}

async function shown({db}: Pick<OperationCall, 'db'>, guardrail_id: string): Promise<z.input<typeof GuardrailServers>> {
  const rows = await guardrailServers(db, guardrail_id)
  return {mcp_servers: rows.map(({slug}) => slug), run_on: rows[0]?.run_on ?? 'both'}
}
