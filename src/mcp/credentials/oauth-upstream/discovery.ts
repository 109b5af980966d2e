import type {JsonObject} from '../../../base/json-member.ts'
import {own} from '../../../base/json-member.ts'
import type {McpOauthMetadata} from '../../../schema/mcp-configurations.ts'
import {AuthServerFault} from '../auth-server-fault.ts'
import {askerOf, type CalledIntegration, type CredentialServices} from '../services.ts'
import {challengeIn, type SignInChallenge} from './challenge.ts'
import {firstDocument, secureAddress, textIn, textsIn, wellKnown} from './documents.ts'
import {isSameIssuer} from './issuers.ts'
import {type ProtectedResource, protectedResource} from './resource-document.ts'

/** The authorization server of an upstream, as far as the gateway needs it. */
export interface UpstreamAuthServer {
  readonly issuer: string
  readonly authorization_endpoint: string | null
  readonly token_endpoint: string
  readonly registration_endpoint: string | null
  readonly revocation_endpoint: string | null
  readonly auth_methods: readonly string[] | null
  /** True: its answers name it in `iss` (RFC 9207). */
  readonly is_issuer_answered: boolean
  /** The value of `resource`; null where it is not sent. */
  readonly resource: string | null
  /** Scopes to request, with blanks between; null: those that it gives by itself. */
  readonly scope: string | null
}

/** Finds the authorization server of an integration: challenge, resource document, metadata. */
export async function discoveredServer(
  services: Pick<CredentialServices, 'fetch'>,
  integration: CalledIntegration,
  settings: McpOauthMetadata,
  known: SignInChallenge | null,
): Promise<UpstreamAuthServer> {
  const challenge = known ?? (await askedChallenge(services, integration))
  const protected_resource = await protectedResource(services, integration, challenge)
  const listed = settings.issuer ?? protected_resource.issuer
  const issuer = listed ?? new URL(integration.url).origin
  secureAddress(issuer, 'the issuer', integration.url)
  const has_both = settings.authorization_endpoint !== undefined && settings.token_endpoint !== undefined
  const metadata = has_both ? {} : await serverMetadata(services, integration, issuer, settings)
  return serverOf(integration, settings, {issuer, metadata, challenge, protected_resource})
}

/** The refusal that a server gives to a request without a credential; null where it gives another answer. */
async function askedChallenge(
  {fetch}: Pick<CredentialServices, 'fetch'>,
  integration: CalledIntegration,
): Promise<SignInChallenge | null> {
  const headers = {'content-type': 'application/json', accept: 'application/json, text/event-stream'}
  const body = JSON.stringify({jsonrpc: '2.0', id: 0, method: 'ping'})
  const asked = {method: 'POST', headers, body, is_head_enough: true} as const
  const reply = await fetch(integration.url, asked, askerOf(integration))
  return reply.status === 401 || reply.status === 403 ? challengeIn(reply.headers) : null
}

/** The metadata of an issuer, in the order of 2026-07-28. */
async function serverMetadata(
  services: Pick<CredentialServices, 'fetch'>,
  integration: CalledIntegration,
  issuer: string,
  settings: McpOauthMetadata,
): Promise<JsonObject> {
  const has_path = new URL(issuer).pathname !== '/'
  const urls = [
    wellKnown(issuer, 'oauth-authorization-server'),
    wellKnown(issuer, 'openid-configuration'),
    ...(has_path ? [`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`] : []),
  ]
  const found = await firstDocument(services, urls, askerOf(integration))
  if (!found && settings.token_endpoint !== undefined) return {}
  if (!found)
    throw new AuthServerFault(
      'unfit',
      `${issuer} has no metadata of an authorization server; oauth_metadata can name its endpoints`,
    )
  const named = textIn(found.document, 'issuer')
  if (named === null || !isSameIssuer(named, issuer))
    throw new AuthServerFault('unfit', `the issuer ${issuer} is expected, its metadata names ${named ?? 'none'}`)
  return found.document
}

interface FoundServer {
  readonly issuer: string
  readonly metadata: JsonObject
  readonly challenge: SignInChallenge | null
  readonly protected_resource: ProtectedResource
}

function serverOf(
  {url}: CalledIntegration,
  settings: McpOauthMetadata,
  {issuer, metadata, challenge, protected_resource}: FoundServer,
): UpstreamAuthServer {
  const endpoint = (name: string, given?: string) => {
    const text = given ?? textIn(metadata, name)
    return text === null ? null : secureAddress(text, name, url)
  }
  const token_endpoint = endpoint('token_endpoint', settings.token_endpoint)
  if (token_endpoint === null) throw new AuthServerFault('unfit', `the metadata of ${issuer} has no token_endpoint`)
  const challenges = textsIn(metadata, 'code_challenge_methods_supported')
  if (challenges && !challenges.includes('S256'))
    throw new AuthServerFault('unfit', `${issuer} takes no code challenge of S256`)
  const scopes = settings.scopes_supported ?? protected_resource.scopes_supported
  return {
    issuer: textIn(metadata, 'issuer') ?? issuer,
    authorization_endpoint: endpoint('authorization_endpoint', settings.authorization_endpoint),
    token_endpoint,
    registration_endpoint: endpoint('registration_endpoint', settings.registration_endpoint),
    revocation_endpoint: endpoint('revocation_endpoint'),
    auth_methods: textsIn(metadata, 'token_endpoint_auth_methods_supported'),
    is_issuer_answered: own(metadata, 'authorization_response_iss_parameter_supported') === true,
    resource: settings.resource === 'omit' ? null : protected_resource.resource,
    scope: settings.scope ?? withOfflineAccess(challenge?.scope ?? (scopes?.join(' ') || null), metadata, settings),
  }
}

/** Some servers give a refresh token for `offline_access` alone: it is added where their metadata name it. */
function withOfflineAccess(
  scope: string | null,
  metadata: JsonObject,
  {grant_types}: Pick<McpOauthMetadata, 'grant_types'>,
): string | null {
  if (scope === null || (grant_types && !grant_types.includes('refresh_token'))) return scope
  const is_offered = textsIn(metadata, 'scopes_supported')?.includes('offline_access') ?? false
  return is_offered ? joinedScopes(scope, 'offline_access') : scope
}

/** Scopes with blanks between, those of both texts, each once. */
export function joinedScopes(...scopes: readonly string[]): string {
  return [...new Set(scopes.join(' ').split(' '))].filter(each => each !== '').join(' ')
}
