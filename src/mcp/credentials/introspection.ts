import {createHash} from 'node:crypto'
import {LRUCache} from 'lru-cache'
import {type JsonObject, own} from '../../base/json-member.ts'
import {parsedObject} from '../../base/json-object.ts'
import {AuthServerFault} from './auth-server-fault.ts'
import {basicCredential} from './oauth-upstream/client-proof.ts'
import {askerOf, type CalledIntegration, type CredentialServices} from './services.ts'

interface Introspection {
  readonly endpoint: string
  readonly type: 'application/json' | 'application/x-www-form-urlencoded'
  readonly client_id: string | undefined
  readonly client_secret: string | undefined
  readonly max_age_s: number
  readonly integration: CalledIntegration
}

interface KeptClaims {
  readonly claims: JsonObject | null
  readonly until_ms: number
}

const MOST_KEPT = 10_000

/** Introspection of tokens at servers of others (RFC 7662), with what they said a short time before. */
export class Introspections {
  readonly #services: Pick<CredentialServices, 'fetch' | 'steady' | 'wall'>
  readonly #kept = new LRUCache<string, KeptClaims>({max: MOST_KEPT})

  constructor(services: Pick<CredentialServices, 'fetch' | 'steady' | 'wall'>) {
    this.#services = services
  }

  /** The claims of an active token; null for another. Rejects with an `AuthServerFault`. */
  async claimsOf(token: string, introspection: Introspection): Promise<JsonObject | null> {
    const {endpoint, type, client_id, integration, max_age_s} = introspection
    if (max_age_s === 0) return this.#ask(token, introspection)
    const parts = [integration.id, endpoint, type, client_id ?? null, token]
    const name = createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
    const now_ms = this.#services.steady()
    const known = this.#kept.get(name)
    if (known && known.until_ms > now_ms) return known.claims
    const claims = await this.#ask(token, introspection)
    this.#kept.set(name, {claims, until_ms: now_ms + max_age_s * 1000})
    return claims
  }

  async #ask(token: string, introspection: Introspection): Promise<JsonObject | null> {
    const {endpoint, type, client_id, client_secret, integration} = introspection
    const body = type === 'application/json' ? JSON.stringify({token}) : new URLSearchParams({token}).toString()
    const proof: Record<string, string> =
      client_id === undefined ? {} : {authorization: basicCredential(client_id, client_secret ?? '')}
    const {status, text} = await this.#services.fetch(
      endpoint,
      {method: 'POST', headers: {...proof, accept: 'application/json', 'content-type': type}, body},
      askerOf(integration),
    )
    const answer = parsedObject(text) as JsonObject | undefined
    if (status < 200 || status > 299 || !answer)
      throw new AuthServerFault('silent', `the introspection endpoint answered ${status} and no JSON object`)
    return own(answer, 'active') === true ? answer : null
  }
}
