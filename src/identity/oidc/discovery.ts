import {isList, type JsonObject, own} from '../../base/json-member.ts'
import type {Log} from '../../base/log.ts'
import {printable} from '../printable.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {type OidcHttp, readReply, replyOf} from './http.ts'

/** The discovery document of a provider (OpenID Connect Discovery 1.0 §3), as far as a sign-in needs it. */
export interface OidcMetadata {
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly jwks_uri: string
  readonly userinfo_endpoint: string | null
  readonly end_session_endpoint: string | null
  /** True: its answers name it in `iss` (RFC 9207). */
  readonly is_issuer_answered: boolean
  /** Null where the document has no such list. */
  readonly scopes_supported: readonly string[] | null
  readonly token_endpoint_auth_methods_supported: readonly string[] | null
  readonly token_endpoint_auth_signing_alg_values_supported: readonly string[] | null
  readonly code_challenge_methods_supported: readonly string[] | null
}

export interface OidcDiscoveryOptions {
  readonly http: OidcHttp
  /** A clock that is never set; milliseconds. */
  readonly steady_ms: () => number
  readonly log: Pick<Log, 'warn'>
}

interface Entry {
  readonly issuer: string
  /** Null: never read. */
  metadata: OidcMetadata | null
  read_ms: number
  failed_ms: number
  reading: Promise<OidcMetadata> | null
}

const PATH = '/.well-known/openid-configuration'
const TIMEOUT_MS = 5_000
const MAX_BYTES = 1 << 20
const FRESH_MS = 3_600_000
const MAX_STALE_MS = 86_400_000
/** A provider that is down is not waited for at each sign-in while an older document may be used. */
const RETRY_MS = 30_000
const MAX_ISSUERS = 200
const MAX_LISTED = 200
const LONGEST_URL = 2048
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Discovery documents by issuer, kept for an hour, and for a day while the provider has no good one. */
export class OidcDiscovery {
  readonly #options: OidcDiscoveryOptions
  /** In the order of their use. */
  readonly #entries = new Map<string, Entry>()

  constructor(options: OidcDiscoveryOptions) {
    this.#options = options
  }

  /** Refuses with `provider_unreachable` or `provider_invalid`. */
  async of(issuer: string): Promise<OidcMetadata> {
    const entry = this.#entryOf(issuer)
    const now_ms = this.#options.steady_ms()
    const age_ms = now_ms - entry.read_ms
    if (entry.metadata && age_ms < FRESH_MS) return entry.metadata
    const is_stale_usable = () => this.#options.steady_ms() - entry.read_ms < MAX_STALE_MS
    if (entry.metadata && is_stale_usable() && now_ms - entry.failed_ms < RETRY_MS) return entry.metadata
    try {
      return await this.#read(entry)
    } catch (fault) {
      if (entry.metadata && is_stale_usable()) return entry.metadata
      throw fault
    }
  }

  /** The same, read now. For administrators who set a provider up. */
  fresh(issuer: string): Promise<OidcMetadata> {
    return this.#read(this.#entryOf(issuer))
  }

  #entryOf(issuer: string): Entry {
    const entry = this.#entries.get(issuer) ?? {
      ...{issuer, metadata: null, reading: null},
      read_ms: Number.NEGATIVE_INFINITY,
      failed_ms: Number.NEGATIVE_INFINITY,
    }
    this.#entries.delete(issuer)
    this.#entries.set(issuer, entry)
    if (this.#entries.size > MAX_ISSUERS) this.#entries.delete(this.#entries.keys().next().value!)
    return entry
  }

  /** However many wait, the provider gets one request. */
  #read(entry: Entry): Promise<OidcMetadata> {
    entry.reading ??= this.#readOnce(entry).finally(() => {
      entry.reading = null
    })
    return entry.reading
  }

  async #readOnce(entry: Entry): Promise<OidcMetadata> {
    const {http, steady_ms, log} = this.#options
    try {
      entry.metadata = await metadataOf(http, entry.issuer)
      entry.read_ms = steady_ms()
      return entry.metadata
    } catch (fault) {
      entry.failed_ms = steady_ms()
      if (entry.metadata) log.warn({fault, issuer: entry.issuer}, 'a discovery document could not be read again')
      throw fault
    }
  }
}

async function metadataOf(http: OidcHttp, issuer: string): Promise<OidcMetadata> {
  const what = 'The discovery document'
  const reply = await replyOf(http, what, `${issuer.replace(/\/$/, '')}${PATH}`, {
    method: 'GET',
    headers: {accept: 'application/json'},
    max_bytes: MAX_BYTES,
    timeout_ms: TIMEOUT_MS,
  })
  if (reply.status !== 200)
    throw new SignInFault(
      reply.status >= 500 ? 'provider_unreachable' : 'provider_invalid',
      `${what} came with status ${reply.status}${isRedirect(reply.status) ? '; redirects are not followed' : ''}`,
    )
  const json = readReply(what, reply, 'provider_invalid')
  const named = own(json, 'issuer')
  // byte for byte (Discovery 1.0 §4.3): a slash at the end makes another issuer
  if (named !== issuer)
    throw new SignInFault(
      'provider_invalid',
      `The connection has the issuer ${printable(issuer)}; ${what.toLowerCase()} names ${printable(named)}`,
    )
  return {
    authorization_endpoint: endpointIn(json, 'authorization_endpoint'),
    token_endpoint: endpointIn(json, 'token_endpoint'),
    jwks_uri: endpointIn(json, 'jwks_uri'),
    userinfo_endpoint: optionalEndpointIn(json, 'userinfo_endpoint'),
    end_session_endpoint: optionalEndpointIn(json, 'end_session_endpoint'),
    is_issuer_answered: own(json, 'authorization_response_iss_parameter_supported') === true,
    scopes_supported: textsIn(json, 'scopes_supported'),
    token_endpoint_auth_methods_supported: textsIn(json, 'token_endpoint_auth_methods_supported'),
    token_endpoint_auth_signing_alg_values_supported: textsIn(json, 'token_endpoint_auth_signing_alg_values_supported'),
    code_challenge_methods_supported: textsIn(json, 'code_challenge_methods_supported'),
  }
}

function optionalEndpointIn(json: JsonObject, name: string): string | null {
  return own(json, name) == null ? null : endpointIn(json, name)
}

/** Codes, tokens and secrets go there: over TLS, or to this machine. */
function endpointIn(json: JsonObject, name: string): string {
  const text = own(json, name)
  const url = typeof text === 'string' && text.length <= LONGEST_URL ? URL.parse(text) : null
  const is_secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname))
  if (!url || !is_secure || url.username || url.password || url.hash)
    throw new SignInFault('provider_invalid', `The discovery document has no https URL as ${name}: ${printable(text)}`)
  return url.href
}

function textsIn(json: JsonObject, name: string): readonly string[] | null {
  const list = own(json, name)
  return isList(list) ? list.slice(0, MAX_LISTED).filter(isShortText) : null
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 255
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}
