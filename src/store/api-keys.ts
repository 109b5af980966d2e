import {sql} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {anyOf, paged} from './rows.ts'
import type {ApiKeyKind, ApiKeysTable, WorkspacesTable} from './tables/identity.ts'

/** A key and the status of its workspace, null for an admin key. */
export interface FoundKey extends ApiKeysTable {
  readonly workspace_status: WorkspacesTable['status'] | null
  /** Of the organisation (`KeptAuth`), for the key of a user alone. */
  readonly organisation_auth: string | null | undefined
  /** True when it was found by the secret it had before it was rotated. */
  readonly is_previous: boolean
}

/** The rows that a caller may touch: of these kinds, in this organisation, in this workspace where one is named. */
export interface KeyReach {
  readonly organisation_id: string
  readonly workspace_id: string | null
  readonly kinds: readonly ApiKeyKind[]
  /** Those of this user alone. */
  readonly user_id?: string | undefined
}

/**
 * The key whose SHA-256 is `hash` (64 hex digits), whatever its status and expiry, unless it was deleted; undefined
 * when there is none. The caller decides what an expired key may still do.
 */
export async function findKeyByHash(db: Db, hash: string): Promise<FoundKey | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .leftJoin('workspaces', 'workspaces.id', 'api_keys.workspace_id')
    .leftJoin('organisations', join =>
      join.onRef('organisations.id', '=', 'api_keys.organisation_id').on('api_keys.user_id', 'is not', null),
    )
    .selectAll('api_keys')
    .select(['workspaces.status as workspace_status', 'organisations.auth as organisation_auth'])
    .where(e => e.or([e('key_hash', '=', hash), e('previous_key_hash', '=', hash)]))
    .where('api_keys.status', '<>', 'archived')
    .executeTakeFirst()
  return row && {...row, is_previous: row.key_hash !== hash}
}

/** Until when the secret works that a key was found by (ISO 8601 UTC); null: without end. */
export function workedUntil({expires_at, is_previous, previous_key_expires_at}: FoundKey): string | null {
  const replaced_at = is_previous ? (previous_key_expires_at ?? null) : null
  if (expires_at === null || replaced_at === null) return expires_at ?? replaced_at
  return expires_at < replaced_at ? expires_at : replaced_at
}

export async function insertKey(db: Db, row: ApiKeysTable) {
  await db.insertInto('api_keys').values(row).execute()
}

/** A key within reach that was not deleted. */
export function findKey(db: Db, reach: KeyReach, id: string): Promise<ApiKeysTable | undefined> {
  return within(db, reach).selectAll().where('id', '=', id).executeTakeFirst()
}

/** Newest first. */
export function listKeys(db: Db, reach: KeyReach, page: Page): Promise<Paged<ApiKeysTable>> {
  return paged(within(db, reach).selectAll().orderBy('created_at', 'desc').orderBy('id'), page)
}

export async function updateKey(db: Db, id: string, change: Partial<ApiKeysTable>) {
  await db.updateTable('api_keys').set(change).where('id', '=', id).execute()
}

/** How many user keys there are in a workspace. */
export async function countUserKeys(db: Db, workspace_id: string): Promise<number> {
  const {n} = await db
    .selectFrom('api_keys')
    .select(e => e.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspace_id)
    .where('kind', '=', 'workspace-user')
    .where('status', '<>', 'archived')
    .executeTakeFirstOrThrow()
  return Number(n)
}

function within(db: Db, {organisation_id, workspace_id, kinds, user_id}: KeyReach) {
  // The few keys of a workspace have an index of their own, which is taken only where the organisation's cannot be.
  const organisation = workspace_id === null ? sql.ref('organisation_id') : sql`organisation_id || ''`
  let query = db
    .selectFrom('api_keys')
    .where(organisation, '=', organisation_id)
    .where('kind', 'in', anyOf(kinds))
    .where('status', '<>', 'archived')
  if (user_id !== undefined) query = query.where('user_id', '=', user_id)
  return workspace_id === null ? query : query.where('workspace_id', '=', workspace_id)
}

/** The keys that a user has in a workspace, or in all of an organisation, work no longer. */
export async function archiveUserKeys(
  db: Db,
  user_id: string,
  within: {readonly workspace_id: string} | {readonly organisation_id: string},
  now: string,
) {
  const keys = db.updateTable('api_keys').set({status: 'archived', last_updated_at: now}).where('user_id', '=', user_id)
  const theirs =
    'workspace_id' in within
      ? keys.where('workspace_id', '=', within.workspace_id)
      : keys.where('organisation_id', '=', within.organisation_id)
  await theirs.where('status', '<>', 'archived').execute()
}

/** The keys of a user in an organisation that are not archived, with their workspaces, newest first; at most 200. */
export function keysOfUser(db: Db, organisation_id: string, user_id: string) {
  return db
    .selectFrom('api_keys as k')
    .innerJoin('workspaces as w', 'w.id', 'k.workspace_id')
    .select(['k.id', 'k.name', 'k.key_masked', 'k.status', 'k.expires_at', 'k.created_at', 'k.workspace_id'])
    .select(['w.slug as workspace_slug', 'w.name as workspace_name'])
    .where('k.organisation_id', '=', organisation_id)
    .where('k.user_id', '=', user_id)
    .where('k.status', '<>', 'archived')
    .orderBy('k.created_at', 'desc')
    .orderBy('k.id')
    .limit(200)
    .execute()
}
