import type {Db} from './database.ts'

/** The data that is kept for a time only: bodies of log rows, log rows, feedback on them, hourly sums. */
export type Retained = 'bodies' | 'logs' | 'feedback' | 'hours'

const SLICE_ROWS = 200

/**
 * Deletes some of what is older than `before_ms`, oldest first; true when there may be more. A slice is 200 rows, or of
 * the hourly sums one hour. Ids of log rows are UUIDs of version 7, so that age is a range of the primary key.
 */
export async function deleteOlder(db: Db, kept: Retained, before_ms: number): Promise<boolean> {
  if (kept === 'hours') return deleteHour(db, new Date(before_ms).toISOString())
  if (kept === 'feedback') return deleteFeedback(db, new Date(before_ms).toISOString())
  const [table, key] =
    kept === 'bodies' ? (['traffic.log_bodies', 'log_id'] as const) : (['traffic.logs', 'id'] as const)
  const oldest = db.selectFrom(table).select(key).where(key, '<', firstIdFrom(before_ms)).orderBy(key).limit(SLICE_ROWS)
  const {numDeletedRows} = await db.deleteFrom(table).where(key, 'in', oldest).executeTakeFirst()
  return numDeletedRows >= SLICE_ROWS
}

/** The lower bound of the ids of log rows made from then on. */
export function firstIdFrom(ms: number): string {
  const time = Math.max(0, Math.trunc(ms)).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

async function deleteFeedback(db: Db, before: string): Promise<boolean> {
  const oldest = db.selectFrom('traffic.feedback').select('id').where('created_at', '<', before).limit(SLICE_ROWS)
  const {numDeletedRows} = await db.deleteFrom('traffic.feedback').where('id', 'in', oldest).executeTakeFirst()
  return numDeletedRows >= SLICE_ROWS
}

async function deleteHour(db: Db, before: string): Promise<boolean> {
  let more = false
  for (const table of [
    'traffic.usage_hourly',
    'traffic.unpriced_hourly',
    'traffic.log_hourly',
    'traffic.log_latencies',
  ] as const) {
    const oldest = await db.selectFrom(table).select('hour').orderBy('hour').limit(1).executeTakeFirst()
    if (!oldest || oldest.hour >= before) continue
    await db.deleteFrom(table).where('hour', '=', oldest.hour).execute()
    more = true
  }
  return more
}
