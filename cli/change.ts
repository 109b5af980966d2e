import type {Command} from 'commander'
import {type Change, changesBetween} from '../src/schema/changes.ts'
import type {InputOf, OperationId} from './client.ts'
import {dataOf} from './commands/rows.ts'
import type {Gateway, Input} from './connect.ts'
import {CommandFault, EXIT} from './fault.ts'
import {type BudgetWords, budgetsOf, limitWords, money} from './limit-words.ts'
import {valueText} from './print.ts'

export interface DryRunOption {
  readonly dryRun?: true
}

/** For updates: says what would change, and changes nothing. */
export function withDryRun(command: Command): Command {
  return command.option('--dry-run', 'only say what would change')
}

/** The reply of an update with its changes; a caller who may not read what he changes gets the plain one. */
interface ReportedChange {
  readonly before: object
  readonly after: object
  readonly changed: readonly string[]
}

const isReported = (reply: object): reply is ReportedChange => 'changed' in reply

/**
 * Performs an update and says each field that it changed, before and after. `what` is the thing by its name: `the API
 * key blue`.
 */
export async function change<Id extends OperationId>(
  gateway: Gateway,
  operation: Id,
  input: InputOf<Id> & Input,
  what: string,
  {dryRun}: DryRunOption,
): Promise<void> {
  const {print} = gateway
  const request: Input = input
  const query = {...request.query, changes: 'true', ...(dryRun && {dry_run: 'true'})}
  const reply = await gateway.perform(operation, {...request, query})
  if (!isReported(reply) && dryRun) throw noDryRun(what)
  if (!isReported(reply)) return print.done(reply, `Changed ${what}.`)
  if (print.json) return print.json_reply(reply)
  const lines = [...linesOf(reply), ...(resetsUsage(input) ? ['used: counted from zero again'] : [])]
  print.done(
    reply,
    lines.length
      ? `${dryRun ? 'Would change' : 'Changed'} ${what}.`
      : `Nothing changed: ${what} has these values already.`,
  )
  const used = await usedOf(gateway, operation, input, reply)
  if (!print.quiet) for (const text of withBudgetNote(lines, reply, used)) print.line(`  ${text}`)
  for (const text of warningsOf(reply, used, what, dryRun === true)) print.note(text)
}

/** The usage is in no view of every kind, so that the change would not be seen. */
function resetsUsage({body}: Input): boolean {
  return typeof body === 'object' && body !== null && 'reset_usage' in body && body.reset_usage === true
}

function noDryRun(what: string): CommandFault {
  const message = `The gateway that answered knows no dry run: ${what} is changed.`
  return new CommandFault(message, {exit: EXIT.failure, code: 'dry_run_unknown'})
}

/** `field: old -> new`, limits in the words of the options. */
function linesOf({before, after}: ReportedChange): string[] {
  const limits = changesBetween(limitWords(before), limitWords(after))
  const rest = changesBetween(before, after).filter(({field}) => !isLimit(field, after))
  return [...limits, ...rest].map(line)
}

const isLimit = (field: string, view: object) =>
  /^(usage_limits|rate_limits)(\.|$)/.test(field) ||
  ('credit_limit' in view && /^(credit_limit|alert_threshold|periodic_reset|enforcement)$/.test(field)) ||
  ('unit' in view && /^(unit|value|enforcement)$/.test(field))

const line = ({field, before, after}: Change) => `${field}: ${text(before)} -> ${text(after)}`
const text = (value: unknown) => (value === null || value === undefined || value === '' ? 'none' : valueText(value))

/** Budgets with what is used of them, read where one was changed. */
async function usedOf(
  {perform}: Gateway,
  operation: string,
  {params, query}: Input,
  {before, after}: ReportedChange,
): Promise<readonly BudgetWords[]> {
  if (!('usage_limits' in after) || !changesBetween(before, after).some(({field}) => field.startsWith('usage_limits')))
    return []
  const {workspace_id} = query ?? {}
  const reply = await perform(operation.replace(/\.update$/, '.get'), {
    ...(params && {params}),
    ...(workspace_id !== undefined && {query: {workspace_id}}),
  }).catch(() => ({}))
  return budgetsOf(dataOf(reply))
}

/** The unchanged parts of a changed budget, and its usage: so that no second command is needed. */
function withBudgetNote(
  lines: readonly string[],
  {before, after}: ReportedChange,
  used: readonly BudgetWords[],
): string[] {
  return lines.map(text => {
    const [, prefix] = /^(token )?budget: /.exec(text) ?? []
    if (!/^(token )?budget: /.test(text)) return text
    const same = (budget: BudgetWords) => budget.label === `${prefix ?? ''}budget`
    const [old, now, known] = [budgetsOf(before).find(same), budgetsOf(after).find(same), used.find(same)]
    if (!old || !now) return text
    const stays = [
      old.reset === now.reset && (now.reset ?? 'never resets'),
      old.alert === now.alert && (now.alert === null ? 'no alert' : `alert at ${money(now, now.alert)}`),
      old.enforcement === now.enforcement && now.enforcement,
    ].filter(Boolean)
    const notes = [
      stays.length && `${stays.join(', ')}: unchanged`,
      known?.used !== undefined && `used ${money(known, known.used)}`,
    ]
    return `${text}        (${notes.filter(Boolean).join('; ')})`
  })
}

function warningsOf({after}: ReportedChange, used: readonly BudgetWords[], what: string, is_dry: boolean): string[] {
  return budgetsOf(after).flatMap(budget => {
    const spent = used.find(({label}) => label === budget.label)?.used
    if (spent === undefined || spent < budget.amount) return []
    const state =
      budget.enforcement === 'shadow'
        ? 'only reported, as its enforcement is shadow'
        : `refused until ${budget.reset ? `it resets (${budget.reset})` : 'the budget is raised or its use counted anew (--reset-usage)'}`
    const would = is_dry ? 'would be' : 'is'
    return [
      `warning: ${money(budget, spent)} are used already, and the budget is ${money(budget, budget.amount)}: ${what} ${would} exhausted now, and its calls ${is_dry ? 'would be' : 'are'} ${state}.`,
    ]
  })
}
