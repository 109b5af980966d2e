import {createHmac, createSign, type KeyObject} from 'node:crypto'
import {SignedXml} from 'xml-crypto'
import encryption from 'xml-encryption'
import type {CertifiedKey} from './keys.ts'

export const SAML = 'urn:oasis:names:tc:SAML:2.0'
export const MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
export const DSIG = 'http://www.w3.org/2000/09/xmldsig#'
export const ENC = 'http://www.w3.org/2001/04/xmlenc#'
export const ENC11 = 'http://www.w3.org/2009/xmlenc11#'
export const EXC = 'http://www.w3.org/2001/10/xml-exc-c14n#'
export const ENVELOPED = `${DSIG}enveloped-signature`

/** All that a Response says. Null leaves a field out; `..._xml` is written as it is. */
export interface ResponseFields {
  readonly issuer: string
  readonly response_issuer: string | null
  readonly destination: string | null
  readonly response_in_response_to: string | null
  readonly status_xml: string
  readonly response_id: string
  readonly assertion_id: string
  readonly name_id: string
  readonly name_id_format: string | null
  /** In place of the whole NameID. */
  readonly name_id_xml: string | null
  readonly attributes: Readonly<Record<string, string | readonly string[]>>
  /** More attributes. */
  readonly attributes_xml: string
  readonly recipient: string
  readonly in_response_to: string | null
  readonly confirmation_ends_ms: number | null
  readonly confirmation_begins_ms: number | null
  /** In place of all confirmations. */
  readonly confirmations_xml: string | null
  readonly audiences: readonly string[]
  readonly begins_ms: number
  readonly ends_ms: number
  readonly conditions_xml: string
  readonly issued_ms: number
  readonly authenticated_ms: number | null
  readonly session_ends_ms: number | null
}

export interface Signing {
  readonly key: Pick<CertifiedKey, 'private_pem' | 'certificate'>
  readonly algorithm: string
  readonly digest: string
  readonly transforms: readonly string[]
  readonly canonicalization: string
  readonly is_empty_uri: boolean
  readonly prefixes: readonly string[]
  /** In KeyInfo. */
  readonly certificate: string | null
  /** HMAC with this text. */
  readonly hmac: string | null
}

export function statusXml(...codes: readonly string[]): string {
  const nested = codes.reduceRight(
    (inner, code) => `<samlp:StatusCode Value="${SAML}:status:${code}">${inner}</samlp:StatusCode>`,
    '',
  )
  return `<samlp:Status>${nested}</samlp:Status>`
}

export function confirmationXml(fields: ResponseFields): string {
  const {recipient, in_response_to, confirmation_ends_ms: ends_ms, confirmation_begins_ms: begins_ms} = fields
  const data = attributes({
    InResponseTo: in_response_to,
    Recipient: recipient,
    NotOnOrAfter: ends_ms === null ? null : iso(ends_ms),
    NotBefore: begins_ms === null ? null : iso(begins_ms),
  })
  return (
    `<saml:SubjectConfirmation Method="${SAML}:cm:bearer"><saml:SubjectConfirmationData${data}/>` +
    '</saml:SubjectConfirmation>'
  )
}

export function assertionXml(fields: ResponseFields): string {
  const {assertion_id, issuer, audiences, authenticated_ms, session_ends_ms} = fields
  const name_id = `<saml:NameID${attributes({Format: fields.name_id_format})}>${escaped(fields.name_id)}</saml:NameID>`
  const audience = audiences.map(each => `<saml:Audience>${escaped(each)}</saml:Audience>`).join('')
  const authn =
    authenticated_ms === null
      ? ''
      : `<saml:AuthnStatement${attributes({
          AuthnInstant: iso(authenticated_ms),
          SessionIndex: '_session',
          SessionNotOnOrAfter: session_ends_ms === null ? null : iso(session_ends_ms),
        })}><saml:AuthnContext><saml:AuthnContextClassRef>${SAML}:ac:classes:Password</saml:AuthnContextClassRef>` +
        '</saml:AuthnContext></saml:AuthnStatement>'
  return [
    `<saml:Assertion xmlns:saml="${SAML}:assertion" ID="${assertion_id}" Version="2.0"`,
    ` IssueInstant="${iso(fields.issued_ms)}"><saml:Issuer>${escaped(issuer)}</saml:Issuer><saml:Subject>`,
    fields.name_id_xml ?? name_id,
    fields.confirmations_xml ?? confirmationXml(fields),
    `</saml:Subject><saml:Conditions NotBefore="${iso(fields.begins_ms)}" NotOnOrAfter="${iso(fields.ends_ms)}">`,
    audiences.length > 0 ? `<saml:AudienceRestriction>${audience}</saml:AudienceRestriction>` : '',
    `${fields.conditions_xml}</saml:Conditions>${authn}<saml:AttributeStatement>`,
    ...Object.entries(fields.attributes).map(([name, values]) => attributeXml(name, [values].flat())),
    `${fields.attributes_xml}</saml:AttributeStatement></saml:Assertion>`,
  ].join('')
}

export function attributeXml(name: string, values: readonly string[], is_escaped = false): string {
  const all = values.map(value => `<saml:AttributeValue>${is_escaped ? value : escaped(value)}</saml:AttributeValue>`)
  return `<saml:Attribute Name="${escaped(name)}">${all.join('')}</saml:Attribute>`
}

export function responseXml(fields: ResponseFields, inner: string): string {
  const head = attributes({
    ID: fields.response_id,
    Version: '2.0',
    IssueInstant: iso(fields.issued_ms),
    Destination: fields.destination,
    InResponseTo: fields.response_in_response_to,
  })
  const issuer = fields.response_issuer === null ? '' : `<saml:Issuer>${escaped(fields.response_issuer)}</saml:Issuer>`
  return (
    `<samlp:Response xmlns:samlp="${SAML}:protocol" xmlns:saml="${SAML}:assertion"${head}>` +
    `${issuer}${fields.status_xml}${inner}</samlp:Response>`
  )
}

/** `xml` with a signature of the element `id`, after its Issuer. */
export function signedXml(xml: string, id: string, signing: Signing): string {
  const {algorithm, digest, canonicalization, key, prefixes} = signing
  const signer = new SignedXml({
    privateKey: key.private_pem,
    signatureAlgorithm: algorithm,
    canonicalizationAlgorithm: canonicalization,
    getKeyInfoContent: () =>
      signing.certificate &&
      `<ds:X509Data xmlns:ds="${DSIG}"><ds:X509Certificate>${signing.certificate}</ds:X509Certificate></ds:X509Data>`,
  })
  const {hmac} = signing
  for (const name of [...signing.transforms, canonicalization])
    signer.CanonicalizationAlgorithms[name] ??= unchanging(name)
  signer.SignatureAlgorithms[algorithm] = signatureOf(algorithm, hmac)
  const digests = signer.HashAlgorithms
  digests[digest] ??= digests[`${ENC}sha256`]!
  signer.addReference({
    xpath: signing.is_empty_uri ? '/*' : `//*[@ID='${id}']`,
    transforms: [...signing.transforms],
    digestAlgorithm: digest,
    isEmptyUri: signing.is_empty_uri,
    inclusiveNamespacesPrefixList: [...prefixes],
  })
  const reference = `//*[@ID='${id}']/*[local-name()='Issuer']`
  signer.computeSignature(xml, {prefix: 'ds', location: {reference, action: 'after'}})
  return signer.getSignedXml()
}

export interface Encrypting {
  readonly certificate_pem: string
  readonly public_key: KeyObject
  readonly data: string
  readonly key: string
  readonly digest: 'sha1' | 'sha256' | 'sha512'
  readonly mask?: string
}

export function encryptedXml(inner: string, {certificate_pem, public_key, ...with_}: Encrypting): Promise<string> {
  const options = {
    pem: certificate_pem,
    rsa_pub: public_key.export({type: 'spki', format: 'pem'}) as string,
    encryptionAlgorithm: with_.data,
    keyEncryptionAlgorithm: with_.key,
    ...(with_.key.endsWith('rsa-1_5') ? {} : {keyEncryptionDigest: with_.digest}),
    ...(with_.mask !== undefined && {keyEncryptionMgf: with_.mask}),
    disallowEncryptionWithInsecureAlgorithm: false,
    warnInsecureAlgorithm: false,
  }
  return new Promise((resolve, reject) => {
    encryption.encrypt(inner, options, (fault, xml) => {
      if (fault || xml === undefined) reject(fault)
      else resolve(`<saml:EncryptedAssertion xmlns:saml="${SAML}:assertion">${xml}</saml:EncryptedAssertion>`)
    })
  })
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function attributes(values: Readonly<Record<string, string | null>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => ` ${name}="${escaped(value!)}"`)
    .join('')
}

function iso(time_ms: number): string {
  return new Date(time_ms).toISOString()
}

/** A transform that liars name and readers might do. */
function unchanging(name: string) {
  return class {
    getAlgorithmName() {
      return name
    }
    process(node: unknown) {
      return node as never
    }
  }
}

function signatureOf(name: string, hmac: string | null) {
  const hash = /sha(?:1|256|384|512)$/.exec(name)?.[0] ?? 'sha256'
  return class {
    getAlgorithmName() {
      return name
    }
    getSignature(text: unknown, key: unknown): string {
      if (hmac !== null) return createHmac(hash, hmac).update(String(text)).digest('base64')
      return createSign(hash)
        .update(String(text))
        .sign({key: key as string, dsaEncoding: 'ieee-p1363'}, 'base64')
    }
    verifySignature(): boolean {
      return false
    }
  }
}
