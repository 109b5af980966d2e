import {own} from '../../../base/json-member.ts'
import type {McpOauthMetadata} from '../../../schema/mcp-configurations.ts'
import {
  deleteMcpRegistration,
  findMcpRegistration,
  openMcpClient,
  putMcpRegistration,
  sealMcpClient,
} from '../../../store/mcp-registrations.ts'
import {AuthServerFault} from '../auth-server-fault.ts'
import {exclusively} from '../exclusively.ts'
import {askerOf, type CalledIntegration, type CredentialServices} from '../services.ts'
import {type ClientProofMethod, type OauthClient, usualMethod} from './client-proof.ts'
import type {UpstreamAuthServer} from './discovery.ts'
import {jsonObject, textIn} from './documents.ts'
import {refusedWith} from './token-endpoint.ts'

/** The address at which people come back from the authorization servers of upstreams. */
export function upstreamCallback(base_url: string): string {
  return `${base_url}/oauth/upstream-callback`
}

/**
 * The client of an integration at an authorization server: the configured one, else the registered one, else one that
 * is registered now (RFC 7591), by one process alone. A registration for another callback than today's is not used.
 */
export async function clientAt(
  services: CredentialServices,
  integration: CalledIntegration,
  settings: McpOauthMetadata,
  server: UpstreamAuthServer,
  redirect_uri: string = upstreamCallback(services.base_url),
): Promise<OauthClient> {
  const configured = configuredClient(settings, server.auth_methods)
  if (configured) return configured
  const {value} = await exclusively(
    services,
    `registration ${integration.id} ${server.issuer}`,
    () => registeredClient(services, integration, server.issuer, redirect_uri),
    () => registered(services, integration, settings, server, redirect_uri),
  )
  return value
}

export function configuredClient(
  {client_id, client_secret, token_endpoint_auth_method}: McpOauthMetadata,
  auth_methods: readonly string[] | null,
): OauthClient | null {
  if (client_id === undefined) return null
  const method = token_endpoint_auth_method ?? usualMethod(client_secret !== undefined, auth_methods)
  return {client_id, client_secret: client_secret ?? null, method, is_configured: true}
}

/** Forgets a client that its server does not know any more; one that was registered meanwhile stays. */
export async function forgetClient(
  {store, seal}: Pick<CredentialServices, 'store' | 'seal'>,
  {id}: CalledIntegration,
  issuer: string,
  {client_id}: OauthClient,
) {
  const row = await findMcpRegistration(store.db, {mcp_integration_id: id, issuer})
  if (!row || (JSON.parse(openMcpClient(seal, row)) as OauthClient).client_id !== client_id) return
  await store.write(db => deleteMcpRegistration(db, row))
}

async function registeredClient(
  {store, seal, wall}: CredentialServices,
  {id}: CalledIntegration,
  issuer: string,
  redirect_uri: string,
): Promise<OauthClient | undefined> {
  const row = await findMcpRegistration(store.db, {mcp_integration_id: id, issuer})
  if (row?.redirect_uri !== redirect_uri) return undefined
  if (row.expires_at !== null && Date.parse(row.expires_at) <= wall()) return undefined
  return JSON.parse(openMcpClient(seal, row)) as OauthClient
}

async function registered(
  services: CredentialServices,
  integration: CalledIntegration,
  settings: McpOauthMetadata,
  server: UpstreamAuthServer,
  redirect_uri: string,
): Promise<OauthClient> {
  const {store, seal, wall, fetch} = services
  const {registration_endpoint, issuer, auth_methods} = server
  if (registration_endpoint === null)
    throw new AuthServerFault(
      'unfit',
      `${issuer} registers no clients; oauth_metadata.client_id has to name one that was registered by hand`,
    )
  const method = settings.token_endpoint_auth_method ?? methodToRegister(auth_methods)
  const reply = await fetch(
    registration_endpoint,
    {
      method: 'POST',
      headers: {accept: 'application/json', 'content-type': 'application/json'},
      body: JSON.stringify(registrationOf(settings, {redirect_uri, method, scope: server.scope})),
    },
    askerOf(integration),
  )
  const answer = jsonObject(reply.text)
  if (!answer || reply.status === 429 || reply.status >= 500)
    throw new AuthServerFault('silent', `its registration answered with status ${reply.status}`)
  const [client_id, error] = [textIn(answer, 'client_id'), textIn(answer, 'error')]
  if (client_id === null || reply.status >= 300)
    throw error === null
      ? new AuthServerFault('silent', `its registration answered with status ${reply.status} and no client_id`)
      : refusedWith(error, textIn(answer, 'error_description'), null)
  const client_secret = textIn(answer, 'client_secret')
  const given = textIn(answer, 'token_endpoint_auth_method')
  const known = (['none', 'client_secret_basic', 'client_secret_post'] as const).find(each => each === given)
  const client: OauthClient = {
    ...{client_id, client_secret, is_configured: false},
    method: client_secret === null ? 'none' : (known ?? (method === 'none' ? usualMethod(true, auth_methods) : method)),
  }
  const expires_s = own(answer, 'client_secret_expires_at')
  const of = {mcp_integration_id: integration.id, issuer, organisation_id: integration.organisation_id}
  const row = {
    ...{...of, redirect_uri, client: sealMcpClient(seal, of, client), created_at: new Date(wall()).toISOString()},
    expires_at: typeof expires_s === 'number' && expires_s > 0 ? timeOf(expires_s) : null,
  }
  await store.write(db => putMcpRegistration(db, row))
  return client
}

function methodToRegister(auth_methods: readonly string[] | null): ClientProofMethod {
  return auth_methods === null || auth_methods.includes('none') ? 'none' : usualMethod(true, auth_methods)
}

function timeOf(time_s: number): string | null {
  return Math.abs(time_s) <= 8.64e12 ? new Date(time_s * 1000).toISOString() : null
}

interface OwnParts {
  readonly redirect_uri: string
  readonly method: ClientProofMethod
  readonly scope: string | null
}

function registrationOf(settings: McpOauthMetadata, {redirect_uri, method, scope}: OwnParts) {
  const {client_uri, logo_uri, software_id, software_version, contacts, tos_uri, policy_uri} = settings
  const {client_name = 'Gateway', grant_types = ['authorization_code', 'refresh_token']} = settings
  return {
    client_name,
    ...{client_uri, logo_uri, software_id, software_version, contacts, tos_uri, policy_uri},
    redirect_uris: [redirect_uri],
    grant_types,
    response_types: settings.response_types ?? ['code'],
    token_endpoint_auth_method: method,
    application_type: 'web',
    ...(scope !== null && {scope}),
  }
}
