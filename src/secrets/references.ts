import {isObject, parsed} from '../base/json-object.ts'
import type {Seal} from '../base/seal.ts'
import type {Manager} from '../schema/secret-references.ts'
import {allowedWorkspaces} from '../store/allowed-workspaces.ts'
import type {Db} from '../store/database.ts'
import {openLogin, secretReferenceById} from '../store/secret-references.ts'
import type {SecretReferencesTable} from '../store/tables/registry.ts'
import {hashOf} from './managers/login-memory.ts'
import type {SecretPlace} from './managers/reading.ts'

/** A reference as calls need it. */
export interface KnownReference {
  readonly id: string
  readonly organisation_id: string
  readonly slug: string
  readonly manager_type: Manager
  readonly secret_key: string | null
  /** Workspaces that may use it; null: all. */
  readonly allowed: ReadonlySet<string> | null
  /** Another after each change of its row. */
  readonly revision: string
  /** Opens its login: for the moment of a fetch. */
  place(): SecretPlace
}

/** The reference of this id in use; undefined where there is none. */
export async function readReference(db: Db, seal: Pick<Seal, 'open'>, id: string): Promise<KnownReference | undefined> {
  const row = await secretReferenceById(db, id)
  if (!row) return undefined
  const allowed = row.allow_all_workspaces === 1 ? null : new Set(await allowedWorkspaces(db, row.id))
  return knownReference(row, allowed, seal)
}

export function knownReference(
  row: SecretReferencesTable,
  allowed: ReadonlySet<string> | null,
  seal: Pick<Seal, 'open'>,
): KnownReference {
  const {id, organisation_id, slug, manager_type, secret_key, secret_path: path} = row
  const sealed = row.auth_config_sealed ? Buffer.from(row.auth_config_sealed).toString('base64') : null
  const of_row = [slug, secret_key, path, row.auth_config, sealed, row.last_updated_at, allowed && [...allowed].sort()]
  return {
    ...{id, organisation_id, slug, manager_type, secret_key, allowed},
    revision: hashOf(of_row),
    place: () => ({manager_type, path, login: {...plainOf(row.auth_config), ...openLogin(seal, row)}}),
  }
}

/** Masks are beside the fields that are not sealed. */
function plainOf(auth_config: string): Record<string, unknown> {
  const plain = parsed(auth_config)
  return isObject(plain)
    ? Object.fromEntries(Object.entries(plain).filter(([name]) => !name.startsWith('masked_')))
    : {}
}
