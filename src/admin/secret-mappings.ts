import {Refusal} from '../base/errors.ts'
import {isAllowed} from '../identity/access.ts'
import type {KeptSecretMappings} from '../schema/secret-mappings.ts'
import type {Db} from '../store/database.ts'
import {findSecretReference} from '../store/secret-references.ts'
import {isAllowedIn} from './allowed-workspaces.ts'
import type {Actor} from './services.ts'
import {isAdmin} from './tenancy.ts'

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

/** Mappings, and where the values of their references would go. */
interface MappedPlace {
  /** The mappings of the request; undefined where it leaves them. */
  readonly given: KeptSecretMappings | undefined
  /** The column before; undefined for a new owner. */
  readonly before: string | undefined
  /** The field that names another place than before; null where none does. */
  readonly moved: string | null
  /** The field that names a place of its own; null where the values go to the vendor alone. */
  readonly place: string | null
}

/**
 * Refuses (`secret.required`) to send the value of a reference to a place that the caller chose, unless the caller has
 * a right to references: otherwise every author of an integration could read secrets at a host of their own.
 */
export function checkMappedPlace({given, before, moved, place}: MappedPlace, actor: Actor): void {
  const kept = before === undefined ? [] : mappingsOf(before)
  const mapped = given ?? kept
  const is_new = mapped.some(one => !kept.some(each => isSame(one, each)))
  const target = moved ?? (is_new ? place : null)
  if (mapped.length === 0 || target === null || isAdmin(actor) || isAllowed(actor, ['secret_references.read'])) return
  const reason = `${mapped[0]!.target_field} is filled from a secret reference, which would go where ${target} says`
  const remedy =
    'That needs the scope secret_references.read, an owner, an admin or the operator; or send secret_mappings: [].'
  throw new Refusal('secret.required', {reason, remedy})
}

type Mapping = KeptSecretMappings[number]
const isSame = (one: Mapping, other: Mapping) =>
  one.target_field === other.target_field &&
  one.secret_reference_id === other.secret_reference_id &&
  one.secret_key === other.secret_key

/** As replies show them. */
export function mappingsOf(column: string): KeptSecretMappings {
  return JSON.parse(column) as KeptSecretMappings
}
