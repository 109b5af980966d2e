import {createHash, type KeyObject, verify} from 'node:crypto'
import {DSIG, XMLENC} from './names.ts'

const MORE = 'http://www.w3.org/2001/04/xmldsig-more#'

/** An algorithm of signatures: the keys that it is for, and its digest. */
export interface SignatureAlgorithm {
  readonly key: 'rsa' | 'ec'
  readonly hash: string
}

/** Those that are taken, by their URI. SHA-1, HMAC and DSA are not. */
const SIGNATURES: ReadonlyMap<string | null, SignatureAlgorithm> = new Map([
  [`${MORE}rsa-sha256`, {key: 'rsa', hash: 'sha256'}],
  [`${MORE}rsa-sha384`, {key: 'rsa', hash: 'sha384'}],
  [`${MORE}rsa-sha512`, {key: 'rsa', hash: 'sha512'}],
  [`${MORE}ecdsa-sha256`, {key: 'ec', hash: 'sha256'}],
  [`${MORE}ecdsa-sha384`, {key: 'ec', hash: 'sha384'}],
  [`${MORE}ecdsa-sha512`, {key: 'ec', hash: 'sha512'}],
])

const DIGESTS: ReadonlyMap<string | null, string> = new Map([
  [`${XMLENC}sha256`, 'sha256'],
  [`${MORE}sha384`, 'sha384'],
  [`${XMLENC}sha512`, 'sha512'],
])

export const EXCLUSIVE_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#'
export const ENVELOPED = `${DSIG}enveloped-signature`

export function signatureAlgorithm(uri: string | null): SignatureAlgorithm | undefined {
  return SIGNATURES.get(uri)
}

/** The name that `node:crypto` has for the digest. */
export function digestAlgorithm(uri: string | null): string | undefined {
  return DIGESTS.get(uri)
}

export function digestOf(text: string, hash: string): Buffer {
  return createHash(hash).update(text).digest()
}

/** True where one of `keys`, of the type of the algorithm, signed `text`. */
export function isSignedBy(
  keys: readonly KeyObject[],
  {key: type, hash}: SignatureAlgorithm,
  text: string,
  signature: Buffer,
): boolean {
  const material = Buffer.from(text)
  return (
    keys
      .filter(({asymmetricKeyType}) => asymmetricKeyType === type)
      // XML-DSig has the two numbers of ECDSA one after the other; RSA takes no notice of that option
      .some(key => verify(hash, material, {key, dsaEncoding: 'ieee-p1363'}, signature))
  )
}
