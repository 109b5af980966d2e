import {Refusal} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json-member.ts'
import {type JwtSettings, jwtSettings} from '../../schema/organisation-auth.ts'
import type {Db} from '../../store/database.ts'
import {findOrganisation, organisations} from '../../store/organisations.ts'
import {type Remembered, RowCache} from '../../store/remembered.ts'
import type {OrganisationsTable} from '../../store/tables/identity.ts'
import {organisationIn} from './claims.ts'
import type {TokenRules} from './verify.ts'

/** An organisation, and its rules for tokens. */
export interface TokenOrganisation {
  readonly id: string
  readonly settings: JwtSettings
  readonly rules: TokenRules
}

const KNOWN = 1_000
/** Stands for the organisation of tokens that name none; no claim is empty. */
const UNNAMED = ''
const SHOWN = 64

/**
 * The organisations of tokens, remembered. One that is not in `served` (ORGANISATIONS_TO_SYNC) is refused, unless that
 * is empty.
 */
export class TokenOrganisations {
  readonly #db: Db
  readonly #served: readonly string[]
  readonly #known = new RowCache<TokenOrganisation>({max: KNOWN})
  readonly remembered: readonly Remembered[] = [
    // a new organisation may be the second one, and then tokens have to name theirs
    {of: new Set(['organisations']), forget: ids => this.#known.forgetWithNew(ids)},
  ]

  constructor(db: Db, served: readonly string[]) {
    this.#db = db
    this.#served = served
  }

  /**
   * The organisation that the claims name; without a name the only one there is, where its rules say whose tokens it
   * takes. The claims are not verified yet, and choose the key set alone.
   */
  async find(claims: JsonObject): Promise<TokenOrganisation> {
    const named = organisationIn(claims)
    if (named === undefined) return this.#unnamed()
    if (typeof named !== 'string' || named === '') throw unknown()
    if (this.#served.length > 0 && !this.#served.includes(named))
      throw new Refusal('token.not_served', {organisation: named.slice(0, SHOWN)})
    return this.#remembered(named, () => findOrganisation(this.#db, named))
  }

  async #unnamed(): Promise<TokenOrganisation> {
    const only = await this.#remembered(UNNAMED, () => this.#only())
    if (only.rules.issuer === null || only.rules.audiences.length === 0) throw new Refusal('token.unbound')
    return only
  }

  async #only(): Promise<OrganisationsTable | undefined> {
    const [served, ...others] = this.#served
    if (served !== undefined && others.length === 0) return findOrganisation(this.#db, served)
    const all = served === undefined ? await organisations(this.#db) : []
    if (all.length === 1) return all[0]
    throw new Refusal('token.organisation', {
      reason: 'The token names no organisation (organisation_id), and this gateway has several.',
    })
  }

  async #remembered(name: string, read: () => Promise<OrganisationsTable | undefined>): Promise<TokenOrganisation> {
    const held = this.#known.get(name)
    if (held) return held
    const born = this.#known.generation
    const row = await read()
    // a slug may be another organisation's tomorrow
    if (!row || (name !== UNNAMED && row.id !== name)) throw unknown()
    const found = organisationOf(row)
    this.#known.set(name, found, {born, rows: [row.id]})
    return found
  }
}

function organisationOf({id, auth}: OrganisationsTable): TokenOrganisation {
  const settings = jwtSettings(auth)
  const {algorithms, issuer, audiences, clock_skew_s, max_lifetime_s, revoked_before, allowed_subjects} = settings
  const revoked_before_s = revoked_before === null ? null : Date.parse(revoked_before) / 1000
  return {
    id,
    settings,
    rules: {algorithms, issuer, audiences, clock_skew_s, max_lifetime_s, revoked_before_s, allowed_subjects},
  }
}

function unknown(): Refusal {
  return new Refusal('token.organisation', {reason: 'Organisation not found.'})
}
