import {Refusal, type RefusalCode} from '../base/errors.ts'
import type {MaybePromise} from '../base/maybe-promise.ts'
import type {Claim, Counted, Counters} from '../ports/counters/index.ts'

/** The limits of one entity, as its row holds them (column texts). */
export interface EntityLimit {
  readonly entity: 'key' | 'token' | 'workspace' | 'provider' | 'integration' | 'policy'
  /**
   * Of an integration, which is limited per workspace, both ids, and so of a token; of a policy its id and the value
   * key of the entity.
   */
  readonly id: string
  readonly name: string
  readonly workspace_id: string
  readonly usage: string | null
  readonly rates: string | null
  /** When its usage was last set to zero by hand; ISO 8601. */
  readonly last_reset_at: string | null
  /** Its counters are forgotten then, for nothing can be counted any more: of a token. Epoch milliseconds. */
  readonly ends_at_ms?: number
}

/** A claim, and what has to be known of it to refuse in the right words or to rebuild its counter. */
export interface LimitClaim extends Claim {
  readonly of: EntityLimit
  readonly kind: 'rate' | 'budget'
  /**
   * The quantity that its counter counts, whatever the claim takes: the claim of a strict limit takes nothing when the
   * call comes in.
   */
  readonly counts: Counted
  /** Usage since then counts; epoch milliseconds. */
  readonly since_ms: number
  /** Of a strict limit of tokens or cost, as calls claim it when they come in: the claim that their attempts hold. */
  readonly held?: LimitClaim
}

const NOUNS = {
  key: 'the API key',
  token: 'this token',
  workspace: 'the workspace',
  provider: 'the provider',
  integration: 'the integration',
  policy: 'the policy',
} as const

/** A limit as people say it: `10 requests per minute of the API key blue`. */
export function labelOf(amount: number, things: string, period: string, of: EntityLimit): string {
  return `${amount} ${amount === 1 ? things.slice(0, -1) : things} ${period} of ${calledOf(of)}`
}

/** A token has no name of its own. */
function calledOf({entity, name}: EntityLimit): string {
  return entity === 'token' ? NOUNS.token : `${NOUNS[entity]} ${name}`
}

/** The group that bounds counters of entities together: their policy. */
export function groupOf({entity, id}: EntityLimit): string | undefined {
  return entity === 'policy' ? id.slice(0, id.indexOf('/')) : undefined
}

/**
 * The key of a counter begins with what it counts, so that replay knows what to add without asking anybody (core rule
 * 11).
 */
export function counterKey(type: Counted, period: string, since_ms: number, {entity, id}: EntityLimit): string {
  return `${type}/${period}/${since_ms}/${entity}/${id}`
}

const BUDGET_KEY = new RegExp(`^(tokens|cost)/budget/(\\d+)/(${Object.keys(NOUNS).join('|')})/(.+)$`, 's')

/** The parts of a budget counter's key; null for that of a rate. */
export function readBudgetKey(
  counter_key: string,
): {counts: Counted; since_ms: number; entity: EntityLimit['entity']; id: string} | null {
  const found = BUDGET_KEY.exec(counter_key)
  if (!found) return null
  const [, counts, since, entity, id] = found
  return {counts: counts as Counted, since_ms: Number(since), entity: entity as EntityLimit['entity'], id: id!}
}

export function countedBy(counter_key: string): Counted | undefined {
  const type = counter_key.slice(0, counter_key.indexOf('/'))
  return type === 'requests' || type === 'tokens' || type === 'cost' ? type : undefined
}

const REFUSED = {
  key: {rate: 'key.rate_reached', budget: 'key.exhausted'},
  token: {rate: 'key.rate_reached', budget: 'token.exhausted'},
  workspace: {rate: 'key.rate_reached', budget: 'workspace.exhausted'},
  provider: {rate: 'provider.rate_reached', budget: 'provider.exhausted'},
  integration: {rate: 'integration.rate_reached', budget: 'integration.exhausted'},
  policy: {rate: 'policy.rate_reached', budget: 'policy.exhausted'},
} as const satisfies Record<EntityLimit['entity'], Record<LimitClaim['kind'], RefusalCode>>

/**
 * The refusal of a call: a rate that is reached (429, and when to come back) or a budget that is used up (412, with its
 * usage, as far as the counters tell, and when it starts again).
 */
export function refusalFrom(
  counters: Pick<Counters, 'read'>,
  claim: LimitClaim,
  time_ms: number,
): MaybePromise<Refusal> {
  if (claim.kind === 'rate') return refusalOf(claim, time_ms, null)
  try {
    const read = counters.read([claim.key])
    if (!(read instanceof Promise)) return refusalOf(claim, time_ms, read[0] ?? null)
    return read.then(
      ([used]) => refusalOf(claim, time_ms, used ?? null),
      () => refusalOf(claim, time_ms, null),
    )
  } catch {
    return refusalOf(claim, time_ms, null)
  }
}

/** The refusal of a call of a new entity of a policy: the policy counts as many as it can. */
export function fullOf({of, ends_at_ms}: LimitClaim): Refusal {
  const ends = Number.isFinite(ends_at_ms)
    ? ` The first of them end at ${new Date(ends_at_ms).toISOString().replace('.000Z', 'Z')}.`
    : ''
  return new Refusal('policy.entities_exhausted', {policy: of.name, ends})
}

function refusalOf(claim: LimitClaim, time_ms: number, used: bigint | null): Refusal {
  const {of, kind, label, ends_at_ms, limit} = claim
  const details: Record<string, string | number> = {limit: label, [of.entity]: of.name}
  if (kind === 'budget') details.standing = standingOf(claim, used)
  if (isHold(claim)) details.hint = HINT(label)
  if (kind === 'rate') {
    details.retry_after_s = Math.max(1, Math.ceil((ends_at_ms - time_ms) / 1000))
    details.rate_limit = String(limit)
  }
  return new Refusal(REFUSED[of.entity][kind], details)
}

/** Describes the state of a budget, to follow the sentence that it is used up. */
function standingOf({of, label, counts, ends_at_ms}: LimitClaim, used: bigint | null): string {
  const allowed = label.slice(0, label.length - ` of ${calledOf(of)}`.length)
  const begins =
    of.entity !== 'token' && Number.isFinite(ends_at_ms)
      ? `it resets at ${new Date(ends_at_ms).toISOString().replace('.000Z', 'Z')}`
      : 'it does not reset by itself'
  const of_it =
    used === null ? `It allows ${allowed}` : `${counts === 'cost' ? Number(used) / 1e9 : used} of ${allowed} are used`
  return ` ${of_it}; ${begins}.`
}

const isHold = ({mode, type}: LimitClaim) => mode === 'strict' && type !== 'requests'
const HINT = (label: string) =>
  ` The limit of ${label} is strict, and what is left of it does not hold what this call may use; a smaller max_tokens asks for less.`
