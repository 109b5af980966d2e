import {type KeyObject, X509Certificate} from 'node:crypto'
import {SignInFault} from '../sign-in-fault.ts'
import {METADATA_LIMITS, XmlFault} from './markup.ts'
import {DSIG, METADATA, PROTOCOL, REDIRECT_BINDING} from './names.ts'
import {durationOf, isoOf, timeOf} from './times.ts'
import {attributeOf, childrenNamed, elementsIn, isNamed, readXml, type XmlElement} from './xml.ts'

/** An identity provider as its metadata describes it. */
export interface SamlProvider {
  readonly entity_id: string
  /** Of the HTTP-Redirect binding. */
  readonly sso_url: string
  /** The signing keys that count now: RSA of at least 2048 bits, or a NIST curve. */
  readonly certificates: readonly KeyObject[]
  /** The end of each certificate, ISO 8601 UTC; reported, and not enforced. */
  readonly certificate_ends: readonly string[]
  /** ISO 8601 UTC: the metadata does not count from then on. */
  readonly valid_until: string | null
  readonly cache_duration_s: number | null
}

/** An entity with the groups that it is in, which may limit its time as well. */
interface Entity {
  readonly element: XmlElement
  readonly around: readonly XmlElement[]
}

const MAX_KEYS = 20
const MIN_RSA_BITS = 2048
const CURVES: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])
const LONGEST_TEXT = 2048
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * The provider that `xml` describes: that of `entity_id`, or the only one. Its signature is not judged, as it was
 * configured by hand or came over TLS. Throws a `SignInFault` with `provider_invalid`.
 */
export async function readMetadata(xml: string, entity_id: string | null, now_ms: number): Promise<SamlProvider> {
  try {
    const {root} = await readXml(xml, METADATA_LIMITS)
    return providerOf(entityIn(root, entity_id), now_ms)
  } catch (fault) {
    if (fault instanceof XmlFault) throw invalid(`The metadata cannot be read. ${fault.message}`)
    throw fault
  }
}

/** Refuses metadata that is over with `provider_invalid`. */
export function checkValid({valid_until}: Pick<SamlProvider, 'valid_until'>, now_ms: number): void {
  if (valid_until !== null && Date.parse(valid_until) <= now_ms)
    throw invalid(`The metadata was valid until ${valid_until}; it is ${isoOf(now_ms)} here.`)
}

/** True for https, and for http on this machine. */
export function isSecureAddress(text: string): boolean {
  const url = text.length <= LONGEST_TEXT ? URL.parse(text) : null
  if (!url || url.username || url.password || url.hash) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname))
}

function entityIn(root: XmlElement, entity_id: string | null): Entity {
  const all = [...entitiesIn(root, [])].filter(({element}) => identityRole(element) !== undefined)
  const named = entity_id === null ? all : all.filter(({element}) => attributeOf(element, 'entityID') === entity_id)
  const [entity, ...more] = named
  if (!entity)
    throw invalid(
      entity_id === null
        ? 'The metadata describes no identity provider of SAML 2.0.'
        : 'The metadata describes no identity provider of that entity id.',
    )
  if (more.length > 0) throw invalid('The metadata describes several identity providers: set entity_id to one of them.')
  return entity
}

function* entitiesIn(element: XmlElement, around: readonly XmlElement[]): Generator<Entity> {
  if (isNamed(element, METADATA, 'EntityDescriptor')) yield {element, around: [...around, element]}
  if (!isNamed(element, METADATA, 'EntitiesDescriptor')) return
  for (const child of element.children) yield* entitiesIn(child, [...around, element])
}

function identityRole(entity: XmlElement): XmlElement | undefined {
  return childrenNamed(entity, METADATA, 'IDPSSODescriptor').find(role =>
    (attributeOf(role, 'protocolSupportEnumeration') ?? '').split(/\s+/).includes(PROTOCOL),
  )
}

function providerOf({element, around}: Entity, now_ms: number): SamlProvider {
  const entity_id = attributeOf(element, 'entityID') ?? ''
  if (entity_id === '' || entity_id.length > 1024) throw invalid('The entity of the metadata has no usable entityID.')
  const role = identityRole(element)!
  const signing = signingCertificates(role)
  if (signing.length === 0) throw invalid('The metadata has no signing certificate that is taken.')
  const levels = [...around, role]
  const valid_until = validUntil(levels)
  checkValid({valid_until}, now_ms)
  const durations = levels.flatMap(level => durationOf(attributeOf(level, 'cacheDuration') ?? '') ?? [])
  return {
    ...{entity_id, valid_until, sso_url: redirectAddress(role)},
    certificates: signing.map(({publicKey}) => publicKey),
    certificate_ends: signing.map(({validTo}) => isoOf(Date.parse(validTo))),
    cache_duration_s: durations.length > 0 ? Math.min(...durations) : null,
  }
}

function redirectAddress(role: XmlElement): string {
  const service = childrenNamed(role, METADATA, 'SingleSignOnService').find(
    each => attributeOf(each, 'Binding') === REDIRECT_BINDING,
  )
  const address = service && attributeOf(service, 'Location')
  if (!address || !isSecureAddress(address))
    throw invalid('The metadata has no https address for sign-in by the HTTP-Redirect binding.')
  return address
}

/** Of keys for signing, and of those without a use. A certificate that is too weak, or is none, does not count. */
function signingCertificates(role: XmlElement): readonly X509Certificate[] {
  const texts = childrenNamed(role, METADATA, 'KeyDescriptor')
    .filter(key => (attributeOf(key, 'use') ?? 'signing') === 'signing')
    .flatMap(key => [...elementsIn(key)].filter(each => isNamed(each, DSIG, 'X509Certificate')))
    .map(({text}) => text.replace(/\s+/g, ''))
  return [...new Set(texts)].slice(0, MAX_KEYS).flatMap(text => certificateOf(text) ?? [])
}

function certificateOf(base64: string): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(Buffer.from(base64, 'base64'))
    const {asymmetricKeyType: type, asymmetricKeyDetails: details} = certificate.publicKey
    const is_rsa = type === 'rsa' && (details?.modulusLength ?? 0) >= MIN_RSA_BITS
    return is_rsa || (type === 'ec' && CURVES.has(details?.namedCurve)) ? certificate : undefined
  } catch {
    return undefined
  }
}

function validUntil(levels: readonly XmlElement[]): string | null {
  const ends_ms = levels.flatMap(level => {
    const text = attributeOf(level, 'validUntil')
    const end_ms = text === null ? null : timeOf(text)
    if (text !== null && end_ms === null) throw invalid('The metadata has a validUntil that is no time.')
    return end_ms ?? []
  })
  return ends_ms.length > 0 ? isoOf(Math.min(...ends_ms)) : null
}

function invalid(detail: string): SignInFault {
  return new SignInFault('provider_invalid', detail)
}
