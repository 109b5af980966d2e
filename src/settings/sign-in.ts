import type {Name, Settings} from './table.ts'

const OF_OIDC = [
  'OIDC_CLIENTID',
  'OIDC_CLIENT_SECRET',
  'OIDC_REDIRECT_URI',
  'OIDC_TOKEN_ENDPOINT_AUTH_METHOD',
  'OIDC_CLIENT_JWKS',
] as const
const OF_LDAP = [
  'LDAP_URL',
  'LDAP_CA',
  'LDAP_BIND_DN',
  'LDAP_BIND_PASSWORD',
  'LDAP_USER_BASE',
  'LDAP_GROUP_BASE',
] as const
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/

/** Sentences about settings of sign-in that exclude each other, or would have no effect. */
export function signInFaults(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  return [...connection(settings, given), ...cookies(settings, given), ...pairOfKeys(given)]
}

function connection(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const {auth_mode: mode, auth_sso_type: type} = settings
  if (mode !== 'SSO') {
    const idle = (['AUTH_SSO_TYPE', 'OIDC_ISSUER', 'SAML_METADATA_XML', ...OF_OIDC, ...OF_LDAP] as const).filter(given)
    return idle.length > 0 ? [`${idle.join(', ')} would have no effect without AUTH_MODE=SSO.`] : []
  }
  if (!type) return ['AUTH_MODE=SSO needs AUTH_SSO_TYPE as well: oidc, saml or ldap.']
  const needed = {oidc: oidcNeeds(given), saml: samlNeeds(given), ldap: ldapNeeds(settings, given)}[type]
  const others = {oidc: OF_LDAP, saml: OF_LDAP, ldap: [...OF_OIDC, 'OIDC_ISSUER', 'SAML_METADATA_XML'] as const}[type]
  const idle = others.filter(given)
  return [
    ...needed,
    ...(idle.length > 0 ? [`${idle.join(', ')} would have no effect with AUTH_SSO_TYPE=${type}.`] : []),
    ...publicUrl(settings),
  ]
}

function oidcNeeds(given: (name: Name) => boolean): string[] {
  const missing = (['OIDC_ISSUER', 'OIDC_CLIENTID'] as const).filter(name => !given(name))
  return missing.length > 0 ? [`AUTH_SSO_TYPE=oidc needs ${missing.join(' and ')} as well.`] : []
}

function samlNeeds(given: (name: Name) => boolean): string[] {
  if (given('OIDC_ISSUER') === given('SAML_METADATA_XML'))
    return ['AUTH_SSO_TYPE=saml needs one of OIDC_ISSUER (the address of the metadata) and SAML_METADATA_XML.']
  return []
}

function ldapNeeds(
  {ldap_url, ldap_start_tls, ldap_allow_plaintext}: Partial<Settings>,
  given: (name: Name) => boolean,
) {
  const missing = (['LDAP_URL', 'LDAP_USER_BASE'] as const).filter(name => !given(name))
  if (missing.length > 0) return [`AUTH_SSO_TYPE=ldap needs ${missing.join(' and ')} as well.`]
  const open = (ldap_url ?? '').split(',').filter(each => {
    const url = URL.parse(each.trim())
    return url?.protocol === 'ldap:' && !LOOPBACK.test(url.hostname)
  })
  if (open.length > 0 && ldap_start_tls === false && !ldap_allow_plaintext)
    return ['LDAP_START_TLS=OFF would send passwords in the clear: use ldaps://, or set LDAP_ALLOW_PLAINTEXT=ON.']
  return []
}

/** Browsers drop secure cookies over http, but on this machine. */
function publicUrl({control_plane_url, session_cookie_secure}: Partial<Settings>): string[] {
  const url = URL.parse(control_plane_url ?? '')
  if (!url || url.protocol === 'https:' || LOOPBACK.test(url.hostname) || session_cookie_secure === false) return []
  return [
    `CONTROL_PLANE_URL=${url.origin} is plain http, over which browsers keep no session: ` +
      'make it https (gateway certs makes a certificate), or put a proxy that ends TLS before ' +
      'it.',
  ]
}

function cookies({session_cookie_secure, host}: Partial<Settings>, given: (name: Name) => boolean): string[] {
  if (!given('SESSION_COOKIE_SECURE') || session_cookie_secure !== false || host === undefined) return []
  return LOOPBACK.test(host)
    ? []
    : ['SESSION_COOKIE_SECURE=OFF is for HOST=127.0.0.1 alone: others would read the session.']
}

function pairOfKeys(given: (name: Name) => boolean): string[] {
  if (!given('SAML_SP_CERT') || given('SAML_SP_PRIVATE_KEY')) return []
  return ['SAML_SP_CERT would have no effect without SAML_SP_PRIVATE_KEY.']
}
