import type {Command} from 'commander'
import type {CacheQuestioned, LoggedQuestion} from '../../src/schema/cache-evaluation.ts'
import {barLines} from '../bars.ts'
import {type EvaluatedHit, type EvaluatedRun, type EvaluatedThreshold, evaluated} from '../cache-evaluation.ts'
import type {Judgement} from '../cache-judge.ts'
import type {BodyOf} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {addCounts, logPages} from '../log-pages.ts'
import {readDuration, readNumber, readSince, readWhole} from '../option-parsers.ts'
import {leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {progressOn} from '../progress.ts'
import type {TableColumn} from '../table.ts'
import {workspaceFor} from '../workspace.ts'

interface EvalOptions extends WorkspaceOption {
  readonly since: string
  readonly threshold?: readonly string[]
  readonly gate?: string
  readonly maxAge: string
  readonly limit: string
  readonly judge?: string
  readonly judgeModel: string
  readonly judgeLimit: string
}

const PAGE = 100
const USUAL = [0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99]
const GATES = ['strict', 'numbers', 'off'] as const
const MOST_WORST = 20
const WIDTH = 80

const percent = (share: number) => `${(100 * share).toFixed(1)} %`
const dollars = (usd: number) => `$${usd.toFixed(4)}`

const COLUMNS: readonly TableColumn<EvaluatedThreshold>[] = [
  {title: 'threshold', value: row => row.threshold.toFixed(2), align: 'right'},
  {title: 'would hit', value: row => row.hits, align: 'right'},
  {title: 'of searched', value: row => percent(row.hit_share), align: 'right'},
  {title: 'equal answers', value: row => row.equal, align: 'right'},
  {title: 'other answers', value: row => row.unknown, align: 'right'},
  {title: 'wrong at most', value: row => (row.hits === 0 ? null : percent(row.wrong_at_most)), align: 'right'},
  {title: 'saved', value: row => dollars(row.saved_usd), align: 'right'},
]

/** `gateway cache eval`: the semantic cache on calls that were made. Pages of the operation, compared here. */
export function evaluate(): Command {
  const command = leaf('eval', 'Say what the semantic cache would have served of the log; no model is called', [
    'gateway cache eval --since 7d --workspace research',
    'gateway cache eval --since 24h --threshold 0.85 0.9 --gate strict --workspace research --json',
    'gateway cache eval --since 24h --judge @pc-judge-846e39 --judge-limit 50 --url http://localhost:8787',
  ])
    .option('--since <time>', 'how far back: 30m, 24h, 7d, 2w, or a date such as 2026-01-31', '7d')
    .option('--threshold <cosine...>', 'thresholds to compare (default: 0.70 to 0.99, and that of the gateway)')
    .option('--gate <mode>', 'strict, numbers or off (default: that of the gateway)')
    .option('--max-age <time>', 'how long an answer is kept: 30m, 12h, 7d', '7d')
    .option('--limit <n>', 'rows of the log to read at most, the newest first', '10000')
    .option('--judge <@config>', 'a config whose model says of answers in other words whether they mean the same')
    .option('--judge-model <name>', 'the model of these calls, if the config overrides none', 'judge')
    .option('--judge-limit <n>', 'pairs of answers to judge at most, the least similar first', '100')
  return withWorkspace(command, 'workspace whose calls they are').action((options: EvalOptions, self: Command) =>
    withGateway(self, async gateway => {
      const {world, print} = gateway
      const {gate} = options
      if (gate !== undefined && !GATES.some(name => name === gate))
        throw usageFault(`--gate ${gate} is no gate: expected strict, numbers or off.`)
      const chosen = options.threshold?.map(thresholdIn)
      const max_age_ms = readDuration(options.maxAge, '--max-age')
      const most_judged = readWhole(options.judgeLimit, '--judge-limit', 1, 10_000)
      const request = {
        since: readSince(options.since, world.now()),
        workspace_id: await workspaceFor(gateway, options.workspace),
      }
      const whole = await questionsOf(gateway, request, readWhole(options.limit, '--limit', 1, 1_000_000))
      const thresholds = chosen ?? [...new Set([...USUAL, whole.threshold])]
      const mode = GATES.find(name => name === gate) ?? whole.gate
      const progress = progressOn(world, print)
      const onStep = (done: number) => progress.step(done, whole.data.length, 'calls compared')
      const runs = await evaluated(whole.data, {thresholds, gate: mode, max_age_ms, onStep}).finally(progress.end)
      const rows = runs.map(({sums}) => sums)
      const {data, threshold, ...sums} = whole
      const own = runs.find(run => run.sums.threshold === threshold) ?? runs[0]!
      const worst = worstOf(own)
      const judgement = options.judge === undefined ? null : await judgementOf(gateway, own, options, most_judged)
      const compared = {compared: data.length, gate: mode, own_threshold: threshold}
      print.list({object: 'cache_evaluation', ...sums, ...compared, thresholds: rows, worst, judgement}, rows, COLUMNS)
      if (print.json || print.quiet) return
      for (const line of curve(rows, world.stdout.columns ?? WIDTH)) print.line(line)
      for (const each of worst)
        print.line(`${each.similarity.toFixed(4)} ${each.stored_log_id} answers ${each.log_id} with another text`)
      for (const sentence of summary({...whole, gate: mode})) print.note(sentence)
      if (judgement) print.note(sentenceOf(judgement, own.sums.threshold))
    }),
  )
}

/** The verdicts of a model on the hits of the gateway's own threshold, or of the lowest that is compared. */
async function judgementOf(
  gateway: Gateway,
  {hits}: EvaluatedRun,
  {judge, judgeModel: model}: Pick<EvalOptions, 'judge' | 'judgeModel'>,
  most: number,
): Promise<Judgement> {
  const {judged} = await import('../cache-judge.ts')
  const progress = progressOn(gateway.world, gateway.print)
  const onStep = (done: number, all: number) => progress.step(done, all, 'pairs of answers judged')
  return judged(gateway, hits, {config: judge!.replace(/^@/, ''), model, most, onStep}).finally(progress.end)
}

function sentenceOf({judged, same, different, unclear, not_judged, wrong_at_most}: Judgement, threshold: number) {
  const rest = not_judged ? `; ${not_judged} more were not judged and count as wrong` : ''
  return (
    `At ${threshold.toFixed(2)} the judge found ${same} of ${judged} answers in other words the same, ` +
    `${different} different and ${unclear} unclear${rest}. Wrong at most: ${percent(wrong_at_most)} of the hits.`
  )
}

function thresholdIn(text: string): number {
  const value = readNumber(text, '--threshold')
  if (value <= 1) return value
  throw usageFault(`--threshold ${text} is no cosine: expected 0 to 1.`)
}

type QuestionsRequest = Omit<BodyOf<'cache.questions'>, 'limit' | 'before'>
type Whole = Omit<CacheQuestioned, 'next' | 'object'>

async function questionsOf(gateway: Gateway, request: QuestionsRequest, limit: number): Promise<Whole> {
  const [from_ms, to_ms] = [Date.parse(request.since), gateway.world.now()]
  const progress = progressOn(gateway.world, gateway.print)
  const sums = {calls: 0, left_out: 0, without_body: 0, not_embedded: 0}
  const embeddings = {requests: 0, cost_usd: 0}
  const data: LoggedQuestion[] = []
  let last: CacheQuestioned | undefined
  try {
    const pages = logPages({limit, page_rows: PAGE}, of => gateway.call('cache.questions', {body: {...request, ...of}}))
    for await (const {page, rows} of pages) {
      last = page
      addCounts(sums, page)
      addCounts(embeddings, page.embeddings)
      data.push(...page.data)
      const by_time = page.next === null ? 1 : (to_ms - Date.parse(page.next)) / (to_ms - from_ms)
      const done = Math.max(by_time, rows / limit)
      progress.step(Math.round(done * 100), 100, `${sums.calls} calls read`)
    }
  } finally {
    progress.end()
  }
  const {embedder, threshold, gate} = last!
  return {embedder, threshold, gate, ...sums, embeddings, data}
}

/** Hits whose answers differ: the least similar ones first. */
function worstOf({hits}: EvaluatedRun): readonly EvaluatedHit[] {
  return hits
    .filter(({agreement}) => agreement === 'unknown')
    .toSorted((one, other) => one.similarity - other.similarity)
    .slice(0, MOST_WORST)
}

/** The share that each threshold would serve. */
function curve(thresholds: readonly EvaluatedThreshold[], room: number): string[] {
  return barLines(
    thresholds.map(({threshold, hit_share}) => ({
      label: threshold.toFixed(2),
      value: hit_share,
      text: percent(hit_share),
    })),
    room,
  )
}

function summary({calls, left_out, without_body, not_embedded, embedder, gate, embeddings, data}: Whole): string[] {
  if (embedder === null) return ['No embedder is set (SEMANTIC_CACHE_EMBEDDER=none): nothing was compared.']
  const rest = [
    left_out && `${left_out} have no text to compare, failed, or were answered by the cache`,
    without_body && `of ${without_body} the body is not kept`,
    not_embedded && `${not_embedded} have no vector`,
  ].filter(Boolean)
  const {requests, cost_usd} = embeddings
  const compared = `${data.length} of ${calls} calls were compared by ${embedder} and the gate ${gate}`
  return [
    `${[compared, ...rest].join('; ')}.`,
    ...(requests ? [`${requests} requests for embeddings cost ${dollars(cost_usd)}.`] : []),
    'An answer in other words counts as another answer, so the bound on wrong answers (at 95 %) is a high one.',
  ]
}
