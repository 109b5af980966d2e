import {isDeepStrictEqual} from 'node:util'
import {isObject} from '../../../src/base/json-object.ts'
import {LDAP_DEFAULTS, OIDC_DEFAULTS, SAML_DEFAULTS} from '../../../src/schema/connections.ts'
import {
  jwtSettings,
  OrganisationAuthUpdate,
  PROVISIONING_DEFAULTS,
  scimSettings,
} from '../../../src/schema/organisation-auth.ts'
import {mask} from '../../../src/schema/secrets.ts'
import type {ConnectionShown} from '../../../src/schema/sso.ts'
import {explain} from '../../../src/schema/validation-message.ts'
import {type ReplyOf, unchecked} from '../../client.ts'
import type {Spec} from '../document.ts'
import {type ApplyTarget, type ResourceKind, specOf} from '../kind.ts'

/** The slug of the rules: an organisation has them once. */
const SLUG = 'settings'
const DEFAULTS: Readonly<Record<string, Spec>> = {
  jwt: {...jwtSettings(null)},
  scim: {...scimSettings(null)},
  provisioning: {...PROVISIONING_DEFAULTS},
  session_settings: {max_session_ttl: null, idle_timeout: null},
  sso: {required: false, connections: []},
}
/** Parts whose members go back to their defaults one by one; connections are a list. */
const MEMBERS = ['jwt', 'scim', 'provisioning', 'session_settings'] as const
const SECRET = /^(?:client_secret|jwks|bind_password)$/
/** A secret as the gateway shows it, and as files know that one is kept. */
const HIDDEN = '***'
const KEPT = mask('')

const fields: ResourceKind['fields'] = Object.fromEntries(
  Object.entries(DEFAULTS).map(([part, usual]) => [part, {none: null, normal: value => withoutUsual(value, usual)}]),
)

/** The rules for tokens, directories, sign-in and sessions. Keys that verify tokens are public. */
export const organisationAuth: ResourceKind = {
  name: 'organisation-auth',
  folder: 'organisation-auth',
  lives_in: 'organisation',
  needs: ['workspace'],
  remark:
    'Rules for tokens of an identity provider (`jwt`, [tokens](tokens.md)), ' +
    'for directories (`scim`, [directories](scim.md)) and for sign-in (`sso`, `provisioning`, ' +
    '`session_settings`, [sign-in](sign-in.md)). Default values are left out. ' +
    'Its slug is `settings`.',
  create: 'organisation_auth.update',
  fields,
  secrets: {
    below: ['sso'],
    isSecret: path => SECRET.test(String(path.at(-1))) && path.length > 2,
    // of a connection that is pointed elsewhere the gateway wants each secret again
    moves: (before, after) => !isDeepStrictEqual(placesIn(before), placesIn(after)),
  },
  async read({gateway}) {
    const reply = await gateway.call('organisation_auth.get')
    const spec = specOf(fields, {...reply, sso: ssoOf(reply)})
    return Object.keys(spec).length ? [{kind: 'organisation-auth', workspace: null, slug: SLUG, id: SLUG, spec}] : []
  },
  body: () => ({}),
  make: (place, {spec}) => write(place, spec),
  change: async (place, {spec}) => void (await write(place, spec)),
  remove: async place => void (await write(place, {})),
  async faults({slug, spec}) {
    const {error} = OrganisationAuthUpdate.safeParse(spec)
    return [
      ...(slug === SLUG ? [] : [`the slug must be ${SLUG}`]),
      ...(error ? [explain(error, OrganisationAuthUpdate, spec, {root: 'spec'}).replace(/\.$/, '')] : []),
    ]
  },
}

/** The connections as files have them: by name, with what was set. Those of the environment are not of the files. */
function ssoOf({sso}: ReplyOf<'organisation_auth.get'>) {
  if (sso.source === 'environment') return {required: sso.required, connections: []}
  return {required: sso.required, connections: sso.connections.map(connectionOf)}
}

function connectionOf({name, type, enabled, domains, ...kinds}: ConnectionShown) {
  const usual: Spec = {oidc: OIDC_DEFAULTS, saml: SAML_DEFAULTS, ldap: LDAP_DEFAULTS}[type]
  const settings = Object.entries(kinds[type] ?? {}).filter(([key, value]) => !isDeepStrictEqual(value, usual[key]))
  return {
    ...{name, type, enabled, domains},
    [type]: Object.fromEntries(settings.map(([key, value]) => [key, value === HIDDEN ? KEPT : value])),
  }
}

/** The members of each connection that decide where its secrets go, by name. */
function placesIn({sso}: Spec): unknown {
  const {connections = []} = (sso ?? {}) as {readonly connections?: readonly Record<string, Spec>[]}
  return Object.fromEntries(
    connections.map(({name, oidc, ldap}) => [
      String(name),
      [oidc?.issuer, oidc?.client_id, ldap?.url, ldap?.bind_dn, ldap?.ca, ldap?.start_tls],
    ]),
  )
}

/** Members that are as they are by default say nothing, and so does a part without others. */
function withoutUsual(value: unknown, usual: Spec): unknown {
  if (!isObject(value)) return value
  const set = Object.entries(value).filter(([name, member]) => !isDeepStrictEqual(member, usual[name]))
  return set.length ? Object.fromEntries(set) : undefined
}

/** Rules that the file leaves out go back to their defaults. */
async function write({gateway}: ApplyTarget, spec: Spec): Promise<undefined> {
  const members = MEMBERS.map(part => [
    part,
    {
      ...Object.fromEntries(Object.keys(DEFAULTS[part]!).map(name => [name, null])),
      ...(spec[part] as object | undefined),
    },
  ])
  const {required = false, connections = []} = (spec.sso ?? {}) as {required?: boolean; connections?: unknown[]}
  const force = gateway.kind === 'here' && required
  const sso = {required, connections: connections.map(withHidden), ...(force && {force})}
  await gateway.call('organisation_auth.update', {body: unchecked({...Object.fromEntries(members), sso})})
  return undefined
}

/** A secret whose value the file does not have stays. */
function withHidden(connection: unknown): unknown {
  if (connection === KEPT) return HIDDEN
  if (Array.isArray(connection)) return connection.map(withHidden)
  if (!isObject(connection)) return connection
  return Object.fromEntries(Object.entries(connection).map(([key, value]) => [key, withHidden(value)]))
}
