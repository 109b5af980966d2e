import type {z} from 'zod'
import type {CacheLatency, CacheSummary, HitRate, LatencyGraph, Stacks, StatusCodes} from '../../schema/analytics.ts'
import {addCount, quantile} from '../../schema/latency.ts'
import {type Fact, factsOf, latenciesOf} from '../../store/analytics/facts.ts'
import {type Asked, momentOf} from './asked.ts'
import {cents, failuresOf, hitsOf, mean, meanCents, parted, percent, type Sum, sumOf, tokensOf} from './sums.ts'

const GRAPH = 'analytics-graph' as const

/** Sums of every bucket, empty ones too, and of all. */
async function timeline({reader, filter, bucket, buckets}: Asked) {
  const facts = await factsOf(reader, filter, bucket)
  const by = parted(facts, 'bucket')
  const points = buckets.map(at => ({timestamp: momentOf(at), sum: sumOf(by.get(at) ?? []), facts: by.get(at) ?? []}))
  return {whole: sumOf(facts), facts, points}
}

/** A graph of one number that adds up. */
export function total(count: (sum: Sum) => number) {
  return async (asked: Asked) => {
    const {whole, points} = await timeline(asked)
    const data_points = points.map(({timestamp, sum}) => ({timestamp, total: count(sum)}))
    return {summary: {total: count(whole)}, data_points, object: GRAPH}
  }
}

export const requestsGraph = total(({requests}) => requests)
export const errorsGraph = total(failuresOf)

export async function costGraph(asked: Asked) {
  const {whole, points} = await timeline(asked)
  const said = ({cost_nanousd, requests}: Sum) => ({total: cents(cost_nanousd), avg: meanCents(cost_nanousd, requests)})
  return {summary: said(whole), data_points: points.map(({timestamp, sum}) => ({timestamp, ...said(sum)})), object: GRAPH}
}

export async function tokensGraph(asked: Asked) {
  const {whole, points} = await timeline(asked)
  const said = (sum: Sum) => ({total: tokensOf(sum), avg: mean(tokensOf(sum), sum.requests)})
  return {summary: said(whole), data_points: points.map(({timestamp, sum}) => ({timestamp, ...said(sum)})), object: GRAPH}
}

export async function latencyGraph(asked: Asked): Promise<z.input<typeof LatencyGraph>> {
  const {whole, points} = await timeline(asked)
  const latencies = await latenciesOf(asked.reader, asked.filter, asked.bucket)
  const by = new Map(latencies.map(({bucket, counts}) => [momentOf(bucket), counts]))
  const all = new Map<number, number>()
  for (const {counts} of latencies) for (const [bucket, count] of counts) addCount(all, bucket, count)
  const said = (sum: Sum, counts: ReadonlyMap<number, number>) => ({
    avg: mean(sum.duration_ms, sum.requests),
    p50: quantile(counts, 0.5),
    p90: quantile(counts, 0.9),
    p99: quantile(counts, 0.99),
  })
  const data_points = points.map(({timestamp, sum}) => ({timestamp, ...said(sum, by.get(timestamp) ?? new Map())}))
  return {summary: said(whole, all), data_points, object: GRAPH}
}

export async function errorRate(asked: Asked) {
  const {whole, points} = await timeline(asked)
  const said = (sum: Sum) => ({rate: percent(failuresOf(sum), sum.requests)})
  return {summary: said(whole), data_points: points.map(({timestamp, sum}) => ({timestamp, ...said(sum)})), object: GRAPH}
}

export async function errorStacks(asked: Asked): Promise<z.input<typeof Stacks>> {
  const {whole, points} = await timeline(asked)
  const data_points = points.map(({timestamp, facts}) => ({
    timestamp,
    stats: codesOf(facts).map(([response_status_code, count]) => ({response_status_code, count})),
  }))
  return {summary: {total: failuresOf(whole)}, data_points, object: GRAPH}
}

export async function errorCodes(asked: Asked): Promise<z.input<typeof StatusCodes>> {
  const facts = await factsOf(asked.reader, asked.filter, 'all')
  const codes = codesOf(facts)
  const total_errors = codes.reduce((sum, [, count]) => sum + count, 0)
  const data_points = codes.map(([status_code, count]) => ({status_code, count}))
  return {summary: {total_errors, unique_error_codes: codes.length}, data_points, object: GRAPH}
}

export async function hitRate(asked: Asked): Promise<z.input<typeof HitRate>> {
  const {whole, points} = await timeline(asked)
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

export async function cacheLatency(asked: Asked): Promise<z.input<typeof CacheLatency>> {
  const {points} = await timeline(asked)
  return {summary: {}, data_points: points.map(({timestamp, sum}) => ({timestamp, avg: mean(sum.hit_ms, hitsOf(sum))})), object: GRAPH}
}

export async function cacheSummary(asked: Asked): Promise<z.input<typeof CacheSummary>> {
  const sum = sumOf(await factsOf(asked.reader, asked.filter, 'all'))
  const hits = hitsOf(sum)
  const avg_latency = mean(sum.hit_ms, hits)
  const cache_speedup = hits && sum.misses ? mean(sum.miss_ms / sum.misses, Math.max(1, avg_latency)) : 0
  return {summary: {hits, avg_latency, total_requests: sum.requests, cache_speedup}, object: 'analytics-summary'}
}

/** What failed, by status, the most first. */
function codesOf(facts: readonly Fact[]): [status: number, count: number][] {
  return [...parted(facts, 'status')]
    .map(([status, same]): [number, number] => [status, failuresOf(sumOf(same))])
    .filter(([, count]) => count > 0)
    .sort(([one, few], [other, many]) => many - few || one - other)
}
