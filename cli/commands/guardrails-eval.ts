import type {Command} from 'commander'
import type {EvaluatedCheck, GuardrailEvaluated} from '../../src/schema/guardrail-trials.ts'
import type {BodyOf} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {type GuardrailOption, guardrailOf, withGuardrail} from '../guardrail.ts'
import {readSince, readWhole} from '../option-parsers.ts'
import {leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {progressOn} from '../progress.ts'
import type {TableColumn} from '../table.ts'
import {plain} from '../width.ts'
import {workspaceFor} from '../workspace.ts'

interface EvalOptions extends WorkspaceOption, GuardrailOption {
  readonly since: string
  readonly side?: string
  readonly limit: string
}

const PAGE = 100
const MAX_EXAMPLES = 3
const COUNTS = ['passed', 'failed', 'errored', 'skipped', 'transformed'] as const
const SUMS = ['calls', 'judged', 'failed', 'denied', 'transformed', 'left_out', 'without_body'] as const

const COLUMNS: readonly TableColumn<EvaluatedCheck>[] = [
  {title: 'side', value: row => row.side},
  {title: 'check', value: row => row.id, whole: true},
  ...COUNTS.map((title, at) => ({
    ...{title, value: (row: EvaluatedCheck) => row[title], align: 'right' as const},
    ...(at > 1 && {optional: at}),
  })),
]

/**
 * `gateway guardrails eval`: what a guardrail would have done with calls that were made. Pages of the operation, added
 * up.
 */
export function evaluate(): Command {
  const command = leaf('eval', 'Say which calls of the log a guardrail would have denied; no model is asked', [
    'gateway guardrails eval pg-house-1a2b3c --since 7d',
    'gateway guardrails eval --file-guardrail guardrail.yaml --since 24h --side output --json',
  ])
  withGuardrail(command)
    .requiredOption('--since <time>', 'how far back: 30m, 24h, 7d, 2w, or a date such as 2026-01-31')
    .option('--side <side>', 'input or output (default: both)')
    .option('--limit <n>', 'rows of the log to read at most, the newest first', '10000')
  return withWorkspace(command, 'workspace whose calls they are').action(
    (name: string | undefined, options: EvalOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {world, print} = gateway
        const request = {
          guardrail: await guardrailOf(gateway, name, options),
          since: readSince(options.since, world.now()),
          ...(options.side !== undefined && {sides: [sideOf(options.side)]}),
          workspace_id: await workspaceFor(gateway, options.workspace),
        }
        const whole = await evaluated(gateway, request, readWhole(options.limit, '--limit', 1, 10_000_000))
        print.list(whole, whole.checks, COLUMNS)
        if (print.json || print.quiet) return
        for (const line of whole.checks.flatMap(exampleLines)) print.line(plain(line))
        print.note(summary(whole))
      }),
  )
}

function sideOf(side: string): string {
  if (side === 'input' || side === 'output') return side
  throw usageFault(`--side ${side} is no side: expected input or output.`)
}

type EvaluationRequest = Omit<BodyOf<'guardrails.evaluate'>, 'limit' | 'before'>
type Whole = Omit<GuardrailEvaluated, 'next'>

async function evaluated(gateway: Gateway, request: EvaluationRequest, limit: number): Promise<Whole> {
  const [from_ms, to_ms] = [Date.parse(request.since), gateway.world.now()]
  const progress = progressOn(gateway.world, gateway.print)
  let whole: Whole | undefined
  let before: string | null | undefined
  try {
    for (let left = limit; left > 0 && before !== null; left -= PAGE) {
      const body = {...request, limit: Math.min(left, PAGE), ...(before && {before})}
      const {next, ...page} = await gateway.call('guardrails.evaluate', {body})
      whole = whole ? sum(whole, page) : page
      before = next
      const done =
        next === null ? 1 : Math.max((to_ms - Date.parse(next)) / (to_ms - from_ms), (limit - left + PAGE) / limit)
      progress.step(Math.round(done * 100), 100, `${whole.calls} calls, ${whole.denied} denied`)
    }
  } finally {
    progress.end()
  }
  return whole!
}

function sum(whole: Whole, page: Whole): Whole {
  const sums = Object.fromEntries(SUMS.map(name => [name, whole[name] + page[name]])) as Pick<
    Whole,
    (typeof SUMS)[number]
  >
  const fresh = page.checks.filter(check => !whole.checks.some(known => isSame(known, check)))
  const known = whole.checks.map(check => {
    const more = page.checks.find(each => isSame(check, each))
    if (!more) return check
    const counts = Object.fromEntries(COUNTS.map(name => [name, check[name] + more[name]])) as Pick<
      EvaluatedCheck,
      (typeof COUNTS)[number]
    >
    return {...check, ...counts, examples: [...check.examples, ...more.examples].slice(0, MAX_EXAMPLES)}
  })
  return {...whole, ...sums, checks: [...known, ...fresh]}
}

function isSame(one: EvaluatedCheck, other: EvaluatedCheck): boolean {
  return one.side === other.side && one.index === other.index
}

function exampleLines({side, id, examples}: EvaluatedCheck): string[] {
  return examples.map(
    ({log_id, explanation, excerpt}) =>
      `${side} ${id} ${log_id}${explanation ? ` ${explanation}` : ''}${excerpt === null ? '' : ` ${JSON.stringify(excerpt)}`}`,
  )
}

function summary({calls, judged, failed, denied, transformed, left_out, without_body}: Whole): string {
  const rate = judged ? ` (${((100 * denied) / judged).toFixed(1)} %)` : ''
  const rest = [
    failed > denied && `${failed - denied} would fail and go on`,
    transformed && `${transformed} would be changed`,
    left_out && `${left_out} of ${calls} are of routes without a text`,
    without_body && `of ${without_body} the body is not kept`,
  ].filter(Boolean)
  return `${denied} of ${judged} judged calls would be denied${rate}${rest.length ? `; ${rest.join('; ')}` : ''}.`
}
