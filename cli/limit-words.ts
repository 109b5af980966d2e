/** A budget as replies show it, in the words of the command line. */
export interface BudgetWords {
  /** `budget`, or `token budget` where there may be one of each. */
  readonly label: string
  readonly type: string
  readonly amount: number
  readonly alert: number | null
  readonly reset: string | null
  readonly next: string | null
  readonly enforcement: string
  readonly used: number | undefined
}

interface BudgetRow {
  readonly type: string
  readonly credit_limit: number
  readonly alert_threshold?: number | null
  readonly periodic_reset?: string | null
  readonly periodic_reset_days?: number | null
  readonly next_usage_reset_at?: string | null
  readonly enforcement?: string
  readonly current_usage?: number
}

interface RateRow {
  readonly type: string
  readonly unit: string
  readonly value: number
  readonly enforcement?: string
}

interface Limited {
  readonly usage_limits?: BudgetRow | readonly BudgetRow[] | null
  readonly rate_limits?: readonly RateRow[] | null
}

/** The budgets of a view: of a key one, of a workspace one of each type; a policy is one itself. */
export function budgetsOf(view: object): BudgetWords[] {
  const {usage_limits} = view as Limited
  if ('credit_limit' in view) return [budget({...(view as BudgetRow), next_usage_reset_at: null}, false)]
  if (!usage_limits) return []
  return [usage_limits].flat().map(row => budget(row as BudgetRow, Array.isArray(usage_limits)))
}

function budget(row: BudgetRow, has_others: boolean): BudgetWords {
  const {type, credit_limit, periodic_reset, periodic_reset_days, enforcement = 'compatible', current_usage} = row
  return {
    label: has_others && type === 'tokens' ? 'token budget' : 'budget',
    type,
    amount: credit_limit,
    alert: row.alert_threshold ?? null,
    reset: periodic_reset ?? (periodic_reset_days ? `every ${periodic_reset_days} days` : null),
    next: row.next_usage_reset_at ?? null,
    enforcement,
    used: current_usage,
  }
}

/** An amount of a budget: US dollars, or tokens. */
export function money({type}: Pick<BudgetWords, 'type'>, amount: number): string {
  if (type === 'tokens') return `${amount.toLocaleString('en-US')} tokens`
  const cents = amount.toFixed(2)
  return `$${Number(cents) === amount ? cents : String(amount)}`
}

/** Limits by the words of their options, so that two views are compared in these. */
export function limitWords(view: object): Record<string, string | null> {
  const words: Record<string, string | null> = {}
  for (const each of budgetsOf(view)) {
    const prefix = each.label.slice(0, -'budget'.length)
    words[each.label] = money(each, each.amount)
    words[`${prefix}alert`] = each.alert === null ? null : money(each, each.alert)
    words[`${prefix}reset`] = each.reset
    words[`${prefix}next reset`] = each.next
    words[`${prefix}enforcement`] = each.enforcement
  }
  const {rate_limits} = view as Limited
  const rates = 'unit' in view ? [view as RateRow] : (rate_limits ?? [])
  for (const {type, unit, value, enforcement} of rates) {
    const label = `${type === 'tokens' ? 'token rate' : 'rate'}${'unit' in view ? '' : ` (${unit})`}`
    words[label] = `${value}${unit}${enforcement ? ` ${enforcement}` : ''}`
  }
  return words
}
