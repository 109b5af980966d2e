import type {z} from 'zod'
import type {FeedbackView} from '../schema/feedback.ts'
import {LogGetQuery, LogQuery} from '../schema/logs.ts'
import {list, listOf} from '../schema/paging.ts'
import {SpanList, type SpanNode, TracePath, TraceRow, TraceView} from '../schema/traces.ts'
import {factsOf} from '../store/analytics/facts.ts'
import {type TraceRow as Row, tracesOf} from '../store/analytics/traces.ts'
import {feedbackOn} from '../store/feedback.ts'
import {type LogRow, listLogs} from '../store/logs.ts'
import type {FeedbackTable} from '../store/tables/traffic.ts'
import {cents, mean, sumOf, tokensOf} from './analytics/sums.ts'
import {filterOf, logScope, metricsOf} from './logs.ts'
import {type OperationCall, operation} from './operation.ts'
import {found} from './tenancy.ts'

const tag = 'Logs'
const MAX_SPANS = 1000

/** Calls by the traces and spans that clients named. */
export const traces = [
  operation({
    id: 'traces.list',
    tag,
    method: 'GET',
    path: '/traces',
    always_paged: true,
    summary: 'List traces, the newest first',
    scopes: ['logs.list'],
    query: LogQuery,
    reply: listOf(TraceRow),
    handle: listed,
  }),
  operation({
    id: 'traces.get',
    tag,
    method: 'GET',
    path: '/traces/:traceId',
    summary: 'Show the spans of a trace as a tree, with what was thought of it',
    scopes: ['logs.list'],
    params: TracePath,
    query: LogGetQuery,
    reply: TraceView,
    handle: shown,
  }),
  operation({
    id: 'spans.list',
    tag,
    method: 'GET',
    path: '/spans',
    always_paged: true,
    summary: 'List calls as spans, newest first, with what they add up to',
    scopes: ['logs.list'],
    query: LogQuery,
    reply: SpanList,
    handle: spans,
  }),
] as const

async function listed(call: OperationCall<undefined, typeof LogQuery>) {
  const {app, db, query} = call
  const filter = filterOf(await logScope(call, query), query)
  await app.settled?.()
  return list(await tracesOf({kind: app.store.kind, db: app.reads ?? db}, filter, query), viewOf)
}

async function shown(call: OperationCall<typeof TracePath, typeof LogGetQuery>): Promise<z.input<typeof TraceView>> {
  const {actor, app, db, params, query} = call
  const filter = {...filterOf(await logScope(call, query), {}), trace_id: [params.traceId]}
  await app.settled?.()
  const {rows} = await tracesOf({kind: app.store.kind, db}, filter, {current_page: 0, page_size: 1})
  const trace = found(rows[0], 'trace')
  const logs = await listLogs(db, filter, {current_page: 0, page_size: MAX_SPANS})
  const places = new Set(logs.rows.map(({workspace_id}) => workspace_id))
  const thoughts = await feedbackOn(db, actor.organisation_id, params.traceId)
  return {
    ...viewOf(trace),
    spans: treeOf([...logs.rows].reverse(), app.settings),
    is_cut: logs.total > logs.rows.length,
    feedback: thoughts.filter(({workspace_id}) => places.has(workspace_id)).map(feedbackView),
  }
}

async function spans(call: OperationCall<undefined, typeof LogQuery>): Promise<z.input<typeof SpanList>> {
  const {app, db, query} = call
  const filter = filterOf(await logScope(call, query), query)
  await app.settled?.()
  const reads = app.reads ?? db
  const page = await listLogs(reads, filter, query)
  const sum = sumOf(await factsOf({kind: app.store.kind, db: reads}, filter, 'all'))
  const summary = {
    requests: sum.requests,
    cost: cents(sum.cost_nanousd),
    total_tokens: tokensOf(sum),
    avg_latency: mean(sum.duration_ms, sum.requests),
  }
  return {...list(page, row => metricsOf(row, app.settings)), summary}
}

/** Spans in the order of their first call; a ring of parents begins where it is met first. */
export function treeOf(rows: readonly LogRow[], settings: Parameters<typeof metricsOf>[1]): SpanNode[] {
  const nodes = new Map<string, SpanNode>()
  for (const row of rows) {
    const {span_id, parent_span_id, span_name} = row
    const known = nodes.get(span_id)
    if (known) known.logs.push(metricsOf(row, settings))
    else nodes.set(span_id, {span_id, parent_span_id, span_name, logs: [metricsOf(row, settings)], children: []})
  }
  const roots: SpanNode[] = []
  for (const node of nodes.values()) {
    const parent = node.parent_span_id === null ? undefined : nodes.get(node.parent_span_id)
    if (parent && !isAbove(node, parent, nodes)) parent.children.push(node)
    else roots.push(node)
  }
  return roots
}

/** True when `node` is `below` itself or above it. */
function isAbove(node: SpanNode, below: SpanNode, nodes: ReadonlyMap<string, SpanNode>): boolean {
  const seen = new Set<SpanNode>()
  for (let at: SpanNode | undefined = below; at && !seen.has(at); ) {
    if (at === node) return true
    seen.add(at)
    at = at.parent_span_id === null ? undefined : nodes.get(at.parent_span_id)
  }
  return false
}

function viewOf({failures, cost_nanousd, duration_ms, ...row}: Row): z.input<typeof TraceRow> {
  return {...row, error_count: failures, cost: cents(cost_nanousd), latency: duration_ms, object: 'trace'}
}

function feedbackView({
  organisation_id,
  workspace_id,
  api_key_id,
  metadata,
  ...row
}: FeedbackTable): z.input<typeof FeedbackView> {
  return {...row, weighted: row.value * row.weight, metadata: JSON.parse(metadata) as Record<string, unknown>}
}
