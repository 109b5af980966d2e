import type {Seal} from '../base/seal.ts'
import type {Page, Paged} from '../schema/paging.ts'
import type {Tags} from '../schema/tags.ts'
import type {Db} from './database.ts'
import {called, mentioning, paged, slugFirst} from './rows.ts'
import type {SecretReferencesTable} from './tables/registry.ts'
import {tagged} from './tags.ts'

type Owner = Pick<SecretReferencesTable, 'id' | 'organisation_id'>

/** The secret fields of a login, sealed; null where there are none. */
export function sealLogin(seal: Seal, row: Owner, secrets: Readonly<Record<string, unknown>>): Uint8Array | null {
  return Object.keys(secrets).length ? seal.close(JSON.stringify(secrets), place(row)) : null
}

/** The secret fields of a row's login, in plain: for the moment of a call, never to be shown. */
export function openLogin(
  seal: Pick<Seal, 'open'>,
  row: Owner & Pick<SecretReferencesTable, 'auth_config_sealed'>,
): Record<string, unknown> {
  return row.auth_config_sealed ? JSON.parse(seal.open(row.auth_config_sealed, place(row))) : {}
}

function place({id, organisation_id}: Owner) {
  return {table: 'secret_references', column: 'auth_config_sealed', row: id, organisation_id}
}

export async function insertSecretReference(db: Db, row: SecretReferencesTable) {
  await db.insertInto('secret_references').values(row).execute()
}

export async function updateSecretReference(db: Db, id: string, change: Partial<SecretReferencesTable>) {
  await db.updateTable('secret_references').set(change).where('id', '=', id).execute()
}

/** The reference of the organisation whose slug or id is `named`. Archived ones are not found. */
export function findSecretReference(
  db: Db,
  organisation_id: string,
  named: string,
): Promise<SecretReferencesTable | undefined> {
  return db
    .selectFrom('secret_references')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
    .where(called(named))
    .orderBy(slugFirst(named))
    .executeTakeFirst()
}

/** By id; archived ones are not found. */
export function secretReferenceById(db: Db, id: string): Promise<SecretReferencesTable | undefined> {
  return db
    .selectFrom('secret_references')
    .selectAll()
    .where('id', '=', id)
    .where('status', '=', 'active')
    .executeTakeFirst()
}

export interface SecretReferenceFilter {
  readonly organisation_id: string
  readonly manager_type?: SecretReferencesTable['manager_type'] | undefined
  readonly tags?: Tags | undefined
  readonly search?: string | undefined
}

/** Newest first. */
export function listSecretReferences(
  db: Db,
  filter: SecretReferenceFilter,
  page: Page,
): Promise<Paged<SecretReferencesTable>> {
  const {organisation_id, manager_type, tags = {}, search} = filter
  let matching = db
    .selectFrom('secret_references')
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
  if (manager_type) matching = matching.where('manager_type', '=', manager_type)
  if (search !== undefined) matching = matching.where(mentioning(['name', 'slug'], search))
  for (const [key, value] of Object.entries(tags)) matching = matching.where(tagged('tags', key, value))
  return paged(matching.selectAll().orderBy('created_at', 'desc').orderBy('id'), page)
}

/**
 * The users of a reference, whose fields it fills: slugs of the active integrations, of calls and of MCP, and names of
 * virtual keys.
 */
export async function secretReferenceUsers(db: Db, {id, organisation_id}: Owner): Promise<string[]> {
  const mapped = `%"${id}"%`
  const rows = await db
    .selectFrom('mcp_integrations')
    .select(['slug', 'name', e => e.val(0).as('is_hidden')])
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
    .where('secret_mappings', 'like', mapped)
    .unionAll(
      db
        .selectFrom('integrations')
        .select(['slug', 'name', 'is_hidden'])
        .where('organisation_id', '=', organisation_id)
        .where('status', '=', 'active')
        .where('secret_mappings', 'like', mapped),
    )
    .orderBy('slug')
    .execute()
  return rows.map(row => (Number(row.is_hidden) ? row.name : row.slug))
}
