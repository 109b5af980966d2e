import type {z} from 'zod'
import type {
  AnalyticsGroup,
  Column,
  ColumnsQuery,
  GroupPath,
  GroupRow,
  MetadataRow,
  ModelRow,
  UserRow,
} from '../../schema/analytics.ts'
import {quantile} from '../../schema/latency.ts'
import {list, type Page} from '../../schema/paging.ts'
import {type Dimension, factsOf, latenciesOf} from '../../store/analytics/facts.ts'
import {metadataGroups, seenOf} from '../../store/analytics/people.ts'
import {slugsAndNames} from '../../store/analytics/slugs.ts'
import {keyNames} from '../../store/usage-sums.ts'
import type {OperationCall} from '../operation.ts'
import {type AnalyticsQuery, readGraphQuery} from './query.ts'
import {cents, failuresOf, hitsOf, mean, parted, percent, sumOf, tokensOf} from './sums.ts'

const GROUP = 'analytics-group' as const

const DIMENSIONS: Readonly<Record<AnalyticsGroup, Dimension>> = {
  ai_service: 'provider',
  model: 'model',
  status_code: 'status',
  api_key: 'api_key_id',
  config: 'config_id',
  workspace: 'workspace_id',
  provider: 'provider_slug',
  prompt: 'prompt',
  mcp_server: 'mcp_server',
  mcp_tool: 'mcp_tool',
}
/** Groups of MCP alone: calls of models have no place in them. */
const OF_MCP: ReadonlySet<AnalyticsGroup> = new Set(['mcp_server', 'mcp_tool'])

type Row = z.input<typeof GroupRow>

/** Calls by what they have in common, the most first. */
export async function grouped(call: OperationCall<typeof GroupPath, typeof ColumnsQuery>) {
  const {groupBy} = call.params
  const {columns = [], ...page} = call.query
  const question = await readGraphQuery(call as never)
  const rows = await groupRows(question, groupBy, columns)
  return list({total: rows.length, rows: await named(call, groupBy, paged(rows, page))}, row => row)
}

async function groupRows(
  question: AnalyticsQuery,
  group: AnalyticsGroup,
  columns: readonly Column[],
): Promise<[name: string, row: Omit<Row, AnalyticsGroup>][]> {
  const {reader, filter} = question
  const by = DIMENSIONS[group]
  const facts = await factsOf(reader, filter, 'all', by)
  const quantiles = columns.some(column => column === 'p95_latency' || column === 'p99_latency')
  const latencies = new Map(
    quantiles ? (await latenciesOf(reader, filter, 'all', by)).map(({name, counts}) => [name, counts]) : [],
  )
  const seen = new Map(
    columns.some(column => column === 'first_seen' || column === 'last_seen')
      ? (await seenOf(reader, filter, by)).map(each => [each.name, each])
      : [],
  )
  const grouped_facts = OF_MCP.has(group) ? facts.filter(({name}) => name !== '') : facts
  const rows = [...parted(grouped_facts, 'name')].map(([name, same]): [string, Omit<Row, AnalyticsGroup>] => {
    const sum = sumOf(same)
    const counts = latencies.get(name) ?? new Map<number, number>()
    const all: Required<Pick<Row, Column>> = {
      cost: cents(sum.cost_nanousd),
      total_tokens: tokensOf(sum),
      avg_tokens: mean(tokensOf(sum), sum.requests),
      avg_input_tokens: mean(sum.prompt_tokens, sum.requests),
      avg_output_tokens: mean(sum.completion_tokens, sum.requests),
      avg_latency: mean(sum.duration_ms, sum.requests),
      p95_latency: quantile(counts, 0.95),
      p99_latency: quantile(counts, 0.99),
      success_rate: percent(sum.successes, sum.requests),
      error_count: failuresOf(sum),
      cache_hit_rate: percent(hitsOf(sum), sum.requests),
      last_seen: seen.get(name)?.last_seen ?? null,
      first_seen: seen.get(name)?.first_seen ?? null,
    }
    const wanted = Object.fromEntries(columns.map(column => [column, all[column]]))
    return [name, {requests: sum.requests, ...wanted, object: GROUP}]
  })
  return rows.sort(([one, few], [other, many]) => many.requests - few.requests || (one < other ? -1 : 1))
}

/** Configs and workspaces by their slugs, keys by their ids, each with its name beside it, as far as they are there. */
async function named(
  {actor, db}: Pick<OperationCall, 'actor' | 'db'>,
  group: AnalyticsGroup,
  rows: readonly (readonly [string, Omit<Row, AnalyticsGroup>])[],
): Promise<Row[]> {
  const ids = rows.map(([id]) => id).filter(Boolean)
  if (group === 'api_key') {
    const keys = await keyNames(db, actor.organisation_id, ids)
    return rows.map(([id, row]) => ({api_key: id || null, name: keys.get(id)?.name ?? null, ...row}))
  }
  if (group === 'config' || group === 'workspace') {
    const known = await slugsAndNames(db, group === 'config' ? 'configs' : 'workspaces', ids)
    return rows.map(([id, row]) => {
      const {slug = id || null, name = null} = known.get(id) ?? {}
      return {[group]: slug, name, ...row}
    })
  }
  return rows.map(([id, row]) => ({[group]: group === 'status_code' ? Number(id) : id || null, ...row}))
}

/** `_user` of the metadata, with its cost. */
export async function usersGrouped(call: OperationCall<undefined, typeof ColumnsQuery>) {
  const {reader, filter} = await readGraphQuery(call as never)
  return list(
    await metadataGroups(reader, filter, '_user', call.query),
    ({value, requests, cost_nanousd}): z.input<typeof UserRow> => ({
      user: value,
      requests,
      cost: cents(cost_nanousd),
      object: GROUP,
    }),
  )
}

export async function modelsGrouped(call: OperationCall<undefined, typeof ColumnsQuery>) {
  const rows = await groupRows(await readGraphQuery(call as never), 'model', [])
  return list(
    {total: rows.length, rows: paged(rows, call.query)},
    ([name, {requests}]): z.input<typeof ModelRow> => ({
      ai_model: name || null,
      requests,
      object: GROUP,
    }),
  )
}

export async function metadataGrouped(call: OperationCall<z.ZodType<{metadataKey: string}>, typeof ColumnsQuery>) {
  const {reader, filter} = await readGraphQuery(call as never)
  return list(
    await metadataGroups(reader, filter, call.params.metadataKey, call.query),
    (row): z.input<typeof MetadataRow> => ({
      metadata_value: row.value,
      requests: row.requests,
      cost: cents(row.cost_nanousd),
      avg_tokens: mean(row.tokens, row.requests),
      avg_weighted_feedback: row.feedback === null ? null : mean(row.feedback, 1),
      requests_with_feedback: row.with_feedback,
      last_seen: row.last_seen,
      object: GROUP,
    }),
  )
}

function paged<T>(rows: readonly T[], {current_page, page_size}: Page): T[] {
  return rows.slice(current_page * page_size, (current_page + 1) * page_size)
}
