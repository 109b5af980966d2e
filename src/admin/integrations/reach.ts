import {may} from '../../identity/may.ts'
import {findIntegration} from '../../store/integrations.ts'
import type {IntegrationsTable} from '../../store/tables/catalog.ts'
import type {Actor} from '../services.ts'
import {found, type Standing} from '../tenancy.ts'

/**
 * The integration a call names, if its caller may do `verb` with it: one of the organisation by an admin key with the scope for
 * those, one of a workspace by a key of that workspace, or an admin key, with the scope for these. Any other is not found.
 */
export async function reachIntegration(call: Standing, named: string, verb: 'read' | 'update' | 'delete'): Promise<IntegrationsTable> {
  const row = await findIntegration(call.db, call.actor.organisation_id, named)
  return found(row && reaches(call.actor, row, verb) ? row : undefined, 'integration')
}

function reaches(actor: Actor, {workspace_id}: IntegrationsTable, verb: string): boolean {
  if (workspace_id === null) return actor.workspace_id === null && may(actor, [`organisation_integrations.${verb}`])
  return (actor.workspace_id ?? workspace_id) === workspace_id && may(actor, [`workspace_integrations.${verb}`])
}

/** The scopes of which an operation on integrations asks one; which of them counts, the row says. */
export function integrationScopes(verb: string): readonly string[] {
  return [`organisation_integrations.${verb}`, `workspace_integrations.${verb}`]
}
