import {usd} from '../base/money.ts'
import {budgetClaim, nanoDollars} from '../limits/budget.ts'
import type {LimitClaim} from '../limits/claims.ts'
import type {BudgetStanding} from '../limits/thresholds.ts'
import {readUsageLimits, type StoredUsageLimit} from '../schema/limits.ts'
import {type BudgetedRow, budgeted, showStatus} from '../store/budgets.ts'
import type {Db, Store} from '../store/database.ts'
import type {EntityUsageScope, LedgerUsage} from '../store/usage.ts'
import type {AlertSubject} from './alert-mail.ts'
import type {Job, JobRun} from './schedule.ts'

/** A budget and its state in the current period. */
export interface Budget {
  readonly subject: AlertSubject
  readonly type: 'cost' | 'tokens'
  readonly standing: BudgetStanding
  /** When it starts again; ISO 8601, null when it does not. */
  readonly resets_at: string | null
}

/** Reads the usage of a scope since a time from the ledger. */
export type ReadEntityUsage = (scope: EntityUsageScope, since_at: string) => Promise<LedgerUsage>

/** Returns budgets with their state; there is one for entities, and may be others. */
export type ReadBudgets = (now_ms: number) => Promise<readonly Budget[]>

/** The budgets of keys, workspaces, providers and integrations. */
export function entityBudgets(db: Db, usage: ReadEntityUsage): ReadBudgets {
  return async now_ms => {
    const found: Budget[] = []
    // one by one: calls go first
    for (const each of await budgeted(db)) found.push(...(await budgetsOf(each, usage, now_ms)))
    return found
  }
}

export interface BudgetsOptions {
  readonly store: Store
  readonly usage: ReadEntityUsage
  /** False: there are no limits, so nothing is exhausted. */
  readonly enabled: boolean
  /** Waits until the ledger holds what was settled. */
  readonly settled: () => Promise<void>
}

/**
 * Shows keys and providers as exhausted while one of their budgets is used up, and as active again once it starts
 * again, is raised or removed: the spending in gateway.db is made from the ledger (core rule 1).
 */
export function budgetsJob({store, usage, enabled, settled}: BudgetsOptions): Job {
  return {
    name: 'budgets',
    every_ms: 60_000,
    async run({now_ms, lost}: JobRun) {
      const now = new Date(now_ms).toISOString()
      await settled()
      for (const each of await budgeted(store.db)) {
        if (lost.aborted) return
        if (each.status === null) continue
        const budgets = enabled ? await budgetsOf(each, usage, now_ms) : []
        const status = budgets.some(({standing}) => standing.used >= standing.credit_limit) ? 'exhausted' : 'active'
        if (status !== each.status) await store.write(db => showStatus(db, each, status, now))
      }
    },
  }
}

/** An amount with its unit, for people. */
export function amountOf(type: Budget['type'], amount: bigint): string {
  return type === 'cost' ? `${usd(amount)} US dollars` : `${amount.toLocaleString('en-US')} tokens`
}

async function budgetsOf(each: BudgetedRow, usage: ReadEntityUsage, now_ms: number): Promise<Budget[]> {
  const {entity, id, name, organisation_id, workspace_id, usage_limits, last_reset_at, alert_emails} = each
  const of = {entity, id, name, organisation_id, workspace_id, usage: usage_limits, rates: null, last_reset_at}
  const emails = alert_emails === null ? [] : (JSON.parse(alert_emails) as string[])
  return Promise.all(
    readUsageLimits(usage_limits).map(async limit => {
      const claim = budgetClaim(of, limit, now_ms)
      const used = await usage(of, new Date(claim.since_ms).toISOString())
      const subject = {entity, id, name, organisation_id, workspace_id, alert_emails: emails}
      return budgetOf(subject, limit, claim, limit.type === 'cost' ? used.cost_nanousd : used.tokens)
    }),
  )
}

/** A budget of a subject in the period of its claim; `used` and the claim's limit are in nano-dollars or tokens. */
export function budgetOf(
  subject: AlertSubject,
  {type, alert_threshold}: StoredUsageLimit,
  claim: LimitClaim,
  used: bigint,
): Budget {
  const {limit: credit_limit, since_ms, ends_at_ms} = claim
  return {
    subject,
    type,
    standing: {
      scope: `${subject.entity}/${subject.id}/${type}`,
      used,
      credit_limit,
      alert_threshold: thresholdOf(type, alert_threshold),
      since_ms,
    },
    resets_at: Number.isFinite(ends_at_ms) ? new Date(ends_at_ms).toISOString() : null,
  }
}

/** Half a token cannot be used: a threshold of one is passed with the next. */
export function thresholdOf(type: Budget['type'], threshold: number | null): bigint | null {
  if (threshold === null) return null
  return type === 'cost' ? nanoDollars(threshold) : BigInt(Math.ceil(threshold))
}
