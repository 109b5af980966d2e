import {readUsageLimits} from '../schema/limits.ts'
import {nanoDollars} from './budget.ts'
import type {EntityLimit} from './claims.ts'
import type {Reading} from './index.ts'

/** The state of a budget: amounts in nano-dollars, or in tokens. */
export interface BudgetStanding {
  /** Names the budget among all others, the same over its periods: `key/<id>/cost`. */
  readonly scope: string
  readonly used: bigint
  readonly credit_limit: bigint
  /** Null: no alert before the budget is used up. */
  readonly alert_threshold: bigint | null
  /** Usage since then counts; epoch milliseconds. It moves when the budget starts again, by its period or by hand. */
  readonly since_ms: number
}

/** The states of an entity's budgets; `readings` are those of `Limits.read`. */
export function standingsOf(of: EntityLimit, readings: readonly Reading[]): BudgetStanding[] {
  const budgets = readUsageLimits(of.usage)
  return readings.map(({type, used, limit, since_ms}) => {
    const alert = budgets.find(budget => budget.type === type)?.alert_threshold ?? null
    const alert_threshold = alert === null ? null : type === 'cost' ? nanoDollars(alert) : BigInt(Math.ceil(alert))
    return {scope: `${of.entity}/${of.id}/${type}`, used, credit_limit: limit, alert_threshold, since_ms}
  })
}

/** The alerts of a budget so far, to be kept with it. Plain data: amounts are decimal texts. */
export interface AlertMark {
  readonly since_ms: number
  readonly credit_limit: string
  readonly alert_threshold: string | null
  /** The threshold alert is raised. */
  readonly threshold: boolean
  /** The alert that all is used up is raised. */
  readonly exhausted: boolean
}

export interface Crossing {
  readonly scope: string
  readonly kind: 'threshold' | 'exhausted'
  readonly standing: BudgetStanding
}

/** Called once for each crossing. */
export type OnThreshold = (crossing: Crossing) => void

/**
 * The bounds that a budget has crossed since it was last looked at, and the mark to remember (null: it was never looked
 * at). Each crossing is reported once. Alerts can be raised again: both once the budget
 * starts again or its credit limit is raised, the threshold alert alone once the threshold is raised or removed. A
 * budget that is still above its bound then is reported again at once.
 */
export function crossedThresholds(
  standing: BudgetStanding,
  before: AlertMark | null,
): {readonly mark: AlertMark; readonly crossings: readonly Crossing[]} {
  const {scope, used, credit_limit, alert_threshold, since_ms} = standing
  const armed = rearmed(standing, before)
  const is_over = alert_threshold !== null && used >= alert_threshold
  const is_exhausted = used >= credit_limit
  const crossings: Crossing[] = []
  if (is_over && !armed.threshold) crossings.push({scope, kind: 'threshold', standing})
  if (is_exhausted && !armed.exhausted) crossings.push({scope, kind: 'exhausted', standing})
  const mark: AlertMark = {
    since_ms,
    credit_limit: String(credit_limit),
    alert_threshold: alert_threshold === null ? null : String(alert_threshold),
    threshold: armed.threshold || is_over,
    exhausted: armed.exhausted || is_exhausted,
  }
  return {mark, crossings}
}

/**
 * `lookAt` for many budgets: the crossings, and the marks that changed, by scope. Write those before any alert is sent.
 */
export function thresholdCrossings(
  standings: readonly BudgetStanding[],
  marks: ReadonlyMap<string, AlertMark>,
): {readonly crossings: readonly Crossing[]; readonly marks: ReadonlyMap<string, AlertMark>} {
  const crossings: Crossing[] = []
  const changed = new Map<string, AlertMark>()
  for (const standing of standings) {
    const before = marks.get(standing.scope) ?? null
    const seen = crossedThresholds(standing, before)
    crossings.push(...seen.crossings)
    if (!before || !isSame(before, seen.mark)) changed.set(standing.scope, seen.mark)
  }
  return {crossings, marks: changed}
}

/** The store of marks, by scope. `keep` resolves once they are safe. */
export interface AlertMarks {
  read(scopes: readonly string[]): Promise<ReadonlyMap<string, AlertMark>>
  keep(marks: ReadonlyMap<string, AlertMark>): Promise<void>
}

/**
 * Looks at budgets and tells each crossing once. Alerts are stored first: a process that dies in between leaves an
 * alert untold, and tells none twice.
 */
export async function tellCrossings(
  standings: readonly BudgetStanding[],
  marks: AlertMarks,
  onThreshold: OnThreshold,
): Promise<void> {
  const known = await marks.read(standings.map(({scope}) => scope))
  const {crossings, marks: changed} = thresholdCrossings(standings, known)
  if (changed.size > 0) await marks.keep(changed)
  for (const crossing of crossings) onThreshold(crossing)
}

function rearmed(
  {credit_limit, alert_threshold, since_ms}: BudgetStanding,
  before: AlertMark | null,
): Pick<AlertMark, 'threshold' | 'exhausted'> {
  if (!before || since_ms > before.since_ms || credit_limit > BigInt(before.credit_limit))
    return {threshold: false, exhausted: false}
  const is_raised =
    before.alert_threshold !== null && (alert_threshold === null || alert_threshold > BigInt(before.alert_threshold))
  return {threshold: before.threshold && !is_raised, exhausted: before.exhausted}
}

function isSame(one: AlertMark, other: AlertMark): boolean {
  return (
    one.since_ms === other.since_ms &&
    one.credit_limit === other.credit_limit &&
    one.alert_threshold === other.alert_threshold &&
    one.threshold === other.threshold &&
    one.exhausted === other.exhausted
  )
}
