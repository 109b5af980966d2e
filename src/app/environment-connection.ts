import {newId} from '../base/ids.ts'
import type {ConnectionKind, SsoConnection} from '../identity/connections.ts'
import {LdapConnection, OIDC_DEFAULTS, OidcConnection, SAML_DEFAULTS} from '../schema/connections.ts'
import type {Settings} from '../settings/index.ts'
import {SettingsFault} from '../settings/index.ts'
import type {Store} from '../store/database.ts'
import {deleteDomain, findDomain, insertDomain, isVerified, listDomains, updateDomain} from '../store/domains.ts'
import {findOrganisation, organisations} from '../store/organisations.ts'

/** Marks the rows of domains that AUTH_VERIFIED_DOMAINS brought: they go when it names them no more. */
const OF_ENVIRONMENT = 'environment'

/**
 * The connection that the settings describe; null where there is none, or no organisation for it (a command beside).
 */
export async function describedConnection(settings: Settings, store: Store): Promise<SsoConnection | null> {
  if (settings.auth_mode !== 'SSO') return null
  const organisation_id = await organisationOf(settings, store).catch(() => null)
  return organisation_id === null ? null : connectionOf(settings, organisation_id)
}

/** The same for a gateway that serves, with the domains that the settings vouch for. Throws a `SettingsFault`. */
export async function environmentConnection(
  settings: Settings,
  store: Store,
  now: string,
): Promise<SsoConnection | null> {
  const {auth_mode, auth_sso_type, auth_verified_domains} = settings
  const is_needed = (auth_mode === 'SSO' && auth_sso_type !== undefined) || auth_verified_domains.length > 0
  const organisation_id = is_needed ? await organisationOf(settings, store) : null
  await vouch(store, organisation_id, auth_verified_domains, now)
  if (auth_mode !== 'SSO' || organisation_id === null) return null
  return connectionOf(settings, organisation_id)
}

function connectionOf(settings: Settings, organisation_id: string): SsoConnection {
  return {
    ...{id: 'environment', organisation_id, name: settings.service_name, is_enabled: true, domains: []},
    ...{revision: 0, lets_owners_in: true},
    ...kindOf(settings),
  }
}

async function organisationOf({auth_organisation, organisations_to_sync}: Settings, {db}: Store): Promise<string> {
  const named = auth_organisation ?? (organisations_to_sync.length === 1 ? organisations_to_sync[0] : undefined)
  if (named !== undefined) {
    const organisation = await findOrganisation(db, named)
    if (organisation) return organisation.id
    throw fault(`AUTH_ORGANISATION: there is no organisation ${named}.`)
  }
  const all = await organisations(db)
  if (all.length === 1) return all[0]!.id
  throw fault(
    'AUTH_ORGANISATION has to say which organisation it is (or ORGANISATIONS_TO_SYNC, with one): there are several.',
  )
}

/** Domains of the operator are rows like others: every reader of verified domains finds them. */
async function vouch(store: Store, organisation_id: string | null, domains: readonly string[], now: string) {
  const wanted = new Map(domains.map(each => [each.replace(/^\*\./, ''), each.startsWith('*.')]))
  const before = await listDomains(store.db)
  if (wanted.size === 0 && !before.some(({code}) => code === OF_ENVIRONMENT)) return
  await store.write(async db => {
    for (const row of await listDomains(db))
      if (row.code === OF_ENVIRONMENT && (row.organisation_id !== organisation_id || !wanted.has(row.domain)))
        await deleteDomain(db, row.id)
    if (organisation_id === null) return
    for (const [domain, has_subdomains] of wanted) {
      const allow_subdomains = has_subdomains ? 1 : 0
      const known = await findDomain(db, organisation_id, domain)
      if (known?.status === 'verified') {
        await updateDomain(db, known.id, {allow_subdomains})
        continue
      }
      if (await isVerified(db, domain))
        throw fault(`AUTH_VERIFIED_DOMAINS: ${domain} is a verified domain of another organisation.`)
      // a claim becomes a row of the settings: else it stayed verified when they name it no more
      if (known) await deleteDomain(db, known.id)
      await insertDomain(db, {
        ...{id: newId(), organisation_id, domain, allow_subdomains, status: 'verified', code: OF_ENVIRONMENT},
        ...{created_at: now, verified_at: now, proof: 'settings'},
      })
    }
  })
}

function kindOf(settings: Settings): ConnectionKind {
  switch (settings.auth_sso_type!) {
    case 'oidc':
      return {
        type: 'oidc',
        settings: checked(OidcConnection, {
          ...OIDC_DEFAULTS,
          issuer: settings.oidc_issuer,
          client_id: settings.oidc_clientid,
          client_secret: settings.oidc_client_secret ?? null,
          jwks: settings.oidc_client_jwks ?? null,
          token_endpoint_auth_method: settings.oidc_token_endpoint_auth_method ?? null,
        }),
      }
    case 'saml':
      return {
        type: 'saml',
        settings: {
          ...SAML_DEFAULTS,
          metadata_url: settings.saml_metadata_xml ? null : (settings.oidc_issuer ?? null),
          metadata_xml: settings.saml_metadata_xml ?? null,
        },
      }
    case 'ldap':
      return {type: 'ldap', settings: checked(LdapConnection, ldapOf(settings))}
  }
}

function ldapOf(settings: Settings) {
  const [first = 'givenName', last = 'sn'] = settings.ldap_name_attributes
  return {
    ...{url: settings.ldap_url, start_tls: settings.ldap_start_tls, ca: settings.ldap_ca ?? null},
    ...{bind_dn: settings.ldap_bind_dn ?? '', bind_password: settings.ldap_bind_password ?? ''},
    ...{user_base: settings.ldap_user_base, user_filter: settings.ldap_user_filter},
    ...{email_attribute: settings.ldap_email_attribute, id_attribute: settings.ldap_id_attribute ?? null},
    name_attributes: [first, last],
    ...{group_base: settings.ldap_group_base ?? null, group_filter: settings.ldap_group_filter ?? null},
    group_name_attribute: settings.ldap_group_name_attribute,
  }
}

function checked<Output>(
  schema: {
    safeParse(value: unknown): {data?: Output; error?: {issues: readonly {path: PropertyKey[]; message: string}[]}}
  },
  value: unknown,
): Output {
  const {data, error} = schema.safeParse(value)
  if (data !== undefined) return data
  const issues = error!.issues.map(({path, message}) => `${path.join('.')}: ${message}`)
  throw fault(`The connection of the environment is not valid: ${issues.join('; ')}.`)
}

function fault(sentence: string): SettingsFault {
  return new SettingsFault([sentence])
}
