import {EgressFault, faultOf, refusalOf} from '../../base/egress/faults.ts'
import {Refusal} from '../../base/errors.ts'
import type {LoginRequest, RequestAuth} from '../../providers/auth/login.ts'
import {loginOf, needsKey} from '../../providers/base-urls/base-url.ts'
import type {OutgoingHeaders, Provider} from '../../providers/provider.ts'
import {UnsupportedInputFault} from '../../providers/translation.ts'
import type {Call} from '../call/call.ts'
import {asUntranslatable} from '../inbound/error-response.ts'
import type {RequestCredentials} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import {assertOpen} from '../targets/open-target.ts'
import type {Target} from '../targets/target.ts'

type Services = Uses<'logins'>

/** A login that is yet to be made for a request. */
export interface PendingAuth {
  readonly login: RequestAuth
  readonly key: string | null
}

/**
 * Writes the key where it belongs; gives the login that is needed instead. `own`: the login of the place that is
 * called, where it has one.
 */
export function authenticated(
  headers: OutgoingHeaders,
  {incoming}: Call,
  target: Target,
  provider: Provider,
  credentials: RequestCredentials,
  own?: RequestAuth,
): PendingAuth | null {
  const {managed, options} = target
  const key = keyFor(target, credentials)
  const forwards_own =
    incoming.own.values['forward-headers']?.toLowerCase().includes('authorization') &&
    headers.authorization !== undefined
  const login = own ?? loginOf(provider, options)
  if (login) {
    checkOwnIdentity(login, target, provider)
    return {login, key}
  }
  if (key === null && !forwards_own && lacksKey(target, provider, credentials))
    throw new Refusal('provider.no_credentials', {provider: managed ? `@${managed.slug}` : provider.slug})
  if (!forwards_own) provider.auth.sign(headers, key, options)
  return null
}

/** Refuses the gateway's own identity to a login that no integration's row chose. */
export function checkOwnIdentity(login: RequestAuth, target: Target, {slug}: Provider): void {
  assertOpen(target)
  const {credential_of, options} = target
  if (credential_of !== 'integration' && login.usesOwnIdentity(options))
    throw new Refusal('provider.own_identity', {provider: slug})
}

/**
 * The key of a target; else the client's own token, which is for the one place that the call names, never for several
 * of a config.
 */
export function keyFor(target: Target, {provider_token}: RequestCredentials): string | null {
  assertOpen(target)
  const {key, option_path, is_passthrough} = target
  return key ?? (option_path === 'config' || is_passthrough ? provider_token : null)
}

/**
 * True when a call without a key is not to be made. A custom host may need none: it gets none, unless the client
 * brought a token that it is not to have.
 */
export function lacksKey(
  {options, is_custom}: Target,
  provider: Provider,
  {provider_token}: RequestCredentials,
): boolean {
  return needsKey(provider, options) && !(is_custom && provider_token === null)
}

/** The headers that a login makes for one request; refuses what it cannot be made with. */
export async function authorized(
  {login, key}: PendingAuth,
  request: LoginRequest,
  {provider, options}: Pick<Target, 'provider' | 'options'>,
  services: Services,
): Promise<OutgoingHeaders> {
  try {
    return await login.authorize(request, key, options, services.logins)
  } catch (fault) {
    if (fault instanceof UnsupportedInputFault) throw asUntranslatable(fault, provider.slug)
    const reason = reasonOf(fault)
    if (reason === null) throw fault instanceof Error ? refusalOf(fault, provider.slug) : fault
    throw new Refusal('provider.login_failed', {provider: provider.slug, reason}, {cause: fault})
  }
}

/** Why a login failed, in words for its caller; null for a fault of ours, and for a drain. */
function reasonOf(fault: unknown): string | null {
  if (!(fault instanceof Error)) return null
  if (fault.name === 'LoginFault' || fault.name === 'AwsCredentialsFault') return fault.message
  const code = 'code' in fault ? String(fault.code) : ''
  if (fault.name === 'TimeoutError' || /^UND_ERR_[A-Z]+_TIMEOUT$/.test(code))
    return 'The service that gives its tokens did not answer in time.'
  if (fault instanceof EgressFault || code === 'ECONNREFUSED')
    return `The service that gives its tokens cannot be reached: ${faultOf(fault).reason}.`
  const refusal = refusalOf(fault, '')
  switch (refusal.code) {
    case 'upstream.broken':
    case 'upstream.cut':
      return 'The service that gives its tokens closed the connection.'
    case 'upstream.bad_reply':
      return `The answer of the service that gives its tokens cannot be read: ${refusal.details.reason}.`
    default:
      return null
  }
}
