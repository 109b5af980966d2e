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
  Rescued,
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
import {type AnyOperation, operation} from '../operation.ts'
import {type Asked, asked} from './asked.ts'
import * as graphs from './graphs.ts'
import {grouped, metadataGrouped, modelsGrouped, usersGrouped} from './groups.ts'
import * as rows from './row-graphs.ts'

const SCOPES = ['analytics.view']

// biome-ignore format: a table is read by its lines
const GRAPHS: readonly (readonly [path: string, of: string, reply: z.ZodType, draw: (asked: Asked) => Promise<unknown>])[] = [
  ['requests', 'calls', Totals, graphs.requestsGraph],
  ['cost', 'cost, in US cents', TotalsAndMeans, graphs.costGraph],
  ['latency', 'latency, in milliseconds', LatencyGraph, graphs.latencyGraph],
  ['tokens', 'tokens', TotalsAndMeans, graphs.tokensGraph],
  ['users', 'users that calls name', Totals, rows.usersGraph],
  ['users/requests', 'calls a user', UserRequests, rows.userRequests],
  ['errors', 'calls that failed', Totals, graphs.errorsGraph],
  ['errors/rate', 'how many per cent of calls failed', Rates, graphs.errorRate],
  ['errors/stacks', 'calls that failed, by status', Stacks, graphs.errorStacks],
  ['errors/status-codes', 'the statuses of calls that failed', StatusCodes, graphs.errorCodes],
  ['requests/rescued', 'calls that went well after a retry or a fallback', Rescued, rows.rescuedGraph],
  ['cache/hit-rate', 'how many per cent of calls the cache answered', HitRate, graphs.hitRate],
  ['cache/latency', 'latency of what the cache answered', CacheLatency, graphs.cacheLatency],
  ['feedbacks', 'feedback given', Totals, rows.feedbackGraph],
  ['feedbacks/scores', 'feedback by its value', Scores, rows.feedbackScores],
  ['feedbacks/weighted', 'mean feedback, weighted', WeightedFeedback, rows.weightedFeedback],
  ['feedbacks/ai-models', 'feedback by model', ModelFeedback, rows.feedbackByModel],
]

/** The paths of the reference that the `portkey-ai` SDK spells otherwise. */
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

const groups = {tag: 'Analytics > Groups', method: 'GET'} as const

/** Reports of calls: from sums by the hour where those tell what is asked, else from rows. */
export const analytics: readonly AnyOperation[] = [
  ...GRAPHS.map(([path, of, reply, draw]) =>
    operation({
      id: `analytics.${path.replace(/[/-]/g, '_')}`,
      tag: 'Analytics > Graphs',
      method: 'GET',
      path: `/analytics/graphs/${path}`,
      also_at: path in SPELLED ? [`/analytics/graphs/${SPELLED[path]}`] : [],
      summary: `Graph of ${of}`,
      scopes: SCOPES,
      query: GraphQuery,
      reply,
      handle: async call => draw(await asked(call as never)),
    }),
  ),
  operation({
    id: 'analytics.summary_cache',
    tag: 'Analytics > Summary',
    method: 'GET',
    path: '/analytics/summary/cache',
    summary: 'Sum up what the cache did',
    scopes: SCOPES,
    query: GraphQuery,
    reply: CacheSummary,
    handle: async call => graphs.cacheSummary(await asked(call as never)),
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
    summary: 'Calls by service, model, status, key, config, workspace, provider or prompt',
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
]
