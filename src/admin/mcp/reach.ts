import {findMcpIntegration} from '../../store/mcp-integrations.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import {reaches} from '../integrations/reach.ts'
import {type CallerScope, found} from '../tenancy.ts'

/**
 * The MCP integration a call names, if its caller may do `verb` with it, as of other integrations. Any other is not
 * found.
 */
export async function reachMcpIntegration(
  call: CallerScope,
  named: string,
  verb: 'read' | 'update' | 'delete',
): Promise<McpIntegrationsTable> {
  const row = await findMcpIntegration(call.db, call.actor.organisation_id, named)
  return found(row && reaches(call.actor, row, `mcp_integrations.${verb}`) ? row : undefined, 'MCP integration')
}

/** The scopes of which an operation on MCP integrations asks one; which of them counts, the row says. */
export function mcpScopes(verb: string): readonly string[] {
  return [`organisation_mcp_integrations.${verb}`, `workspace_mcp_integrations.${verb}`]
}
