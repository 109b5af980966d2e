import {createHash} from 'node:crypto'
import type {McpOauthMetadata} from '../../schema/mcp-configurations.ts'
import {findMcpConnection} from '../../store/mcp-connections.ts'
import {AuthServerFault} from './auth-server-fault.ts'
import {exclusively} from './exclusively.ts'
import {integrationKey, keepTokens, openedTokens, tokenId} from './kept-tokens.ts'
import {discoveredServer} from './oauth-upstream/discovery.ts'
import {configuredClient} from './oauth-upstream/registration.ts'
import {askedTokens} from './oauth-upstream/token-endpoint.ts'
import type {CalledIntegration, CredentialServices} from './services.ts'
import type {UsableToken} from './token-renewal.ts'

/** Tokens of integrations themselves (RFC 6749 §4.4): one for all callers, fetched by one process of all. */
export class IntegrationTokens {
  readonly #services: CredentialServices
  readonly #fetching = new Map<string, Promise<UsableToken>>()

  constructor(services: CredentialServices) {
    this.#services = services
  }

  /** `refused_id`: the token that the upstream refused. Rejects with an `AuthServerFault`. */
  async usable(
    integration: CalledIntegration,
    settings: McpOauthMetadata,
    refused_id: string | null,
  ): Promise<UsableToken> {
    const settings_hash = hashOf(settings, integration.url)
    const kept = await this.#kept(integration, settings_hash, refused_id)
    if (kept && !kept.is_due) return kept.token
    const waiting = this.#fetching.get(integration.id)
    if (waiting) return {...(await waiting), refreshed: false}
    const fetching = this.#fetched(integration, settings, settings_hash, refused_id).finally(() =>
      this.#fetching.delete(integration.id),
    )
    this.#fetching.set(integration.id, fetching)
    try {
      return await fetching
    } catch (fault) {
      if (fault instanceof AuthServerFault && kept && !kept.is_over) return kept.token
      throw fault
    }
  }

  async #fetched(
    integration: CalledIntegration,
    settings: McpOauthMetadata,
    settings_hash: string,
    refused_id: string | null,
  ): Promise<UsableToken> {
    const look = async () => {
      const kept = await this.#kept(integration, settings_hash, refused_id)
      return kept && !kept.is_due ? kept.token : undefined
    }
    const work = () => this.#fetch(integration, settings, settings_hash)
    const {value} = await exclusively(this.#services, `client credentials ${integration.id}`, look, work)
    return value
  }

  /** The token that is kept; null for none that these settings gave, and for a refused one. */
  async #kept(integration: CalledIntegration, settings_hash: string, refused_id: string | null) {
    const row = await findMcpConnection(this.#services.store.db, integrationKey(integration))
    if (!row) return null
    const tokens = openedTokens(this.#services, row)
    const token_id = tokenId(tokens)
    if (tokens.settings_hash !== settings_hash || token_id === refused_id) return null
    const now_ms = this.#services.wall()
    const token: UsableToken = {access_token: tokens.access_token, token_id, refreshed: false, connected_at: null}
    const is_past = (time: string | null) => time !== null && Date.parse(time) <= now_ms
    return {token, is_due: is_past(row.refresh_at), is_over: is_past(row.expires_at)}
  }

  async #fetch(
    integration: CalledIntegration,
    settings: McpOauthMetadata,
    settings_hash: string,
  ): Promise<UsableToken> {
    const server = await discoveredServer(this.#services, integration, settings, null)
    const client = configuredClient(settings, server.auth_methods)
    if (!client?.client_secret)
      throw new AuthServerFault('unfit', 'oauth_metadata needs a client_id and a client_secret')
    const {token_endpoint, revocation_endpoint, resource, scope, issuer} = server
    const form = {grant_type: 'client_credentials', ...(scope !== null && {scope})}
    const given = await askedTokens(this.#services, integration, {token_endpoint, client, form, resource})
    const tokens = {
      ...{access_token: given.access_token, refresh_token: null, token_endpoint, revocation_endpoint},
      ...{client, resource, settings_hash},
    }
    const first = {url: integration.url, issuer, given, tokens, scope}
    await keepTokens(this.#services, integrationKey(integration), first)
    return {access_token: given.access_token, token_id: tokenId(given), refreshed: true, connected_at: null}
  }
}

function hashOf(settings: McpOauthMetadata, url: string): string {
  const all = Object.entries(settings).sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([url, all]))
    .digest('base64url')
}
