import {createHash} from 'node:crypto'
import {LRUCache} from 'lru-cache'
import type {JsonObject, JsonValue} from '../../base/json-member.ts'
import type {McpIdentityForwarding} from '../../schema/mcp-configurations.ts'
import type {HeaderFields} from '../wire/header-values.ts'
import {presentedCredential, type UpstreamHeaders} from './header-rules.ts'
import type {IdentityKey} from './identity-key.ts'
import type {CalledIntegration, CredentialCaller, CredentialServices} from './services.ts'

/** The identity of a caller as an upstream gets it, and what of it tells callers apart. */
export interface SentIdentity {
  readonly headers: UpstreamHeaders
  /** Null where none is sent. */
  readonly distinction: string | null
}

export const CLAIMS_HEADER = 'x-user-claims'
export const JWT_HEADER = 'x-user-jwt'
const NONE: SentIdentity = {headers: {}, distinction: null}
const USUAL_CLAIMS = [
  ...['sub', 'email', 'username', 'user_id'],
  ...['workspace_id', 'organisation_id', 'scope', 'client_id'],
] as const
const USUAL_EXPIRY_S = 300
const LONGEST_CLAIM = 2048
const LONGEST_CLAIMS = 8192
const MOST_KEPT = 10_000

/** The names under which an integration sends identities: no header of a client arrives under them. */
export function identityNames(forwarding: McpIdentityForwarding | undefined): readonly string[] {
  return [CLAIMS_HEADER, JWT_HEADER, ...(forwarding?.header_name ? [forwarding.header_name.toLowerCase()] : [])]
}

/**
 * Claims about a caller. Those of `validated`, of a second token, fill what is not known here; others of it are sent
 * where `include` names them. Claims that are long are left out.
 */
export function identityClaims(
  caller: CredentialCaller,
  include: readonly string[] = USUAL_CLAIMS,
  validated: JsonObject = {},
): JsonObject {
  const {user_id, email, username, workspace_id, organisation_id, client_id, scopes, principal_id} = caller
  const ours: Readonly<Record<string, JsonValue | undefined>> = {
    ...{sub: user_id ?? principal_id, email, username, user_id, workspace_id, organisation_id, client_id},
    scope: scopes.length > 0 ? scopes.join(' ') : undefined,
  }
  const claims: Record<string, JsonValue> = Object.create(null)
  let length = 0
  for (const name of new Set(include)) {
    const value = (Object.hasOwn(ours, name) ? ours[name] : undefined) ?? own(validated, name)
    const size = value == null ? 0 : JSON.stringify([name, value]).length
    if (value == null || size > LONGEST_CLAIM || length + size > LONGEST_CLAIMS) continue
    length += size
    claims[name] = value
  }
  return {...claims}
}

function own(claims: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(claims, name) ? claims[name] : undefined
}

/** JSON in visible ASCII. */
export function asciiJson(value: JsonValue): string {
  return JSON.stringify(value).replace(
    /[\x7f-\uffff]/g,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Identities of callers for upstreams. A JWT is signed once for half of its life. */
export class Identities {
  readonly #key: IdentityKey
  readonly #services: Pick<CredentialServices, 'wall' | 'base_url'>
  readonly #signed = new LRUCache<string, {readonly token: string; readonly until_s: number}>({max: MOST_KEPT})

  constructor(key: IdentityKey, services: Pick<CredentialServices, 'wall' | 'base_url'>) {
    this.#key = key
    this.#services = services
  }

  async of(
    forwarding: McpIdentityForwarding | undefined,
    caller: CredentialCaller,
    {
      integration,
      client,
      validated,
    }: {
      readonly integration: Pick<CalledIntegration, 'id' | 'url'>
      readonly client: HeaderFields
      readonly validated?: JsonObject | undefined
    },
  ): Promise<SentIdentity> {
    if (forwarding === undefined) return NONE
    if (forwarding.method === 'bearer') return bearerOf(caller, client)
    const claims = identityClaims(caller, forwarding.include_claims, validated)
    const text = asciiJson(claims)
    if (forwarding.method === 'claims_header')
      return {headers: {[forwarding.header_name ?? CLAIMS_HEADER]: text}, distinction: text}
    const token = await this.#tokenOf(claims, text, forwarding, integration)
    return {headers: {[forwarding.header_name ?? JWT_HEADER]: token}, distinction: text}
  }

  async #tokenOf(
    claims: JsonObject,
    text: string,
    {issuer = this.#services.base_url, jwt_expiry_seconds = USUAL_EXPIRY_S}: McpIdentityForwarding,
    {id, url}: Pick<CalledIntegration, 'id' | 'url'>,
  ): Promise<string> {
    const now_s = Math.floor(this.#services.wall() / 1000)
    const name = digest([id, url, issuer, jwt_expiry_seconds, text])
    const known = this.#signed.get(name)
    if (known && known.until_s > now_s) return known.token
    const exp = now_s + jwt_expiry_seconds
    const token = await this.#key.signed({...claims, iss: issuer, aud: url, iat: now_s, exp})
    this.#signed.set(name, {token, until_s: now_s + Math.floor(jwt_expiry_seconds / 2)})
    return token
  }
}

/** The token that a caller came with, which is never a service key. */
function bearerOf({credential_kind}: CredentialCaller, client: HeaderFields): SentIdentity {
  if (credential_kind === 'api_key') return NONE
  const token = presentedCredential(client)?.replace(/^bearer +/i, '')
  if (token === undefined || !/^[\x21-\x7e]+$/.test(token)) return NONE
  return {headers: {authorization: `Bearer ${token}`}, distinction: digest([token])}
}

function digest(parts: readonly JsonValue[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
