import {
  CERTIFICATE,
  domains,
  label,
  nameServers,
  PRIVATE_KEY,
  password,
  ranges,
  switched,
  text,
  url,
  whole,
  word,
  words,
  xml,
} from './kinds.ts'
import type {Setting} from './setting.ts'

/** How people sign in with a browser or a command line (docs/sign-in.md). */
export const SIGN_IN = {
  AUTH_MODE: {
    kind: word('SSO', 'NO_AUTH'),
    group: 'Sign-in',
    meaning:
      'SSO: people sign in by the connection that these settings describe. NO_AUTH: nobody signs in ' +
      'with a browser. Unset: by the connections that organisations keep (docs/sign-in.md).',
  },
  AUTH_SSO_TYPE: {
    kind: word('oidc', 'saml', 'ldap'),
    group: 'Sign-in',
    meaning: 'Kind of the connection of AUTH_MODE=SSO.',
  },
  AUTH_ORGANISATION: {
    kind: label,
    group: 'Sign-in',
    meaning: 'Id or slug of the organisation of that connection; unset: the only one.',
  },
  AUTH_VERIFIED_DOMAINS: {
    kind: domains,
    fallback: '',
    group: 'Sign-in',
    meaning:
      'Domains that the operator vouches for, of that organisation; *.example.com covers what is below ' +
      'it as well.',
  },
  DOMAIN_DNS_SERVERS: {
    kind: nameServers,
    fallback: '',
    group: 'Sign-in',
    meaning:
      'Name servers that the records of domains are looked up at, for a house with a DNS of its own; unset: those of ' +
      'the system.',
  },
  OIDC_ISSUER: {
    kind: url('a URL such as https://login.example.com', ['http:', 'https:']),
    group: 'Sign-in',
    meaning: 'Issuer of OpenID Connect; with AUTH_SSO_TYPE=saml the address of the metadata.',
  },
  OIDC_CLIENTID: {
    kind: text,
    group: 'Sign-in',
    also: ['OIDC_CLIENT_ID'],
    meaning: 'Client id at the issuer.',
  },
  OIDC_CLIENT_SECRET: {
    kind: password,
    group: 'Sign-in',
    secret: true,
    meaning: 'Secret of the client.',
  },
  OIDC_REDIRECT_URI: {
    kind: url('a URL such as https://gateway.example.com/v2/auth/callback', ['http:', 'https:']),
    group: 'Sign-in',
    meaning: 'Where the issuer sends people back to; unset: CONTROL_PLANE_URL and /v2/auth/callback.',
  },
  OIDC_CUSTOM_SCOPES: {
    kind: words,
    fallback: '',
    group: 'Sign-in',
    meaning: 'Scopes that are asked for besides openid, profile, email and offline_access.',
  },
  OIDC_TOKEN_ENDPOINT_AUTH_METHOD: {
    kind: word('client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'),
    group: 'Sign-in',
    meaning:
      'How the client proves itself; unset: private_key_jwt with OIDC_CLIENT_JWKS, otherwise ' + 'client_secret_basic.',
  },
  OIDC_CLIENT_JWKS: {
    kind: password,
    group: 'Sign-in',
    secret: true,
    meaning: 'Private keys of the client, a JWK set in JSON.',
  },
  SAML_METADATA_XML: {
    kind: xml,
    group: 'Sign-in',
    secret: true,
    path: true,
    meaning: 'Metadata of the SAML provider, in place of its address.',
  },
  SAML_SP_PRIVATE_KEY: {
    kind: PRIVATE_KEY,
    group: 'Sign-in',
    secret: true,
    path: true,
    meaning: 'Private key that opens encrypted assertions and signs requests.',
  },
  SAML_SP_CERT: {
    kind: CERTIFICATE,
    group: 'Sign-in',
    secret: true,
    path: true,
    meaning: 'Certificate of SAML_SP_PRIVATE_KEY, for the metadata of this gateway.',
  },
  LDAP_URL: {
    kind: text,
    group: 'Sign-in',
    meaning: 'Servers of the directory, ldaps:// or ldap://, with commas between; tried in order.',
  },
  LDAP_START_TLS: {
    kind: switched,
    fallback: 'ON',
    group: 'Sign-in',
    meaning: 'ON: ldap:// is encrypted before anything is said.',
  },
  LDAP_ALLOW_PLAINTEXT: {
    kind: switched,
    fallback: 'OFF',
    group: 'Sign-in',
    meaning: 'ON: LDAP_START_TLS=OFF is taken for servers on other machines: passwords travel in the clear.',
  },
  LDAP_CA: {
    kind: CERTIFICATE,
    group: 'Sign-in',
    secret: true,
    path: true,
    meaning: 'Certificate authorities of the directory; unset: those that Node.js trusts.',
  },
  LDAP_BIND_DN: {
    kind: text,
    group: 'Sign-in',
    meaning: 'Account that searches; unset: an anonymous search.',
  },
  LDAP_BIND_PASSWORD: {
    kind: password,
    group: 'Sign-in',
    secret: true,
    meaning: 'Password of LDAP_BIND_DN.',
  },
  LDAP_USER_BASE: {
    kind: text,
    group: 'Sign-in',
    meaning: 'Entry below which people are found.',
  },
  LDAP_USER_FILTER: {
    kind: text,
    fallback:
      '(&(objectClass=person)(|(uid={username})(mail={username})' +
      '(sAMAccountName={username})(userPrincipalName={username})))',
    group: 'Sign-in',
    meaning: 'Filter that finds one person by {username}.',
  },
  LDAP_EMAIL_ATTRIBUTE: {
    kind: label,
    fallback: 'mail',
    group: 'Sign-in',
    meaning: 'Attribute of the address.',
  },
  LDAP_ID_ATTRIBUTE: {
    kind: label,
    group: 'Sign-in',
    meaning:
      'Attribute that stays the same for a person; unset: entryUUID, objectGUID, nsUniqueId or the name ' +
      'of the entry, whichever is there first.',
  },
  LDAP_NAME_ATTRIBUTES: {
    kind: words,
    fallback: 'givenName,sn',
    group: 'Sign-in',
    meaning: 'Attributes of the first and the last name.',
  },
  LDAP_GROUP_BASE: {
    kind: text,
    group: 'Sign-in',
    meaning: 'Entry below which groups are found; unset: groups are the values of memberOf.',
  },
  LDAP_GROUP_FILTER: {
    kind: text,
    group: 'Sign-in',
    meaning: 'Filter of the groups of {dn}, such as (member={dn}).',
  },
  LDAP_GROUP_NAME_ATTRIBUTE: {
    kind: label,
    fallback: 'cn',
    group: 'Sign-in',
    meaning: 'Attribute of the name of a group.',
  },
  SESSION_IDLE_TIMEOUT_S: {
    kind: whole(300, 86_400, 'seconds'),
    fallback: '3600',
    group: 'Sign-in',
    meaning: 'A session of a browser or a command line ends after so long without use.',
  },
  SESSION_ABSOLUTE_TIMEOUT_S: {
    kind: whole(900, 2_592_000, 'seconds'),
    fallback: '43200',
    group: 'Sign-in',
    meaning: 'It ends after so long in any case.',
  },
  SESSION_COOKIE_SECURE: {
    kind: switched,
    fallback: 'ON',
    group: 'Sign-in',
    meaning:
      'OFF: cookies are set without Secure, for a browser that has none over http on this machine. ' +
      'Refused when HOST is another.',
  },
  BREAK_GLASS_ADDRESSES: {
    kind: ranges,
    fallback: '127.0.0.0/8,::1/128',
    group: 'Sign-in',
    meaning: 'Addresses from which an owner signs in with a password.',
  },
} as const satisfies Record<string, Setting>
