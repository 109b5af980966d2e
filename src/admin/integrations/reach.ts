import {isAllowed, ownWorkspace} from '../../identity/access.ts'
import {findIntegration} from '../../store/integrations.ts'
import type {IntegrationsTable} from '../../store/tables/catalog.ts'
import type {Actor} from '../services.ts'
import {type CallerScope, found} from '../tenancy.ts'

/**
 * The integration a call names, if its caller may do `verb` with it: one of the organisation by an admin key with the
 * scope for those, one of a workspace by a key of that workspace, or an admin key, with the scope for these. Any other
 * is not found.
 */
export async function reachIntegration(
  call: CallerScope,
  named: string,
  verb: 'read' | 'update' | 'delete',
): Promise<IntegrationsTable> {
  const row = await findIntegration(call.db, call.actor.organisation_id, named)
  return found(row && reaches(call.actor, row, `integrations.${verb}`) ? row : undefined, 'integration')
}

/**
 * True when a caller may do `deed` (`integrations.read`, `mcp_integrations.read`) with a row of the organisation, or of
 * a workspace.
 */
export function reaches(actor: Actor, {workspace_id}: {readonly workspace_id: string | null}, deed: string): boolean {
  if (workspace_id === null) return ownWorkspace(actor) === null && isAllowed(actor, [`organisation_${deed}`])
  return (ownWorkspace(actor) ?? workspace_id) === workspace_id && isAllowed(actor, [`workspace_${deed}`])
}

/** The scopes of which an operation on integrations asks one; which of them counts, the row says. */
export function integrationScopes(verb: string): readonly string[] {
  return [`organisation_integrations.${verb}`, `workspace_integrations.${verb}`]
}
