import type {HookResults} from '../schema/guardrails.ts'
import type {Hop} from '../schema/hops.ts'
import type {Intent, LogRecord, Outcome, Settlement} from '../schema/records.ts'
import {type Spent, spent} from '../schema/spent.ts'
import {TOKEN_CLASSES, totals, type Usage, type UsageSource} from '../schema/usage.ts'
import type {Charged} from './charged.ts'

/** How charged work ended. */
export interface WorkEnd {
  readonly outcome: Outcome
  /** The provider's status; null when it never answered. */
  readonly status: number | null
  readonly model: string | null
  readonly usage: Partial<Usage>
  readonly usage_source: UsageSource
  readonly charged: Charged
  /** The parts of the usage that were charged by themselves; absent or null where it was charged as a whole. */
  readonly hops?: readonly Hop[] | null | undefined
  /** False when the client had left before the end. */
  readonly delivered: boolean
  /** True where the provider was sent all of it and never answered: it is charged the estimate of its prompt. */
  readonly is_unanswered?: boolean
  /** False where nothing of it left: a row of the log, no entry of the ledger. */
  readonly has_entry?: boolean
  /** The attempts without a row of their own that this row covers, first and last. */
  readonly covers?: readonly [first: number, last: number] | undefined
  /** True where another target follows. */
  readonly is_part?: boolean
}

const NO_KEYS: readonly string[] = []

/**
 * The settlement that ends `intent`, with its row of the log; null: it has none. One literal: this is made for every
 * attempt.
 */
export function settlement(intent: Intent, end: WorkEnd, log: LogRecord | null, settled_at: string): Settlement {
  const {charged} = end
  const has_entry = end.has_entry !== false
  return {
    kind: intent.kind,
    call_id: intent.call_id,
    attempt: has_entry ? intent.attempt : 0,
    trace_id: intent.trace_id,
    organisation_id: intent.organisation_id,
    workspace_id: intent.workspace_id,
    principal: intent.principal,
    user_id: intent.user_id,
    provider_id: intent.provider_id,
    provider_slug: intent.provider_slug,
    integration_id: intent.integration_id,
    config_id: intent.config_id,
    provider: intent.provider,
    model: end.model,
    endpoint: intent.endpoint,
    admitted_at: intent.admitted_at,
    counter_keys: has_entry ? intent.counter_keys : NO_KEYS,
    held_keys: intent.held_keys,
    w3c: intent.w3c,
    hold_nanousd: 0,
    settled_at,
    outcome: end.outcome,
    status: end.status,
    usage: used(end.usage),
    usage_source: end.usage_source,
    cost_nanousd: charged.cost_nanousd,
    unpriced: charged.unpriced,
    unpriced_units: charged.unpriced_units.length > 0 ? charged.unpriced_units : undefined,
    mode_unpriced: charged.mode_unpriced ?? undefined,
    usage_unknown: charged.usage_unknown.length > 0 ? charged.usage_unknown : undefined,
    unanswered: end.is_unanswered ? true : undefined,
    hops: end.hops ?? undefined,
    delivered: end.delivered,
    log,
    covers: end.covers,
    ending: end.is_part ? 'part' : undefined,
  }
}

/**
 * The row of `settled` once more, with the findings of guardrails that came after it was written. No entry: that is
 * written already.
 */
export function amended(settled: Settlement, log: LogRecord, hook_results: HookResults | undefined): Settlement {
  return {...settled, attempt: 0, counter_keys: NO_KEYS, log: {...log, hook_results}, ending: 'again'}
}

/** The part of it that counts against limits. */
export function spentIn({usage, cost_nanousd}: Pick<Settlement, 'usage' | 'cost_nanousd'>): Spent {
  return spent(totals(usage).total_tokens, cost_nanousd)
}

/** Usage without the classes that were not used. */
function used(usage: Partial<Usage>): Partial<Usage> {
  const counts: Partial<Usage> = {}
  for (const name of TOKEN_CLASSES) {
    const count = usage[name]
    if (count !== undefined && count > 0) counts[name] = count
  }
  if (usage.units && Object.keys(usage.units).length > 0) counts.units = usage.units
  return counts
}
