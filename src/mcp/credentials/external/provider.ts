import type {McpExternalAuth} from '../../../schema/mcp-configurations.ts'
import {AuthServerFault} from '../auth-server-fault.ts'
import type {UpstreamAuthServer} from '../oauth-upstream/discovery.ts'
import {jsonObject, secureAddress, textIn, textsIn} from '../oauth-upstream/documents.ts'
import {isSameIssuer} from '../oauth-upstream/issuers.ts'
import {askerOf, type CalledIntegration, type CredentialServices} from '../services.ts'

/** A provider where people sign in instead of here (`external_auth_config`), as it is used for one sign-in. */
export interface ExternalProvider extends UpstreamAuthServer {
  readonly authorization_endpoint: string
  /** Null: neither configured nor in its document. */
  readonly userinfo_endpoint: string | null
  readonly jwks_uri: string | null
  /** True: the issuer is the configured one, not made of an address. */
  readonly is_named: boolean
}

/** Configured addresses count before those of the document of the issuer, which is read where some are missing. */
export async function externalProvider(
  services: Pick<CredentialServices, 'fetch'>,
  integration: CalledIntegration,
  config: McpExternalAuth,
): Promise<ExternalProvider> {
  const is_known = config.userinfo_endpoint !== undefined || config.jwks_uri !== undefined
  const document = config.issuer === undefined ? null : await documentOf(services, integration, config.issuer)
  if (!is_known && config.issuer !== undefined && !document)
    throw new AuthServerFault('silent', 'its OpenID document could not be read, and no userinfo_endpoint is configured')
  const secure = (name: string, text: string | null | undefined) =>
    text === null || text === undefined ? null : secureAddress(text, name, integration.url)
  const found = (name: string, own: string | undefined) => secure(name, own ?? (document && textIn(document, name)))
  return {
    issuer: config.issuer ?? new URL(config.authorization_endpoint).origin,
    is_named: config.issuer !== undefined,
    authorization_endpoint: secure('authorization_endpoint', config.authorization_endpoint)!,
    token_endpoint: secure('token_endpoint', config.token_endpoint)!,
    registration_endpoint: found('registration_endpoint', config.registration_endpoint),
    revocation_endpoint: found('revocation_endpoint', config.revocation_endpoint),
    userinfo_endpoint: found('userinfo_endpoint', config.userinfo_endpoint),
    jwks_uri: config.issuer === undefined ? null : found('jwks_uri', config.jwks_uri),
    auth_methods: document && textsIn(document, 'token_endpoint_auth_methods_supported'),
    is_issuer_answered: document?.authorization_response_iss_parameter_supported === true,
    resource: null,
    scope: config.scope ?? config.scopes_supported?.join(' ') ?? 'openid email profile',
  }
}

/** Null where there is none; one of another issuer is refused (OpenID Connect Discovery 1.0 §4.3). */
async function documentOf({fetch}: Pick<CredentialServices, 'fetch'>, integration: CalledIntegration, issuer: string) {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const url = secureAddress(address, 'issuer', integration.url)
  const headers = {accept: 'application/json'}
  const {status, text} = await fetch(url, {method: 'GET', headers}, askerOf(integration))
  const document = status === 200 ? jsonObject(text) : null
  if (!document) return null
  const named = textIn(document, 'issuer')
  if (named === null || !isSameIssuer(named, issuer))
    throw new AuthServerFault('unfit', `the document of ${issuer} is of another issuer`)
  return document
}
