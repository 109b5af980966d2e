import type {Db} from '../../store/database.ts'
import {revokeGrant} from '../../store/oauth-grants.ts'
import type {McpOauthGrantsTable, RevokedFor} from '../../store/tables/oauth.ts'
import {noteGrant} from '../audit.ts'
import type {OAuthClient} from '../clients/client.ts'
import type {OAuthServices, OAuthVisit} from '../services.ts'
import {type OAuthError, OAuthFault} from '../wire/fault.ts'
import type {OAuthFields} from '../wire/fields.ts'
import type {TokenReply} from './issue.ts'

/** A request at the token endpoint, its client proven. */
export interface TokenRequest {
  readonly client: OAuthClient
  readonly fields: OAuthFields
  readonly visit: OAuthVisit
}

/** A refusal whose transaction stays: what it revoked is revoked. It is thrown only after the commit. */
export interface RefusedExchange {
  readonly error: OAuthError
  readonly message: string
}

export type ExchangeOutcome = TokenReply | RefusedExchange

export const INVALID_GRANT: RefusedExchange = {
  error: 'invalid_grant',
  message: 'The code or token is unknown, used, expired or revoked, or is of another client.',
}

/** The tokens of an outcome; throws its refusal. */
export function repliedTokens(outcome: ExchangeOutcome): TokenReply {
  if ('error' in outcome) throw new OAuthFault(outcome.error, outcome.message)
  return outcome
}

/** Revokes a grant of which something was used that should not have been: an alarm in log and audit log. */
export async function revokeForMisuse(
  db: Db,
  services: OAuthServices,
  {
    grant,
    visit,
    reason,
  }: {
    readonly grant: McpOauthGrantsTable
    readonly visit: OAuthVisit
    readonly reason: RevokedFor
  },
): Promise<RefusedExchange> {
  if (await revokeGrant(db, grant.id, reason, services.now().toISOString())) {
    const {id: grant_id, client_id, organisation_id} = grant
    services.log.warn({grant_id, client_id, organisation_id, reason}, 'tokens of an MCP client were revoked: a misuse')
    const deed = {event: 'grant_revoked', action: 'delete', status: 400, more: {reason}} as const
    await noteGrant(db, services, {grant, deed, user_id: null}, visit)
  }
  return INVALID_GRANT
}
