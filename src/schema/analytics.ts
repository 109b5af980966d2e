import {z} from 'zod'
import {LogFilters, listInQuery, Word} from './logs.ts'
import {pageParams} from './paging.ts'
import {oneOf} from './query-lists.ts'
import {FirstTime, LastTime} from './times.ts'

const Times = {time_of_generation_min: FirstTime, time_of_generation_max: LastTime}

/** The calls of a graph: those of a time, both ends included (docs/analytics.md, Graphs). */
export const GraphQuery = z.strictObject({...LogFilters, ...Times})
export type GraphQuery = z.output<typeof GraphQuery>
export const GroupsQuery = z.strictObject({...LogFilters, ...Times, ...pageParams()})

export const COLUMNS = [
  'cost',
  'total_tokens',
  'avg_tokens',
  'avg_input_tokens',
  'avg_output_tokens',
  'avg_latency',
  'p95_latency',
  'p99_latency',
  'success_rate',
  'error_count',
  'cache_hit_rate',
  'last_seen',
  'first_seen',
] as const
export type Column = (typeof COLUMNS)[number]

export const GROUPS = [
  'ai_service',
  'model',
  'status_code',
  'api_key',
  'config',
  'workspace',
  'provider',
  'prompt',
  'mcp_server',
  'mcp_tool',
] as const
export type AnalyticsGroup = (typeof GROUPS)[number]

/** Clients also say `workspaces`, in the plural. */
export const GroupPath = z.strictObject({
  groupBy: z.preprocess(value => (value === 'workspaces' ? 'workspace' : value), z.enum(GROUPS)),
})
/** Without `columns` there is the count alone. */
export const ColumnsQuery = z.strictObject({
  ...LogFilters,
  ...Times,
  ...pageParams(),
  columns: listInQuery(z.enum(COLUMNS), oneOf(COLUMNS)).optional(),
})

const Count = z.int().nonnegative()
const Amount = z.number()
const Name = z.string().nullable().optional()
const At = z.iso.datetime()

/** Calls of one group. What it is grouped by is null where calls name none. */
export const GroupRow = z.strictObject({
  ai_service: Name,
  model: Name,
  status_code: z.int().optional(),
  api_key: Name,
  config: Name,
  workspace: Name,
  provider: Name,
  prompt: Name,
  /** The slug of an MCP server. */
  mcp_server: Name,
  /** A tool that was called, behind the slug of its server: `tickets/create`. */
  mcp_tool: Name,
  /** Of a key, a config or a workspace; null where there is none such any more. */
  name: Name,
  requests: Count,
  /** US cents. */
  cost: Amount.optional(),
  total_tokens: Count.optional(),
  avg_tokens: Amount.optional(),
  avg_input_tokens: Amount.optional(),
  avg_output_tokens: Amount.optional(),
  /** Milliseconds. */
  avg_latency: Amount.optional(),
  p95_latency: Amount.optional(),
  p99_latency: Amount.optional(),
  /** Per cent. */
  success_rate: Amount.optional(),
  error_count: Count.optional(),
  cache_hit_rate: Amount.optional(),
  last_seen: At.nullable().optional(),
  first_seen: At.nullable().optional(),
  object: z.literal('analytics-group'),
})

/** `_user` of the metadata. */
export const UserRow = z.strictObject({
  user: z.string(),
  requests: Count,
  cost: Amount,
  object: z.literal('analytics-group'),
})
export const ModelRow = z.strictObject({
  ai_model: z.string().nullable(),
  requests: Count,
  object: z.literal('analytics-group'),
})
export const MetadataPath = z.strictObject({metadataKey: Word})
export const MetadataRow = z.strictObject({
  metadata_value: z.string(),
  requests: Count,
  cost: Amount,
  avg_tokens: Amount,
  /** Null without feedback. */
  avg_weighted_feedback: Amount.nullable(),
  requests_with_feedback: Count,
  last_seen: At,
  object: z.literal('analytics-group'),
})

function graph<S extends z.ZodRawShape, P extends z.ZodRawShape>(summary: S, point: P) {
  return z.strictObject({
    summary: z.strictObject(summary),
    data_points: z.array(z.strictObject(point)),
    object: z.literal('analytics-graph'),
  })
}

/** Money in US cents, times in milliseconds, rates in per cent. */
export const Totals = graph({total: Amount}, {timestamp: At, total: Amount})
export const TotalsAndMeans = graph({total: Amount, avg: Amount}, {timestamp: At, total: Amount, avg: Amount})
const Quantiles = {avg: Amount, p50: Amount, p90: Amount, p99: Amount}
export const LatencyGraph = graph(Quantiles, {timestamp: At, ...Quantiles})
export const UserRequests = graph({total: Count, unique: Count, avg: Amount}, {timestamp: At, avg: Amount})
export const Rates = graph({rate: Amount}, {timestamp: At, rate: Amount})
export const Stacks = graph(
  {total: Count},
  {timestamp: At, stats: z.array(z.strictObject({response_status_code: z.int(), count: Count}))},
)
export const StatusCodes = graph({total_errors: Count, unique_error_codes: Count}, {status_code: z.int(), count: Count})
export const RecoveredByRetry = graph(
  {retry: Count, fallback: Count},
  {timestamp: At, retry: z.array(z.strictObject({retry_success_count: Count, count: Count})), fallback: Count},
)
export const HitRate = graph(
  {total: Count, rate: Amount},
  {
    timestamp: At,
    simple_hits: Count,
    semantic_hits: Count,
    rate: Amount,
    /** An estimate: as often as there was a hit, the mean cost of what the cache did not have. */
    cumulative_simple_cache_savings: Amount,
    cumulative_semantic_cache_savings: Amount,
  },
)
export const CacheLatency = graph({}, {timestamp: At, avg: Amount})
export const Scores = graph({total: Count}, {score: z.int(), total: Count})
export const WeightedFeedback = graph({avg: Amount}, {timestamp: At, avg: Amount})
export const ModelFeedback = graph({}, {ai_model: z.string(), total: Count, avg_weighted_feedback: Amount})
export const CacheSummary = z.strictObject({
  summary: z.strictObject({
    hits: Count,
    /** Of hits. */
    avg_latency: Amount,
    total_requests: Count,
    /** How many times faster a hit is than what the cache did not have; 0 where there is nothing to compare. */
    cache_speedup: Amount,
  }),
  object: z.literal('analytics-summary'),
})
