import {Refusal} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json-member.ts'
import type {Log} from '../../base/log.ts'
import type {OidcSettings} from '../../schema/connections.ts'
import type {KeySets} from '../jwt/key-sets.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {Statement} from '../statement.ts'
import {checkIssuer, codeIn} from './answer.ts'
import {OidcDiscovery, type OidcMetadata} from './discovery.ts'
import type {OidcHttp} from './http.ts'
import {verifiedIdToken} from './id-token.ts'
import {type ProviderLogout, verifiedLogoutToken} from './logout-token.ts'
import {lacksAddress, lacksGroups, type StatedClaims, statementOf, subjectIn} from './person.ts'
import type {KeysOfProvider} from './provider-token.ts'
import {authorizationUrl, type OidcAsk} from './request.ts'
import {exchangeCode} from './token-endpoint.ts'
import {type TrialStep, trialSteps} from './trial.ts'
import {checkAbout, readUserInfo} from './userinfo.ts'

export type {OidcHttp} from './http.ts'

export interface OidcOptions {
  readonly http: OidcHttp
  readonly key_sets: Pick<KeySets, 'keysFor' | 'tried'>
  /** The clock of the machine, by which providers set theirs; epoch milliseconds. */
  readonly now_ms: () => number
  /** A clock that is never set; milliseconds. */
  readonly steady_ms: () => number
  readonly log: Pick<Log, 'warn'>
}

/** The query that the browser brought back, and the values of the request that it answers. */
export interface OidcAnswer {
  readonly params: URLSearchParams
  readonly redirect_uri: string
  readonly nonce: string
  readonly code_verifier: string
  readonly max_age_s?: number
}

/**
 * Providers of OpenID Connect, as their relying party: the code flow with PKCE. State and cookies are the caller's.
 * Everything refuses with a `SignInFault`.
 */
export class OidcProviders {
  readonly #options: OidcOptions
  readonly #discovery: OidcDiscovery

  constructor(options: OidcOptions) {
    this.#options = options
    this.#discovery = new OidcDiscovery(options)
  }

  /** The address to which the browser goes. */
  async begin(settings: OidcSettings, ask: OidcAsk): Promise<string> {
    return authorizationUrl(settings, await this.#discovery.of(settings.issuer), ask)
  }

  /** Exchanges the code that came back, and verifies everything that the provider says of the person. */
  async finish(
    settings: OidcSettings,
    {params, redirect_uri, nonce, code_verifier, max_age_s}: OidcAnswer,
  ): Promise<{statement: Statement; issuer: string}> {
    const {http, now_ms} = this.#options
    const {issuer, client_id, id_token_algorithms: algorithms} = settings
    checkIssuer(params, issuer, false)
    const metadata = await this.#discovery.of(issuer)
    checkIssuer(params, issuer, metadata.is_issuer_answered)
    const code = codeIn(params)
    const exchange = {code, redirect_uri, code_verifier}
    const {id_token, access_token} = await exchangeCode(http, settings, metadata, exchange, now_ms() / 1000)
    const claims = await verifiedIdToken(id_token, this.#keysOf(metadata), {
      ...{issuer, client_id, algorithms, nonce, access_token},
      max_age_s: max_age_s ?? null,
      now_s: now_ms() / 1000,
    })
    const subject = subjectIn(claims, settings)
    const more = await this.#moreClaims(settings, metadata, claims, access_token)
    const statement = statementOf({subject, id_token: claims, ...more}, settings, id_token)
    return {statement, issuer}
  }

  /** The sign-in that the provider says is over. */
  async endedBy({issuer, client_id, id_token_algorithms}: OidcSettings, logout_token: string): Promise<ProviderLogout> {
    const keysOf: KeysOfProvider = async kid => this.#keysOf(await this.#discovery.of(issuer))(kid)
    const now_s = this.#options.now_ms() / 1000
    return verifiedLogoutToken(logout_token, keysOf, {issuer, client_id, algorithms: id_token_algorithms, now_s})
  }

  /**
   * The address at which the provider ends its own session; null without an ID token, for a provider that has none,
   * and while the provider cannot be reached: signing out here never waits in vain for somewhere else.
   */
  async logoutUrl(
    {issuer, client_id}: OidcSettings,
    {id_token, post_logout_redirect_uri}: {readonly id_token: string | null; readonly post_logout_redirect_uri: string},
  ): Promise<string | null> {
    if (id_token === null) return null
    const metadata = await this.#discovery.of(issuer).catch(() => null)
    if (!metadata?.end_session_endpoint) return null
    const url = new URL(metadata.end_session_endpoint)
    const params = {id_token_hint: id_token, client_id, post_logout_redirect_uri}
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    return url.href
  }

  /** Steps for administrators who set a provider up, read now. Never rejects for a fault of the provider. */
  tried(settings: OidcSettings): Promise<readonly TrialStep[]> {
    const {key_sets} = this.#options
    return trialSteps(settings, () => this.#discovery.fresh(settings.issuer), key_sets)
  }

  #keysOf({jwks_uri}: OidcMetadata): KeysOfProvider {
    return async kid => {
      try {
        return (await this.#options.key_sets.keysFor(jwks_uri, kid)).keys
      } catch (fault) {
        if (!(fault instanceof Refusal)) throw fault
        throw new SignInFault('provider_unreachable', 'The keys of the provider (jwks_uri) could not be read')
      }
    }
  }

  /** UserInfo, where the ID token lacks something. Without an address a sign-in fails; groups may stay unknown. */
  async #moreClaims(
    settings: OidcSettings,
    {userinfo_endpoint}: OidcMetadata,
    claims: JsonObject,
    access_token: string,
  ): Promise<Pick<StatedClaims, 'userinfo' | 'is_userinfo_lost'>> {
    const is_address_missing = lacksAddress(claims, settings)
    if (userinfo_endpoint === null || !(is_address_missing || lacksGroups(claims, settings)))
      return {userinfo: null, is_userinfo_lost: false}
    let userinfo: JsonObject
    try {
      userinfo = await readUserInfo(this.#options.http, userinfo_endpoint, access_token)
    } catch (fault) {
      if (is_address_missing) throw fault
      return {userinfo: null, is_userinfo_lost: true}
    }
    checkAbout(userinfo, claims)
    return {userinfo, is_userinfo_lost: false}
  }
}
