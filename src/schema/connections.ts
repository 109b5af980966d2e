import {z} from 'zod'

const Text = z.string().min(1).max(255)
const LongText = z.string().min(1).max(2048)
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
/** Issuers of many tenants at once: anybody's account would be a person of the organisation. */
const MANY_TENANTS = /\/(?:common|organizations|consumers)(?:\/|$)|\{tenantid\}/i
const DISCOVERY = '/.well-known/openid-configuration'

const SecureUrl = z
  .string()
  .max(2048)
  .refine(isSecure, 'expected an https URL without user information; http is taken for this machine alone')

/** A pasted address of a discovery document is cut to the issuer. */
const Issuer = z
  .string()
  .max(2048)
  .transform(text => (text.endsWith(DISCOVERY) ? text.slice(0, -DISCOVERY.length) : text))
  .refine(isSecure, 'expected an https URL; http is taken for this machine alone')
  .refine(text => !/[?#]/.test(text), 'expected a URL without a query or a fragment')
  .refine(text => !MANY_TENANTS.test(text), 'expected the issuer of one tenant: this one signs people of any')

export const ID_TOKEN_ALGORITHMS = [
  'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA',
] as const // biome-ignore format: a list is read by its line

const AUTHORIZATION_PARAMETERS_OF_OURS = new Set([
  'response_type', 'response_mode', 'client_id', 'redirect_uri', 'scope', 'state', 'nonce', 'code_challenge',
  'code_challenge_method', 'login_hint', 'request', 'request_uri',
]) // biome-ignore format: a list is read by its line

export const OidcConnection = z.strictObject({
  issuer: Issuer,
  client_id: LongText,
  /** Write-only. */
  client_secret: z.string().min(1).max(4096).nullable(),
  /** Null: `private_key_jwt` where `jwks` is set, else `client_secret_basic`. */
  token_endpoint_auth_method: z
    .enum(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'])
    .nullable(),
  /** `aud` of the client's own assertion: the address of the token endpoint, or the issuer. */
  client_assertion_audience: z.enum(['token_endpoint', 'issuer']),
  /** The client's private keys, a JWK set in JSON. Write-only. */
  jwks: z.string().min(1).max(65_536).nullable(),
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/)).max(50),
  id_token_algorithms: z.array(z.enum(ID_TOKEN_ALGORITHMS)).min(1).max(ID_TOKEN_ALGORITHMS.length),
  email_claim: Text,
  email_verified: z.enum(['not_false', 'true']),
  /** The claim that says who it is; `oid` is the one of Entra that stays the same over registrations. */
  subject_claim: Text,
  /** An exact name of a member, else a path with dots; null: groups are not asked for. */
  groups_claim: Text.nullable(),
  authorization_params: z
    .record(z.string().max(100), z.string().max(1000))
    .refine(
      params => Object.keys(params).every(name => !AUTHORIZATION_PARAMETERS_OF_OURS.has(name)),
      'may not name a parameter that the gateway sends itself',
    ),
})

export const SamlConnection = z.strictObject({
  metadata_url: SecureUrl.nullable(),
  metadata_xml: z.string().min(1).max(1_048_576).nullable(),
  /** Of the provider; needed where the metadata describes several. */
  entity_id: z.string().min(1).max(1024).nullable(),
  name_id_format: z.string().min(1).max(255).nullable(),
  /** The signature that is needed: over the response, the assertion, both, or whichever covers the assertion. */
  signed: z.enum(['either', 'assertion', 'response', 'both']),
  email_attribute: Text.nullable(),
  groups_attribute: Text.nullable(),
  /** Null: the object id of Entra, else a persistent NameID. */
  subject_attribute: Text.nullable(),
  allow_idp_initiated: z.boolean(),
  clock_skew_s: z.int().min(0).max(300),
  sign_requests: z.boolean(),
})

export const LdapConnection = z.strictObject({
  /** One or several, with commas between; tried in order. */
  url: z.string().min(1).max(2048).refine(isLdapUrls, 'expected ldaps:// or ldap:// URLs, with commas between'),
  start_tls: z.boolean(),
  /** Empty: the search is anonymous. */
  bind_dn: z.string().max(1024),
  /** Write-only. */
  bind_password: z.string().max(1024),
  user_base: z.string().min(1).max(1024),
  /** `{username}` stands for what the person typed. */
  user_filter: z
    .string()
    .max(2048)
    .refine(text => text.includes('{username}'), 'expected a filter with {username} in it'),
  email_attribute: Text,
  /** Null: the first of entryUUID, objectGUID, nsUniqueId, else the DN. */
  id_attribute: Text.nullable(),
  name_attributes: z.tuple([Text, Text]),
  /** Null: groups are the values of memberOf. */
  group_base: z.string().min(1).max(1024).nullable(),
  /** `{dn}` stands for the person's entry. */
  group_filter: z.string().max(2048).nullable(),
  group_name_attribute: Text,
  /** PEM; null: the authorities that the machine trusts. */
  ca: z.string().min(1).max(65_536).nullable(),
})

export type OidcSettings = Readonly<z.output<typeof OidcConnection>>
export type SamlSettings = Readonly<z.output<typeof SamlConnection>>
export type LdapSettings = Readonly<z.output<typeof LdapConnection>>

export const OIDC_DEFAULTS = {
  client_secret: null,
  token_endpoint_auth_method: null,
  client_assertion_audience: 'token_endpoint',
  jwks: null,
  scopes: ['openid', 'profile', 'email', 'offline_access'],
  id_token_algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
  email_claim: 'email',
  email_verified: 'not_false',
  subject_claim: 'sub',
  groups_claim: null,
  authorization_params: {},
} as const satisfies Partial<OidcSettings>

export const SAML_DEFAULTS: SamlSettings = {
  metadata_url: null,
  metadata_xml: null,
  entity_id: null,
  name_id_format: null,
  signed: 'either',
  email_attribute: null,
  groups_attribute: null,
  subject_attribute: null,
  allow_idp_initiated: false,
  clock_skew_s: 60,
  sign_requests: false,
}

export const LDAP_USER_FILTER =
  '(&(objectClass=person)(|(uid={username})(mail={username})(sAMAccountName={username})(userPrincipalName={username})))'

export const LDAP_DEFAULTS = {
  start_tls: true,
  bind_dn: '',
  bind_password: '',
  user_filter: LDAP_USER_FILTER,
  email_attribute: 'mail',
  id_attribute: null,
  name_attributes: ['givenName', 'sn'],
  group_base: null,
  group_filter: null,
  group_name_attribute: 'cn',
  ca: null,
} as const satisfies Partial<LdapSettings>

export const CONNECTION_TYPES = ['oidc', 'saml', 'ldap'] as const
export type ConnectionType = (typeof CONNECTION_TYPES)[number]

function isSecure(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username || url.password || url.hash) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname))
}

function isLdapUrls(text: string): boolean {
  return text.split(',').every(each => {
    const url = URL.parse(each.trim())
    return url !== null && /^ldaps?:$/.test(url.protocol) && url.hostname !== '' && !url.username && !url.password
  })
}
