import {createLimits, type EntityLimit, type Limits} from '../limits/index.ts'
import {createMemoryCounters} from '../ports/counters/memory.ts'
import {type UsageLimitStanding, usageLimitViews} from '../schema/limits.ts'
import {usedSince} from '../store/usage.ts'
import type {AdminServices} from './services.ts'

/** The budgets of an entity, and whether one of them is used up. */
export interface EntityLimitStatus {
  readonly usage_limits: readonly UsageLimitStanding[]
  readonly is_exhausted: boolean
}

/** Something with budgets, as its row holds them. */
export type Budgeted = Omit<EntityLimit, 'rates'>

/**
 * The current state of an entity's budgets: as admission counts them, when a gateway runs; else as in the ledger. The
 * `status` that rows keep follows within a minute (core rule 1), so replies use this.
 */
export async function standingOf(app: AdminServices, of: Budgeted): Promise<EntityLimitStatus> {
  const unused = unusedViews(of.usage, app.now().getTime())
  if (unused.length === 0) return {usage_limits: unused, is_exhausted: false}
  const readings = await readerOf(app).read({...of, rates: null})
  const usage_limits = unused.map(limit => {
    const reading = readings.find(({type}) => type === limit.type)
    if (!reading) return limit // switched off: nothing is counted
    const {used, type} = reading
    return {
      ...limit,
      current_usage: shownAmount(type, used),
      status: used >= reading.limit ? ('exhausted' as const) : ('active' as const),
    }
  })
  return {usage_limits, is_exhausted: usage_limits.some(({status}) => status === 'exhausted')}
}

/** Those of a page of rows, one after another: calls go first. */
export async function standingsOf<Row>(
  app: AdminServices,
  rows: readonly Row[],
  of: (row: Row) => Budgeted,
): Promise<Map<Row, EntityLimitStatus>> {
  const standings = new Map<Row, EntityLimitStatus>()
  for (const row of rows) standings.set(row, await standingOf(app, of(row)))
  return standings
}

/** Budgets of which nothing is used, as they are when they are made. */
export function unusedViews(usage: string | null, now_ms: number): readonly UsageLimitStanding[] {
  return usageLimitViews(usage, now_ms).map(limit => ({...limit, current_usage: 0, status: 'active'}))
}

/** A command beside a gateway cannot read its counters: budgets are read from the ledger, rates are not known. */
export function readerOf({limits, store, settings, now}: AdminServices): Pick<Limits, 'read' | 'readRates'> {
  return (
    limits ??
    createLimits({
      counters: createMemoryCounters(),
      usage: (scope, since_at) => usedSince(store.db, scope, since_at),
      now: () => now().getTime(),
      enabled: settings.usage_limits_enabled,
    })
  )
}

/** Nano-dollars as US dollars; tokens and requests as they are. */
export function shownAmount(type: 'cost' | 'tokens' | 'requests', amount: bigint): number {
  return type === 'cost' ? Number(amount) / 1e9 : Number(amount)
}
