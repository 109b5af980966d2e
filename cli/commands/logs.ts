import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {CALL_FILTERS, type FilterOption, filtersOf, withFilter} from '../finding/filters.ts'
import {readWhole} from '../option-parsers.ts'
import {group, leaf, type PageOptions, pageOf, type WorkspaceOption, withPage, withWorkspace} from '../options.ts'
import {type TableColumn, tableLines} from '../table.ts'
import {plain} from '../width.ts'
import {reportedWorkspace} from '../workspace.ts'
import {groupsBy} from './analytics.ts'
import {logExports} from './log-exports.ts'
import {insertCommand, SHORT_LOG_ID, savedFilters, traceCommands} from './traces.ts'

/** The columns of a call in a list; a call that never reached a provider lacks the rest. */
export interface ListedCall {
  readonly id: string
  readonly created_at?: string | null
  /** The slug of the provider; a call may name a kind of provider in its place. */
  readonly virtual_key?: string | null
  readonly ai_org?: string | null
  readonly ai_model?: string | null
  readonly response_status_code?: number | null
  readonly total_units?: number | null
  /** US cents. */
  readonly cost?: number | null
  readonly unpriced?: boolean
  /** Milliseconds. */
  readonly response_time?: number | null
  readonly api_key_id?: string | null
  readonly api_key_name?: string | null
  /** Why it failed or was refused. */
  readonly error?: string | null
}

export const COLUMNS: readonly TableColumn<ListedCall>[] = [
  {
    title: 'time',
    value: row => row.created_at?.slice(0, 19).replace('T', ' '),
    short: row => row.created_at?.slice(5, 16).replace('T', ' '),
    whole: true,
  },
  {title: 'id', value: row => row.id, short: row => row.id.slice(0, SHORT_LOG_ID), whole: true, essential: true},
  {title: 'status', value: row => row.response_status_code, align: 'right'},
  {title: 'provider', value: row => row.virtual_key ?? row.ai_org, optional: 3},
  {title: 'model', value: row => row.ai_model},
  {title: 'tokens', value: row => row.total_units, align: 'right', optional: 1},
  {title: 'cost $', value: costOf, align: 'right'},
  {title: 'ms', value: row => row.response_time, align: 'right', optional: 2},
  {
    title: 'key',
    value: row => row.api_key_name ?? row.api_key_id,
    // keys show takes the beginning of an id
    short: row => row.api_key_name ?? row.api_key_id?.slice(0, SHORT_KEY_ID),
  },
  {title: 'reason', value: row => row.error, below: true},
]

const SHORT_KEY_ID = 8
const TAIL_EVERY_MS = 1000
const TAIL_PAGE = 100
const MAX_PAGES = 50
const REMEMBERED = 2 * MAX_PAGES * TAIL_PAGE

/** `gateway logs`: the calls that were made. */
export function logs(): Command {
  return group('logs', 'Logs of the calls that were made', [
    list(),
    show(),
    tail(),
    groupsBy('logs', 'Calls by what they have in common, for who reads the log'),
    ...traceCommands(),
    logExports(),
    savedFilters(),
    insertCommand(),
  ])
}

interface FilterOptions extends WorkspaceOption, FilterOption {}

function withFilters(command: Command): Command {
  return withFilter(
    withWorkspace(command, 'only calls of this workspace'),
    CALL_FILTERS,
    'model=gpt-5 status=429 key=blue',
  )
}

function list(): Command {
  const command = leaf('list', 'List calls, the newest first', [
    'gateway logs list',
    'gateway logs list --workspace research --filter status=429 key=blue --limit 20',
  ])
  return withPage(withFilters(command)).action((options: PageOptions & FilterOptions, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await page(gateway, {...(await queryOf(gateway, options)), ...pageOf(options)})
      gateway.print.list(reply, reply.data, COLUMNS, reply.total)
    }),
  )
}

function show(): Command {
  return leaf('show', 'Show a call with its request, answer and cost', [
    'gateway logs show 0197f0a2-6d1e-7c3b-9f0e-2b1f6a1c9d11',
  ])
    .argument('<id>', 'id of the log, or its first 18 characters')
    .action((logId: string, _: object, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const reply = await call('logs.get', {params: {logId}})
        const {metrics, request, response} = reply
        print.view(reply, Object.fromEntries(Object.entries(shownOf(metrics)).filter(([, value]) => value !== null)))
        if (!print.json)
          for (const text of [...block('Request', request), ...block('Answer', response)]) print.line(text)
      }),
    )
}

function tail(): Command {
  const command = leaf('tail', 'Show calls as they end, until Ctrl-C', [
    'gateway logs tail',
    'gateway logs tail --lines 20 --json',
  ])
  return withFilters(command)
    .option('--lines <n>', 'calls to begin with', '10')
    .action((options: FilterOptions & {lines: string}, self: Command) =>
      withGateway(self, gateway => follow(gateway, options)),
    )
}

/** Polls until a signal comes or the reader of stdout goes. With --json each call is one line. */
export async function follow(
  gateway: Gateway,
  options: FilterOptions & {lines: string},
  isMeant: (row: ListedCall) => boolean = () => true,
): Promise<void> {
  const {world, print} = gateway
  const lines = readWhole(options.lines, '--lines', 0, TAIL_PAGE)
  const query = await queryOf(gateway, options)
  const ended = new AbortController()
  const off = world.onSignal(() => ended.abort())
  const seen = new Set<string>()
  try {
    for (let first = true; !ended.signal.aborted && !world.stdout.closed; first = false) {
      const fresh = (await unseen(gateway, query, seen, first ? 1 : MAX_PAGES)).reverse()
      const meant = fresh.filter(isMeant)
      const shown = first ? meant.slice(Math.max(0, meant.length - lines)) : meant
      for (const {id} of fresh) remember(seen, id)
      for (const text of linesOf(shown, gateway, first)) print.line(text)
      await world.sleep(TAIL_EVERY_MS, ended.signal)
    }
  } finally {
    off()
  }
}

/** At least these widths, so that later lines are aligned with earlier ones. */
const TAIL_WIDTHS: Readonly<Record<string, number>> = {
  id: SHORT_LOG_ID,
  provider: 12,
  model: 24,
  tokens: 7,
  'cost $': 11,
  ms: 6,
}
const TAIL_COLUMNS: readonly TableColumn<ListedCall>[] = COLUMNS.map(column => ({
  ...column,
  ...(column.title === 'time' && {short: ({created_at}: ListedCall) => created_at?.slice(11, 19)}),
  least: TAIL_WIDTHS[column.title] ?? 0,
}))

/** The newest calls that were not seen yet, newest first; as many pages as it takes to meet one that was. */
async function unseen(
  gateway: Gateway,
  query: object,
  seen: ReadonlySet<string>,
  pages: number,
): Promise<ListedCall[]> {
  const rows = new Map<string, ListedCall>()
  for (let current_page = 0; current_page < pages; current_page++) {
    const {data} = await page(gateway, {...query, page_size: TAIL_PAGE, current_page})
    for (const row of data) if (!seen.has(row.id)) rows.set(row.id, row)
    if (data.length < TAIL_PAGE || data.some(({id}) => seen.has(id))) break
  }
  return [...rows.values()]
}

function linesOf(rows: readonly ListedCall[], {world, print}: Gateway, first: boolean): string[] {
  if (print.json) return rows.map(row => JSON.stringify(row))
  const [titles, ...lines] = tableLines(rows, TAIL_COLUMNS, {columns: world.stdout.columns, style: (_, text) => text})
  return first ? [titles!, ...lines] : lines
}

function remember(seen: Set<string>, id: string) {
  seen.add(id)
  if (seen.size > REMEMBERED) seen.delete(seen.values().next().value!)
}

async function queryOf(gateway: Gateway, options: FilterOptions) {
  const workspace_id = await reportedWorkspace(gateway, options.workspace)
  const filters = await filtersOf(gateway, 'logs.list', CALL_FILTERS, options)
  return {...filters, ...(workspace_id !== undefined && {workspace_id})}
}

function page({call}: Gateway, query: Record<string, unknown>) {
  return call('logs.list', {query})
}

function block(title: string, value: unknown): string[] {
  if (value === undefined || value === null) return []
  return ['', `${title}:`, ...JSON.stringify(value, null, 2).split('\n').map(plain)]
}

/**
 * The numbers of a call as a person reads them: its cost in US dollars, as the list has it, its key by name, and why it
 * was refused first.
 */
function shownOf(metrics: ListedCall = {id: ''}): object {
  const {
    api_key_name,
    api_key_id,
    error,
    cost: _,
    cost_currency: __,
    ...rest
  } = metrics as ListedCall & {cost_currency?: string}
  const cost = costOf(metrics)
  return {
    ...(error != null && {reason: error}),
    ...(api_key_id != null && {key: api_key_name == null ? api_key_id : `${api_key_name} (${api_key_id})`}),
    ...(cost !== null && {cost: metrics.unpriced ? cost : `$${cost}`}),
    ...rest,
  }
}

function costOf({cost, unpriced}: ListedCall): string | null {
  if (unpriced) return cost ? `≥ ${dollars(cost)}` : 'unpriced'
  return cost === null || cost === undefined ? null : dollars(cost)
}

function dollars(cents: number): string {
  return (cents / 100).toFixed(9).replace(/(\.\d\d\d*?)0+$/, '$1')
}
