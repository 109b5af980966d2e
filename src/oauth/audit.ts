import {newTimeId} from '../base/ids.ts'
import {insertAuditLog} from '../store/audit-logs.ts'
import type {Db} from '../store/database.ts'
import type {McpOauthGrantsTable} from '../store/tables/oauth.ts'
import type {OAuthServices, OAuthVisit} from './services.ts'

/** An event of a grant, for the audit log of its organisation. */
export interface GrantDeed {
  readonly event:
    | 'consent_given'
    | 'consent_remembered'
    | 'consent_denied'
    | 'refresh_token_used_again'
    | 'grant_revoked'
  readonly action: 'create' | 'update' | 'delete'
  readonly status: number
  readonly more?: Readonly<Record<string, unknown>>
}

type GrantFacts = Pick<McpOauthGrantsTable, 'id' | 'client_id' | 'organisation_id'> &
  Partial<Pick<McpOauthGrantsTable, 'workspace_id' | 'server_id' | 'scopes'>>

/** Writes the row in the transaction of the deed. `user_id`: its person; null for a client or the gateway. */
export async function noteGrant(
  db: Db,
  {settings, now}: Pick<OAuthServices, 'settings' | 'now'>,
  {grant, deed, user_id}: {readonly grant: GrantFacts; readonly deed: GrantDeed; readonly user_id: string | null},
  {request_id, client_ip}: OAuthVisit,
): Promise<void> {
  if (!settings.audit_logs_enabled) return
  const at = now()
  const {id, client_id, organisation_id, workspace_id = null, server_id, scopes} = grant
  const {event, action, status, more} = deed
  await insertAuditLog(db, {
    ...{id: newTimeId(at.getTime()), at: at.toISOString(), organisation_id, workspace_id},
    ...{actor_type: user_id === null ? 'system' : 'user', actor_id: user_id},
    ...{method: '', uri: '', request_id, request_headers: '{}', query_params: null, client_ip},
    request_body: JSON.stringify({event, client_id, server_id, scopes, ...more}),
    ...{status, resource_type: 'mcp-oauth-grant', resource_id: id, action},
  })
}
