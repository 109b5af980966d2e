import {Refusal, type RefusalCode} from '../../base/errors.ts'
import {type JsonObject, type JsonValue, listOf, own} from '../../base/json-member.ts'
import type {JwtSettings} from '../../schema/organisation-auth.ts'
import type {Db} from '../../store/database.ts'
import type {Remembered} from '../../store/remembered.ts'
import {findOrganisationUser, findUserByEmail} from '../../store/users.ts'
import {findWorkspace} from '../../store/workspaces.ts'
import type {Access} from '../access.ts'
import {addressIn, defaultsIn, userIn, workspaceIn} from './claims.ts'
import type {CameKeys, FoundKeys, KeySets} from './key-sets.ts'
import {type LimitsOfToken, limitsOfToken} from './limits.ts'
import {type TokenOrganisation, TokenOrganisations} from './organisations.ts'
import {type ReadToken, readCredential} from './read.ts'
import {scopesOfToken} from './scopes.ts'
import {acceptedAlgorithm, keyIdOf, verifiedClaims} from './verify.ts'

/** The last time that a date can tell (ECMA-262, "Time Values"). */
const LAST_MS = 8.64e15

/** A token that was verified: who shows it, and what it says of calls. */
export interface VerifiedToken {
  readonly access: Access
  readonly workspace_id: string
  /** Of logs and policies (`_user`). */
  readonly user: string | null
  readonly defaults: ReturnType<typeof defaultsIn>
  readonly limits: LimitsOfToken
  /** With the skew that the organisation allows; epoch milliseconds. */
  readonly expires_at_ms: number
  /** The key set by URL that it was verified with, and its number then; null for keys in place. */
  readonly key_set: {readonly url: string; readonly generation: number} | null
  /** Ids of the rows that this is made of. */
  readonly rows: readonly string[]
}

/** A refused token, as far as logs may have it. Nothing of it was believed. */
export interface RefusedToken {
  /** Null where no organisation is known by what it names. */
  readonly organisation_id: string | null
  readonly token: string
  readonly code: RefusalCode
  readonly reason: string
  readonly status: number
  readonly kid: JsonValue | undefined
  readonly subject: JsonValue | undefined
  readonly issuer: JsonValue | undefined
  readonly client_ip: string | null
}

export interface TokensOptions {
  readonly db: Db
  readonly key_sets: Pick<KeySets, 'keysFor' | 'generationOf' | 'tried'>
  /** JWT_ENABLED. */
  readonly is_enabled: boolean
  /** ORGANISATIONS_TO_SYNC. */
  readonly served: readonly string[]
  /** JWT_LOCAL_AUTH_DEFAULT_SCOPES. */
  readonly default_scopes: readonly string[]
  /** The clock of the machine, by which issuers set theirs; epoch milliseconds. */
  readonly wall: () => number
  onRefused(refused: RefusedToken): void
}

/** Judges tokens by the rules of their organisations (docs/tokens.md), in the order of that page. */
export class Tokens {
  readonly #options: TokensOptions
  readonly #organisations: TokenOrganisations

  constructor(options: TokensOptions) {
    this.#options = options
    this.#organisations = new TokenOrganisations(options.db, options.served)
  }

  get remembered(): readonly Remembered[] {
    return this.#organisations.remembered
  }

  /** Refuses with a code of `token.*`, and notes that. */
  async verified(text: string, client_ip: string | null): Promise<VerifiedToken> {
    let token: ReadToken | undefined
    let organisation: TokenOrganisation | undefined
    try {
      token = readCredential(text)
      if (!this.#options.is_enabled) throw new Refusal('token.disabled')
      organisation = await this.#organisations.find(token.payload)
      return await this.#judged(token, organisation)
    } catch (fault) {
      if (fault instanceof Refusal && fault.status < 500) {
        const {header, payload} = token ?? {}
        this.#options.onRefused({
          ...{organisation_id: organisation?.id ?? null, token: text, client_ip},
          ...{code: fault.code, reason: fault.message, status: fault.status},
          ...{kid: own(header, 'kid'), subject: own(payload, 'sub'), issuer: own(payload, 'iss')},
        })
      }
      throw fault
    }
  }

  /** The same of a token of that organisation, and nothing is noted: an administrator asks what a call would meet. */
  async tried(text: string, organisation_id: string): Promise<VerifiedToken> {
    const token = readCredential(text)
    if (!this.#options.is_enabled) throw new Refusal('token.disabled')
    const organisation = await this.#organisations.find(token.payload)
    if (organisation.id !== organisation_id)
      throw new Refusal('token.organisation', {reason: 'The token names another organisation.'})
    return this.#judged(token, organisation)
  }

  /** The keys that the rules name, asked now where they are at an address. */
  async triedKeys({jwks_url, jwks}: JwtSettings): Promise<CameKeys> {
    if (jwks_url !== null) return this.#options.key_sets.tried(jwks_url)
    if (jwks === null) throw new Refusal('token.no_keys')
    return {keys: listOf(own(jwks, 'keys')), dropped: 0}
  }

  /** False once a token has to be verified again: it has expired, or a key of its set is gone. */
  holds({expires_at_ms, key_set}: Pick<VerifiedToken, 'expires_at_ms' | 'key_set'>): boolean {
    const {key_sets, wall} = this.#options
    return expires_at_ms > wall() && (key_set === null || key_sets.generationOf(key_set.url) === key_set.generation)
  }

  async #judged(token: ReadToken, organisation: TokenOrganisation): Promise<VerifiedToken> {
    const {settings, rules, id: organisation_id} = organisation
    if (!settings.enabled) throw new Refusal('token.disabled')
    acceptedAlgorithm(token, rules)
    const found = await this.#keysFor(settings, token)
    const claims = verifiedClaims(token, found.keys, rules, this.#options.wall() / 1000)
    const workspace = await this.#workspaceOf(claims, organisation)
    const usual = settings.default_scopes.length > 0 ? settings.default_scopes : this.#options.default_scopes
    const scopes = scopesOfToken(claims, usual)
    const user_id = await this.#memberOf(claims, organisation_id)
    return {
      access: {
        subject: {kind: 'token', id: `jwt:${token.counter_id.slice(0, 32)}`, user_id},
        organisation_id,
        reach: {kind: 'workspace', workspace_id: workspace.id},
        scopes,
        person: null,
      },
      workspace_id: workspace.id,
      user: userIn(claims),
      defaults: defaultsIn(claims),
      limits: limitsOfToken(claims),
      expires_at_ms: Math.min(LAST_MS, (Number(own(claims, 'exp')) + rules.clock_skew_s) * 1000),
      key_set: settings.jwks_url === null ? null : {url: settings.jwks_url, generation: found.generation},
      rows: [organisation_id, workspace.id],
    }
  }

  async #keysFor({jwks_url, jwks}: JwtSettings, token: ReadToken): Promise<FoundKeys> {
    if (jwks_url !== null) return this.#options.key_sets.keysFor(jwks_url, keyIdOf(token))
    if (jwks === null) throw new Refusal('token.no_keys')
    return {keys: listOf(own(jwks, 'keys')), generation: 0}
  }

  async #workspaceOf(claims: JsonObject, {id, settings}: TokenOrganisation) {
    const {allowed_workspaces: allowed, default_workspace} = settings
    const named = workspaceIn(claims) ?? allowed[0] ?? default_workspace
    if (named === undefined || named === null) throw new Refusal('token.workspace_missing')
    if (typeof named !== 'string') throw new Refusal('token.workspace', {workspace: 'that it names'})
    const workspace = await findWorkspace(this.#options.db, id, named)
    const is_open =
      workspace?.status === 'active' &&
      (allowed.length === 0 || allowed.includes(workspace.id) || allowed.includes(workspace.slug))
    if (!is_open) throw new Refusal('token.workspace', {workspace: named.slice(0, 64)})
    return workspace
  }

  /** The active user of the address that the token names. One who was removed has no access by tokens either. */
  async #memberOf(claims: JsonObject, organisation_id: string): Promise<string | null> {
    const {db} = this.#options
    const address = addressIn(claims)
    const user = address === null ? undefined : await findUserByEmail(db, address)
    const member = user && (await findOrganisationUser(db, organisation_id, user.id))
    if (member?.status === 'archived') throw new Refusal('token.person')
    return member?.id ?? null
  }
}
