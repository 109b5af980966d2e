import {createHash} from 'node:crypto'
import {newId} from '../../../base/ids.ts'
import type {McpTargetRow} from '../../../store/mcp-connections.ts'
import {insertExternalSignIn} from '../../../store/mcp-external-sign-ins.ts'
import type {McpExternalSignInsTable} from '../../../store/tables/mcp-connections.ts'
import {openedConfiguration} from '../configuration.ts'
import type {OauthClient} from '../oauth-upstream/client-proof.ts'
import {clientAt} from '../oauth-upstream/registration.ts'
import {hashOfState} from '../oauth-upstream/sign-in.ts'
import type {CredentialServices} from '../services.ts'
import {type ExternalProvider, externalProvider} from './provider.ts'

/** All that ends a sign-in at a provider, in any process. */
export interface SentExternally {
  readonly code_verifier: string
  readonly redirect_uri: string
  readonly nonce: string
  readonly client: OauthClient
  readonly provider: ExternalProvider
  /** The authorization that continues, as its browser names it. */
  readonly handle: string
}

export interface ExternalStart {
  readonly location: string
  /** A word for a cookie of the browser that began: no other browser ends the sign-in. */
  readonly browser: string
}

const LIFE_MS = 600_000

export function externalCallback(base_url: string): string {
  return `${base_url}/oauth/external-callback`
}

/**
 * The address of the provider to which the person of an authorization is sent; null where the integration has none.
 * Rejects with an `AuthServerFault`, or an `McpFault` for a configuration that does not fit.
 */
export async function externalStart(
  services: CredentialServices,
  target: McpTargetRow,
  {transaction_id, handle}: {readonly transaction_id: string; readonly handle: string},
): Promise<ExternalStart | null> {
  const {store, seal, random_bytes, base_url, wall} = services
  const {integration, server} = target
  const {external_auth_config: config} = await openedConfiguration(services, target)
  if (!config) return null
  const provider = await externalProvider(services, integration, config)
  const redirect_uri = externalCallback(base_url)
  const {client_id, client_secret, token_endpoint_auth_method} = config
  // a registration of its own: its callback is another than that of sign-ins at the server
  const registrar = {...provider, issuer: `external ${provider.issuer}`}
  const settings = {client_id, client_secret, token_endpoint_auth_method}
  const client = await clientAt(services, integration, settings, registrar, redirect_uri)
  const word = () => random_bytes(32).toString('base64url')
  const [state, browser, nonce, code_verifier] = [word(), word(), word(), word()]
  const sent: SentExternally = {code_verifier, redirect_uri, nonce, client, provider, handle}
  const now_ms = wall()
  const row: McpExternalSignInsTable = {
    ...{id: newId(), organisation_id: integration.organisation_id, mcp_integration_id: integration.id},
    ...{mcp_server_id: server.id, transaction_id, state_hash: hashOfState(state)},
    ...{browser_hash: hashOfState(browser), step: 'sent', user_id: null, secrets: null},
    created_at: new Date(now_ms).toISOString(),
    expires_at: new Date(now_ms + LIFE_MS).toISOString(),
  }
  const secrets = seal.close(JSON.stringify(sent), placeOf(row))
  await store.write(db => insertExternalSignIn(db, {...row, secrets}))
  const url = new URL(provider.authorization_endpoint)
  const own = {
    ...{response_type: 'code', client_id: client.client_id, redirect_uri, state, nonce},
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(provider.scope !== null && {scope: provider.scope}),
  }
  for (const [name, value] of Object.entries({...config.authorization_params, ...own}))
    url.searchParams.set(name, value)
  return {location: url.href, browser}
}

export function openedExternally(
  {seal}: Pick<CredentialServices, 'seal'>,
  row: McpExternalSignInsTable,
): SentExternally | null {
  return row.secrets === null ? null : (JSON.parse(seal.open(row.secrets, placeOf(row))) as SentExternally)
}

function placeOf({id, organisation_id}: Pick<McpExternalSignInsTable, 'id' | 'organisation_id'>) {
  return {table: 'mcp_external_sign_ins', column: 'secrets', row: id, organisation_id}
}
