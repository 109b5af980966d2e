import {LRUCache} from 'lru-cache'
import {Refusal} from '../../base/errors.ts'
import {isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import {keysNamed, readKeySet} from '../../base/jwt/key-set.ts'
import {readAge, timeClaimError} from '../../base/jwt/times.ts'
import {isSigned, readKey, readToken} from '../../base/jwt/token.ts'
import {perObject} from '../../base/memo.ts'
import {type Matcher, matcher} from '../../guardrails/matcher.ts'
import {KeySets, maxAge} from '../../identity/jwt/key-sets.ts'
import type {McpExternalAuth, McpJwtValidation} from '../../schema/mcp-configurations.ts'
import {printable} from '../wire/faults.ts'
import {type HeaderFields, headerValue} from '../wire/header-values.ts'
import {AuthServerFault} from './auth-server-fault.ts'
import {holdsCredential} from './header-rules.ts'
import {Introspections} from './introspection.ts'
import {askerOf, type CalledIntegration, type CredentialServices} from './services.ts'

/** The outcome of the second check. 503: a server that the check needs did not answer. */
export type SecondTokenOutcome =
  | {readonly ok: true; readonly claims: JsonObject}
  | {readonly ok: false; readonly status: 401 | 403 | 503; readonly message: string}

/** How the gateway names itself at the introspection endpoint, where the check itself says nothing. */
type ExternalClient = Pick<McpExternalAuth, 'client_id' | 'client_secret'>

type WantedClaim = NonNullable<McpJwtValidation['claimValues']>[string]

const DEFAULT_HEADER = 'authorization'
const DEFAULT_TOLERANCE_S = 5
const REFETCH_MS = 60_000
const MOST_INTEGRATIONS = 1_000

/** The header that carries the second token; it never goes upstream. */
export function secondTokenHeader(validation: Pick<McpJwtValidation, 'headerKey'> | undefined): string | null {
  return validation ? (validation.headerKey?.toLowerCase() ?? DEFAULT_HEADER) : null
}

/** The check of a second token besides the credential of the gateway, by the rules of an integration. */
export class SecondTokens {
  readonly #services: CredentialServices
  readonly #introspections: Introspections
  /** By integration: what one may reach, another may not. */
  readonly #key_sets = new LRUCache<string, KeySets>({max: MOST_INTEGRATIONS})

  constructor(services: CredentialServices) {
    this.#services = services
    this.#introspections = new Introspections(services)
  }

  async check(
    validation: McpJwtValidation,
    integration: CalledIntegration,
    client: HeaderFields,
    external: ExternalClient = {},
  ): Promise<SecondTokenOutcome> {
    const header = secondTokenHeader(validation)!
    const token = headerValue(client, header)?.replace(/^bearer +/i, '')
    const shown = validation.headerKey ?? 'Authorization'
    if (!token) return refused(401, `The header ${shown} carries no token.`)
    // the credential of this gateway is no business of another server
    if (validation.introspectEndpoint !== undefined && holdsCredential(token, client))
      return refused(401, `The header ${shown} carries the credential of the gateway, not a second token.`)
    try {
      const claims =
        validation.introspectEndpoint === undefined
          ? await this.#verified(token, validation, integration)
          : await this.#introspected(token, validation, integration, external)
      if (typeof claims === 'string') return refused(401, claims)
      return claimsOutcome(claims, validation, client)
    } catch (fault) {
      if (fault instanceof Refusal) return refused(503, 'The keys of the second token could not be read.')
      if (!(fault instanceof AuthServerFault)) throw fault
      return refused(503, `The second token could not be checked: ${fault.message}.`)
    }
  }

  /** The claims of a token that was signed and holds now; else why not. */
  async #verified(text: string, validation: McpJwtValidation, integration: CalledIntegration) {
    const token = readToken(text)
    if (!token) return 'The second token is no JWT.'
    const {algorithms = ['RS256'], clockTolerance = DEFAULT_TOLERANCE_S} = validation
    const algorithm = algorithms.find(each => each === own(token.header, 'alg'))
    if (!algorithm) return `The algorithm of the second token is not among ${algorithms.join(', ')}.`
    if (Object.hasOwn(token.header, 'crit')) return 'The second token needs an extension that is not known (crit).'
    const kid = own(token.header, 'kid')
    if (kid !== undefined && typeof kid !== 'string') return 'The second token names its key in another form than text.'
    const keys = await this.#keysFor(kid, validation, integration)
    const usable = keys.map(key => readKey(key, algorithm)).filter(key => key !== undefined)
    if (usable.length === 0) return 'The second token is signed with a key that is not known.'
    if (!usable.some(key => isSigned(token, key, algorithm))) return 'The signature of the second token does not hold.'
    const most_age_s = validation.maxTokenAge === undefined ? null : (readAge(validation.maxTokenAge) ?? null)
    const late = timeClaimError(token.payload, this.#services.wall() / 1000, clockTolerance, most_age_s)
    return late ? `The second token does not hold: ${late}` : token.payload
  }

  async #keysFor(kid: string | undefined, validation: McpJwtValidation, integration: CalledIntegration) {
    const {jwksUri} = validation
    if (jwksUri === undefined) return keysNamed(setIn(validation), kid)
    return (await this.#keySetsOf(integration).keysFor(jwksUri, kid)).keys
  }

  #keySetsOf(integration: CalledIntegration): KeySets {
    const asker = askerOf(integration)
    const name = JSON.stringify([integration.id, asker])
    const known = this.#key_sets.get(name)
    if (known) return known
    const {fetch, steady, log} = this.#services
    const sets = new KeySets({
      ...{steady, log, refetch_min_interval_ms: REFETCH_MS},
      async fetch(url) {
        const headers = {accept: 'application/jwk-set+json, application/json'}
        const reply = await fetch(url, {method: 'GET', headers}, asker)
        if (reply.status !== 200) throw new Error(`it answered with status ${reply.status}`)
        return {text: reply.text, max_age_s: maxAge(headerValue(reply.headers, 'cache-control'))}
      },
    })
    this.#key_sets.set(name, sets)
    return sets
  }

  async #introspected(
    token: string,
    validation: McpJwtValidation,
    integration: CalledIntegration,
    external: ExternalClient,
  ) {
    const claims = await this.#introspections.claimsOf(token, {
      endpoint: validation.introspectEndpoint!,
      type: validation.introspectContentType ?? 'application/json',
      client_id: validation.introspectClientId ?? external.client_id,
      client_secret: validation.introspectClientSecret ?? external.client_secret,
      max_age_s: validation.introspectCacheMaxAge ?? 0,
      integration,
    })
    if (claims === null) return 'The second token is not active.'
    const {clockTolerance = DEFAULT_TOLERANCE_S} = validation
    const late = timeClaimError(claims, this.#services.wall() / 1000, clockTolerance, null)
    return late ? `The second token does not hold: ${late}` : claims
  }
}

function claimsOutcome(
  claims: JsonObject,
  {requiredClaims = [], claimValues = {}, headerPayloadMatch = []}: McpJwtValidation,
  client: HeaderFields,
): SecondTokenOutcome {
  const missing = requiredClaims.filter(name => own(claims, name) == null)
  if (missing.length > 0) return refused(401, `Missing required claims: ${missing.join(', ')}`)
  for (const [name, wanted] of Object.entries(claimValues)) {
    const value = own(claims, name)
    if (value == null || !isFit(value, matcherOf(wanted)))
      return refused(403, `The claim ${name} of the second token has none of the values that are needed.`)
  }
  for (const name of headerPayloadMatch) {
    const [header, value] = [headerValue(client, name.toLowerCase()), own(claims, name)]
    if (header === undefined || isObject(value) || value == null || String(value) !== header)
      return refused(403, `The header ${name} is not what the second token says.`)
  }
  return {ok: true, claims}
}

/** Compiled once for each reading of a configuration. */
const matcherOf = perObject(({values, matchType}: WantedClaim) => matcher(matchType, values))

/** Read once: keys are remembered by the objects they are read from. */
const setIn = perObject(({jwks}: McpJwtValidation) => readKeySet(jwks) ?? [])

/** False for a value that would take a pattern too long. */
function isFit(value: JsonValue, fits: Matcher): boolean {
  try {
    return fits(value)
  } catch {
    return false
  }
}

function refused(status: 401 | 403 | 503, message: string): SecondTokenOutcome {
  return {ok: false, status, message: printable(message)}
}
