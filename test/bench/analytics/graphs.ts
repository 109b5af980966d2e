import * as graphs from '../../../src/admin/analytics/graphs.ts'
import type {AnalyticsQuery} from '../../../src/admin/analytics/query.ts'
import * as rows from '../../../src/admin/analytics/row-graphs.ts'
import {metadataGroups} from '../../../src/store/analytics/people.ts'
import type {Db} from '../../../src/store/database.ts'
import {type LogFilter, listLogs} from '../../../src/store/logs.ts'
import {DAY_MS, DAYS, FROM_MS, iso, KEYS, type Place, SPAN_MS} from './fill.ts'
import {judge, type Took, timed} from './took.ts'

const SUMS_MS = 300
const ROWS_MS = 3000
const LIST_MS = 150
const DAY = {created_at: {least: iso(FROM_MS + SPAN_MS - DAY_MS), most: iso(FROM_MS + SPAN_MS)}}
const PAGE = {current_page: 0, page_size: 100}
/** Filters that the sums do not know. */
const OF_ROWS: readonly Partial<LogFilter>[] = [
  {cost_nanousd: {least: 100_000}},
  {metadata: {team: 'blue'}},
  {metadata: {team: 'blue'}, api_key_ids: [KEYS[3]!]},
  {total_tokens: {least: 1}, models: ['gpt-5'], statuses: [200]},
  {prompt_slug: 'pp-hello'},
]

/** Graphs and lists over all days, each question alone. */
export async function askAll(db: Db, place: Place): Promise<void> {
  const {
    requestsGraph,
    errorsGraph,
    costGraph,
    tokensGraph,
    latencyGraph,
    errorRate,
    errorStacks,
    errorCodes,
    hitRate,
  } = graphs
  const sums = [
    requestsGraph,
    errorsGraph,
    costGraph,
    tokensGraph,
    latencyGraph,
    errorRate,
    errorStacks,
    errorCodes,
    hitRate,
  ]
  const cache = [graphs.cacheLatency, graphs.cacheSummary]
  const thoughts = [rows.feedbackGraph, rows.feedbackScores, rows.weightedFeedback, rows.feedbackByModel]
  const ask = (
    what: string,
    most_ms: number,
    times: number,
    filters: readonly Partial<LogFilter>[],
    questions: readonly Question[],
  ) => measure(db, place, {what, most_ms, times, filters, questions})
  await ask('graphs from sums', SUMS_MS, 10, [{}, {models: ['gpt-5']}, {statuses: [429]}], [...sums, ...cache])
  await ask(
    'graphs from sums, by key',
    SUMS_MS,
    10,
    [{api_key_ids: [KEYS[3]!]}],
    [requestsGraph, costGraph, tokensGraph, errorRate, hitRate],
  )
  for (const filter of OF_ROWS) {
    const told = JSON.stringify(filter)
    await ask(
      `graphs from rows, ${told}`,
      ROWS_MS,
      1,
      [filter],
      [...sums, ...cache, rows.usersGraph, rows.userRequests, rows.rescuedGraph],
    )
    await ask(`graphs of feedback, ${told}`, ROWS_MS, 1, [filter], thoughts)
  }
  await ask(
    'graphs of users, rescues and feedback',
    ROWS_MS,
    2,
    [{}],
    [rows.usersGraph, rows.userRequests, rows.rescuedGraph, ...thoughts],
  )
  await ask('groups by a user, by a key of the metadata', ROWS_MS, 1, [{}, {statuses: [200]}], [users, teams])
  const filters = [{statuses: [429]}, {models: ['gpt-5']}, {api_key_ids: [KEYS[1]!]}, {metadata: {team: 'blue'}}]
  await ask('lists of a day, filtered', LIST_MS, 5, [...filters.map(each => ({...DAY, ...each})), DAY], [list])
  await ask('lists of 30 days', LIST_MS, 5, [{}], [list])
  for (const filter of [...filters, {cost_nanousd: {least: 999_900}}, {statuses: [404]}])
    await ask(`lists of 30 days, ${JSON.stringify(filter)}`, LIST_MS, 5, [filter], [list])
}

type Question = (asked: AnalyticsQuery) => Promise<unknown>

const list: Question = ({reader, filter}) => listLogs(reader.db, filter, PAGE)
const users: Question = ({reader, filter}) => metadataGroups(reader, filter, '_user', PAGE)
const teams: Question = ({reader, filter}) => metadataGroups(reader, filter, 'team', PAGE)

async function measure(
  db: Db,
  place: Place,
  {
    what,
    most_ms,
    times,
    filters,
    questions,
  }: {
    readonly what: string
    readonly most_ms: number
    readonly times: number
    readonly filters: readonly Partial<LogFilter>[]
    readonly questions: readonly Question[]
  },
): Promise<void> {
  const filter: LogFilter = {...place, created_at: {least: iso(FROM_MS), most: iso(FROM_MS + SPAN_MS - 1)}}
  const buckets = Array.from({length: DAYS}, (_, day) => iso(FROM_MS + day * DAY_MS).slice(0, 10))
  const took: Took[] = []
  for (let time = 0; time < times; time++)
    for (const more of filters)
      for (const question of questions) {
        const asked: AnalyticsQuery = {
          reader: {kind: 'sqlite', db},
          filter: {...filter, ...more},
          bucket: 'day',
          buckets,
        }
        took.push(await timed(() => question(asked)))
      }
  judge(what, took, most_ms)
}
