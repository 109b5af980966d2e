import type {Command} from 'commander'
import {upperBound} from '../../src/base/upper-bound.ts'
import type {CachePaired, PairClass, WrongPair} from '../../src/schema/cache-evaluation.ts'
import type {BodyOf} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {addCounts, logPages} from '../log-pages.ts'
import {readSince, readWhole} from '../option-parsers.ts'
import {leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {progressOn} from '../progress.ts'
import type {TableColumn} from '../table.ts'
import {plain} from '../width.ts'
import {workspaceFor} from '../workspace.ts'

interface PairsOptions extends WorkspaceOption {
  readonly fromLogs: string
  readonly since: string
  readonly seed: string
}

const PAGE = 50
const MOST_SHOWN = 20

const COLUMNS: readonly TableColumn<PairClass>[] = [
  {title: 'change', value: row => row.kind},
  {title: 'expected', value: row => row.expected},
  {title: 'pairs', value: row => row.pairs, align: 'right'},
  {title: 'served', value: row => row.served, align: 'right'},
]

/** `gateway cache pairs`: the gate on pairs that are made of logged prompts. Pages of the operation, added up. */
export function pairs(): Command {
  const command = leaf('pairs', 'Try the gate on pairs made of logged prompts, which differ in one thing', [
    'gateway cache pairs --from-logs 200 --workspace research',
    'gateway cache pairs --from-logs 50 --seed 7 --since 24h --workspace research --json',
  ])
    .option('--from-logs <n>', 'rows of the log whose prompts are taken, the newest first', '200')
    .option('--since <time>', 'how far back: 30m, 24h, 7d, 2w, or a date such as 2026-01-31', '7d')
    .option('--seed <n>', 'another one makes other pairs of the same prompts', '1')
  return withWorkspace(command, 'workspace whose calls they are').action((options: PairsOptions, self: Command) =>
    withGateway(self, async gateway => {
      const {world, print} = gateway
      const request = {
        since: readSince(options.since, world.now()),
        seed: readWhole(options.seed, '--seed', 0, 0xffff_ffff),
        workspace_id: await workspaceFor(gateway, options.workspace),
      }
      const whole = await pairsOf(gateway, request, readWhole(options.fromLogs, '--from-logs', 1, 100_000))
      print.list(whole, whole.classes, COLUMNS)
      if (print.json || print.quiet) return
      for (const line of whole.data.slice(0, MOST_SHOWN).flatMap(wrongLines)) print.line(line)
      for (const sentence of summary(whole)) print.note(sentence)
    }),
  )
}

type PairsRequest = Omit<BodyOf<'cache.pairs'>, 'limit' | 'before'>

interface PairCount {
  readonly pairs: number
  readonly served: number
}

interface WholePairs extends Omit<CachePaired, 'next'> {
  readonly must_miss: PairCount & {readonly served_at_most: number}
  readonly must_hit: PairCount
}

async function pairsOf(gateway: Gateway, request: PairsRequest, limit: number): Promise<WholePairs> {
  const progress = progressOn(gateway.world, gateway.print)
  const classes = new Map<string, PairClass>()
  const data: WrongPair[] = []
  const sums = {calls: 0, prompts: 0, without_body: 0}
  let gate: CachePaired['gate'] = 'strict'
  try {
    const pages = logPages({limit, page_rows: PAGE}, of => gateway.call('cache.pairs', {body: {...request, ...of}}))
    for await (const {page, rows} of pages) {
      gate = page.gate
      addCounts(sums, page)
      for (const each of page.classes) add(classes, each)
      data.push(...page.data)
      progress.step(rows, limit, `${sums.prompts} prompts`)
    }
  } finally {
    progress.end()
  }
  const all = [...classes.values()]
  const must_miss = countOf(all, 'miss')
  return {
    object: 'cache_pairs',
    gate,
    ...sums,
    classes: all,
    data,
    must_miss: {...must_miss, served_at_most: upperBound(must_miss.served, must_miss.pairs)},
    must_hit: countOf(all, 'hit'),
  }
}

function add(classes: Map<string, PairClass>, more: PairClass) {
  const key = `${more.expected} ${more.kind}`
  const {pairs, served} = classes.get(key) ?? {pairs: 0, served: 0}
  classes.set(key, {...more, pairs: pairs + more.pairs, served: served + more.served})
}

function countOf(classes: readonly PairClass[], expected: PairClass['expected']): PairCount {
  const some = classes.filter(each => each.expected === expected)
  return {
    pairs: some.reduce((sum, each) => sum + each.pairs, 0),
    served: some.reduce((sum, each) => sum + each.served, 0),
  }
}

function wrongLines({kind, expected, log_id, a, b}: WrongPair): string[] {
  const verdict = expected === 'miss' ? 'served' : 'not served'
  return [`${verdict}, ${kind}, ${log_id}`, `  ${plain(JSON.stringify(a))}`, `  ${plain(JSON.stringify(b))}`]
}

function summary({must_miss, must_hit, prompts, calls, without_body, gate}: WholePairs): string[] {
  const {pairs, served, served_at_most} = must_miss
  const bound = `${served === 0 ? 'fewer than' : 'at most'} ${(100 * served_at_most).toFixed(2)} %`
  const lost = without_body ? `; of ${without_body} the body is not kept` : ''
  return [
    `${served} of ${pairs} pairs with other answers would be served by the gate ${gate}: ` +
      `${bound} at 95 % confidence.`,
    `${must_hit.served} of ${must_hit.pairs} pairs with the same answer would be served.`,
    `They are made of ${prompts} prompts of ${calls} calls, at a cosine of 1${lost}.`,
  ]
}
