import type {Command} from 'commander'
import {type Bar, barLines} from '../bars.ts'
import type {OperationId, ReplyOf} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {CALL_FILTERS, type FilterOption, filtersOf, withFilter} from '../finding/filters.ts'
import {readSince, readUntil} from '../option-parsers.ts'
import {group, leaf, type PageOptions, pageOf, type WorkspaceOption, withPage, withWorkspace} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {reportedWorkspace} from '../workspace.ts'
import {minute} from './rows.ts'

interface Point {
  readonly timestamp?: string
  readonly [number: string]: unknown
}

interface Graph {
  readonly summary: Readonly<Record<string, number>>
  readonly data_points: readonly Point[]
}

type GraphName = {
  [Id in OperationId]: Id extends `analytics.${infer Name}` ? (ReplyOf<Id> extends Graph ? Name : never) : never
}[OperationId]

/** How a graph is called here, what it is of, and the number of a point that its bars are of. */
interface Drawn {
  readonly word: string
  readonly operation: GraphName
  readonly about: string
  readonly number: string
  readonly unit: 'count' | 'dollars' | 'ms' | 'percent' | 'score'
}

// biome-ignore format: a table is read by its lines
const GRAPHS: readonly Drawn[] = [
  {word: 'requests', operation: 'requests', about: 'Calls', number: 'total', unit: 'count'},
  {word: 'cost', operation: 'cost', about: 'Cost', number: 'total', unit: 'dollars'},
  {word: 'tokens', operation: 'tokens', about: 'Tokens', number: 'total', unit: 'count'},
  {word: 'latency', operation: 'latency', about: 'Latency: the mean, and what half, nine tenths and 99 of 100 calls stay below', number: 'avg', unit: 'ms'},
  {word: 'users', operation: 'users', about: 'Users that calls name', number: 'total', unit: 'count'},
  {word: 'user-requests', operation: 'users_requests', about: 'Calls a user', number: 'avg', unit: 'count'},
  {word: 'errors', operation: 'errors', about: 'Calls that failed', number: 'total', unit: 'count'},
  {word: 'error-rate', operation: 'errors_rate', about: 'How many per cent of calls failed', number: 'rate', unit: 'percent'},
  {word: 'error-stacks', operation: 'errors_stacks', about: 'Calls that failed, by status', number: 'stats', unit: 'count'},
  {word: 'error-codes', operation: 'errors_status_codes', about: 'Statuses of calls that failed', number: 'count', unit: 'count'},
  {word: 'rescued', operation: 'requests_rescued', about: 'Calls that went well after a retry or a fallback', number: 'fallback', unit: 'count'},
  {word: 'cache-hits', operation: 'cache_hit_rate', about: 'How many per cent of calls the cache answered', number: 'rate', unit: 'percent'},
  {word: 'cache-latency', operation: 'cache_latency', about: 'Latency of what the cache answered', number: 'avg', unit: 'ms'},
  {word: 'feedback', operation: 'feedbacks', about: 'Feedback given', number: 'total', unit: 'count'},
  {word: 'feedback-scores', operation: 'feedbacks_scores', about: 'Feedback by its value', number: 'total', unit: 'count'},
  {word: 'feedback-weighted', operation: 'feedbacks_weighted', about: 'Mean feedback, weighted', number: 'avg', unit: 'score'},
  {word: 'feedback-models', operation: 'feedbacks_ai_models', about: 'Feedback by model', number: 'avg_weighted_feedback', unit: 'score'},
]

const ROOM = 80

/** `gateway analytics`: reports of calls. */
export function analytics(): Command {
  return group('analytics', 'Analytics: what was called, what it cost, how it went', [
    ...GRAPHS.map(graph),
    cacheSummary(),
    groupsBy('analytics', 'Calls by what they have in common, the most first'),
    users(),
    models(),
    metadata(),
  ])
}

interface TimeOptions extends WorkspaceOption, FilterOption {
  readonly since: string
  readonly until?: string
}

/** Options of time, workspace and filters. */
export function withTime(command: Command): Command {
  const timed = withWorkspace(command, 'only calls of this workspace')
    .option('--since <when>', 'for example 24h, 7d, 4w or 2026-01-31', '7d')
    .option('--until <when>', 'the same, where a date is counted whole; now without it')
  return withFilter(timed, CALL_FILTERS, 'model=gpt-5 status=429 key=blue')
}

/** The query of a report. */
export async function timeOf(gateway: Gateway, {workspace, since, until, ...rest}: TimeOptions) {
  const now_ms = gateway.world.now()
  const workspace_slug = await reportedWorkspace(gateway, workspace)
  return {
    time_of_generation_min: readSince(since, now_ms),
    time_of_generation_max: until === undefined ? new Date(now_ms).toISOString() : readUntil(until, now_ms),
    ...(workspace_slug !== undefined && {workspace_slug}),
    ...(await filtersOf(gateway, 'analytics.requests', CALL_FILTERS, rest)),
  }
}

function graph({word, operation, about, number, unit}: Drawn): Command {
  const command = leaf(word, about, [
    `gateway analytics ${word} --since 7d`,
    `gateway analytics ${word} --since 24h --filter model=gpt-5 --json`,
  ])
  return withTime(command).action((options: TimeOptions, self: Command) =>
    withGateway(self, async gateway => {
      const reply: Graph = await gateway.call(`analytics.${operation}`, {query: await timeOf(gateway, options)})
      const {print, world} = gateway
      if (print.json) return print.json_reply(reply)
      const bars = reply.data_points.map((point): Bar => {
        const value = numberOf(point, number)
        return {label: labelOf(point), value, text: inWords(value, unit)}
      })
      for (const text of barLines(bars, world.stdout.columns ?? ROOM)) print.line(text)
      const summary = Object.entries(reply.summary).map(
        ([name, value]) => `${name} ${inWords(value, unitOf(name, unit))}`,
      )
      if (summary.length) print.note(summary.join(', '))
    }),
  )
}

/** A number of a point; of a list, what its counts come to; of rescues, retries too. */
function numberOf(point: Point, number: string): number {
  const count = (value: unknown): number =>
    Array.isArray(value)
      ? value.reduce((sum: number, each: {count?: number}) => sum + (each.count ?? 0), 0)
      : Number(value ?? 0)
  return count(point[number]) + (number === 'fallback' ? count(point.retry) : 0)
}

function labelOf(point: Point): string {
  if (point.timestamp)
    return point.timestamp.endsWith('T00:00:00.000Z')
      ? point.timestamp.slice(0, 10)
      : point.timestamp.slice(0, 16).replace('T', ' ')
  return String(point.status_code ?? point.score ?? point.ai_model ?? '')
}

function unitOf(name: string, unit: Drawn['unit']): Drawn['unit'] {
  return name === 'rate' ? 'percent' : unit === 'percent' ? 'count' : unit
}

function inWords(value: number, unit: Drawn['unit']): string {
  if (unit === 'dollars') return dollars(value)
  if (unit === 'ms' && value === 0) return '-' // there was no call
  const plain = String(Math.round(value * 100) / 100)
  return unit === 'ms' ? `${plain} ms` : unit === 'percent' ? `${plain} %` : plain
}

/** Cents as dollars, as fine as they are, two digits at least. */
function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1')}`
}

function cacheSummary(): Command {
  const command = leaf('cache', 'What the cache did, summed up', ['gateway analytics cache --since 30d'])
  return withTime(command).action((options: TimeOptions, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await gateway.call('analytics.summary_cache', {query: await timeOf(gateway, options)})
      gateway.print.view(reply, reply.summary)
    }),
  )
}

type Row = Readonly<Record<string, string | number | null | undefined>>

interface GroupOptions extends TimeOptions, PageOptions {
  readonly columns?: string
}

const USUAL_COLUMNS = 'cost,total_tokens,avg_latency,error_count'

/** The same groups are beside analytics and beside the log, for users who may read only one of them. */
export function groupsBy(noun: 'analytics' | 'logs', about: string): Command {
  const command = leaf('by', about, [
    `gateway ${noun} by model --since 30d`,
    `gateway ${noun} by api_key --columns cost,p95_latency,success_rate`,
  ])
    .argument(
      '<group>',
      'ai_service, model, status_code, api_key, config, workspace, provider, prompt, mcp_server or mcp_tool',
    )
    .option(
      '--columns <names>',
      'by commas: cost, total_tokens, avg_latency, p95_latency, success_rate, last_seen ...',
      USUAL_COLUMNS,
    )
  return withPage(withTime(command)).action((groupBy: string, options: GroupOptions, self: Command) =>
    withGateway(self, async gateway => {
      const query = {...(await timeOf(gateway, options)), ...pageOf(options), columns: options.columns}
      const reply = await gateway.call(`${noun}.groups`, {params: {groupBy}, query})
      gateway.print.list(
        reply,
        reply.data,
        columnsOf(reply.data, [groupBy, 'name', 'requests', ...(options.columns ?? '').split(',')]),
        reply.total,
      )
    }),
  )
}

function users(): Command {
  return grouped('by-user', 'analytics.groups_users', 'Calls and cost by user', ['user', 'requests', 'cost'])
}

function models(): Command {
  return grouped('by-model', 'analytics.groups_ai_models', 'Calls by model', ['ai_model', 'requests'])
}

function grouped(
  word: string,
  operation: 'analytics.groups_users' | 'analytics.groups_ai_models',
  about: string,
  names: readonly string[],
): Command {
  const command = leaf(word, about, [`gateway analytics ${word} --since 30d`])
  return withPage(withTime(command)).action((options: GroupOptions, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await gateway.call(operation, {
        query: {...(await timeOf(gateway, options)), ...pageOf(options)},
      })
      gateway.print.list(reply, reply.data, columnsOf(reply.data, names), reply.total)
    }),
  )
}

function metadata(): Command {
  const command = leaf('by-metadata', 'Calls by the value of a key of their metadata', [
    'gateway analytics by-metadata team --since 30d',
  ])
  return withPage(withTime(command.argument('<key>', 'for example team'))).action(
    (metadataKey: string, options: GroupOptions, self: Command) =>
      withGateway(self, async gateway => {
        const query = {...(await timeOf(gateway, options)), ...pageOf(options)}
        const reply = await gateway.call('analytics.groups_metadata', {params: {metadataKey}, query})
        const names = ['metadata_value', 'requests', 'cost', 'avg_tokens', 'avg_weighted_feedback', 'last_seen']
        gateway.print.list(reply, reply.data, columnsOf(reply.data, names), reply.total)
      }),
  )
}

function columnsOf(rows: readonly Row[], names: readonly string[]): TableColumn<Row>[] {
  const there = names.filter((name, at) => at === 0 || rows.some(row => name in row))
  return there.map((name, at) => ({
    title: name === 'cost' ? 'cost $' : name.replaceAll('_', ' '),
    value: row => cellOf(name, row[name]),
    ...(at === 0 ? {whole: true as const} : name !== 'name' && {align: 'right' as const}),
    // the group, its calls and the first amount stay; later ones are the first to go
    ...(at > 3 && {optional: at}),
  }))
}

/** Costs are cents in replies, and times have more digits than a person reads. */
function cellOf(name: string, value: Row[string]): Row[string] {
  if (name === 'cost' && typeof value === 'number') return dollars(value).slice(1)
  return /_seen$/.test(name) && typeof value === 'string' ? minute(value) : value
}
