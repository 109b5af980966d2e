import {Refusal, type RefusalCode} from '../base/errors.ts'
import type {Claim, Counted} from '../ports/counters/index.ts'

/** The limits of one entity, as its row holds them (column texts). */
export interface EntityLimit {
  readonly entity: 'key' | 'workspace' | 'provider' | 'integration'
  /** Of an integration, which is limited per workspace, both ids. */
  readonly id: string
  readonly name: string
  readonly workspace_id: string
  readonly usage: string | null
  readonly rates: string | null
  /** When its usage was last set to zero by hand; ISO 8601. */
  readonly last_reset_at: string | null
}

/** A claim, and what has to be known of it to refuse in the right words or to rebuild its counter. */
export interface LimitClaim extends Claim {
  readonly of: EntityLimit
  readonly kind: 'rate' | 'budget'
  /** What was used since then counts; epoch milliseconds. */
  readonly since_ms: number
}

const NOUNS = {key: 'the API key', workspace: 'the workspace', provider: 'the provider', integration: 'the integration'} as const

/** A limit as people say it: `10 requests per minute of the API key blue`. */
export function labelOf(amount: number, things: string, period: string, {entity, name}: EntityLimit): string {
  return `${amount} ${amount === 1 ? things.slice(0, -1) : things} ${period} of ${NOUNS[entity]} ${name}`
}

/** The key of a counter begins with what it counts, so that replay knows what to add without asking anybody (core rule 11). */
export function counterKey(type: Counted, period: string, since_ms: number, {entity, id}: EntityLimit): string {
  return `${type}/${period}/${since_ms}/${entity}/${id}`
}

export function countedBy(counter_key: string): Counted | undefined {
  const type = counter_key.slice(0, counter_key.indexOf('/'))
  return type === 'requests' || type === 'tokens' || type === 'cost' ? type : undefined
}

const REFUSED = {
  key: {rate: 'key.rate_reached', budget: 'key.exhausted'},
  workspace: {rate: 'key.rate_reached', budget: 'workspace.exhausted'},
  provider: {rate: 'provider.rate_reached', budget: 'provider.exhausted'},
  integration: {rate: 'integration.rate_reached', budget: 'integration.exhausted'},
} as const satisfies Record<EntityLimit['entity'], Record<LimitClaim['kind'], RefusalCode>>

/** Why a call is not let through: a rate that is reached (429, and when to come back) or a budget that is used up (412). */
export function refusalOf({of, kind, label, ends_at_ms}: LimitClaim, time_ms: number): Refusal {
  const details: Record<string, string | number> = {limit: label, [of.entity]: of.name}
  if (kind === 'rate') details.retry_after_s = Math.max(1, Math.ceil((ends_at_ms - time_ms) / 1000))
  return new Refusal(REFUSED[of.entity][kind], details)
}
