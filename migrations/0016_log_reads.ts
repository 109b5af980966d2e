import {sql} from 'kysely'
import {index, type Migration} from './support.ts'

/** What the index of the log by time holds beside time, so that rows are counted and summed by it alone. */
const BESIDE = [
  'status',
  'cache_status',
  'outcome',
  'prompt_tokens',
  'completion_tokens',
  'cost_nanousd',
  'duration_ms',
  'provider',
  'model',
  'metadata',
]

/**
 * Rows of before there were columns to sum by get theirs from their detail. On SQLite the index by time takes in what
 * graphs and counts read: a row is ten times as wide. PostgreSQL has a bound on the width of an index's rows, which
 * metadata may pass, and reads in parallel.
 */
export const logReads: Migration = {
  name: '0016_log_reads',
  area: 'traffic',
  async up(db, kind) {
    const told = (member: string) =>
      kind === 'sqlite' ? sql`detail ->> ${sql.lit(member)}` : sql`detail::json ->> ${sql.lit(member)}`
    const duration =
      kind === 'sqlite'
        ? sql`cast(round(${told('last_byte_ms')}) as integer)`
        : sql`round((${told('last_byte_ms')})::numeric)::bigint`
    await sql`update traffic.logs set duration_ms = ${duration}, cache_status = ${told('cache_status')} where duration_ms is null`.execute(
      db,
    )
    if (kind === 'postgres') return
    await sql`drop index traffic.logs_workspace_id_created_at_id`.execute(db)
    await sql`create index traffic.logs_by_time on logs (workspace_id, created_at, id, ${sql.raw(BESIDE.join(', '))})`.execute(
      db,
    )
  },
}

/** Keys are counted, and those before a page skipped, by the index of their order: a row with its scopes is wide. */
export const keyList: Migration = {
  name: '0016_key_list',
  area: 'control',
  async up(db, kind) {
    await sql`drop index api_keys_organisation_id_created_at`.execute(db)
    await index(db, kind, 'api_keys', ['organisation_id', 'created_at desc', 'id', 'kind', 'status'])
  },
}
