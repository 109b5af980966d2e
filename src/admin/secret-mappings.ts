import {Refusal} from '../base/errors.ts'
import type {KeptSecretMappings} from '../schema/secret-mappings.ts'
import type {Db} from '../store/database.ts'
import {findSecretReference} from '../store/secret-references.ts'
import {isAllowedIn} from './allowed-workspaces.ts'

/** The owner of the fields; `workspace_id` is null for those of the organisation. */
interface Owner {
  readonly organisation_id: string
  readonly workspace_id: string | null
}

/** Mappings as they are kept: references by id. Each must be known, and be for the workspace that its owner is of. */
export async function mappingsColumn(
  db: Db,
  {organisation_id, workspace_id}: Owner,
  mappings: KeptSecretMappings,
): Promise<string> {
  const kept = []
  for (const [at, mapping] of mappings.entries()) {
    const value = mapping.secret_reference_id
    const reference = await findSecretReference(db, organisation_id, value)
    if (!reference || (workspace_id !== null && !(await isAllowedIn(db, reference, workspace_id))))
      throw new Refusal('parent.not_found', {
        field: `secret_mappings[${at}].secret_reference_id`,
        object: 'secret reference',
        value,
      })
    kept.push({...mapping, secret_reference_id: reference.id})
  }
  return JSON.stringify(kept)
}

/** As replies show them. */
export function mappingsOf(column: string): KeptSecretMappings {
  return JSON.parse(column) as KeptSecretMappings
}
