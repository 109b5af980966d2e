import type {JsonObject} from '../../base/json-member.ts'
import type {McpConfigurations} from '../../schema/mcp-configurations.ts'
import type {FieldValues} from '../../secrets/port.ts'
import {findMcpConnection} from '../../store/mcp-connections.ts'
import {McpFault} from '../wire/faults.ts'
import type {HeaderFields} from '../wire/header-values.ts'
import type {ProbeCredential} from '../wire/upstream-era.ts'
import {AuthServerFault} from './auth-server-fault.ts'
import {configurationWith, mappedValues, openedConfiguration} from './configuration.ts'
import {connectionHash, type SignInOfPerson} from './connection-hash.ts'
import {ConnectionUses} from './connection-uses.ts'
import {forwardedHeaders, mergedHeaders, type UpstreamHeaders} from './header-rules.ts'
import {Identities, identityNames} from './identity.ts'
import {IdentityKey} from './identity-key.ts'
import {IntegrationTokens} from './integration-tokens.ts'
import {type SecondTokenOutcome, SecondTokens, secondTokenHeader} from './jwt-validation.ts'
import {personKey} from './kept-tokens.ts'
import {bearerChallenge, type SignInChallenge} from './oauth-upstream/challenge.ts'
import {signInLink} from './oauth-upstream/sign-in.ts'
import type {CalledIntegration, CalledServer, CredentialCaller, CredentialServices} from './services.ts'
import {PersonTokens, type UsableToken} from './token-renewal.ts'
import {FETCH_TIMEOUT_MS} from './walled-fetch.ts'

export interface CredentialRequest {
  readonly integration: CalledIntegration
  readonly server: CalledServer
  readonly caller: CredentialCaller
  /** As the client sent them. */
  readonly client_headers: HeaderFields
  /** Claims of its second token (`secondToken`), where there is one. */
  readonly validated?: JsonObject | undefined
  /** A path of this gateway where a person continues after a sign-in at the upstream. */
  readonly return_to?: string | null
}

/** Headers for one request of an upstream. */
export interface UpstreamCredential {
  readonly headers: UpstreamHeaders
  /** True where the upstream can tell callers apart by them. */
  readonly per_user: boolean
  /** Callers with different ones must not share a connection. */
  readonly connection_hash: string
  /** The sign-in that they are of; null where they are no person's. */
  readonly sign_in: SignInOfPerson | null
  /** A token was renewed for this request. */
  readonly refreshed: boolean
  /** How far a refusal of the upstream is a matter of a person (`UpstreamOptions`). */
  readonly credential: ProbeCredential
  /** For `after401`; null where no token was fetched. */
  readonly token_id: string | null
}

export interface SignInNeeded {
  readonly sign_in_needed: {readonly authorization_url: string}
}

export interface RefusedCredential {
  readonly refused: {
    readonly status: number
    /** Of the JSON-RPC error. */
    readonly code: number
    readonly message: string
    readonly fault: McpFault
  }
}

export type CredentialOutcome = UpstreamCredential | SignInNeeded | RefusedCredential

/** Headers and credentials of calls to MCP servers. */
export class McpCredentials {
  readonly #services: CredentialServices
  readonly #identity_key: IdentityKey
  readonly #identities: Identities
  readonly #second_tokens: SecondTokens
  readonly #person_tokens: PersonTokens
  readonly #integration_tokens: IntegrationTokens
  readonly #uses: ConnectionUses

  constructor(services: CredentialServices) {
    this.#services = services
    this.#identity_key = new IdentityKey(services)
    this.#identities = new Identities(this.#identity_key, services)
    this.#second_tokens = new SecondTokens(services)
    this.#person_tokens = new PersonTokens(services)
    this.#integration_tokens = new IntegrationTokens(services)
    this.#uses = new ConnectionUses(services)
  }

  /** The document of `/.well-known/jwks.json`. */
  keySet() {
    return this.#identity_key.keySet()
  }

  /** The second check besides the credential (`jwt_validation`); null where the integration has none. */
  async secondToken({
    integration,
    server,
    client_headers,
  }: Pick<CredentialRequest, 'integration' | 'server' | 'client_headers'>): Promise<
    SecondTokenOutcome | RefusedCredential | null
  > {
    try {
      const {jwt_validation, external_auth_config} = await openedConfiguration(this.#services, {
        integration,
        server,
      })
      if (!jwt_validation) return null
      return await this.#second_tokens.check(jwt_validation, integration, client_headers, external_auth_config)
    } catch (fault) {
      return refusedBy(fault, server)
    }
  }

  /** Headers for a call. Rejects for faults of the store alone. */
  headersFor(request: CredentialRequest): Promise<CredentialOutcome> {
    return this.#outcome(request, NOT_REFUSED)
  }

  /**
   * Headers for the one repetition of a request that the upstream refused with 401: another token where one was or can
   * be fetched, else a sign-in. Where none was fetched the refusal is final. `is_last`: it was the repetition that was
   * refused; a person has to sign in then.
   */
  async after401(
    request: CredentialRequest,
    {token_id, refreshed}: Pick<UpstreamCredential, 'token_id' | 'refreshed'>,
    {www_authenticate, is_last = false}: {readonly www_authenticate: string | null; readonly is_last?: boolean},
  ): Promise<CredentialOutcome> {
    const {server, integration, caller} = request
    if (token_id === null && !is_last) {
      const values = await this.#otherSecrets(request)
      if (values) return this.#outcome(request, NOT_REFUSED, values)
    }
    const is_persons = integration.auth_type === 'oauth_auto' && caller.user_id !== null
    if (token_id === null || ((is_last || refreshed) && !is_persons))
      return refusedBy(new McpFault('credential_refused', {server: server.slug}), server)
    const challenge = bearerChallenge(www_authenticate)
    if (is_last || refreshed) return this.#signIn(request, challenge)
    return this.#outcome(request, {refused_id: token_id, challenge})
  }

  /** `values`: of mapped fields, in the place of those that calls use now. */
  async #outcome(request: CredentialRequest, after: Refused, values?: FieldValues): Promise<CredentialOutcome> {
    const {integration, server} = request
    try {
      const settings = values
        ? configurationWith(this.#services, {integration, server}, values)
        : await openedConfiguration(this.#services, {integration, server})
      this.#requirePassthrough(settings, server)
      const token = await this.#tokenFor(request, settings, after)
      if (token !== null && 'sign_in_needed' in token) return token
      return await this.#credential(request, settings, token)
    } catch (fault) {
      // the secret of the gateway as a client was changed there, and in its manager
      if (!values && fault instanceof AuthServerFault && fault.is_client_refused) {
        const others = await this.#otherSecrets(request)
        if (others) return this.#outcome(request, after, others)
      }
      return refusedBy(fault, server)
    }
  }

  /** Others from managers for what was refused; null where there are none. */
  async #otherSecrets(request: CredentialRequest): Promise<FieldValues | null> {
    const used = mappedValues(request)
    return used && this.#services.secrets.refused(used.fields, used.values)
  }

  async #credential(
    {integration, caller, client_headers, validated}: CredentialRequest,
    settings: McpConfigurations,
    token: UsableToken | null,
  ): Promise<UpstreamCredential> {
    const {forward_headers, user_identity_forwarding, jwt_validation} = settings
    const second = secondTokenHeader(jwt_validation)
    const never = [...identityNames(user_identity_forwarding), ...(second === null ? [] : [second])]
    const forwarded = forwardedHeaders(client_headers, {forward: forward_headers, never})
    const about = {integration, client: client_headers, validated}
    const identity = await this.#identities.of(user_identity_forwarding, caller, about)
    const is_persons = integration.auth_type === 'oauth_auto'
    const {user_id} = caller
    const connected_at = token?.connected_at ?? null
    const sign_in = user_id !== null && connected_at !== null ? {user_id, connected_at} : null
    return {
      headers: mergedHeaders({
        forwarded,
        custom: settings.custom_headers,
        authorization: token === null ? undefined : `Bearer ${token.access_token}`,
        passthrough: settings.passthrough_header,
        identity: identity.headers,
      }),
      per_user: is_persons || identity.distinction !== null,
      connection_hash: connectionHash({
        forwarded,
        identity: identity.distinction,
        sign_in,
      }),
      sign_in,
      refreshed: token?.refreshed ?? false,
      credential: token?.refreshed ? 'standing' : PROBE_CREDENTIALS[integration.auth_type],
      token_id: token?.token_id ?? null,
    }
  }

  /** Null where none is needed. */
  async #tokenFor(
    request: CredentialRequest,
    {oauth_metadata = {}}: McpConfigurations,
    {refused_id, challenge}: Refused,
  ): Promise<UsableToken | SignInNeeded | null> {
    const {integration, caller, server} = request
    if (integration.auth_type === 'oauth_client_credentials')
      return this.#integration_tokens.usable(integration, oauth_metadata, refused_id)
    if (integration.auth_type !== 'oauth_auto') return null
    const {user_id} = caller
    if (user_id === null)
      throw new McpFault('forbidden', {
        reason:
          `The MCP server ${server.slug} needs the sign-in of a person; a service key is none. ` +
          'Use a key of a user, or OAuth.',
      })
    const key = personKey(request, user_id)
    const use = {integration, settings: oauth_metadata, key, refused_id}
    return (await this.#person_tokens.usable(use)) ?? this.#signIn(request, challenge)
  }

  async #signIn(request: CredentialRequest, challenge: SignInChallenge | null): Promise<SignInNeeded> {
    const {caller, return_to = null} = request
    const begun = {user_id: caller.user_id!, challenge, return_to}
    return {sign_in_needed: {authorization_url: await signInLink(this.#services, request, begun)}}
  }

  #requirePassthrough({user_identity_forwarding}: McpConfigurations, {slug}: CalledServer) {
    if (user_identity_forwarding?.method !== 'bearer' || this.#services.settings.mcp_allow_token_passthrough) return
    const reason = 'user_identity_forwarding has the method bearer, which MCP_ALLOW_TOKEN_PASSTHROUGH=ON allows'
    throw new McpFault('integration_unfit', {server: slug, reason})
  }

  /** The upstream answered a request with this credential. */
  succeeded(request: Pick<CredentialRequest, 'integration' | 'server' | 'caller'>): void {
    const {integration, caller} = request
    if (integration.auth_type === 'oauth_auto' && caller.user_id !== null)
      this.#uses.note(personKey(request, caller.user_id))
  }

  /** True where a person has tokens for a server. */
  async isConnected(target: Pick<CredentialRequest, 'integration' | 'server'>, user_id: string): Promise<boolean> {
    return (await findMcpConnection(this.#services.store.db, personKey(target, user_id))) !== undefined
  }
}

interface Refused {
  /** The token that the upstream refused. */
  readonly refused_id: string | null
  readonly challenge: SignInChallenge | null
}

const NOT_REFUSED: Refused = {refused_id: null, challenge: null}

const PROBE_CREDENTIALS: Readonly<Record<CalledIntegration['auth_type'], ProbeCredential>> = {
  oauth_auto: 'person',
  oauth_client_credentials: 'standing',
  headers: 'standing',
  none: 'none',
}

function refusedBy(fault: unknown, {slug}: CalledServer): RefusedCredential {
  const known = fault instanceof AuthServerFault ? fault.toMcpFault(slug, FETCH_TIMEOUT_MS) : fault
  if (!(known instanceof McpFault)) throw fault
  return {refused: {status: known.http, code: known.code, message: known.message, fault: known}}
}
