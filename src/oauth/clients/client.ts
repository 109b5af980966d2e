import {type RedirectTarget, readRedirect} from '../../identity/mcp-oauth/redirect-uris.ts'
import type {Db} from '../../store/database.ts'
import {findOAuthClient} from '../../store/oauth-clients.ts'
import type {McpOauthClientsTable} from '../../store/tables/oauth.ts'
import type {OAuthServices} from '../services.ts'
import {isDocumentId, isHostAllowed} from './documents.ts'

const LONGEST_ID = 1024

/** A client as the endpoints see it. */
export interface OAuthClient
  extends Pick<
    McpOauthClientsTable,
    'id' | 'kind' | 'organisation_id' | 'workspace_id' | 'name' | 'secret_hash' | 'expires_at'
  > {
  readonly redirect_uris: readonly string[]
  readonly grant_types: readonly string[]
  /** The most that it may have; null: any. */
  readonly scopes: readonly string[] | null
  readonly skips_consent: boolean
}

/** The client of an id as it is kept; one with a document only while its host is allowed. Fetches nothing. */
export async function findClient(db: Db, settings: OAuthServices['settings'], id: string): Promise<OAuthClient | null> {
  if (id.length > LONGEST_ID || id.includes('\0')) return null
  if (isDocumentId(id) && !isHostAllowed(id, settings.mcp_cimd_hosts)) return null
  const row = await findOAuthClient(db, id)
  return row ? clientOfRow(row) : null
}

export function clientOfRow(row: McpOauthClientsTable): OAuthClient {
  return {
    ...row,
    redirect_uris: JSON.parse(row.redirect_uris) as string[],
    grant_types: JSON.parse(row.grant_types) as string[],
    scopes: row.scopes === null ? null : (JSON.parse(row.scopes) as string[]),
    skips_consent: row.kind === 'administered' && Number(row.skips_consent) === 1,
  }
}

/** The targets of a client's redirect URIs, for people. */
export function targetsOf({redirect_uris}: OAuthClient, settings: OAuthServices['settings']): RedirectTarget[] {
  const schemes = new Set(settings.mcp_redirect_schemes)
  return redirect_uris.flatMap(uri => readRedirect(uri, schemes) ?? [])
}
