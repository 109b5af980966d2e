import type {JsonValue} from '../../base/json-member.ts'
import {readKey} from '../../base/jwt/token.ts'
import type {OidcSettings} from '../../schema/connections.ts'
import {type KeySets, MAX_KEYS} from '../jwt/key-sets.ts'
import {printable} from '../printable.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {clientMethodOf, clientProof} from './client.ts'
import type {OidcMetadata} from './discovery.ts'

/** One thing that was tried at a provider. `detail` is for administrators, and holds no secret. */
export interface TrialStep {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** All that a sign-in needs of a provider, tried without a person. Without a discovery document there is one step. */
export async function trialSteps(
  settings: OidcSettings,
  discover: () => Promise<OidcMetadata>,
  key_sets: Pick<KeySets, 'tried'>,
): Promise<readonly TrialStep[]> {
  let metadata: OidcMetadata
  try {
    metadata = await discover()
  } catch (fault) {
    return [{name: 'discovery', ok: false, detail: detailOf(fault)}]
  }
  return [
    {name: 'discovery', ok: true, detail: `issuer ${settings.issuer}`},
    {name: 'endpoints', ok: true, detail: endpointsOf(metadata)},
    await keysStep(settings, metadata, key_sets),
    clientStep(settings, metadata),
    pkceStep(metadata),
  ]
}

function endpointsOf(metadata: OidcMetadata): string {
  const {authorization_endpoint, token_endpoint, userinfo_endpoint, end_session_endpoint} = metadata
  const named = {authorization: authorization_endpoint, token: token_endpoint, userinfo: userinfo_endpoint}
  const listed = Object.entries({...named, logout: end_session_endpoint})
  return listed.map(([name, url]) => `${name}: ${url === null ? 'none' : new URL(url).host}`).join(', ')
}

async function keysStep(
  {id_token_algorithms}: OidcSettings,
  {jwks_uri}: OidcMetadata,
  key_sets: Pick<KeySets, 'tried'>,
): Promise<TrialStep> {
  const name = 'keys'
  try {
    const {keys, dropped} = await key_sets.tried(jwks_uri)
    const usable = keys.filter((jwk: JsonValue) => id_token_algorithms.some(each => readKey(jwk, each) !== undefined))
    const accepted = id_token_algorithms.join(', ')
    const beyond = dropped > 0 ? `; ${dropped} beyond the first ${MAX_KEYS} are not used` : ''
    const detail = `keys: ${keys.length}; that fit id_token_algorithms (${accepted}): ${usable.length}${beyond}`
    return {name, ok: usable.length > 0, detail}
  } catch (fault) {
    return {name, ok: false, detail: detailOf(fault)}
  }
}

/** Only what can be seen without a code: whether the provider takes the secret shows at the first sign-in. */
function clientStep(settings: OidcSettings, metadata: OidcMetadata): TrialStep {
  const name = 'client'
  const method = clientMethodOf(settings)
  try {
    clientProof(settings, metadata, 0)
  } catch (fault) {
    return {name, ok: false, detail: detailOf(fault)}
  }
  // Discovery 1.0 §3: a document without the list means client_secret_basic alone, which few providers mean
  const accepted = metadata.token_endpoint_auth_methods_supported
  if (accepted && !accepted.includes(method))
    return {
      name,
      ok: false,
      detail: `${method} is not among what the provider takes: ${printable(accepted.join(', '))}`,
    }
  return {name, ok: true, detail: method}
}

function pkceStep({code_challenge_methods_supported: methods}: OidcMetadata): TrialStep {
  const name = 'pkce'
  if (methods === null) return {name, ok: true, detail: 'the provider does not say; S256 is sent'}
  const ok = methods.includes('S256')
  return {name, ok, detail: ok ? 'S256' : `the provider takes ${printable(methods.join(', '))}; S256 is sent`}
}

function detailOf(fault: unknown): string {
  if (fault instanceof SignInFault) return fault.detail
  return printable(fault instanceof Error ? fault.message : String(fault))
}
