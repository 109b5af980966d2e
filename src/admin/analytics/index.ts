import type {z} from 'zod'
import {
  CacheLatency,
  CacheSummary,
  ColumnsQuery,
  GraphQuery,
  GroupPath,
  GroupRow,
  GroupsQuery,
  HitRate,
  LatencyGraph,
  MetadataPath,
  MetadataRow,
  ModelFeedback,
  ModelRow,
  Rates,
  RecoveredByRetry,
  Scores,
  Stacks,
  StatusCodes,
  Totals,
  TotalsAndMeans,
  UserRequests,
  UserRow,
  WeightedFeedback,
} from '../../schema/analytics.ts'
import {listOf} from '../../schema/paging.ts'
import {operation} from '../operation.ts'
import * as graphs from './graphs.ts'
import {grouped, metadataGrouped, modelsGrouped, usersGrouped} from './groups.ts'
import {type AnalyticsQuery, readGraphQuery} from './query.ts'
import * as rows from './row-graphs.ts'

const SCOPES = ['analytics.view']

/** Paths that the `portkey-ai` SDK spells otherwise. */
const SPELLED: Readonly<Record<string, string>> = {
  'users/requests': 'users-requests',
  'errors/rate': 'errors-rate',
  'errors/stacks': 'errors-stack',
  'errors/status-codes': 'errors-status-code',
  'requests/rescued': 'requests-rescued',
  'cache/hit-rate': 'cache-hit-rate',
  'cache/latency': 'cache-latency',
  'feedbacks/scores': 'feedbacks/score',
}

// biome-ignore format: a table is read by its lines
const GRAPHS = [
  graph('requests', 'requests', 'calls', Totals, graphs.requestsGraph),
  graph('cost', 'cost', 'cost, in US cents', TotalsAndMeans, graphs.costGraph),
  graph('latency', 'latency', 'latency, in milliseconds', LatencyGraph, graphs.latencyGraph),
  graph('tokens', 'tokens', 'tokens', TotalsAndMeans, graphs.tokensGraph),
  graph('users', 'users', 'users that calls name', Totals, rows.usersGraph),
  graph('users_requests', 'users/requests', 'calls a user', UserRequests, rows.userRequests),
  graph('errors', 'errors', 'calls that failed', Totals, graphs.errorsGraph),
  graph('errors_rate', 'errors/rate', 'how many per cent of calls failed', Rates, graphs.errorRate),
  graph('errors_stacks', 'errors/stacks', 'calls that failed, by status', Stacks, graphs.errorStacks),
  graph('errors_status_codes', 'errors/status-codes', 'the statuses of calls that failed', StatusCodes, graphs.errorCodes),
  graph('requests_rescued', 'requests/rescued', 'calls that went well after a retry or a fallback', RecoveredByRetry, rows.rescuedGraph),
  graph('cache_hit_rate', 'cache/hit-rate', 'how many per cent of calls the cache answered', HitRate, graphs.hitRate),
  graph('cache_latency', 'cache/latency', 'latency of what the cache answered', CacheLatency, graphs.cacheLatency),
  graph('feedbacks', 'feedbacks', 'feedback given', Totals, rows.feedbackGraph),
  graph('feedbacks_scores', 'feedbacks/scores', 'feedback by its value', Scores, rows.feedbackScores),
  graph('feedbacks_weighted', 'feedbacks/weighted', 'mean feedback, weighted', WeightedFeedback, rows.weightedFeedback),
  graph('feedbacks_ai_models', 'feedbacks/ai-models', 'feedback by model', ModelFeedback, rows.feedbackByModel),
] as const

const groups = {tag: 'Analytics > Groups', method: 'GET'} as const

/** Reports of calls: from sums by the hour where those suffice, else from rows. */
export const analytics = [
  ...GRAPHS,
  operation({
    id: 'analytics.summary_cache',
    tag: 'Analytics > Summary',
    method: 'GET',
    path: '/analytics/summary/cache',
    summary: 'Sum up what the cache did',
    scopes: SCOPES,
    query: GraphQuery,
    reply: CacheSummary,
    handle: async call => graphs.cacheSummary(await readGraphQuery(call as never)),
  }),
  operation({
    ...groups,
    id: 'analytics.groups_users',
    always_paged: true,
    path: '/analytics/groups/users',
    summary: 'Calls and cost by user',
    scopes: SCOPES,
    query: GroupsQuery,
    reply: listOf(UserRow),
    handle: call => usersGrouped(call as never),
  }),
  operation({
    ...groups,
    id: 'analytics.groups_ai_models',
    always_paged: true,
    path: '/analytics/groups/ai-models',
    summary: 'Calls by model',
    scopes: SCOPES,
    query: GroupsQuery,
    reply: listOf(ModelRow),
    handle: call => modelsGrouped(call as never),
  }),
  operation({
    ...groups,
    id: 'analytics.groups_metadata',
    always_paged: true,
    path: '/analytics/groups/metadata/:metadataKey',
    summary: 'Calls by the value of a key of their metadata',
    scopes: SCOPES,
    params: MetadataPath,
    query: GroupsQuery,
    reply: listOf(MetadataRow),
    handle: call => metadataGrouped(call as never),
  }),
  operation({
    ...groups,
    id: 'analytics.groups',
    always_paged: true,
    path: '/analytics/groups/:groupBy',
    summary: 'Calls by service, model, status, key, config, workspace, provider, prompt, MCP server or tool',
    scopes: SCOPES,
    params: GroupPath,
    query: ColumnsQuery,
    reply: listOf(GroupRow),
    handle: grouped,
  }),
  operation({
    id: 'logs.groups',
    tag: 'Logs',
    method: 'GET',
    always_paged: true,
    path: '/logs/groups/:groupBy',
    summary: 'The same groups, beside the log',
    scopes: [...SCOPES, 'logs.list'],
    params: GroupPath,
    query: ColumnsQuery,
    reply: listOf(GroupRow),
    handle: grouped,
  }),
] as const

function graph<const Name extends string, R extends z.ZodType>(
  name: Name,
  path: string,
  of: string,
  reply: R,
  draw: (query: AnalyticsQuery) => Promise<z.input<R>>,
) {
  return operation({
    id: `analytics.${name}`,
    tag: 'Analytics > Graphs',
    method: 'GET',
    path: `/analytics/graphs/${path}`,
    compatibility: {also_at: path in SPELLED ? [`/analytics/graphs/${SPELLED[path]}`] : []},
    summary: `Graph of ${of}`,
    scopes: SCOPES,
    query: GraphQuery,
    reply,
    handle: async call => draw(await readGraphQuery(call as never)),
  })
}
