import type {z} from 'zod'
import type {
  ModelFeedback,
  RecoveredByRetry,
  Scores,
  Totals,
  UserRequests,
  WeightedFeedback,
} from '../../schema/analytics.ts'
import {rescuedOf, usersOf} from '../../store/analytics/people.ts'
import {type FeedbackSum, feedbackSums, modelFeedback} from '../../store/feedback.ts'
import {type AnalyticsQuery, momentOf} from './query.ts'
import {mean, parted} from './sums.ts'

const GRAPH = 'analytics-graph' as const

/** Graphs that no sums are kept for: they are read from rows. */
export async function usersGraph({reader, filter, bucket, buckets}: AnalyticsQuery): Promise<z.input<typeof Totals>> {
  const [whole, each] = [await usersOf(reader, filter, 'all'), await usersOf(reader, filter, bucket)]
  const by = new Map(each.map(({bucket, users}) => [bucket, users]))
  const data_points = buckets.map(at => ({timestamp: momentOf(at), total: by.get(at) ?? 0}))
  return {summary: {total: whole[0]?.users ?? 0}, data_points, object: GRAPH}
}

export async function userRequests({
  reader,
  filter,
  bucket,
  buckets,
}: AnalyticsQuery): Promise<z.input<typeof UserRequests>> {
  const [[whole], each] = [await usersOf(reader, filter, 'all'), await usersOf(reader, filter, bucket)]
  const {users, requests} = whole ?? {users: 0, requests: 0}
  const by = new Map(each.map(point => [point.bucket, mean(point.requests, point.users)]))
  const data_points = buckets.map(at => ({timestamp: momentOf(at), avg: by.get(at) ?? 0}))
  return {summary: {total: requests, unique: users, avg: mean(requests, users)}, data_points, object: GRAPH}
}

export async function rescuedGraph({
  reader,
  filter,
  bucket,
  buckets,
}: AnalyticsQuery): Promise<z.input<typeof RecoveredByRetry>> {
  const rows = await rescuedOf(reader, filter, bucket)
  const sum = (some: typeof rows) => some.reduce((count, {requests}) => count + requests, 0)
  const by = parted(rows, 'bucket')
  const data_points = buckets.map(at => {
    const here = by.get(at) ?? []
    const retried = here.filter(({retry_count}) => retry_count > 0)
    return {
      timestamp: momentOf(at),
      retry: retried.map(({retry_count, requests}) => ({retry_success_count: retry_count, count: requests})),
      fallback: sum(here.filter(({retry_count}) => retry_count === 0)),
    }
  })
  const retry = sum(rows.filter(({retry_count}) => retry_count > 0))
  return {summary: {retry, fallback: sum(rows) - retry}, data_points, object: GRAPH}
}

export async function feedbackGraph({
  reader,
  filter,
  bucket,
  buckets,
}: AnalyticsQuery): Promise<z.input<typeof Totals>> {
  const rows = await feedbackSums(reader, filter, bucket)
  const by = parted(rows, 'bucket')
  const data_points = buckets.map(at => ({timestamp: momentOf(at), total: countOf(by.get(at) ?? [])}))
  return {summary: {total: countOf(rows)}, data_points, object: GRAPH}
}

export async function feedbackScores({reader, filter}: AnalyticsQuery): Promise<z.input<typeof Scores>> {
  const rows = await feedbackSums(reader, filter, 'all')
  const scores = [...parted(rows, 'value')].sort(([one], [other]) => one - other)
  return {
    summary: {total: countOf(rows)},
    data_points: scores.map(([score, same]) => ({score, total: countOf(same)})),
    object: GRAPH,
  }
}

export async function weightedFeedback({
  reader,
  filter,
  bucket,
  buckets,
}: AnalyticsQuery): Promise<z.input<typeof WeightedFeedback>> {
  const rows = await feedbackSums(reader, filter, bucket)
  const by = parted(rows, 'bucket')
  const data_points = buckets.map(at => ({timestamp: momentOf(at), avg: meanOf(by.get(at) ?? [])}))
  return {summary: {avg: meanOf(rows)}, data_points, object: GRAPH}
}

export async function feedbackByModel({reader, filter}: AnalyticsQuery): Promise<z.input<typeof ModelFeedback>> {
  const rows = await modelFeedback(reader, filter)
  const data_points = rows.map(({model, total, mean: average}) => ({
    ai_model: model,
    total,
    avg_weighted_feedback: mean(average, 1),
  }))
  return {summary: {}, data_points, object: GRAPH}
}

const countOf = (rows: readonly FeedbackSum[]) => rows.reduce((count, {total}) => count + total, 0)
const meanOf = (rows: readonly FeedbackSum[]) =>
  mean(
    rows.reduce((sum, {weighted}) => sum + weighted, 0),
    countOf(rows),
  )
