import {X509Certificate} from 'node:crypto'
import type {Db} from '../store/database.ts'
import {type ConnectionSource, openConnections, type SsoConnection} from './connections.ts'
import type {SamlProviders} from './saml/providers.ts'
import {SignInFault} from './sign-in-fault.ts'

/** The use of a certificate: `saml_signing` is of an identity provider, `saml_own` and `listener` are our own. */
export type CertificateUse = 'saml_signing' | 'saml_own' | 'ldap_ca' | 'listener'

/** The end of what people need to sign in by a connection, or to reach the gateway at all. */
export interface WatchedCertificate {
  readonly use: CertificateUse
  readonly connection: Pick<SsoConnection, 'id' | 'name' | 'organisation_id'> | null
  /** Epoch milliseconds; null where no certificate could be read. */
  readonly ends_ms: number | null
  /** The reason why metadata was not read when it was last tried; null where it was. */
  readonly unread: string | null
}

export interface WatchServices {
  readonly db: Db
  readonly connections: ConnectionSource
  saml(): Promise<Pick<SamlProviders, 'providerOf' | 'lastRefusal'>>
  /** TLS_CERT and SAML_SP_CERT as they are now. */
  own(): {readonly listener: string | undefined; readonly saml_own: string | undefined}
}

const DAY_MS = 86_400_000
/** An operator hears of an end this long before. */
export const AHEAD_MS = 30 * DAY_MS
const PEM = /-----BEGIN CERTIFICATE-----[^-]{1,65536}-----END CERTIFICATE-----/g
const MOST_IN_FILE = 500

/** The certificates of all connections by which people come in, and our own. Ends early once `lost` is raised. */
export async function watchedCertificates(
  {db, connections, saml, own}: WatchServices,
  lost?: AbortSignal,
): Promise<readonly WatchedCertificate[]> {
  const found: WatchedCertificate[] = []
  for (const connection of await openConnections(db, connections)) {
    if (lost?.aborted) break
    const {id, name, organisation_id} = connection
    const of = {connection: {id, name, organisation_id}}
    if (connection.type === 'saml') found.push({...of, ...(await ofProvider(await saml(), connection.settings))})
    if (connection.type === 'ldap' && connection.settings.ca !== null)
      found.push({...of, use: 'ldap_ca', ends_ms: firstEnd(endsIn(connection.settings.ca)), unread: null})
  }
  const {listener, saml_own} = own()
  for (const [use, pem] of Object.entries({listener, saml_own}))
    if (pem !== undefined)
      found.push({use: use as CertificateUse, connection: null, ends_ms: firstEnd(endsIn(pem)), unread: null})
  return found
}

async function ofProvider(
  providers: Pick<SamlProviders, 'providerOf' | 'lastRefusal'>,
  settings: Extract<SsoConnection, {type: 'saml'}>['settings'],
): Promise<Pick<WatchedCertificate, 'use' | 'ends_ms' | 'unread'>> {
  try {
    const {certificate_ends} = await providers.providerOf(settings)
    // while a provider changes its key the old certificate is there with the new one: the later end counts
    const ends_ms = Math.max(...certificate_ends.map(end => Date.parse(end)))
    return {use: 'saml_signing', ends_ms, unread: providers.lastRefusal(settings)?.detail ?? null}
  } catch (fault) {
    if (!(fault instanceof SignInFault)) throw fault
    return {use: 'saml_signing', ends_ms: null, unread: fault.detail}
  }
}

/** The ends of the certificates of a PEM text, epoch milliseconds; what is none is left out. */
export function endsIn(pem: string): readonly number[] {
  return (pem.match(PEM) ?? []).slice(0, MOST_IN_FILE).flatMap(text => {
    try {
      return [new X509Certificate(text).validToDate.getTime()]
    } catch {
      return []
    }
  })
}

/** Each of a chain is needed. */
function firstEnd(ends_ms: readonly number[]): number | null {
  return ends_ms.length > 0 ? Math.min(...ends_ms) : null
}

/** An end in words, with how far it is: `2026-03-01 (12 days left)`. */
export function endInWords(ends_ms: number, now_ms: number): string {
  const day = new Date(ends_ms).toISOString().slice(0, 10)
  if (ends_ms <= now_ms) return `${day} (has ended)`
  const left = Math.floor((ends_ms - now_ms) / DAY_MS)
  return ends_ms - now_ms > AHEAD_MS ? day : `${day} (${left} day${left === 1 ? '' : 's'} left)`
}
