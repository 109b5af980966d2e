import {createSign, type KeyObject} from 'node:crypto'
import {deflateRawSync} from 'node:zlib'
import type {SamlSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {SamlProvider} from './metadata.ts'
import {ASSERTION, POST_BINDING, PROTOCOL} from './names.ts'

export interface SamlRequest {
  /** Of `makeRequestId`. */
  readonly id: string
  readonly acs_url: string
  /** Of this gateway. */
  readonly entity_id: string
  readonly relay_state: string
  /** ISO 8601 UTC. */
  readonly issued_at: string
  readonly sign_with: KeyObject | null
}

const SIGNATURES = {
  rsa: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  ec: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
} as const

/** `_` and 32 hex digits: an ID of XML begins with no digit. */
export function makeRequestId(random_hex: string): string {
  if (!/^[\da-f]{32}$/.test(random_hex)) throw new RangeError('expected 32 hex digits')
  return `_${random_hex}`
}

/**
 * The address that a browser is sent to: an AuthnRequest by the HTTP-Redirect binding (SAML bindings §3.4), signed
 * where the connection wants that. Throws a `SignInFault` with `not_configured` where the key for it is missing.
 */
export function beginUrl(
  provider: Pick<SamlProvider, 'sso_url'>,
  settings: Pick<SamlSettings, 'name_id_format' | 'sign_requests'>,
  request: SamlRequest,
): string {
  const document = authnRequest(provider.sso_url, settings.name_id_format, request)
  const parameters = [
    `SAMLRequest=${encodeURIComponent(deflateRawSync(document).toString('base64'))}`,
    `RelayState=${encodeURIComponent(request.relay_state)}`,
  ]
  const query = settings.sign_requests ? signedQuery(parameters, request.sign_with) : parameters.join('&')
  return `${provider.sso_url}${provider.sso_url.includes('?') ? '&' : '?'}${query}`
}

/** The signature is over the parameters as they are encoded here. */
function signedQuery(parameters: readonly string[], key: KeyObject | null): string {
  const type = key?.asymmetricKeyType
  if (!key || (type !== 'rsa' && type !== 'ec'))
    throw new SignInFault('not_configured', 'The connection signs its requests, and there is no key for that.')
  const query = [...parameters, `SigAlg=${encodeURIComponent(SIGNATURES[type])}`].join('&')
  const signature = createSign('sha256').update(query).sign({key, dsaEncoding: 'ieee-p1363'}, 'base64')
  return `${query}&Signature=${encodeURIComponent(signature)}`
}

function authnRequest(sso_url: string, format: string | null, request: SamlRequest): string {
  const {id, acs_url, entity_id, issued_at} = request
  const policy = format === null ? '' : `<samlp:NameIDPolicy Format="${escaped(format)}" AllowCreate="true"/>`
  return [
    `<samlp:AuthnRequest xmlns:samlp="${PROTOCOL}" xmlns:saml="${ASSERTION}"`,
    ` ID="${escaped(id)}" Version="2.0" IssueInstant="${escaped(issued_at)}" Destination="${escaped(sso_url)}"`,
    ` ForceAuthn="false" ProtocolBinding="${POST_BINDING}" AssertionConsumerServiceURL="${escaped(acs_url)}">`,
    `<saml:Issuer>${escaped(entity_id)}</saml:Issuer>${policy}</samlp:AuthnRequest>`,
  ].join('')
}

/** Text for an attribute or an element. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\t\n\r]/g, character => `&#${character.charCodeAt(0)};`)
}
