import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import type {ApiKeyKind, ApiKeysTable, WorkspacesTable} from './tables/identity.ts'

/** A key and the status of its workspace, null for an admin key. */
export interface FoundKey extends ApiKeysTable {
  readonly workspace_status: WorkspacesTable['status'] | null
}

/** The rows that a caller may touch: of these kinds, in this organisation, in this workspace where one is named. */
export interface KeyReach {
  readonly organisation_id: string
  readonly workspace_id: string | null
  readonly kinds: readonly ApiKeyKind[]
}

/**
 * The key whose SHA-256 is `hash` (64 hex digits), whatever its status and expiry, unless it was deleted; undefined when there
 * is none. The caller decides what an expired key may still do.
 */
export function findKeyByHash(db: Db, hash: string): Promise<FoundKey | undefined> {
  return db
    .selectFrom('api_keys')
    .leftJoin('workspaces', 'workspaces.id', 'api_keys.workspace_id')
    .selectAll('api_keys')
    .select('workspaces.status as workspace_status')
    .where('key_hash', '=', hash)
    .where('api_keys.status', '<>', 'archived')
    .executeTakeFirst()
}

export async function insertKey(db: Db, row: ApiKeysTable) {
  await db.insertInto('api_keys').values(row).execute()
}

/** A key within reach that was not deleted. */
export function findKey(db: Db, reach: KeyReach, id: string): Promise<ApiKeysTable | undefined> {
  return within(db, reach).selectAll().where('id', '=', id).executeTakeFirst()
}

/** Newest first. */
export async function listKeys(db: Db, reach: KeyReach, page: Page): Promise<Paged<ApiKeysTable>> {
  const {n} = await within(db, reach)
    .select(e => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const rows = await within(db, reach)
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(page.page_size)
    .offset(page.current_page * page.page_size)
    .execute()
  return {total: Number(n), rows}
}

export async function updateKey(db: Db, id: string, change: Partial<ApiKeysTable>) {
  await db.updateTable('api_keys').set(change).where('id', '=', id).execute()
}

function within(db: Db, {organisation_id, workspace_id, kinds}: KeyReach) {
  const query = db
    .selectFrom('api_keys')
    .where('organisation_id', '=', organisation_id)
    .where('kind', 'in', [...kinds])
    .where('status', '<>', 'archived')
  return workspace_id === null ? query : query.where('workspace_id', '=', workspace_id)
}
