import {Refusal} from '../../base/errors.ts'
import {HOST_SETTINGS, SECRET_SETTINGS, settingsOf} from '../../providers/configurations.ts'
import {movedBy, usesHouse, withoutCredentials} from '../../providers/places.ts'
import {hasMask, maskAll, restored} from '../../schema/secrets.ts'
import {openCredentials} from '../../store/integrations.ts'
import {openPlace, type PlaceRow, sealPlace} from '../../store/row-places.ts'
import type {IntegrationsTable} from '../../store/tables/catalog.ts'
import {parsed} from '../parsed.ts'
import type {Actor, AdminServices} from '../services.ts'
import {invalid, isAdmin} from '../tenancy.ts'
import {checkHost} from './credentials.ts'

type Settings = Readonly<Record<string, unknown>>

/** The columns of a row above an integration that describe its place. */
export interface PlaceColumns {
  /** JSON object, its secrets masked; null for nothing. */
  readonly shown: string | null
  readonly sealed: Uint8Array | null
  readonly names_place: 1 | null
}

export interface RowPlace {
  readonly of: PlaceRow
  /** The name of the member in error messages. */
  readonly field: string
  readonly integration: IntegrationsTable
  readonly actor: Actor
  /** As the row is kept now; null for a new one. */
  readonly before: {readonly sealed: Uint8Array | null; readonly names_place: number | null} | null
}

/**
 * The columns of what a row above an integration says of its place. Members that are no settings of the kind are kept
 * without effect. Another place than the integration's is named by an owner, an admin or the operator; by others only
 * with a secret of their own, which then goes in place of the integration's. Refuses (`secret.required`) what would
 * take a secret elsewhere.
 */
export function placeColumns(
  app: AdminServices,
  given: Settings,
  {of, field, integration, actor, before}: RowPlace,
): PlaceColumns {
  const kept = before ? openPlace(app.seal, of, before.sealed) : {}
  const whole = restored(given, kept) as Settings
  const own = openCredentials(app.seal, integration).configurations
  const kind = integration.ai_provider_id
  const known = knownOf(kind, own, whole, field)
  const masked = SECRET_SETTINGS.find(name => hasMask(known[name]))
  if (masked) throw invalid(`${field}.${masked}`, 'holds the mask of a secret, not a secret')
  const after = {...own, ...known}
  const place = movedBy(kind, own, after)
  const changed = movedBy(kind, {...own, ...kept}, after)
  const reused = SECRET_SETTINGS.find(name => name in known && hasMask(given[name]))
  if (changed && reused)
    refuse(
      `${field}.${reused} would go to another place, as ${field}.${changed} changes`,
      `Send \`${field}.${reused}\` again, not its mask.`,
    )
  const names_place = changed ? isAdmin(actor) : before?.names_place === 1
  if (place && !names_place) {
    const where = `where ${field}.${place} says`
    if (usesHouse(kind, {...withoutCredentials(own), ...known}))
      refuse(`the gateway’s own identity would log in ${where}`, CURE)
    if (!SECRET_SETTINGS.some(name => name in known))
      refuse(`the credentials of ${integration.slug} would go ${where}`, CURE)
  }
  for (const name of HOST_SETTINGS)
    if (typeof known[name] === 'string') checkHost(app, integration.id, known[name] as string, names_place)
  const shown = Object.fromEntries(
    Object.entries(whole).map(([name, value]) => [name, SECRET_SETTINGS.includes(name) ? maskAll(value) : value]),
  )
  return {
    shown: Object.keys(shown).length ? JSON.stringify(shown) : null,
    sealed: sealPlace(app.seal, of, known),
    names_place: place && names_place ? 1 : null,
  }
}

const CURE =
  'An owner, an admin or the operator may say so; or give a secret of your own beside it, such as custom_headers.'

function refuse(reason: string, remedy: string): never {
  throw new Refusal('secret.required', {reason, remedy})
}

/** The members that are settings of the kind, as its schema reads them beside the integration's own. */
function knownOf(kind: string, own: Settings, given: Settings, field: string): Settings {
  const schema = settingsOf(kind)
  const tried = schema.safeParse({...own, ...given})
  const foreign = new Set(
    tried.error?.issues.flatMap(issue =>
      issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [],
    ),
  )
  const known = Object.fromEntries(Object.entries(given).filter(([name]) => !foreign.has(name)))
  const read = parsed(schema, {...own, ...known}, field) as Settings
  return Object.fromEntries(
    Object.entries(read).filter(
      ([name, value]) => name in known || JSON.stringify(value) !== JSON.stringify(own[name]),
    ),
  )
}
