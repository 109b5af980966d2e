import {Refusal} from '../base/errors.ts'
import {nearest} from '../base/nearest.ts'
import {ungrantable} from '../identity/access.ts'
import {holdersOf, plainScope, SCOPES, scopesOf} from '../identity/scopes.ts'
import type {KeyDefaults} from '../schema/api-keys.ts'
import type {ApiKeyKind} from '../store/tables/identity.ts'
import type {Actor} from './services.ts'
import {invalid} from './tenancy.ts'

/**
 * The scopes to keep for a key of `kind`, each once and with a dot. Refuses ones that are unknown or that such a key
 * cannot hold (400), and ones that the giver may not give (403) unless the key has them already.
 */
export function checkGrant(
  actor: Actor,
  kind: ApiKeyKind,
  values: readonly string[],
  held: readonly string[] = [],
): string[] {
  const scopes = [...new Set(values.map(plainScope))]
  for (const [index, scope] of scopes.entries()) {
    const field = `scopes[${index}]`
    if (!SCOPES.has(scope)) throw invalid(field, unknownScope(scope))
    if (!scopesOf(kind).has(scope))
      throw invalid(field, `a key of type ${kind} cannot hold ${scope}, only ${holdersOf(scope).join(' and ')} can`)
  }
  const beyond = ungrantable(actor, scopes).filter(scope => !held.includes(scope))
  if (beyond.length) throw new Refusal('scope.missing', {scope: `${beyond.join(', ')} itself, to give it to a key`})
  return scopes
}

function unknownScope(scope: string): string {
  const like = nearest(scope, SCOPES)
  return `there is no scope ${scope}${like ? `, did you mean ${like}?` : ''}`
}

/** How long keys may live, in days; `null`: any time. */
export interface ExpiryRules {
  readonly default_expiry_days: number | null
  readonly max_expiry_days: number | null
}

/**
 * When a key expires that is given this time: absent, it is the usual one of the organisation. Refuses a moment that is
 * past, and one beyond the longest life that the organisation allows, as never is.
 */
export function expiryUnder(rules: ExpiryRules, given: string | null | undefined, now: string): string | null {
  const {default_expiry_days, max_expiry_days} = rules
  const usual =
    default_expiry_days === null
      ? max_expiry_days
      : Math.min(default_expiry_days, max_expiry_days ?? default_expiry_days)
  const at = given === undefined ? (usual === null ? null : inDays(now, usual)) : given
  if (at !== null && at <= now) throw invalid('expires_at', 'must be in the future')
  if (max_expiry_days !== null && (at === null || at > inDays(now, max_expiry_days)))
    throw invalid('expires_at', `must be within ${max_expiry_days} days: keys of this organisation live no longer`)
  return at
}

function inDays(now: string, days: number): string {
  return new Date(Date.parse(now) + days * 86_400_000).toISOString()
}

export interface KeptDefaults {
  readonly metadata: Readonly<Record<string, string>>
  readonly config_id: string | null
  readonly allow_config_override: boolean
}

const NONE: KeptDefaults = {metadata: {}, config_id: null, allow_config_override: true}

export function readKeyDefaults(column: string | null): KeptDefaults {
  return column === null ? NONE : {...NONE, ...(JSON.parse(column) as Partial<KeptDefaults>)}
}

/**
 * The column text after a change: a member that is absent stays, one that is null goes back to what it is without; null
 * when all are.
 */
export function keepKeyDefaults(before: string | null, given: KeyDefaults | undefined): string | null {
  if (given === undefined) return before
  if (given === null) return null
  const old = readKeyDefaults(before)
  const kept: KeptDefaults = {
    metadata: given.metadata === undefined ? old.metadata : (given.metadata ?? NONE.metadata),
    config_id: given.config_id === undefined ? old.config_id : given.config_id,
    allow_config_override:
      given.allow_config_override === undefined
        ? old.allow_config_override
        : (given.allow_config_override ?? NONE.allow_config_override),
  }
  const plain = !Object.keys(kept.metadata).length && kept.config_id === null && kept.allow_config_override
  return plain ? null : JSON.stringify(kept)
}
