import {createPrivateKey, type KeyObject} from 'node:crypto'
import type {SsoConnection} from '../identity/connections.ts'
import type {SignInServices} from './services.ts'

/** The original product's prefix: providers that were set up for it have it in their addresses. */
const ALIAS = '/albus'

/** The address to which a provider of OpenID Connect sends people back. */
export function redirectUri({base_url, settings}: SignInServices, {id}: SsoConnection): string {
  const own = id === 'environment' ? settings.oidc_redirect_uri : undefined
  return own ?? `${base_url}/v2/auth/callback`
}

/** The page at which a person is after signing out, here and at the provider. */
export const SIGNED_OUT = '/v2/auth/signed-out'

/** The address of a consumer of assertions; `alias` for the spelling of the original product. */
export function samlConsumer({base_url}: SignInServices, organisation_id: string, alias = false): string {
  return `${base_url}${alias ? ALIAS : ''}/v2/auth/saml/callback/${organisation_id}`
}

/** The name of this gateway at SAML providers, one for all organisations. */
export function entityId({base_url}: SignInServices, alias = false): string {
  return `${base_url}${alias ? ALIAS : ''}/v2/auth/saml`
}

/** The key that signs requests and opens assertions; null where none is set. */
export function signingKey({settings}: SignInServices): KeyObject | null {
  const pem = settings.saml_sp_private_key
  return pem ? createPrivateKey(pem) : null
}
