import type {z} from 'zod'
import type {CacheLatency, CacheSummary, HitRate, LatencyGraph, Stacks, StatusCodes} from '../../schema/analytics.ts'
import {addCount, quantile} from '../../schema/latency.ts'
import {type Fact, factsOf, latenciesOf} from '../../store/analytics/facts.ts'
import {type AnalyticsQuery, momentOf} from './query.ts'
import {cents, failuresOf, hitsOf, mean, meanCents, parted, percent, type Sum, sumOf, tokensOf} from './sums.ts'

const GRAPH = 'analytics-graph' as const

/** Sums of every bucket, empty ones too, and of all. */
async function timeline({reader, filter, bucket, buckets}: AnalyticsQuery) {
  const facts = await factsOf(reader, filter, bucket)
  const by = parted(facts, 'bucket')
  const points = buckets.map(at => ({timestamp: momentOf(at), sum: sumOf(by.get(at) ?? []), facts: by.get(at) ?? []}))
  return {whole: sumOf(facts), facts, points}
}

/** A graph of one number that adds up. */
export function total(count: (sum: Sum) => number) {
  return async (query: AnalyticsQuery) => {
    const {whole, points} = await timeline(query)
    const data_points = points.map(({timestamp, sum}) => ({timestamp, total: count(sum)}))
    return {summary: {total: count(whole)}, data_points, object: GRAPH}
  }
}

export const requestsGraph = total(({requests}) => requests)
export const errorsGraph = total(failuresOf)

export async function costGraph(query: AnalyticsQuery) {
  const {whole, points} = await timeline(query)
  const view = ({cost_nanousd, requests}: Sum) => ({total: cents(cost_nanousd), avg: meanCents(cost_nanousd, requests)})
  return {
    summary: view(whole),
    data_points: points.map(({timestamp, sum}) => ({timestamp, ...view(sum)})),
    object: GRAPH,
  }
}

export async function tokensGraph(query: AnalyticsQuery) {
  const {whole, points} = await timeline(query)
  const view = (sum: Sum) => ({total: tokensOf(sum), avg: mean(tokensOf(sum), sum.requests)})
  return {
    summary: view(whole),
    data_points: points.map(({timestamp, sum}) => ({timestamp, ...view(sum)})),
    object: GRAPH,
  }
}

export async function latencyGraph(query: AnalyticsQuery): Promise<z.input<typeof LatencyGraph>> {
  const {whole, points} = await timeline(query)
  const latencies = await latenciesOf(query.reader, query.filter, query.bucket)
  const by = new Map(latencies.map(({bucket, counts}) => [momentOf(bucket), counts]))
  const all = new Map<number, number>()
  for (const {counts} of latencies) for (const [bucket, count] of counts) addCount(all, bucket, count)
  const view = (sum: Sum, counts: ReadonlyMap<number, number>) => ({
    avg: mean(sum.duration_ms, sum.requests),
    p50: quantile(counts, 0.5),
    p90: quantile(counts, 0.9),
    p99: quantile(counts, 0.99),
  })
  const data_points = points.map(({timestamp, sum}) => ({timestamp, ...view(sum, by.get(timestamp) ?? new Map())}))
  return {summary: view(whole, all), data_points, object: GRAPH}
}

export async function errorRate(query: AnalyticsQuery) {
  const {whole, points} = await timeline(query)
  const view = (sum: Sum) => ({rate: percent(failuresOf(sum), sum.requests)})
  return {
    summary: view(whole),
    data_points: points.map(({timestamp, sum}) => ({timestamp, ...view(sum)})),
    object: GRAPH,
  }
}

export async function errorStacks(query: AnalyticsQuery): Promise<z.input<typeof Stacks>> {
  const {whole, points} = await timeline(query)
  const data_points = points.map(({timestamp, facts}) => ({
    timestamp,
    stats: codesOf(facts).map(([response_status_code, count]) => ({response_status_code, count})),
  }))
  return {summary: {total: failuresOf(whole)}, data_points, object: GRAPH}
}

export async function errorCodes(query: AnalyticsQuery): Promise<z.input<typeof StatusCodes>> {
  const facts = await factsOf(query.reader, query.filter, 'all')
  const codes = codesOf(facts)
  const total_errors = codes.reduce((sum, [, count]) => sum + count, 0)
  const data_points = codes.map(([status_code, count]) => ({status_code, count}))
  return {summary: {total_errors, unique_error_codes: codes.length}, data_points, object: GRAPH}
}

export async function hitRate(query: AnalyticsQuery): Promise<z.input<typeof HitRate>> {
  const {whole, points} = await timeline(query)
  const each = whole.misses === 0 ? 0 : whole.miss_nanousd / whole.misses
  const saved = {simple: 0, semantic: 0}
  const data_points = points.map(({timestamp, sum}) => {
    saved.simple += sum.simple_hits * each
    saved.semantic += sum.semantic_hits * each
    return {
      timestamp,
      simple_hits: sum.simple_hits,
      semantic_hits: sum.semantic_hits,
      rate: percent(hitsOf(sum), sum.requests),
      cumulative_simple_cache_savings: cents(Math.round(saved.simple)),
      cumulative_semantic_cache_savings: cents(Math.round(saved.semantic)),
    }
  })
  return {summary: {total: hitsOf(whole), rate: percent(hitsOf(whole), whole.requests)}, data_points, object: GRAPH}
}

export async function cacheLatency(query: AnalyticsQuery): Promise<z.input<typeof CacheLatency>> {
  const {points} = await timeline(query)
  return {
    summary: {},
    data_points: points.map(({timestamp, sum}) => ({timestamp, avg: mean(sum.hit_ms, hitsOf(sum))})),
    object: GRAPH,
  }
}

export async function cacheSummary(query: AnalyticsQuery): Promise<z.input<typeof CacheSummary>> {
  const sum = sumOf(await factsOf(query.reader, query.filter, 'all'))
  const hits = hitsOf(sum)
  const avg_latency = mean(sum.hit_ms, hits)
  const cache_speedup = hits && sum.misses ? mean(sum.miss_ms / sum.misses, Math.max(1, avg_latency)) : 0
  return {summary: {hits, avg_latency, total_requests: sum.requests, cache_speedup}, object: 'analytics-summary'}
}

/** The failures by status, the most frequent first. */
function codesOf(facts: readonly Fact[]): [status: number, count: number][] {
  return [...parted(facts, 'status')]
    .map(([status, same]): [number, number] => [status, failuresOf(sumOf(same))])
    .filter(([, count]) => count > 0)
    .sort(([one, few], [other, many]) => many - few || one - other)
}
