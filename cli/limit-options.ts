import type {Command} from 'commander'
import type {ReplyOf} from './client.ts'
import {usageFault} from './fault.ts'
import {readNumber, readRate, readReset} from './option-parsers.ts'
import {type EnforcementOption, enforcementOf, withEnforcement} from './options.ts'

export interface LimitOptions extends EnforcementOption {
  readonly budget?: string | false
  readonly tokenBudget?: string
  readonly reset?: string | false
  readonly alert?: string | false
  readonly rate?: readonly string[] | false
  readonly tokenRate?: readonly string[]
}

/** Adds the words of limits; `clears` adds those that take them away. */
export function withLimits(command: Command, {clears = false} = {}): Command {
  const none = clears ? ', or none' : ''
  command
    .optionsGroup('Limits:')
    .option('--budget <usd>', `most that may be spent, in US dollars${none}`)
    .option('--token-budget <n>', `most tokens that may be used${none}`)
    .option(
      '--reset <period>',
      `when a budget starts again: weekly, monthly, or days such as 30d${clears ? none : ' (default: never)'}`,
    )
    .option('--alert <n>', `amount of the budget at which to alert${none}`)
    .option('--rate <rate...>', `most requests, for example 60rpm (rpm, rph, rpd)${none}`)
    .option('--token-rate <rate...>', `most tokens, for example 90000rpm${none}`)
  withEnforcement(command)
  if (clears)
    command
      .option('--no-budget', 'take the budget away')
      .option('--no-reset', 'the budget is for good')
      .option('--no-alert', 'no alert before all is used up')
      .option('--no-rate', 'take the rate limits away')
  return command.optionsGroup('Options:')
}

/** The limits of something new, as the operations take them; what was not given is absent. */
export function limitsOf(options: LimitOptions) {
  const {budget, tokenBudget, reset, alert, rate, tokenRate = []} = options
  const amount = amountOf(options)
  if (!amount && (reset !== undefined || alert !== undefined))
    throw usageFault('--reset and --alert say more of a budget: add --budget or --token-budget.')
  const held = enforcementOf(options)
  const terms = {...(typeof reset === 'string' && readReset(reset)), ...(typeof alert === 'string' && alertOf(alert))}
  const credit_limit = amount ? readNumber(amount, budget ? '--budget' : '--token-budget') : 0
  const budgets = amount ? [{type: tokenBudget === undefined ? 'cost' : 'tokens', credit_limit, ...terms, ...held}] : []
  const rates = [
    ...(rate || []).map(each => readRate(each, 'requests')),
    ...tokenRate.map(each => readRate(each, 'tokens')),
  ]
  if (held.enforcement && !budgets.length && !rates.length)
    throw usageFault('--enforcement says more of a limit: add one.')
  return {
    ...(budgets.length && {usage_limits: budgets}),
    ...(rates.length && {rate_limits: rates.map(each => ({...each, ...held}))}),
  }
}

/** A rate limit with its state. */
type RateRow = ReplyOf<'api_keys.get'>['rate_limits'][number]

/**
 * The changes of an update to limits, as the operations take them: limits that were not given stay. `current` reads the
 * rate limits, called only when several are given at once.
 */
export async function limitChangesOf(options: LimitOptions, current: () => Promise<readonly RateRow[]>) {
  const {rate, tokenRate} = options
  const held = enforcementOf(options)
  const budget = budgetChange(options)
  const rates = await rateChanges(options, current)
  if (held.enforcement && !budget && !rate && !tokenRate)
    throw usageFault('--enforcement says more of a limit: add one.')
  return {
    ...(options.budget === false ? {usage_limits: null} : budget && {usage_limits: {...budget, ...held}}),
    ...(rates !== undefined && {rate_limits: rates}),
  }
}

const NONE = 'none'

function amountOf({budget, tokenBudget}: LimitOptions): string | undefined {
  if (budget && tokenBudget !== undefined) throw usageFault('--budget and --token-budget are both given; keep one.')
  return budget || tokenBudget
}

const alertOf = (alert: string) => ({alert_threshold: readNumber(alert, '--alert')})

/** The change of one budget; the others stay. Undefined where none is given. */
function budgetChange(options: LimitOptions) {
  const {budget, tokenBudget, reset, alert} = options
  const amount = amountOf(options)
  if (budget === false && (reset !== undefined || alert !== undefined))
    throw usageFault('--no-budget takes reset and alert away too: leave them out.')
  const change = {
    ...(amount !== undefined && {type: tokenBudget === undefined ? 'cost' : 'tokens'}),
    ...(amount !== undefined && {
      credit_limit: amount === NONE ? null : readNumber(amount, budget ? '--budget' : '--token-budget'),
    }),
    ...(reset === false || reset === NONE
      ? {periodic_reset: null, periodic_reset_days: null}
      : reset !== undefined && readReset(reset)),
    ...(alert === false || alert === NONE ? {alert_threshold: null} : alert !== undefined && alertOf(alert)),
  }
  return Object.keys(change).length ? change : undefined
}

async function rateChanges(options: LimitOptions, current: () => Promise<readonly RateRow[]>) {
  const {rate, tokenRate} = options
  if (rate === false) return null
  const held = enforcementOf(options)
  const none = [rate?.includes(NONE) && 'requests', tokenRate?.includes(NONE) && 'tokens']
  const terms = [
    ...(rate ?? []).flatMap(each => (each === NONE ? [] : [{...readRate(each, 'requests'), ...held}])),
    ...(tokenRate ?? []).flatMap(each => (each === NONE ? [] : [{...readRate(each, 'tokens'), ...held}])),
  ]
  if (!none.some(Boolean)) {
    if (!terms.length) return undefined
    if (terms.length === 1) return terms[0]
  }
  const stay = (await current()).filter(
    ({type, unit}) => !none.includes(type) && !terms.some(each => each.type === type && each.unit === unit),
  )
  return [...stay, ...terms]
}
