import type {Command} from 'commander'
import type {Replay, ReplayMove} from '../../src/schema/replays.ts'
import type {BodyOf} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {addCounts, logPages} from '../log-pages.ts'
import {readSince, readWhole} from '../option-parsers.ts'
import {leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {configFrom} from '../structured.ts'
import type {TableColumn} from '../table.ts'
import {workspaceFor} from '../workspace.ts'

interface ReplayOptions extends WorkspaceOption {
  readonly since: string
  readonly config: string
  readonly limit: string
}

const PAGE = 500
const MAX_EXAMPLES = 3

const COLUMNS: readonly TableColumn<ReplayMove>[] = [
  {title: 'calls', value: row => row.calls, align: 'right'},
  {title: 'from', value: row => row.from},
  {title: 'to', value: row => row.to},
  {title: 'by lot', value: row => row.by_lot, align: 'right'},
  {title: 'for example', value: row => row.examples[0], whole: true},
]

/** `gateway replay`: what a config would have done with calls that were made. Pages of the operation, added up. */
export function replay(): Command {
  const command = leaf('replay', 'Say which calls of the log a config would have sent elsewhere; nothing is sent', [
    'gateway replay --since 7d --config main.json',
    'gateway replay --since 24h --config pc-main-1a2b3c --limit 50000 --json',
  ])
    .requiredOption('--since <time>', 'how far back: 30m, 24h, 7d, 2w, or a date such as 2026-01-31')
    .requiredOption('--config <file or slug>', 'a file (a name with a dot or a slash), or the slug of a saved config')
    .option('--limit <n>', 'rows of the log to read at most, the newest first', '10000')
  return withWorkspace(command, 'workspace whose calls they are').action((options: ReplayOptions, self: Command) =>
    withGateway(self, async gateway => {
      const {world, print} = gateway
      const request = {
        config: await configFrom(world, options.config, '--config'),
        since: readSince(options.since, world.now()),
        workspace_id: await workspaceFor(gateway, options.workspace),
      }
      const whole = await replayed(gateway, request, readWhole(options.limit, '--limit', 1, 10_000_000))
      print.list(whole, whole.moves, COLUMNS)
      print.note(summary(whole))
    }),
  )
}

type ReplayRequest = Omit<BodyOf<'configs.replay'>, 'limit' | 'before'>

async function replayed(
  gateway: Gateway,
  request: ReplayRequest,
  limit: number,
): Promise<Omit<Replay, 'object' | 'next'>> {
  const sums = {calls: 0, changed: 0, left_out: 0, without_body: 0}
  const moves = new Map<string, ReplayMove>()
  const pages = logPages({limit, page_rows: PAGE}, of => gateway.call('configs.replay', {body: {...request, ...of}}))
  for await (const {page} of pages) {
    addCounts(sums, page)
    for (const move of page.moves) add(moves, move)
  }
  return {
    ...sums,
    moves: [...moves.values()].sort((one, other) => other.calls - one.calls || (nameOf(one) < nameOf(other) ? -1 : 1)),
  }
}

function add(moves: Map<string, ReplayMove>, {from, to, calls, by_lot, examples}: ReplayMove) {
  const key = JSON.stringify([from, to])
  const known = moves.get(key) ?? {from, to, calls: 0, by_lot: 0, examples: []}
  const some = [...known.examples, ...examples].slice(0, MAX_EXAMPLES)
  moves.set(key, {...known, calls: known.calls + calls, by_lot: known.by_lot + by_lot, examples: some})
}

function nameOf({from, to}: ReplayMove): string {
  return `${from} ${to}`
}

function summary({calls, changed, left_out, without_body}: Omit<Replay, 'object' | 'next' | 'moves'>): string {
  const rest = [
    left_out && `${left_out} were refused before a config was asked`,
    without_body && `of ${without_body} a condition asks for the body, which is not kept`,
  ].filter(Boolean)
  return `${changed} of ${calls} calls would go elsewhere${rest.length ? `; ${rest.join('; ')}` : ''}.`
}
