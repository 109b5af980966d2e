import type {Db} from './database.ts'
import {firstIdFrom} from './retention.ts'
import type {LogObjectsTable} from './tables/traffic.ts'

const MAX_IDS = 500

/** The objects that hold the bodies of these rows, for those in a store of objects. */
export async function findLogObjects(db: Db, log_ids: readonly string[]): Promise<LogObjectsTable[]> {
  const found: LogObjectsTable[] = []
  for (let at = 0; at < log_ids.length; at += MAX_IDS) {
    const some = log_ids.slice(at, at + MAX_IDS)
    found.push(...(await db.selectFrom('traffic.log_objects').selectAll().where('log_id', 'in', some).execute()))
  }
  return found
}

/**
 * Notes that bodies were put there. Of a row that was put twice the last counts: it is where what was written last
 * lies.
 */
export async function insertLogObjects(db: Db, objects: readonly LogObjectsTable[]): Promise<void> {
  if (objects.length === 0) return
  await db
    .insertInto('traffic.log_objects')
    .values([...objects])
    .onConflict(conflict =>
      conflict.column('log_id').doUpdateSet(e => ({
        key: e.ref('excluded.key'),
        format: e.ref('excluded.format'),
        bytes: e.ref('excluded.bytes'),
        created_at: e.ref('excluded.created_at'),
      })),
    )
    .execute()
}

/** The oldest of those that belong to rows made before `before_ms`, behind the row `after`. */
export function oldLogObjects(db: Db, before_ms: number, after: string, limit: number): Promise<LogObjectsTable[]> {
  return db
    .selectFrom('traffic.log_objects')
    .selectAll()
    .where('log_id', '<', firstIdFrom(before_ms))
    .where('log_id', '>', after)
    .orderBy('log_id')
    .limit(limit)
    .execute()
}

export async function forgetLogObjects(db: Db, log_ids: readonly string[]): Promise<void> {
  if (log_ids.length > 0) await db.deleteFrom('traffic.log_objects').where('log_id', 'in', log_ids).execute()
}

/** The members of a row of the log from which the key of its object is made. */
export interface RowOfBodies {
  readonly id: string
  readonly created_at: string
  readonly organisation_id: string
  readonly workspace_slug: string
}

/** The rows of these ids that are in the log. A workspace that is not there any more stands by its id. */
export async function rowsOfBodies(db: Db, log_ids: readonly string[]): Promise<RowOfBodies[]> {
  const found: RowOfBodies[] = []
  for (let at = 0; at < log_ids.length; at += MAX_IDS) {
    const some = log_ids.slice(at, at + MAX_IDS)
    found.push(...(await namedRows(db).where('logs.id', 'in', some).execute()))
  }
  return found
}

function namedRows(db: Db) {
  return db
    .selectFrom('traffic.logs as logs')
    .leftJoin('workspaces', 'workspaces.id', 'logs.workspace_id')
    .select(e => [
      'logs.id',
      'logs.created_at',
      'logs.organisation_id',
      e.fn.coalesce('workspaces.slug', 'logs.workspace_id').as('workspace_slug'),
    ])
}
