import {createHash} from 'node:crypto'
import {type McpConnectionKey, openMcpTokens, putMcpConnection, sealMcpTokens} from '../../store/mcp-connections.ts'
import type {McpConnectionsTable} from '../../store/tables/mcp-connections.ts'
import type {OauthClient} from './oauth-upstream/client-proof.ts'
import type {GivenTokens} from './oauth-upstream/token-endpoint.ts'
import type {CalledIntegration, CalledTarget, CredentialServices} from './services.ts'

/** The secrets of a connection, with all that it takes to renew them where they came from. */
export interface KeptTokens {
  readonly access_token: string
  readonly refresh_token: string | null
  readonly token_endpoint: string
  readonly revocation_endpoint: string | null
  readonly client: OauthClient
  /** The value of `resource`; null where it is not sent. */
  readonly resource: string | null
  /** Hash of the settings that they were fetched by; null for those of a person. */
  readonly settings_hash: string | null
}

/** The connection of a person with a server. */
export function personKey({integration, server}: CalledTarget, user_id: string): McpConnectionKey {
  const {id: mcp_integration_id, organisation_id} = integration
  return {mcp_integration_id, mcp_server_id: server.id, user_id, organisation_id}
}

/** The connection of an integration itself, for all callers. */
export function integrationKey({id, organisation_id}: CalledIntegration): McpConnectionKey {
  return {mcp_integration_id: id, mcp_server_id: '', user_id: '', organisation_id}
}

export function openedTokens({seal}: Pick<CredentialServices, 'seal'>, row: McpConnectionsTable): KeptTokens {
  return JSON.parse(openMcpTokens(seal, row)) as KeptTokens
}

/** Tells tokens apart, and says nothing of them. */
export function tokenId({access_token}: Pick<KeptTokens, 'access_token'>): string {
  return createHash('sha256').update(access_token).digest('base64url')
}

/** The times of a token that was given now. A short life is renewed at its half. */
export function timesOf(
  {expires_in_s}: Pick<GivenTokens, 'expires_in_s'>,
  now_ms: number,
  buffer_ms: number,
): Pick<McpConnectionsTable, 'expires_at' | 'refresh_at'> {
  if (expires_in_s === null) return {expires_at: null, refresh_at: null}
  const life_ms = expires_in_s * 1000
  const until_refresh_ms = life_ms < 2 * buffer_ms ? life_ms / 2 : life_ms - buffer_ms
  return {
    expires_at: new Date(now_ms + life_ms).toISOString(),
    refresh_at: new Date(now_ms + until_refresh_ms).toISOString(),
  }
}

interface FirstTokens {
  readonly url: string
  readonly issuer: string
  readonly given: GivenTokens
  readonly tokens: KeptTokens
  /** That of the request. */
  readonly scope: string | null
}

/** Keeps the tokens of a sign-in, or of an integration, in place of those that were there. */
export async function keepTokens(
  {store, seal, wall, settings}: Pick<CredentialServices, 'store' | 'seal' | 'wall' | 'settings'>,
  key: McpConnectionKey,
  {url, issuer, given, tokens, scope}: FirstTokens,
): Promise<void> {
  const now_ms = wall()
  const now = new Date(now_ms).toISOString()
  const row = {
    ...key,
    ...{upstream: new URL(url).origin, issuer, scope: given.scope ?? scope, held_off_until: null},
    tokens: sealMcpTokens(seal, key, tokens),
    ...timesOf(given, now_ms, settings.mcp_pool_token_expiry_buffer_ms),
    ...{created_at: now, last_updated_at: now},
  }
  await store.write(db => putMcpConnection(db, row))
}
