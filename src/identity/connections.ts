import type {Seal} from '../base/seal.ts'
import {
  type ConnectionType,
  LDAP_DEFAULTS,
  type LdapSettings,
  OIDC_DEFAULTS,
  type OidcSettings,
  SAML_DEFAULTS,
  type SamlSettings,
} from '../schema/connections.ts'
import {findConnection, listConnections} from '../store/connections.ts'
import type {Db} from '../store/database.ts'
import type {ConnectionsTable} from '../store/tables/sign-in.ts'

/** A way in that an organisation has: one identity provider, with what it needs, its secrets opened. */
export type SsoConnection = ConnectionFacts & ConnectionKind

export type ConnectionKind =
  | {readonly type: 'oidc'; readonly settings: OidcSettings}
  | {readonly type: 'saml'; readonly settings: SamlSettings}
  | {readonly type: 'ldap'; readonly settings: LdapSettings}

export interface ConnectionFacts {
  /** `environment` for the one that the settings of the installation describe. */
  readonly id: string
  readonly organisation_id: string
  readonly name: string
  readonly type: ConnectionType
  readonly is_enabled: boolean
  /** Of the people who come in by it; none: every verified one of the organisation. */
  readonly domains: readonly string[]
  /** Moves with every change: a sign-in that was begun before ends then. */
  readonly revision: number
  /** False: an admin wrote it last, who might have pointed it at a provider of his own. */
  readonly lets_owners_in: boolean
}

/** The members of a kind that are kept sealed and never shown. */
export const SECRETS: Readonly<Record<ConnectionType, readonly string[]>> = {
  oidc: ['client_secret', 'jwks'],
  saml: [],
  ldap: ['bind_password'],
}

export const DEFAULTS_OF: Readonly<Record<ConnectionType, Readonly<Record<string, unknown>>>> = {
  oidc: OIDC_DEFAULTS,
  saml: SAML_DEFAULTS,
  ldap: LDAP_DEFAULTS,
}

/** The source of connections of this installation. */
export interface ConnectionSource {
  readonly seal: Seal
  /** The one of the settings: it is the only one of its organisation. */
  readonly of_environment: SsoConnection | null
  /** AUTH_MODE=NO_AUTH: there are none. */
  readonly is_off: boolean
}

/** The connections by which people may come in now: of one organisation, or of all. */
export async function openConnections(
  db: Db,
  {seal, of_environment, is_off}: ConnectionSource,
  organisation_id?: string,
): Promise<readonly SsoConnection[]> {
  if (is_off) return []
  const rows = await listConnections(db, organisation_id)
  const kept = rows
    .filter(row => row.is_enabled === 1 && row.organisation_id !== of_environment?.organisation_id)
    .map(row => readConnection(row, seal))
  const is_asked =
    of_environment && (organisation_id ?? of_environment.organisation_id) === of_environment.organisation_id
  return is_asked ? [of_environment, ...kept] : kept
}

/** The connection of a sign-in or a session, while people may come in by it. */
export async function openConnection(db: Db, source: ConnectionSource, id: string): Promise<SsoConnection | undefined> {
  const {of_environment, is_off, seal} = source
  if (is_off) return undefined
  if (id === of_environment?.id) return of_environment
  const row = await findConnection(db, id)
  if (row?.is_enabled !== 1 || row.organisation_id === of_environment?.organisation_id) return undefined
  return readConnection(row, seal)
}

/** A row with its secrets opened and its defaults filled in. */
export function readConnection(row: ConnectionsTable, seal: Seal): SsoConnection {
  const {id, organisation_id, name, type, revision} = row
  const settings = {
    ...DEFAULTS_OF[type],
    ...(JSON.parse(row.settings) as object),
    ...secretsOf(row, seal),
  }
  return {
    ...{id, organisation_id, name, revision: Number(revision)},
    is_enabled: row.is_enabled === 1,
    domains: JSON.parse(row.domains) as string[],
    lets_owners_in: row.lets_owners_in === 1,
    ...({type, settings} as ConnectionKind),
  }
}

/** The secrets of a row, by their names. */
export function secretsOf(
  {id, organisation_id, secrets}: Pick<ConnectionsTable, 'id' | 'organisation_id' | 'secrets'>,
  seal: Seal,
): Readonly<Record<string, string>> {
  if (!secrets) return {}
  return JSON.parse(seal.open(secrets, secretsPlace(id, organisation_id))) as Record<string, string>
}

export function secretsPlace(id: string, organisation_id: string) {
  return {table: 'connections', column: 'secrets', row: id, organisation_id}
}

/**
 * The issuer that links of people name. That of OpenID Connect is what its tokens say; two directories may have entries
 * of one id, so theirs is of the connection.
 */
export function issuerOf(connection: SsoConnection): string {
  return connection.type === 'oidc' ? connection.settings.issuer : `${connection.type}:${connection.id}`
}
