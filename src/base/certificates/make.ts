import {createHash, createPublicKey, type KeyObject, sign} from 'node:crypto'
import {bits, explicit, implicit, integer, moment, octets, oid, sequence, setOf, text, yes} from './der.ts'
import {CertificateFault} from './fault.ts'
import type {CertificateHost} from './hosts.ts'

/** When a certificate is valid, both ends included, in milliseconds since 1970. */
export interface Validity {
  readonly begins_ms: number
  readonly ends_ms: number
}

export interface AuthorityParts extends Validity {
  readonly name: string
  /** A private key of the curve P-256. */
  readonly key: KeyObject
  /** 16 random bytes. */
  readonly serial: Uint8Array
}

export interface ServerCertificateParts extends Validity {
  readonly hosts: readonly CertificateHost[]
  readonly public_key: KeyObject
  readonly serial: Uint8Array
  readonly issuer: {
    readonly key: KeyObject
    /** The subject of its certificate, as DER. */
    readonly subject: Buffer
    readonly key_id: Buffer
  }
}

const OID = {
  common_name: '2.5.4.3',
  ecdsa_sha256: '1.2.840.10045.4.3.2',
  subject_key: '2.5.29.14',
  key_usage: '2.5.29.15',
  alternative_names: '2.5.29.17',
  basic_constraints: '2.5.29.19',
  authority_key: '2.5.29.35',
  extended_key_usage: '2.5.29.37',
  server_auth: '1.3.6.1.5.5.7.3.1',
} as const

const V3 = Buffer.from([2])
const ECDSA_SHA256 = sequence(oid(OID.ecdsa_sha256))
/** Bits from the left: digitalSignature is 0, keyCertSign 5, cRLSign 6. */
const DIGITAL_SIGNATURE = bits(Buffer.from([0b1000_0000]), 7)
const CERT_AND_CRL_SIGN = bits(Buffer.from([0b0000_0110]), 1)
const MAX_COMMON_NAME = 64 // characters (RFC 5280, appendix A.1)
const ADDRESS = 7
const DNS_NAME = 2
/** RFC 5280 (4.1.2.5) has four digits for a year. */
const LAST_MS = Date.parse('9999-12-31T23:59:59Z')

/** A certificate authority that signs certificates of servers and no further authority, in PEM form. */
export function makeAuthority({name, key, ...parts}: AuthorityParts): string {
  const public_key = createPublicKey(key)
  const subject = nameOf(name)
  return signed(key, {
    ...parts,
    public_key,
    subject,
    issuer: subject,
    extensions: [
      extension(OID.basic_constraints, sequence(yes(), integer(Buffer.from([0]))), {critical: true}),
      extension(OID.key_usage, CERT_AND_CRL_SIGN, {critical: true}),
      extension(OID.subject_key, octets(keyId(public_key))),
    ],
  })
}

/** The certificate of a server for its hosts, in PEM form. */
export function makeServerCertificate({hosts, public_key, issuer, ...parts}: ServerCertificateParts): string {
  const [first] = hosts
  if (!first) throw new CertificateFault('host', 'A certificate is for one host at least.')
  const has_subject = first.text.length <= MAX_COMMON_NAME
  const names = hosts.map(({kind, bytes}) => implicit(kind === 'name' ? DNS_NAME : ADDRESS, bytes))
  return signed(issuer.key, {
    ...parts,
    public_key,
    subject: has_subject ? nameOf(first.text) : sequence(),
    issuer: issuer.subject,
    extensions: [
      extension(OID.basic_constraints, sequence(), {critical: true}),
      extension(OID.key_usage, DIGITAL_SIGNATURE, {critical: true}),
      extension(OID.extended_key_usage, sequence(oid(OID.server_auth))),
      // critical where they alone say what the certificate is for (RFC 5280, 4.2.1.6)
      extension(OID.alternative_names, sequence(...names), {critical: !has_subject}),
      extension(OID.subject_key, octets(keyId(public_key))),
      extension(OID.authority_key, sequence(implicit(0, issuer.key_id))),
    ],
  })
}

/** The identifier of a public key: 160 bits of the SHA-256 of its bits (RFC 7093, method 1). */
export function keyId(public_key: KeyObject): Buffer {
  const {x, y} = public_key.export({format: 'jwk'})
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')])
  return createHash('sha256').update(point).digest().subarray(0, 20)
}

interface Signed extends Validity {
  readonly serial: Uint8Array
  readonly subject: Buffer
  readonly issuer: Buffer
  readonly public_key: KeyObject
  readonly extensions: readonly Buffer[]
}

function signed(key: KeyObject, {serial, begins_ms, ends_ms, ...parts}: Signed): string {
  if (!(begins_ms < ends_ms && ends_ms <= LAST_MS))
    throw new CertificateFault('lifetime', 'A certificate ends after it begins, and before the year 10000.')
  const content = sequence(
    explicit(0, integer(V3)),
    integer(positive(serial)),
    ECDSA_SHA256,
    parts.issuer,
    sequence(moment(begins_ms), moment(ends_ms)),
    parts.subject,
    parts.public_key.export({format: 'der', type: 'spki'}),
    explicit(3, sequence(...parts.extensions)),
  )
  const whole = sequence(content, ECDSA_SHA256, bits(sign('sha256', content, key)))
  const lines = whole.toString('base64').match(/.{1,64}/g)!
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

/** 127 of the 128 random bits, so that the number has 16 bytes and no sign; never nought. */
function positive(serial: Uint8Array): Buffer {
  const bytes = Buffer.from(serial)
  if (bytes.length !== 16) throw new Error('A serial number is made of 16 random bytes.')
  bytes[0]! &= 0x7f
  if (bytes.every(byte => byte === 0)) bytes[15] = 1
  return bytes
}

function nameOf(common_name: string): Buffer {
  return sequence(setOf(sequence(oid(OID.common_name), text(common_name))))
}

function extension(id: string, value: Buffer, {critical = false} = {}): Buffer {
  return sequence(oid(id), ...(critical ? [yes()] : []), octets(value))
}
