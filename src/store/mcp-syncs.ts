import type {Db} from './database.ts'
import type {McpIntegrationsTable, McpSyncsTable} from './tables/registry.ts'

/** When servers of integrations are read, and by which process: one at a time of each. */

export type SyncCause = McpSyncsTable['cause']

/** A sync that a server's notice causes comes no sooner after the last such one. */
const NOTICE_MS = 5_000
/** The same once three of them in a row found nothing. */
const QUIET_NOTICE_MS = 60_000
const MOST_QUIET = 3

/**
 * Has an integration's server read soon: at once, or for a notice of the server as soon as these may come again. Gives
 * the time at which it is due. A sync that is due sooner stays due then.
 */
export async function requestMcpSync(
  db: Db,
  mcp_integration_id: string,
  cause: SyncCause,
  now_ms: number,
): Promise<number> {
  const row = await findMcpSync(db, mcp_integration_id)
  const due_ms = cause === 'notice' && row ? Math.max(now_ms, nextNoticeMs(row)) : now_ms
  if (!row) {
    await db
      .insertInto('mcp_syncs')
      .values({...IDLE, mcp_integration_id, due_at: isoAt(due_ms), cause})
      .onConflict(conflict => conflict.column('mcp_integration_id').doUpdateSet({due_at: isoAt(due_ms), cause}))
      .execute()
    return due_ms
  }
  if (row.due_at !== null && Date.parse(row.due_at) <= due_ms) return Date.parse(row.due_at)
  await db
    .updateTable('mcp_syncs')
    .set({due_at: isoAt(due_ms), cause})
    .where('mcp_integration_id', '=', mcp_integration_id)
    .execute()
  return due_ms
}

function nextNoticeMs({noticed_at, quiet_notices}: McpSyncsTable): number {
  if (noticed_at === null) return 0
  return Date.parse(noticed_at) + (quiet_notices >= MOST_QUIET ? QUIET_NOTICE_MS : NOTICE_MS)
}

export function findMcpSync(db: Db, mcp_integration_id: string): Promise<McpSyncsTable | undefined> {
  return db.selectFrom('mcp_syncs').selectAll().where('mcp_integration_id', '=', mcp_integration_id).executeTakeFirst()
}

/** A process's hold of a sync. */
export interface SyncHold {
  readonly mcp_integration_id: string
  readonly holder: string
  readonly now_ms: number
}

export interface ClaimedSync {
  readonly cause: SyncCause
  /** Its server gave notice of changes several times, and there were none. */
  readonly is_noisy: boolean
}

/**
 * Takes a sync that is due, until `until_ms`; null where it is not due, or another process has it. One
 * that was left by a process which ended is due again.
 */
export async function claimMcpSync(
  db: Db,
  {mcp_integration_id, holder, now_ms}: SyncHold,
  until_ms: number,
): Promise<ClaimedSync | null> {
  const row = await findMcpSync(db, mcp_integration_id)
  if (!row) return null
  const {numUpdatedRows} = await db
    .updateTable('mcp_syncs')
    .set({
      ...{due_at: null, held_by: holder, held_until: isoAt(until_ms)},
      ...(row.cause === 'notice' && {noticed_at: isoAt(now_ms)}),
    })
    .where('mcp_integration_id', '=', mcp_integration_id)
    .where('cause', '=', row.cause)
    .where(e => e.or([e('held_until', 'is', null), e('held_until', '<=', isoAt(now_ms))]))
    .where(e =>
      e.or([e('due_at', '<=', isoAt(now_ms)), e.and([e('due_at', 'is', null), e('held_by', 'is not', null)])]),
    )
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) return null
  return {cause: row.cause, is_noisy: row.cause === 'notice' && row.quiet_notices >= MOST_QUIET - 1}
}

/** Gives a sync back; the next is due at `next_ms`, unless one was requested meanwhile. Gives the time of the next. */
export async function endMcpSync(
  db: Db,
  {mcp_integration_id, holder}: SyncHold,
  {cause, found_difference, next_ms}: {cause: SyncCause; found_difference: boolean; next_ms: number},
): Promise<number> {
  const row = await findMcpSync(db, mcp_integration_id)
  if (row?.held_by !== holder) return next_ms
  const quiet = found_difference ? 0 : row.quiet_notices + (cause === 'notice' ? 1 : 0)
  await db
    .updateTable('mcp_syncs')
    .set({
      ...{held_by: null, held_until: null, quiet_notices: Math.min(quiet, MOST_QUIET)},
      ...(row.due_at === null && {due_at: isoAt(next_ms), cause: 'schedule' as const}),
    })
    .where('mcp_integration_id', '=', mcp_integration_id)
    .where('held_by', '=', holder)
    .execute()
  return row.due_at === null ? next_ms : Date.parse(row.due_at)
}

/** Ids of integrations with an active server that are due, or were left by a process that ended. */
export async function dueMcpSyncs(db: Db, now_ms: number, most: number): Promise<readonly string[]> {
  const now = isoAt(now_ms)
  const rows = await served(db)
    .innerJoin('mcp_syncs as y', 'y.mcp_integration_id', 'i.id')
    .select('i.id')
    .where(e => e.or([e('y.held_until', 'is', null), e('y.held_until', '<=', now)]))
    .where(e => e.or([e('y.due_at', '<=', now), e.and([e('y.due_at', 'is', null), e('y.held_by', 'is not', null)])]))
    .orderBy('y.due_at')
    .limit(most)
    .execute()
  return rows.map(({id}) => id)
}

/** Ids of integrations with an active server that no sync was ever planned for. */
export async function unplannedMcpSyncs(db: Db, most: number): Promise<readonly string[]> {
  const rows = await served(db)
    .leftJoin('mcp_syncs as y', 'y.mcp_integration_id', 'i.id')
    .select('i.id')
    .where('y.mcp_integration_id', 'is', null)
    .limit(most)
    .execute()
  return rows.map(({id}) => id)
}

function served(db: Db) {
  return db
    .selectFrom('mcp_integrations as i')
    .where('i.status', '=', 'active')
    .where('i.is_virtual', '=', 0)
    .where(e =>
      e.exists(
        e
          .selectFrom('mcp_servers as s')
          .select('s.id')
          .whereRef('s.mcp_integration_id', '=', 'i.id')
          .where('s.status', '=', 'active'),
      ),
    )
}

/** The active integration of this id. */
export function findSyncedIntegration(db: Db, id: string): Promise<McpIntegrationsTable | undefined> {
  return db
    .selectFrom('mcp_integrations')
    .selectAll()
    .where('id', '=', id)
    .where('status', '=', 'active')
    .where('is_virtual', '=', 0)
    .executeTakeFirst()
}

const IDLE = {noticed_at: null, quiet_notices: 0, held_by: null, held_until: null}

const isoAt = (ms: number) => new Date(ms).toISOString()
