import {createHash} from 'node:crypto'
import {newId} from '../../../base/ids.ts'
import type {McpOauthMetadata} from '../../../schema/mcp-configurations.ts'
import {findMcpConnection} from '../../../store/mcp-connections.ts'
import {insertMcpSignIn, stepMcpSignIn} from '../../../store/mcp-sign-ins.ts'
import type {McpSignInsTable} from '../../../store/tables/mcp-connections.ts'
import {AuthServerFault} from '../auth-server-fault.ts'
import {keepTokens, personKey} from '../kept-tokens.ts'
import type {CalledTarget, CredentialServices} from '../services.ts'
import type {SignInChallenge} from './challenge.ts'
import type {OauthClient} from './client-proof.ts'
import {discoveredServer, joinedScopes, type UpstreamAuthServer} from './discovery.ts'
import {clientAt, upstreamCallback} from './registration.ts'
import {askedTokens} from './token-endpoint.ts'

/** All that a sign-in at an authorization server takes to be ended, in any process. */
export interface SentSignIn {
  readonly code_verifier: string
  readonly redirect_uri: string
  readonly client: OauthClient
  readonly server: UpstreamAuthServer
  readonly scope: string | null
}

const LIFE_MS = 600_000

export function hashOfState(state: string): string {
  return createHash('sha256').update(state).digest('hex')
}

interface BegunSignIn {
  readonly user_id: string
  readonly challenge: SignInChallenge | null
  /** A path of this gateway, where the person continues. */
  readonly return_to?: string | null
}

/** The link by which a person signs in at the server of a target: for that person alone, once, for 10 minutes. */
export async function signInLink(
  {store, wall, random_bytes, base_url}: Pick<CredentialServices, 'store' | 'wall' | 'random_bytes' | 'base_url'>,
  {integration, server}: CalledTarget,
  {user_id, challenge, return_to = null}: BegunSignIn,
): Promise<string> {
  const state = random_bytes(32).toString('base64url')
  const now_ms = wall()
  const row: McpSignInsTable = {
    ...{id: newId(), organisation_id: integration.organisation_id, mcp_integration_id: integration.id},
    ...{mcp_server_id: server.id, user_id, state_hash: hashOfState(state), step: 'issued', secrets: null},
    ...{challenge: challenge && JSON.stringify(challenge), return_to, registrations: 0},
    created_at: new Date(now_ms).toISOString(),
    expires_at: new Date(now_ms + LIFE_MS).toISOString(),
  }
  await store.write(db => insertMcpSignIn(db, row))
  return `${base_url}/oauth/upstream-auth?state=${state}`
}

/**
 * The address of the authorization server that a person is sent to; null where another request was faster. Rejects with
 * an `AuthServerFault`; the link stays good then.
 */
export async function sentToServer(
  services: CredentialServices,
  target: CalledTarget,
  settings: McpOauthMetadata,
  row: McpSignInsTable,
): Promise<string | null> {
  const {store, seal, random_bytes, base_url} = services
  const challenge = row.challenge === null ? null : (JSON.parse(row.challenge) as SignInChallenge)
  const server = await discoveredServer(services, target.integration, settings, challenge)
  if (server.authorization_endpoint === null)
    throw new AuthServerFault('unfit', `the metadata of ${server.issuer} has no authorization_endpoint`)
  const client = await clientAt(services, target.integration, settings, server)
  const [state, code_verifier] = [random_bytes(32).toString('base64url'), random_bytes(32).toString('base64url')]
  const redirect_uri = upstreamCallback(base_url)
  const scope = settings.scope ?? (await widened(services, target, row.user_id, server))
  const sent: SentSignIn = {code_verifier, redirect_uri, client, server, scope}
  const is_ours = await store.write(db =>
    stepMcpSignIn(db, row, {
      ...{step: 'sent', state_hash: hashOfState(state)},
      secrets: seal.close(JSON.stringify(sent), placeOf(row)),
      registrations: Number(row.registrations) + 1,
    }),
  )
  return is_ours ? authorizationUrl(server.authorization_endpoint, settings, sent, state) : null
}

/** The scopes to request, and those that the person has there already: a step up takes nothing away. */
async function widened(
  {store}: Pick<CredentialServices, 'store'>,
  target: CalledTarget,
  user_id: string,
  {issuer, scope}: UpstreamAuthServer,
): Promise<string | null> {
  const held = scope === null ? undefined : await findMcpConnection(store.db, personKey(target, user_id))
  if (scope === null || !held?.scope || held.issuer !== issuer) return scope
  return joinedScopes(held.scope, scope)
}

function authorizationUrl(
  endpoint: string,
  {authorization_params = {}}: McpOauthMetadata,
  {code_verifier, redirect_uri, client, server, scope}: SentSignIn,
  state: string,
): string {
  const url = new URL(endpoint)
  const own = {
    ...{response_type: 'code', client_id: client.client_id, redirect_uri, state},
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(scope !== null && {scope}),
    ...(server.resource !== null && {resource: server.resource}),
  }
  for (const [name, value] of Object.entries({...authorization_params, ...own})) url.searchParams.set(name, value)
  return url.href
}

export function openedSignIn({seal}: Pick<CredentialServices, 'seal'>, row: McpSignInsTable): SentSignIn | null {
  return row.secrets === null ? null : (JSON.parse(seal.open(row.secrets, placeOf(row))) as SentSignIn)
}

function placeOf({id, organisation_id}: McpSignInsTable) {
  return {table: 'mcp_sign_ins', column: 'secrets', row: id, organisation_id}
}

/** Exchanges the code of a sign-in, and keeps the tokens for its person. Rejects with an `AuthServerFault`. */
export async function exchangedCode(
  services: CredentialServices,
  target: CalledTarget,
  user_id: string,
  {code_verifier, redirect_uri, client, server, scope}: SentSignIn,
  code: string,
): Promise<void> {
  const {token_endpoint, revocation_endpoint, resource, issuer} = server
  const form = {grant_type: 'authorization_code', code, redirect_uri, code_verifier}
  const given = await askedTokens(services, target.integration, {token_endpoint, client, form, resource})
  const tokens = {
    ...{access_token: given.access_token, refresh_token: given.refresh_token, token_endpoint, revocation_endpoint},
    ...{client, resource, settings_hash: null},
  }
  const first = {url: target.integration.url, issuer, given, tokens, scope}
  await keepTokens(services, personKey(target, user_id), first)
}
