import {Refusal} from '../../base/errors.ts'
import {SECRET_SETTINGS} from '../../providers/configurations.ts'
import {movedBy, usesHouse, usesKey} from '../../providers/places.ts'
import type {KeptSecretMappings} from '../../schema/secret-mappings.ts'
import {hasMask} from '../../schema/secrets.ts'
import type {IntegrationsTable} from '../../store/tables/catalog.ts'
import {checkMappedPlace} from '../secret-mappings.ts'
import type {Actor} from '../services.ts'
import {isAdmin} from '../tenancy.ts'

/** An integration as far as its credentials go; `ai_provider_id` is the kind. */
export interface CredentialsOwner {
  readonly id: string
  readonly organisation_id: string
  readonly ai_provider_id: string
  /** True for the one that a virtual key has of its own. */
  readonly is_hidden?: number
}

export interface CredentialsInput {
  readonly key?: string | null | undefined
  readonly configurations?: Readonly<Record<string, unknown>> | undefined
  readonly secret_mappings?: KeptSecretMappings | undefined
}

type Settings = Readonly<Record<string, unknown>>
type Changed = Partial<Pick<IntegrationsTable, 'key_sealed' | 'configurations'>>

/**
 * Refuses (`secret.required`) a change of an integration's place or login that takes secrets along which its caller
 * does not give again: otherwise a caller who may change an integration would read its key at a host of their own. A
 * mapped reference and the gateway's own identity cannot be given again: only callers who could have put them there may
 * move them.
 */
export function checkPlace(
  {ai_provider_id: kind, is_hidden}: CredentialsOwner,
  given: CredentialsInput,
  columns: Changed,
  actor: Actor,
  before?: IntegrationsTable,
): void {
  const after = JSON.parse(columns.configurations ?? before?.configurations ?? '{}') as Settings
  const earlier = before ? (JSON.parse(before.configurations) as Settings) : {}
  const place = movedBy(kind, earlier, after)
  const member = is_hidden ? 'model_config' : 'configurations'
  const chosen = movedBy(kind, {}, after)
  const mapped = {
    given: given.secret_mappings,
    before: before?.secret_mappings,
    moved: place && `${member}.${place}`,
    place: chosen && `${member}.${chosen}`,
  }
  checkMappedPlace(mapped, actor)
  if (place === null) return
  if (usesHouse(kind, after) && !isAdmin(actor)) {
    const reason = `the gateway’s own identity logs in where ${member}.${place} says`
    throw new Refusal('secret.required', {
      reason,
      remedy: 'An owner, an admin or the operator may change that; or bring credentials.',
    })
  }
  if (!before) return
  const kept = keptSecret(kind, member, given, columns, after, before)
  if (kept !== null) {
    const again =
      kept === 'key'
        ? 'Terraform: raise `key_version`; `apply`: give the reference a value'
        : '`apply`: give the reference a value'
    const reason = `${kept} would go to another place, as ${member}.${place} changes`
    throw new Refusal('secret.required', {
      reason,
      remedy: `Send \`${kept}\` again, not its mask (${again}), or take it away.`,
    })
  }
}

/** The first secret that stays in use and is not given again. */
function keptSecret(
  kind: string,
  member: string,
  given: CredentialsInput,
  columns: Changed,
  after: Settings,
  before: IntegrationsTable,
): string | null {
  const is_given = given.key !== undefined && !hasMask(given.key)
  if (!is_given && before.key_sealed !== null && columns.key_sealed !== null && usesKey(kind, after)) return 'key'
  const masked = SECRET_SETTINGS.find(name => hasMask(given.configurations?.[name]))
  return masked === undefined ? null : `${member}.${masked}`
}
