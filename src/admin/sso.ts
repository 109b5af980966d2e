import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {DEFAULTS_OF, readConnection, SECRETS, type SsoConnection, secretsPlace} from '../identity/connections.ts'
import {type ConnectionType, LdapConnection, OidcConnection, SamlConnection} from '../schema/connections.ts'
import {type ConnectionShown, type ConnectionUpdate, HIDDEN, type SsoChange, type SsoShown} from '../schema/sso.ts'
import {fieldPath} from '../schema/validation-message.ts'
import {deleteConnection, insertConnection, listConnections, updateConnection} from '../store/connections.ts'
import {revokeSessionsBy} from '../store/sessions.ts'
import type {ConnectionsTable} from '../store/tables/sign-in.ts'
import {makesOwners} from './makes-owners.ts'
import type {OperationCall} from './operation.ts'
import {invalid} from './tenancy.ts'

type Call = Pick<OperationCall, 'actor' | 'db' | 'app' | 'now'>
type Values = Readonly<Record<string, unknown>>

const SHAPES = {oidc: OidcConnection, saml: SamlConnection, ldap: LdapConnection} as const
/** The fields that decide the server, and the login there: secrets do not move along by themselves. */
const PLACES: Readonly<Record<ConnectionType, readonly string[]>> = {
  oidc: ['issuer', 'client_id'],
  saml: [],
  ldap: ['url', 'bind_dn', 'ca', 'start_tls'],
}
/** Fields that decide for which people a connection speaks: a change ends the sessions of before. */
const SPEAKERS: readonly string[] = ['issuer', 'entity_id', 'metadata_url', 'url']

/** The connections of an organisation as they are shown: secrets as `***`. */
export async function shownSso(call: Call, required: boolean): Promise<SsoShown> {
  const {actor, db, app} = call
  const rows = await listConnections(db, actor.organisation_id)
  const of_environment = app.environment_connection?.organisation_id === actor.organisation_id
  const known = of_environment ? [app.environment_connection!] : rows.map(row => readConnection(row, app.seal))
  const connections = known.map(shownConnection)
  const [first] = connections
  const {id: _, name: __, domains: ___, lets_owners_in: ____, ...single} = first ?? ({} as ConnectionShown)
  return {
    ...{required, source: of_environment ? 'environment' : 'stored', revision: revisionOf(rows)},
    ...{enabled: single.enabled ?? false, type: single.type ?? null},
    ...kindsOf(single),
    connections,
  }
}

function kindsOf({oidc, saml, ldap}: Partial<ConnectionShown>) {
  return {...(oidc && {oidc}), ...(saml && {saml}), ...(ldap && {ldap})}
}

/** A connection without its secrets. */
export function shownConnection(connection: SsoConnection): ConnectionShown {
  const {id, name, type, is_enabled, domains, lets_owners_in, settings} = connection
  const shown = Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [key, SECRETS[type].includes(key) && value ? HIDDEN : value]),
  )
  return {id, name, type, enabled: is_enabled, domains: [...domains], lets_owners_in, [type]: shown}
}

/** Grows with every change of any of them, and with one that comes or goes. */
function revisionOf(rows: readonly ConnectionsTable[]): number {
  return rows.reduce((sum, {revision}) => sum + Number(revision), 0)
}

/** Writes the connections that a change says. */
export async function changeConnections(call: Call, change: SsoChange): Promise<void> {
  const {actor, db} = call
  const rows = await listConnections(db, actor.organisation_id)
  if (change.revision !== undefined && change.revision !== revisionOf(rows))
    throw new Refusal('row.unfit', {reason: 'The connections were changed meanwhile. Read them again.'})
  if (change.connections) return replaceAll(call, rows, change.connections)
  const {enabled, type, oidc, saml, ldap} = change
  if ([enabled, type, oidc, saml, ldap].every(each => each === undefined)) return
  const [first] = rows
  if (type === null) {
    if (first) await remove(call, first)
    return
  }
  const one = {
    ...(enabled !== undefined && {enabled}),
    ...(type && {type}),
    ...(oidc && {oidc}),
    ...(saml && {saml}),
    ...(ldap && {ldap}),
  }
  await write(call, {before: first, change: {name: first?.name ?? 'default', ...one}, position: 0, path: 'sso'})
}

async function replaceAll(call: Call, rows: readonly ConnectionsTable[], wanted: readonly ConnectionUpdate[]) {
  const kept = new Set<string>()
  const names = new Set<string>()
  for (const [position, change] of wanted.entries()) {
    const path = `sso.connections[${position}]`
    const before = rows.find(({id, name}) => (change.id === undefined ? name === change.name : id === change.id))
    if (change.id !== undefined && !before) throw invalid(`${path}.id`, 'is no connection of the organisation')
    const name = change.name ?? before?.name
    if (name === undefined) throw invalid(`${path}.name`, 'is required for a new connection')
    if (names.has(name)) throw invalid(`${path}.name`, 'is there twice')
    names.add(name)
    if (before) kept.add(before.id)
    await write(call, {before, change: {...change, name}, position, path})
  }
  for (const row of rows) if (!kept.has(row.id)) await remove(call, row)
}

interface ConnectionWrite {
  readonly before: ConnectionsTable | undefined
  readonly change: ConnectionUpdate & {readonly name: string}
  readonly position: number
  readonly path: string
}

async function write(call: Call, {before, change, position, path}: ConnectionWrite): Promise<void> {
  const {actor, app, db, now} = call
  const type = change.type ?? before?.type
  if (type === undefined) throw invalid(`${path}.type`, 'is required for a new connection')
  const is_same_kind = before?.type === type
  const known = before && is_same_kind ? readConnection(before, app.seal) : undefined
  const given = change[type]
  const earlier: Values = known ? known.settings : {}
  const after = merged(type, earlier, given)
  const settings = checked(type, after, `${path}.${type}`)
  if (known) requireSecrets(type, earlier, settings, given ?? {}, `${path}.${type}`)
  const is_moved =
    !known || Object.keys(settings).some(key => JSON.stringify(settings[key]) !== JSON.stringify(earlier[key]))
  const power = await makesOwners(call)
  const lets_owners_in = power && given !== undefined ? 1 : is_moved ? (power ? 1 : 0) : (before?.lets_owners_in ?? 0)
  const id = before?.id ?? newId()
  const {organisation_id} = actor
  const row: ConnectionsTable = {
    ...{id, organisation_id, name: change.name, type, position, lets_owners_in},
    is_enabled: (change.enabled ?? (before ? before.is_enabled === 1 : true)) ? 1 : 0,
    domains: JSON.stringify(change.domains ?? (before ? (JSON.parse(before.domains) as string[]) : [])),
    settings: JSON.stringify(without(settings, SECRETS[type])),
    secrets: sealedSecrets(call, {id, organisation_id}, type, settings),
    revision: Number(before?.revision ?? 0) + 1,
    ...{created_at: before?.created_at ?? now, last_updated_at: now},
  }
  if (!before) return insertConnection(db, row)
  const is_unchanged = !is_moved && is_same_kind && isSame(row, before)
  if (is_unchanged && row.position === Number(before.position)) return
  await updateConnection(db, id, is_unchanged ? {position} : row)
  const speaks_for_others =
    !known || SPEAKERS.some(key => JSON.stringify(settings[key]) !== JSON.stringify(earlier[key]))
  if (speaks_for_others) await revokeSessionsBy(db, organisation_id, id, now)
}

async function remove({db, actor, now}: Call, {id}: ConnectionsTable) {
  await deleteConnection(db, id)
  await revokeSessionsBy(db, actor.organisation_id, id, now)
}

function isSame(row: ConnectionsTable, before: ConnectionsTable): boolean {
  return (['name', 'is_enabled', 'domains', 'lets_owners_in'] as const).every(key => row[key] === before[key])
}

/** A member that is absent stays, and so does the mask of a secret; `null` goes back to the default. */
function merged(type: ConnectionType, earlier: Values, given: Values | undefined): Values {
  const result: Record<string, unknown> = {...DEFAULTS_OF[type], ...earlier}
  for (const [key, value] of Object.entries(given ?? {})) {
    if (value === undefined || (value === HIDDEN && SECRETS[type].includes(key))) continue
    result[key] = value === null ? DEFAULTS_OF[type][key] : value
  }
  return result
}

function checked(type: ConnectionType, settings: Values, path: string): Values {
  const result = SHAPES[type].safeParse(settings)
  if (!result.success) {
    const [issue] = result.error.issues
    throw invalid(`${path}.${fieldPath(issue!.path)}`, `is not valid: ${issue!.message}`)
  }
  if (type === 'saml' && (settings.metadata_url === null) === (settings.metadata_xml === null))
    throw invalid(`${path}.metadata_url`, 'or metadata_xml has to be given, and not both')
  return result.data as Values
}

/** A move of a connection to another server needs again the secrets that the server will see. */
function requireSecrets(type: ConnectionType, earlier: Values, settings: Values, given: Values, path: string) {
  const moved = PLACES[type].find(key => JSON.stringify(settings[key]) !== JSON.stringify(earlier[key]))
  if (moved === undefined) return
  const is_safer = moved === 'start_tls' && settings.start_tls === true
  const kept = SECRETS[type].find(key => settings[key] && (given[key] === undefined || given[key] === HIDDEN))
  if (is_safer || kept === undefined) return
  throw new Refusal('secret.required', {
    reason: `${path}.${kept} would go to another place, as ${path}.${moved} changes`,
    remedy: `Send \`${kept}\` again, not its mask.`,
  })
}

function sealedSecrets(
  {app}: Call,
  place: {readonly id: string; readonly organisation_id: string},
  type: ConnectionType,
  settings: Values,
): Uint8Array | null {
  const secrets = Object.fromEntries(SECRETS[type].flatMap(key => (settings[key] ? [[key, settings[key]]] : [])))
  if (Object.keys(secrets).length === 0) return null
  return app.seal.close(JSON.stringify(secrets), secretsPlace(place.id, place.organisation_id))
}

function without(settings: Values, names: readonly string[]): Values {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !names.includes(key)))
}
