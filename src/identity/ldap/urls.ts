import {SignInFault} from '../sign-in-fault.ts'

/** One server of a directory. */
export interface LdapUrl {
  /** A name in lower case, or an address; an IPv6 address has no brackets. */
  readonly hostname: string
  readonly port: number
  /** TLS from the first byte (`ldaps:`). */
  readonly secure: boolean
  /** As shown to administrators: `ldaps://host:port`. */
  readonly text: string
}

const MOST_URLS = 10

/**
 * The servers of a setting, in the order in which they are tried. A base or a query behind the host is ignored. Throws
 * SignInFault `provider_error` where one of them is no LDAP URL.
 */
export function readLdapUrls(setting: string): readonly LdapUrl[] {
  const texts = setting.split(',').map(text => text.trim())
  if (texts.length > MOST_URLS) throw new SignInFault('provider_error', `ldap.url: more than ${MOST_URLS} servers`)
  return texts.map(text => {
    const url = readLdapUrl(text)
    if (!url) throw new SignInFault('provider_error', 'ldap.url: expected ldaps:// or ldap:// with a host')
    return url
  })
}

/** The hosts that would see passwords in clear: those of `ldap:` URLs where StartTLS is off. */
export function plaintextHosts(settings: {readonly url: string; readonly start_tls: boolean}): readonly string[] {
  if (settings.start_tls) return []
  return readLdapUrls(settings.url)
    .filter(({secure}) => !secure)
    .map(({hostname}) => hostname)
}

function readLdapUrl(text: string): LdapUrl | undefined {
  const url = URL.parse(text)
  if (!url || !/^ldaps?:$/.test(url.protocol) || url.username || url.password || url.port === '0') return undefined
  // hosts of schemes that the standard does not know are left as they are; https has them lower-cased and checked
  const host = URL.parse(`https://${url.hostname}`)?.hostname
  if (!host) return undefined
  const secure = url.protocol === 'ldaps:'
  const port = Number(url.port || (secure ? 636 : 389))
  return {hostname: host.replace(/^\[|\]$/g, ''), port, secure, text: `${url.protocol}//${host}:${port}`}
}
