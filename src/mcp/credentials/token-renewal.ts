import type {McpOauthMetadata} from '../../schema/mcp-configurations.ts'
import {
  changeMcpConnection,
  deleteMcpConnection,
  findMcpConnection,
  type McpConnectionKey,
  sealMcpTokens,
} from '../../store/mcp-connections.ts'
import type {McpConnectionsTable} from '../../store/tables/mcp-connections.ts'
import {AuthServerFault} from './auth-server-fault.ts'
import {exclusively} from './exclusively.ts'
import {type KeptTokens, openedTokens, timesOf, tokenId} from './kept-tokens.ts'
import type {OauthClient} from './oauth-upstream/client-proof.ts'
import {configuredClient, forgetClient} from './oauth-upstream/registration.ts'
import {askedTokens, type GivenTokens} from './oauth-upstream/token-endpoint.ts'
import type {CalledIntegration, CredentialServices} from './services.ts'

/** A token that may be sent now. */
export interface UsableToken {
  readonly access_token: string
  readonly token_id: string
  /** It was renewed for this call. */
  readonly refreshed: boolean
  /** When the sign-in of a person was made that it came from, ISO 8601; null for that of an integration. */
  readonly connected_at: string | null
}

interface TokenUse {
  readonly integration: CalledIntegration
  readonly settings: McpOauthMetadata
  readonly key: McpConnectionKey
  /** The upstream refused this token. */
  readonly refused_id: string | null
}

/** Undefined: not renewed yet. Null: there is nothing that could be. */
type Renewed = McpConnectionsTable | null

/**
 * Tokens of people for upstreams. One is renewed before its end, by one process of all. Only an `invalid_grant` for the
 * token that is kept drops a connection: an authorization server that is ill ends no sign-in.
 */
export class PersonTokens {
  readonly #services: CredentialServices
  /** By connection: calls of this process wait together. */
  readonly #renewing = new Map<string, Promise<{readonly row: Renewed; readonly is_ours: boolean}>>()

  constructor(services: CredentialServices) {
    this.#services = services
  }

  /** Null: the person has to sign in. Rejects with an `AuthServerFault`. */
  async usable(use: TokenUse): Promise<UsableToken | null> {
    const row = await findMcpConnection(this.#services.store.db, use.key)
    if (!row || !isFor(row, use.integration)) return null
    const tokens = openedTokens(this.#services, row)
    const is_refused = use.refused_id !== null && tokenId(tokens) === use.refused_id
    if (!is_refused && !isPast(row.refresh_at, this.#services.wall())) return usableOf(tokens, false, row)
    const is_over = is_refused || isPast(row.expires_at, this.#services.wall())
    if (tokens.refresh_token === null) return is_over ? null : usableOf(tokens, false, row)
    try {
      const renewed = await this.#renewed(use, tokenId(tokens))
      return renewed.row && usableOf(openedTokens(this.#services, renewed.row), renewed.is_ours, renewed.row)
    } catch (fault) {
      if (!(fault instanceof AuthServerFault)) throw fault
      if (!is_over) return usableOf(tokens, false, row)
      if (fault.is_client_refused && !tokens.client.is_configured) return null
      throw fault
    }
  }

  async #renewed(use: TokenUse, before_id: string) {
    const name = JSON.stringify([use.key.mcp_integration_id, use.key.mcp_server_id, use.key.user_id])
    const waiting = this.#renewing.get(name)
    if (waiting) return {row: (await waiting).row, is_ours: false}
    const renewing = this.#renew(use, before_id, `tokens ${name}`).finally(() => this.#renewing.delete(name))
    this.#renewing.set(name, renewing)
    return renewing
  }

  async #renew(use: TokenUse, before_id: string, lease: string) {
    const {store, wall} = this.#services
    const look = async (): Promise<Renewed | undefined> => {
      const row = (await findMcpConnection(store.db, use.key)) ?? null
      if (row === null) return null
      return tokenId(openedTokens(this.#services, row)) === before_id ? undefined : row
    }
    const {value, is_ours} = await exclusively(this.#services, lease, look, async () => {
      const row = await findMcpConnection(store.db, use.key)
      if (!row) return null
      const wait_ms = row.held_off_until === null ? 0 : Date.parse(row.held_off_until) - wall()
      if (wait_ms <= 0) return this.#refresh(use, row)
      throw new AuthServerFault('silent', `it wants no request for another ${Math.ceil(wait_ms / 1000)} s`)
    })
    return {row: value, is_ours: is_ours && value !== null}
  }

  async #refresh(use: TokenUse, row: McpConnectionsTable): Promise<Renewed> {
    const {store, seal, wall, settings} = this.#services
    const tokens = openedTokens(this.#services, row)
    const client = currentClient(use.settings, tokens.client)
    let given: GivenTokens
    try {
      given = await askedTokens(this.#services, use.integration, {
        ...{token_endpoint: tokens.token_endpoint, client, resource: tokens.resource},
        form: {grant_type: 'refresh_token', refresh_token: tokens.refresh_token!},
      })
    } catch (fault) {
      return this.#notRefreshed(use, row, client, fault)
    }
    const {access_token, refresh_token} = given
    const renewed: KeptTokens = {...tokens, client, access_token, refresh_token: refresh_token ?? tokens.refresh_token}
    const change = {
      ...{tokens: sealMcpTokens(seal, use.key, renewed), scope: given.scope ?? row.scope, held_off_until: null},
      ...timesOf(given, wall(), settings.mcp_pool_token_expiry_buffer_ms),
      last_updated_at: new Date(wall()).toISOString(),
    }
    const is_kept = await store.write(db => changeMcpConnection(db, row, change))
    if (is_kept) return {...row, ...change, revision: Number(row.revision) + 1}
    return (await findMcpConnection(store.db, use.key)) ?? null // the person signed in again meanwhile
  }

  /** Gives the newer connection where there is one, null where the person has to sign in; else throws the fault. */
  async #notRefreshed(use: TokenUse, row: McpConnectionsTable, client: OauthClient, fault: unknown): Promise<Renewed> {
    const {store, wall} = this.#services
    if (!(fault instanceof AuthServerFault)) throw fault
    if (fault.error === 'invalid_grant') {
      if (await store.write(db => deleteMcpConnection(db, use.key, row.revision))) return null
      return (await findMcpConnection(store.db, use.key)) ?? null
    }
    if (fault.is_client_refused) {
      if (client.is_configured)
        throw new AuthServerFault('refused', `it does not take the configured client_id (${fault.message})`, {fault})
      if (row.issuer !== null) await forgetClient(this.#services, use.integration, row.issuer, client)
    }
    if (fault.retry_after_ms !== null && fault.retry_after_ms > 0) {
      const held_off_until = new Date(wall() + fault.retry_after_ms).toISOString()
      await store.write(db => changeMcpConnection(db, row, {held_off_until}))
    }
    throw fault
  }
}

/** A secret that an administrator changed counts from then on; a client that is another keeps its tokens. */
function currentClient(settings: McpOauthMetadata, kept: OauthClient): OauthClient {
  if (!kept.is_configured || settings.client_id !== kept.client_id) return kept
  return {...configuredClient(settings, null)!, method: settings.token_endpoint_auth_method ?? kept.method}
}

/** Tokens are for the origin that they were made for. */
function isFor({upstream}: McpConnectionsTable, {url}: CalledIntegration): boolean {
  return URL.parse(url)?.origin === upstream
}

function isPast(time: string | null, now_ms: number): boolean {
  return time !== null && Date.parse(time) <= now_ms
}

function usableOf(
  tokens: KeptTokens,
  refreshed: boolean,
  {created_at}: Pick<McpConnectionsTable, 'created_at'>,
): UsableToken {
  return {access_token: tokens.access_token, token_id: tokenId(tokens), refreshed, connected_at: created_at}
}
