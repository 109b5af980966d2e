import {isIP} from 'node:net'
import {LRUCache} from 'lru-cache'
import {request} from 'undici'
import {linkBase} from '../admin/link-base.ts'
import {judge} from '../base/egress/address.ts'
import {EgressFault} from '../base/egress/faults.ts'
import {systemLookup} from '../base/egress/lookup.ts'
import {judgeName} from '../base/egress/names.ts'
import type {Egress} from '../base/egress/pools.ts'
import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import {watchedCertificates} from '../identity/certificate-watch.ts'
import type {ConnectionSource} from '../identity/connections.ts'
import {cookieJar} from '../identity/cookies.ts'
import {type KeySetReply, KeySets, maxAge} from '../identity/jwt/key-sets.ts'
import type {LdapDirectories} from '../identity/ldap/directory.ts'
import type {OidcHttp, OidcProviders} from '../identity/oidc/provider.ts'
import type {SamlProviders} from '../identity/saml/providers.ts'
import type {Settings} from '../settings/index.ts'
import {SignInRows} from '../sign-in/audit.ts'
import type {SignInServices} from '../sign-in/services.ts'
import type {Store} from '../store/database.ts'
import {openEgress} from './egress.ts'
import {lettersToSend} from './mail-texts.ts'
import {flat, textOf} from './reply-text.ts'

const METADATA_PATIENCE_MS = 5_000
const METADATA_BYTES = 1 << 20
const MOST_ISSUERS = 1_000

interface SignInParts {
  readonly settings: Settings
  readonly store: Store
  readonly seal: Seal
  readonly log: Log
  readonly connections: ConnectionSource
  readonly now: () => number
  readonly wall: () => number
  readonly steady: () => number
}

/** The services of sign-in. What speaks to providers is loaded with the first sign-in that needs it. */
export function openSignIn(parts: SignInParts) {
  const {settings, store, seal, log, connections, now} = parts
  const providers = openProviders(parts)
  const services: SignInServices = {
    ...{store, settings, seal, log, connections},
    now: () => new Date(now()),
    base_url: linkBase({settings}),
    cookies: cookieJar(settings.session_cookie_secure),
    rows: new SignInRows({store, log, now, audits: settings.audit_logs_enabled}),
    write_letter: lettersToSend(settings),
    oidc: providers.oidc,
    saml: providers.saml,
    ldap: providers.ldap,
  }
  return {services, providers, close: providers.close}
}

/** The clients of providers, of both the sign-in and the administration that tries them. */
export function openProviders({
  settings,
  log,
  wall,
  steady,
}: Pick<SignInParts, 'settings' | 'log' | 'wall' | 'steady'>) {
  const egress = openEgress(settings)
  const issuers = new LRUCache<string, true>({max: MOST_ISSUERS})
  const http = httpThrough(egress, origin => issuers.has(origin))
  const options = {now_ms: wall, steady_ms: steady, log}
  let directories: LdapDirectories | undefined
  const openOidc = once(async (): Promise<OidcProviders> => {
    const {OidcProviders} = await import('../identity/oidc/provider.ts')
    const refetch_min_interval_ms = settings.jwks_refetch_min_interval_ms
    const key_sets = new KeySets({fetch: url => keysThrough(http, url), steady, refetch_min_interval_ms, log})
    return new OidcProviders({...options, http, key_sets})
  })
  return {
    oidc(issuer: string): Promise<OidcProviders> {
      const {origin = ''} = URL.parse(issuer) ?? {}
      issuers.set(origin, true)
      return openOidc()
    },
    saml: once(async (): Promise<SamlProviders> => {
      const {SamlProviders} = await import('../identity/saml/providers.ts')
      const refetch_min_interval_ms = settings.jwks_refetch_min_interval_ms
      const fetch = (url: string) => metadataThrough(egress, url)
      return new SamlProviders({...options, fetch, refetch_min_interval_ms, random: Math.random})
    }),
    ldap: once(async (): Promise<LdapDirectories> => {
      const {LdapDirectories} = await import('../identity/ldap/directory.ts')
      directories = new LdapDirectories({now_ms: wall, log, addressesOf})
      return directories
    }),
    async close() {
      await directories?.close()
      await egress.destroy()
    },
  }
}

/** Looks at the certificates by which people sign in; those of the settings as they are then. */
export function watchOf({
  settings,
  store,
  connections,
  saml,
}: Pick<SignInParts, 'settings' | 'store' | 'connections'> & Pick<SignInServices, 'saml'>) {
  const own = () => ({listener: settings.tls_cert, saml_own: settings.saml_sp_cert})
  return (lost: AbortSignal) => watchedCertificates({db: store.db, connections, saml, own}, lost)
}

/**
 * An owner, an admin or the operator wrote the issuer: its host may be private, as that of an integration. Other places
 * that its documents name are judged as those of strangers.
 */
function httpThrough(egress: Egress, isWritten: (origin: string) => boolean): OidcHttp {
  return async (url, {method, headers, body, max_bytes, timeout_ms}) => {
    const {origin, hostname} = new URL(url)
    const asker = isWritten(origin) ? WRITTEN(hostname) : ({kind: 'caller'} as const)
    const destination = egress.destination(origin, asker)
    const reply = await request(url, {
      ...{method, headers: {...headers, 'accept-encoding': 'identity'}, dispatcher: egress.pool(destination)},
      ...(body !== undefined && {body}),
      signal: AbortSignal.timeout(timeout_ms),
    })
    const text = await textOf(reply.body, max_bytes)
    return {status: reply.statusCode, headers: flat(reply.headers), text}
  }
}

const WRITTEN = (host: string) => ({kind: 'integration', id: 'sign-in', host}) as const

async function keysThrough(http: OidcHttp, url: string): Promise<KeySetReply> {
  const accept = 'application/jwk-set+json, application/json'
  const limits = {max_bytes: METADATA_BYTES, timeout_ms: METADATA_PATIENCE_MS}
  const {status, headers, text} = await http(url, {method: 'GET', headers: {accept}, ...limits})
  if (status !== 200) throw new Error(`it answered with status ${status}`)
  return {text, max_age_s: maxAge(headers['cache-control'])}
}

async function metadataThrough(egress: Egress, url: string): Promise<{text: string}> {
  const limits = {max_bytes: METADATA_BYTES, timeout_ms: METADATA_PATIENCE_MS}
  const {status, text} = await httpThrough(egress, () => true)(url, {
    method: 'GET',
    headers: {accept: '*/*'},
    ...limits,
  })
  if (status !== 200) throw new Error(`it answered with status ${status}`)
  return {text}
}

/**
 * The addresses of a directory. Its host may be private, and its port one of those that no call goes to; what gives
 * out credentials stays closed, by name and by address.
 */
async function addressesOf(hostname: string): Promise<readonly string[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (!isIP(host) && judgeName(host) === 'metadata') throw new EgressFault('blocked', 'it is a cloud metadata service')
  const addresses = isIP(host) ? [host] : await systemLookup(host)
  if (addresses.length === 0 || addresses.some(address => judge(address) === 'metadata'))
    throw new EgressFault('blocked', 'it has no address that may be dialled')
  return addresses
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let under_way: Promise<T> | undefined
  return () => (under_way ??= work())
}
