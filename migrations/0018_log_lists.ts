import {sql} from 'kysely'
import type {Migration} from './support.ts'

/**
 * What the index of the log by time holds beside time. SQLite reads a row's values from its first on, so those that
 * lists are filtered by and no sum knows come first; and rows of one user are counted by it too.
 */
const BESIDE = [
  'metadata',
  'cost_nanousd',
  'prompt_tokens',
  'completion_tokens',
  'status',
  'cache_status',
  'outcome',
  'duration_ms',
  'provider',
  'model',
  'user_id',
]

export const logLists: Migration = {
  name: '0018_log_lists',
  area: 'traffic',
  async up(db, kind) {
    if (kind === 'postgres') return // has no such index (0016)
    await sql`drop index traffic.logs_by_time`.execute(db)
    await sql`create index traffic.logs_by_time on logs (workspace_id, created_at, id, ${sql.raw(BESIDE.join(', '))})`.execute(
      db,
    )
  },
}
