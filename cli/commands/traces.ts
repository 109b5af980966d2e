import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {CALL_FILTERS, type FilterOption, filtersOf, withFilter} from '../finding/filters.ts'
import {readPairs} from '../option-parsers.ts'
import {
  group,
  jsonFrom,
  leaf,
  type PageOptions,
  pageOf,
  type WorkspaceOption,
  withPage,
  withWorkspace,
} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {reportedWorkspace, workspaceFor} from '../workspace.ts'
import {minute} from './rows.ts'

/** The time and the number of an id: `logs show` takes them for the whole. */
export const SHORT_LOG_ID = 18

interface TraceRow {
  readonly trace_id: string
  readonly requests: number
  readonly error_count: number
  readonly total_tokens: number
  readonly last_at: string
}

const TRACES: readonly TableColumn<TraceRow>[] = [
  {title: 'trace', value: row => row.trace_id, whole: true},
  {title: 'calls', value: row => row.requests, align: 'right'},
  {title: 'failed', value: row => row.error_count, align: 'right'},
  {title: 'tokens', value: row => row.total_tokens, align: 'right', optional: 1},
  {title: 'last', value: row => minute(row.last_at)},
]

interface SpanNode {
  readonly span_id: string
  readonly span_name: string | null
  readonly logs: readonly {id: string; ai_model?: string | null; response_status_code: number; response_time: number}[]
  readonly children: readonly SpanNode[]
}

interface SpanRow {
  readonly id: string
  readonly trace_id: string
  readonly span_id: string
  readonly span_name: string | null
  readonly response_time: number
}

const SPANS: readonly TableColumn<SpanRow>[] = [
  {title: 'log', value: row => row.id, short: row => row.id.slice(0, SHORT_LOG_ID), whole: true},
  {title: 'trace', value: row => row.trace_id, whole: true},
  {title: 'span', value: row => row.span_id, whole: true, optional: 2},
  {title: 'name', value: row => row.span_name, optional: 1},
  {title: 'ms', value: row => row.response_time, align: 'right'},
]

interface ListOptions extends PageOptions, WorkspaceOption, FilterOption {}

function withFilters(command: Command): Command {
  const paged = withPage(withWorkspace(command, 'only calls of this workspace'))
  return withFilter(paged, CALL_FILTERS, 'model=gpt-5 trace=checkout-4711')
}

async function queryOf(gateway: Gateway, options: ListOptions) {
  const workspace_id = await reportedWorkspace(gateway, options.workspace)
  return {
    ...(await filtersOf(gateway, 'logs.list', CALL_FILTERS, options)),
    ...(workspace_id !== undefined && {workspace_id}),
    ...pageOf(options),
  }
}

/** `gateway logs traces`, `logs trace`, `logs spans`. */
export function traceCommands(): Command[] {
  return [
    withFilters(leaf('traces', 'List traces, the newest first', ['gateway logs traces --limit 20'])).action(
      (options: ListOptions, self: Command) =>
        withGateway(self, async gateway => {
          const reply = await gateway.call('traces.list', {query: await queryOf(gateway, options)})
          gateway.print.list(reply, reply.data, TRACES, reply.total)
        }),
    ),
    leaf('trace', 'Show the spans of a trace as a tree', ['gateway logs trace checkout-4711'])
      .argument('<id>', 'id of the trace')
      .action((traceId: string, _: object, self: Command) =>
        withGateway(self, async ({call, print}) => {
          const reply = await call('traces.get', {params: {traceId}})
          print.view(reply, reply, ['object', 'spans'])
          if (!print.json) for (const text of treeLines(reply.spans, '')) print.line(text)
        }),
      ),
    withFilters(
      leaf('spans', 'List calls as spans, with what they add up to', [
        'gateway logs spans --filter trace=checkout-4711',
      ]),
    ).action((options: ListOptions, self: Command) =>
      withGateway(self, async gateway => {
        const query = await queryOf(gateway, options)
        const reply = await gateway.call('spans.list', {query})
        gateway.print.list(reply, reply.data, SPANS, reply.total)
        gateway.print.note(JSON.stringify(reply.summary))
      }),
    ),
  ]
}

function treeLines(nodes: readonly SpanNode[], indent: string): string[] {
  return nodes.flatMap(({span_id, span_name, logs, children}) => [
    `${indent}${span_name ?? span_id}`,
    ...logs.map(
      log => `${indent}  ${log.response_status_code}  ${log.response_time} ms  ${log.ai_model ?? '-'}  ${log.id}`,
    ),
    ...treeLines(children, `${indent}  `),
  ])
}

/** `gateway logs insert`: calls that were made elsewhere. */
export function insertCommand(): Command {
  return leaf('insert', 'Put calls that were made elsewhere into the log (of a gateway at --url)', [
    'gateway logs insert calls.json --url https://gateway.example.com',
  ])
    .argument('<file>', 'JSON of one call or a list of them; - is stdin')
    .action((file: string, _: object, self: Command) =>
      withGateway(self, async ({call, print, world}) => {
        print.done(await call('logs.insert', {body: await jsonFrom(world, file, 'file')}), 'The calls are in the log.')
      }),
    )
}

interface FilterRow {
  readonly id: string
  readonly name: string
  readonly filters: Readonly<Record<string, string>>
  readonly workspace_slug: string
}

const FILTERS: readonly TableColumn<FilterRow>[] = [
  {title: 'id', value: row => row.id, whole: true},
  {title: 'name', value: row => row.name},
  {title: 'workspace', value: row => row.workspace_slug},
  {
    title: 'filters',
    value: ({filters}) =>
      Object.entries(filters)
        .map(pair => pair.join('='))
        .join(' '),
  },
]

/** `gateway logs filters`: filters under a name. */
export function savedFilters(): Command {
  return group('filters', 'Filters of the log under a name', [
    saveFilter(),
    listFilters(),
    showFilter(),
    changeFilter(),
    deleteFilter(),
  ])
}

function saveFilter(): Command {
  const command = leaf('save', 'Save filters under a name', [
    'gateway logs filters save "Rate limits" --filter status_code=429',
  ])
    .argument('<name>', 'name, one of its workspace')
    .requiredOption('--filter <name=value...>', 'as gateway logs list takes them')
  return withWorkspace(command, 'the workspace they are for').action(
    (name: string, options: WorkspaceOption & {filter: string[]}, self: Command) =>
      withGateway(self, async gateway => {
        const workspace_id = await workspaceFor(gateway, options.workspace)
        const body = {
          name,
          filters: readPairs(options.filter, '--filter'),
          ...(workspace_id !== undefined && {workspace_id}),
        }
        const reply = await gateway.call('saved_filters.create', {body})
        gateway.print.made(reply, reply.id, `The filters are saved as ${reply.id}.`)
      }),
  )
}

function listFilters(): Command {
  const command = withWorkspace(
    leaf('list', 'List saved filters, the newest first', ['gateway logs filters list']),
    'only those of this workspace',
  )
  return withPage(command).action((options: PageOptions & WorkspaceOption, self: Command) =>
    withGateway(self, async gateway => {
      const query = {...pageOf(options), workspace_id: await reportedWorkspace(gateway, options.workspace)}
      const reply = await gateway.call('saved_filters.list', {query})
      gateway.print.list(reply, reply.data, FILTERS, reply.total)
    }),
  )
}

function showFilter(): Command {
  return leaf('show', 'Show saved filters', ['gateway logs filters show 0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11'])
    .argument('<id>', 'id of the filters')
    .action((id: string, _: object, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const reply = await call('saved_filters.get', {params: {id}})
        print.view(reply, reply)
      }),
    )
}

function changeFilter(): Command {
  return leaf('change', 'Change saved filters', [
    'gateway logs filters change 0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11 --name Throttled',
  ])
    .argument('<id>', 'id of the filters')
    .option('--name <name>', 'another name')
    .option('--filter <name=value...>', 'other filters, in place of all')
    .action((id: string, {name, filter}: {name?: string; filter?: string[]}, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const body = {...(name !== undefined && {name}), ...(filter && {filters: readPairs(filter, '--filter')})}
        print.done(await call('saved_filters.update', {params: {id}, body}), 'The filters were changed.')
      }),
    )
}

function deleteFilter(): Command {
  return leaf('delete', 'Delete saved filters', ['gateway logs filters delete 0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11'])
    .argument('<id>', 'id of the filters')
    .action((id: string, _: object, self: Command) =>
      withGateway(self, async ({call, print}) =>
        print.done(await call('saved_filters.delete', {params: {id}}), 'The filters were deleted.'),
      ),
    )
}
