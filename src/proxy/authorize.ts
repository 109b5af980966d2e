import {Refusal} from '../base/errors.ts'
import type {Login, LoginRequest} from '../providers/auth/login.ts'
import {loginOf, needsKey} from '../providers/places/reach.ts'
import type {OutgoingHeaders, Provider} from '../providers/provider.ts'
import {Untranslatable} from '../providers/translation.ts'
import type {Call} from './call.ts'
import type {Credentials} from './incoming.ts'
import type {ProxyServices} from './services.ts'
import type {Target} from './target.ts'
import {asUntranslatable} from './translate.ts'

/** A login that is yet to be made for a request. */
export interface NeededLogin {
  readonly login: Login
  readonly key: string | null
}

/** Writes the key where it belongs; gives the login that is needed instead. `own`: the login of the place that is called, where it has one. */
export function authenticated(
  headers: OutgoingHeaders,
  {incoming}: Call,
  target: Target,
  provider: Provider,
  credentials: Credentials,
  own?: Login,
): NeededLogin | null {
  const {managed, options, option_path} = target
  // The client's own token is for the one place it calls, never for several of a config.
  const key = target.key ?? (option_path === 'config' ? credentials.provider_token : null)
  const forwards_own =
    incoming.own.values['forward-headers']?.toLowerCase().includes('authorization') && headers.authorization !== undefined
  const login = own ?? loginOf(provider, options)
  if (login) {
    if (!managed && login.usesOwnIdentity(options)) throw new Refusal('provider.own_identity', {provider: provider.slug})
    return {login, key}
  }
  if (key === null && needsKey(provider, options) && !forwards_own)
    throw new Refusal('provider.no_credentials', {provider: managed ? `@${managed.slug}` : provider.slug})
  if (!forwards_own) provider.auth.sign(headers, key, options)
  return null
}

/** The headers that a login makes for one request; refuses what it cannot be made with. */
export async function authorized(
  {login, key}: NeededLogin,
  request: LoginRequest,
  {provider, options}: Pick<Target, 'provider' | 'options'>,
  on: ProxyServices,
): Promise<OutgoingHeaders> {
  try {
    return await login.authorize(request, key, options, on.logins)
  } catch (fault) {
    if (fault instanceof Untranslatable) throw asUntranslatable(fault, provider.slug)
    if (!(fault instanceof Error) || (fault.name !== 'LoginFault' && fault.name !== 'AwsCredentialsFault')) throw fault
    throw new Refusal('provider.login_failed', {provider: provider.slug, reason: fault.message}, {cause: fault})
  }
}
