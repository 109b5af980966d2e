import {createPrivateKey, type KeyObject, X509Certificate} from 'node:crypto'
import {type DerValue, oid, TAG, valuesIn} from './der.ts'
import {CertificateFault} from './fault.ts'
import {type CertificateHost, hostOfBytes} from './hosts.ts'
import {keyId, type Validity} from './make.ts'

/** A certificate as it was read. */
export interface ReadCertificate extends Validity {
  readonly x509: X509Certificate
  readonly pem: string
  /** The common name of its subject, empty where it has none. */
  readonly name: string
  readonly hosts: readonly CertificateHost[]
  /** True where it has names beside `hosts`: of another kind, or that no certificate made here has. */
  readonly has_others: boolean
  /** Hex digits in upper case. */
  readonly serial: string
  /** SHA-256 of the whole certificate: hex bytes with colons between them. */
  readonly fingerprint: string
}

/** A certificate authority with the key that it signs with. */
export interface Authority {
  readonly certificate: ReadCertificate
  readonly key: KeyObject
  readonly subject: Buffer
  readonly key_id: Buffer
}

const ALTERNATIVE_NAMES = oid('2.5.29.17')
const SUBJECT_KEY = oid('2.5.29.14')
const COMMON_NAME = oid('2.5.4.3')
const MAX_CHARACTERS = 65_536
const KINDS = new Map<number, CertificateHost['kind']>([
  [0x82, 'name'],
  [0x87, 'address'],
])
const MAX_NAMES = 1000

/** Reads the certificates of a PEM text in their order; throws CertificateFault, which calls it `source`. */
export function readCertificates(pem: string, source: string): readonly ReadCertificate[] {
  const parts =
    pem.length > MAX_CHARACTERS ? [] : pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)
  try {
    const read = (parts ?? []).map(part => readOne(`${part}\n`))
    if (read.length > 0) return read
  } catch {
    // the message of OpenSSL names a step inside it, which does not help a person who typed a path
  }
  throw new CertificateFault('certificate', `${source} holds no certificate in PEM form.`)
}

/**
 * Reads an authority of its certificate and its key, and checks that they are a pair and may sign; throws
 * CertificateFault.
 */
export function readAuthority(
  {certificate: pem, key: key_pem}: {readonly certificate: string; readonly key: string},
  {certificate: file, key: key_file}: {readonly certificate: string; readonly key: string},
): Authority {
  const [certificate] = readCertificates(pem, file)
  const key = readKey(key_pem, key_file)
  const {x509} = certificate!
  if (!x509.ca) throw new CertificateFault('authority', `${file} is the certificate of no authority.`)
  if (!x509.checkPrivateKey(key))
    throw new CertificateFault('authority', `${key_file} is not the key of ${file}.`, 'Put both back from one backup.')
  const fields = fieldsOf(x509)
  return {
    certificate: certificate!,
    key,
    subject: fields.subject.whole,
    key_id: valuesIn(fields.extension(SUBJECT_KEY) ?? Buffer.alloc(0))?.[0]?.content ?? keyId(x509.publicKey),
  }
}

/** Reads a private key of the curve P-256, as those that are made here; throws CertificateFault. */
export function readKey(pem: string, source: string): KeyObject {
  try {
    const key = createPrivateKey(pem.slice(0, MAX_CHARACTERS))
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  } catch {
    // nothing of a key is repeated in a message
  }
  throw new CertificateFault('authority', `${source} holds no private key of the curve P-256 in PEM form.`)
}

/** Checks that the authority issued a certificate and that it is what its server needs; throws CertificateFault. */
export function checkServerCertificate(
  {x509, hosts}: ReadCertificate,
  {certificate}: Pick<Authority, 'certificate'>,
  key: KeyObject,
): void {
  const fits = ({kind, text}: CertificateHost) =>
    kind === 'address' ? x509.checkIP(text) : x509.checkHost(text.replace(/^\*/, 'any'))
  if (!isIssuedBy(x509, certificate.x509) || !x509.checkPrivateKey(key) || x509.ca || !hosts.every(fits))
    throw new CertificateFault('certificate', 'The certificate that was made does not hold.')
}

/** True if `issuer` signed the certificate. */
export function isIssuedBy(x509: X509Certificate, issuer: X509Certificate): boolean {
  return x509.checkIssued(issuer) && x509.verify(issuer.publicKey)
}

function readOne(pem: string): ReadCertificate {
  const x509 = new X509Certificate(pem)
  const {subject, extension} = fieldsOf(x509)
  const names = extension(ALTERNATIVE_NAMES)
  return {
    x509,
    pem,
    name: commonNameOf(subject),
    ...(names ? hostsOf(names) : {hosts: [], has_others: false}),
    serial: x509.serialNumber,
    fingerprint: x509.fingerprint256,
    begins_ms: x509.validFromDate.getTime(),
    ends_ms: x509.validToDate.getTime(),
  }
}

/** The fields that node:crypto does not give as bytes. It has read the whole before, so that its shape is known. */
function fieldsOf({raw}: X509Certificate) {
  const inside = (value: DerValue | undefined) => valuesIn(value?.content ?? Buffer.alloc(0)) ?? []
  const fields = inside(inside(valuesIn(raw)?.[0])[0])
  const at = fields[0]?.tag === 0xa0 ? 1 : 0 // the version is left out of a certificate of version 1
  const extensions = inside(inside(fields.find(({tag}) => tag === 0xa3))[0]).map(inside)
  const subject = fields[at + 4]
  if (subject?.tag !== TAG.sequence) throw new CertificateFault('certificate', 'A certificate has no subject.')
  return {
    subject,
    extension: (id: Buffer) => extensions.find(([first]) => first?.whole.equals(id))?.at(-1)?.content,
  }
}

function commonNameOf({content}: DerValue): string {
  for (const set of valuesIn(content) ?? [])
    for (const {content: pair} of valuesIn(set.content) ?? []) {
      const [id, value] = valuesIn(pair) ?? []
      if (id?.whole.equals(COMMON_NAME) && value) return value.content.toString()
    }
  return ''
}

function hostsOf(extension: Buffer): Pick<ReadCertificate, 'hosts' | 'has_others'> {
  const [list] = valuesIn(extension) ?? []
  const names = valuesIn(list?.content ?? Buffer.alloc(0), MAX_NAMES)
  const hosts = (names ?? []).flatMap(({tag, content}) => {
    const kind = KINDS.get(tag)
    return (kind && hostOfBytes(kind, content)) ?? []
  })
  return {hosts, has_others: hosts.length !== names?.length}
}
