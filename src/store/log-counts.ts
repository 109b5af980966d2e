import {sql} from 'kysely'
import {isBound} from './analytics/days.ts'
import {hourlySums, ownWorkspaces, soundFrom, sourcesOfKept} from './analytics/hours.ts'
import type {Db} from './database.ts'
import type {LogFilter} from './log-filter.ts'
import {filteredRows} from './log-rows.ts'

/** The count of a day's matches, and the number of rows that the day had then. */
interface Counted {
  readonly requests: number
  readonly count: number
}

/** Sixty filters over a month. */
const MAX_COUNTED = 2000
const COUNTED = new WeakMap<Db, Map<string, Counted>>()

/** How many rows a filter finds: from the sums of whole hours, where these know what it names, else day by day. */
export async function countLogs(db: Db, filter: LogFilter): Promise<number> {
  const {rows, hours} = await sourcesOfKept(db, filter)
  if (!hours) return isSteady(filter) ? countDays(db, filter) : countRows(db, filter)
  let count = 0
  for (const part of rows) count += await countRows(db, part)
  const summed = hourlySums(db, filter, hours, false).select(e => e.fn.sum<number | null>('requests').as('n'))
  return count + Number((await summed.executeTakeFirstOrThrow()).n ?? 0)
}

async function countRows(db: Db, filter: LogFilter): Promise<number> {
  const counted = filteredRows(db, filter).select(e => e.fn.countAll<number>().as('n'))
  return Number((await counted.executeTakeFirstOrThrow()).n)
}

/** True when a row that matches once matches for ever: a condition on other tables, or of the detail, may change. */
function isSteady({trace_id, prompt_slug, configs, feedback}: LogFilter): boolean {
  return [trace_id, prompt_slug, configs].every(each => each === undefined) && !isBound(feedback)
}

/**
 * Counts each day that has rows by itself, and again only if a row came since: rows and the sums that count them are
 * written in one commit, and the columns that a steady filter reads never change. Days of which rows may be deleted are
 * counted each time. The number of rows is read before they are counted, so that a row that comes in between is counted
 * once more, not missed.
 */
async function countDays(db: Db, filter: LogFilter): Promise<number> {
  const {least, most} = filter.created_at ?? {}
  const begin = await soundFrom(db)
  if (most !== undefined && most < begin) return countRows(db, filter)
  const known = COUNTED.get(db) ?? new Map<string, Counted>()
  COUNTED.set(db, known)
  const from = least === undefined || least < begin ? begin : least
  const days = await requestsByDay(db, filter, from)
  const is_from_before = begin !== '' && (least === undefined || least < begin)
  let count = is_from_before ? await countRows(db, {...filter, created_at: {least, most: justBefore(begin)}}) : 0
  for (const {day, requests} of days) {
    const part = {
      ...filter,
      created_at: {least: later(from, `${day}T00:00:00.000Z`), most: earlier(most, `${day}T23:59:59.999Z`)},
    }
    const key = JSON.stringify(part)
    let counted = known.get(key)
    if (counted?.requests !== requests) counted = {requests, count: await countRows(db, part)}
    known.delete(key)
    known.set(key, counted)
    count += counted.count
  }
  for (const key of known.keys()) {
    if (known.size <= MAX_COUNTED) break
    known.delete(key)
  }
  return count
}

/** The days that have rows from a moment on, as far as the filter's time goes, and how many each has in its hours. */
async function requestsByDay(db: Db, filter: LogFilter, from: string) {
  const {most} = filter.created_at ?? {}
  let sums = db
    .selectFrom('traffic.log_hourly')
    .where('workspace_id', 'in', ownWorkspaces(filter))
    .where('grain', '=', 0)
    .where('hour', '>=', from.slice(0, HOUR_LETTERS))
  if (most !== undefined) sums = sums.where('hour', '<=', most)
  const days = await sums
    .select(e => [sql<string>`substr(hour, 1, 10)`.as('day'), e.fn.sum<number>('requests').as('requests')])
    .groupBy(sql`1`)
    .execute()
  return days.map(({day, requests}) => ({day, requests: Number(requests)}))
}

/** `2026-01-02T03`, which is not behind the hour that it begins. */
const HOUR_LETTERS = 13

const later = (one: string, other: string) => (one > other ? one : other)
const earlier = (one: string | undefined, other: string) => (one !== undefined && one < other ? one : other)
const justBefore = (time: string) => new Date(Date.parse(time) - 1).toISOString()
