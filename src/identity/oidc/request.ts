import {createHash} from 'node:crypto'
import type {OidcSettings} from '../../schema/connections.ts'
import type {OidcMetadata} from './discovery.ts'

export interface OidcAsk {
  readonly redirect_uri: string
  readonly state: string
  readonly nonce: string
  /** RFC 7636: the provider gets its SHA-256. */
  readonly code_verifier: string
  readonly login_hint: string | null
  readonly custom_scopes: readonly string[]
  /** The most seconds since the person showed who he is; without it the provider decides. */
  readonly max_age_s?: number
}

/**
 * Taken neither from the settings nor from the endpoint's own query: with another value of one of them, the answer
 * would be judged by a request that was not sent.
 */
const OWN_NAMES: ReadonlySet<string> = new Set([
  'response_type', 'response_mode', 'client_id', 'redirect_uri', 'scope', 'state', 'nonce', 'code_challenge',
  'code_challenge_method', 'login_hint', 'request', 'request_uri',
]) // biome-ignore format: a list is read by its line

/** The address to which the browser goes (OpenID Connect Core 1.0 §3.1.2.1, RFC 7636 §4.3). */
export function authorizationUrl(settings: OidcSettings, metadata: OidcMetadata, ask: OidcAsk): string {
  const url = new URL(metadata.authorization_endpoint)
  for (const [name, value] of Object.entries(settings.authorization_params)) url.searchParams.set(name, value)
  for (const name of OWN_NAMES) url.searchParams.delete(name)
  const {redirect_uri, state, nonce, login_hint, max_age_s} = ask
  const own_params = {
    response_type: 'code',
    response_mode: 'query',
    client_id: settings.client_id,
    redirect_uri,
    scope: scopesOf(settings, metadata, ask.custom_scopes).join(' '),
    state,
    nonce,
    code_challenge: createHash('sha256').update(ask.code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(login_hint !== null && {login_hint}),
    ...(max_age_s !== undefined && {max_age: String(max_age_s)}),
  }
  for (const [name, value] of Object.entries(own_params)) url.searchParams.set(name, value)
  return url.href
}

/** `offline_access` only where the provider lists it: others refuse a request with it. No refresh token is kept. */
function scopesOf(
  {scopes}: OidcSettings,
  {scopes_supported}: OidcMetadata,
  custom_scopes: readonly string[],
): readonly string[] {
  const unique = new Set(['openid', ...scopes, ...custom_scopes])
  if (!scopes_supported?.includes('offline_access')) unique.delete('offline_access')
  return [...unique]
}
