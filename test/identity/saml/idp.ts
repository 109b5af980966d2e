import {createServer} from 'node:http'
import {inflateRawSync} from 'node:zlib'
import {
  assertionXml,
  DSIG,
  ENC,
  ENC11,
  ENVELOPED,
  type Encrypting,
  EXC,
  encryptedXml,
  MORE,
  type ResponseFields,
  responseXml,
  SAML,
  type Signing,
  signedXml,
  statusXml,
} from './documents.ts'
import {type CertifiedKey, makeCertifiedKey} from './keys.ts'

/** Lies: what a Response says, how it is signed, and what happens to it afterwards. */
export interface Answer extends Partial<ResponseFields> {
  readonly email?: string
  readonly sign?: 'assertion' | 'response' | 'both' | 'none'
  readonly signing?: Partial<Signing>
  /** The assertion is encrypted to this certificate, after it was signed. */
  readonly encrypt?: Pick<CertifiedKey, 'certificate_pem' | 'public_key'> & Partial<Encrypting>
  /** The assertion before its encryption, and before the Response is signed. */
  readonly changed_assertion?: (xml: string) => string
  /** The whole Response after all signatures. */
  readonly changed?: (xml: string) => string
}

export interface SamlAnswer {
  readonly SAMLResponse: string
  readonly RelayState: string
  readonly acs_url: string
}

/** A request of the HTTP-Redirect binding, as a provider reads it. */
export interface ReadRequest {
  readonly xml: string
  readonly id: string
  readonly acs_url: string
  readonly entity_id: string
  readonly relay_state: string
}

let shared: CertifiedKey | undefined
/** One key for tests that need no other: making one takes a while. */
export function sharedKey(): CertifiedKey {
  shared ??= makeCertifiedKey()
  return shared
}

/**
 * An identity provider of SAML 2.0 that says whatever a test wants. `answer` takes the address that the gateway sent
 * the browser to; `respond` takes no request. Both give the form that the browser would post.
 */
export class SamlIdp {
  readonly entity_id: string
  readonly sso_url: string
  key: CertifiedKey
  /** The clock of the provider. */
  now_ms: () => number
  #count = 0

  constructor(options: {entity_id?: string; sso_url?: string; key?: CertifiedKey; now_ms?: () => number} = {}) {
    this.entity_id = options.entity_id ?? 'https://idp.example.test/saml'
    this.sso_url = options.sso_url ?? 'https://idp.example.test/sso'
    this.key = options.key ?? sharedKey()
    this.now_ms = options.now_ms ?? Date.now
  }

  get metadata(): string {
    return metadataXml(this.entity_id, this.sso_url, [this.key.certificate])
  }

  async answer(url: string, answer: Answer = {}): Promise<SamlAnswer> {
    const request = readRequest(url)
    const xml = await this.respond(request, answer)
    return {SAMLResponse: encoded(xml), RelayState: request.relay_state, acs_url: request.acs_url}
  }

  /** The XML of a Response; `answer` overrides each of its fields. */
  async respond(
    request: {readonly id: string | null; readonly acs_url: string; readonly entity_id: string},
    answer: Answer = {},
  ): Promise<string> {
    const {sign = 'assertion', encrypt, changed_assertion, changed} = answer
    const fields = this.#fields(request, answer)
    const signing = this.signing(answer.signing)
    let assertion = assertionXml(fields)
    if (sign === 'assertion' || sign === 'both') assertion = signedXml(assertion, fields.assertion_id, signing)
    assertion = changed_assertion?.(assertion) ?? assertion
    if (encrypt) assertion = await encryptedXml(assertion, {...ENCRYPTING, ...encrypt})
    let response = responseXml(fields, assertion)
    if (sign === 'response' || sign === 'both') response = signedXml(response, fields.response_id, signing)
    return changed?.(response) ?? response
  }

  signing(lies: Partial<Signing> = {}): Signing {
    return {
      ...{key: this.key, algorithm: `${MORE}rsa-sha256`, digest: `${ENC}sha256`, canonicalization: EXC},
      ...{transforms: [ENVELOPED, EXC], is_empty_uri: false, prefixes: [], hmac: null},
      certificate: (lies.key ?? this.key).certificate,
      ...lies,
    }
  }

  #fields(request: Parameters<SamlIdp['respond']>[0], answer: Answer): ResponseFields {
    const now_ms = this.now_ms()
    const email = answer.email ?? 'mia@example.test'
    this.#count++
    const usual: ResponseFields = {
      ...{issuer: this.entity_id, response_issuer: this.entity_id, status_xml: statusXml('Success')},
      ...{destination: request.acs_url, recipient: request.acs_url},
      ...{in_response_to: request.id, response_in_response_to: request.id},
      ...{response_id: `_r${this.#count}${now_ms}`, assertion_id: `_a${this.#count}${now_ms}`},
      ...{name_id: email, name_id_format: `${SAML.replace('2.0', '1.1')}:nameid-format:emailAddress`},
      ...{name_id_xml: null, attributes: {email}, attributes_xml: '', audiences: [request.entity_id]},
      ...{confirmations_xml: null, confirmation_begins_ms: null, confirmation_ends_ms: now_ms + 300_000},
      ...{begins_ms: now_ms - 1_000, ends_ms: now_ms + 300_000, conditions_xml: ''},
      ...{issued_ms: now_ms, authenticated_ms: now_ms, session_ends_ms: null},
    }
    return {...usual, ...answer}
  }
}

export const ENCRYPTING = {
  data: `${ENC11}aes256-gcm`,
  key: `${ENC}rsa-oaep-mgf1p`,
  digest: 'sha1',
} as const

/** `SamlIdp` with its metadata at an address of loopback. */
export async function startSamlIdp(options: ConstructorParameters<typeof SamlIdp>[0] = {}) {
  const idp = new SamlIdp(options)
  const served = {asked: 0, text: undefined as string | undefined}
  const server = createServer((_, reply) => {
    served.asked++
    reply.setHeader('content-type', 'application/samlmetadata+xml')
    reply.end(served.text ?? idp.metadata)
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as {port: number}
  return {
    idp,
    /** `text` in place of the provider's metadata; how often it was asked for. */
    served,
    metadata_url: `http://127.0.0.1:${port}/metadata`,
    answer: idp.answer.bind(idp),
    close: () => new Promise<void>(resolve => void server.close(() => resolve())),
  }
}

export function encoded(xml: string): string {
  return Buffer.from(xml).toString('base64')
}

export function readRequest(url: string): ReadRequest {
  const query = new URL(url).searchParams
  const xml = inflateRawSync(Buffer.from(query.get('SAMLRequest')!, 'base64')).toString()
  const field = (pattern: RegExp) => pattern.exec(xml)![1]!.replaceAll('&amp;', '&')
  return {
    ...{xml, relay_state: query.get('RelayState')!, id: field(/ ID="([^"]+)"/)},
    acs_url: field(/ AssertionConsumerServiceURL="([^"]+)"/),
    entity_id: field(/<saml:Issuer>([^<]+)</),
  }
}

export function metadataXml(
  entity_id: string,
  sso_url: string,
  certificates: readonly string[],
  lies: {readonly use?: string; readonly head?: string; readonly binding?: string; readonly role?: string} = {},
): string {
  const {use = ' use="signing"', head = '', binding = 'HTTP-Redirect', role = ''} = lies
  const keys = certificates.map(
    certificate =>
      `<md:KeyDescriptor${use}><ds:KeyInfo xmlns:ds="${DSIG}"><ds:X509Data><ds:X509Certificate>${certificate}` +
      '</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>',
  )
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<md:EntityDescriptor xmlns:md="${SAML}:metadata" ` +
    `entityID="${entity_id}"${head}><md:IDPSSODescriptor protocolSupportEnumeration="${SAML}:protocol"${role}>` +
    `${keys.join('')}<md:SingleSignOnService Binding="${SAML}:bindings:${binding}" Location="${sso_url}"/>` +
    '</md:IDPSSODescriptor></md:EntityDescriptor>'
  )
}
