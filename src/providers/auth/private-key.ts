import {createHash, createPrivateKey, createSign, type KeyObject} from 'node:crypto'
import {LoginFault} from './login.ts'

/** Keys are read once: one under a passphrase costs milliseconds. */
const KNOWN = new Map<string, KeyObject>()
const MOST = 200

/**
 * An RSA private key in PEM form. `\n` may stand for its line ends, as in headers and environments. `what` names it in
 * the fault.
 */
export function readPrivateKey(pem: string, what: string, passphrase?: string): KeyObject {
  const name = createHash('sha256')
    .update(JSON.stringify([pem, passphrase]))
    .digest('hex')
  const known = KNOWN.get(name)
  if (known) return known
  let key: KeyObject
  try {
    key = createPrivateKey({
      key: pem.replaceAll('\\n', '\n'),
      format: 'pem',
      ...(passphrase !== undefined && {passphrase}),
    })
  } catch {
    throw new LoginFault(
      `The ${what} cannot be read: expected a private key in PEM form${passphrase === undefined ? '' : ' and its passphrase'}.`,
    )
  }
  if (key.asymmetricKeyType !== 'rsa') throw new LoginFault(`The ${what} is not an RSA key.`)
  KNOWN.set(name, key)
  if (KNOWN.size > MOST) KNOWN.delete(KNOWN.keys().next().value!)
  return key
}

/** RSASSA-PKCS1-v1_5 with SHA-256, in base64. */
export function rsaSha256(key: KeyObject, text: string): string {
  return createSign('RSA-SHA256').update(text).sign(key, 'base64')
}

/** A JWT signed with RS256 (RFC 7519, RFC 7515). */
export function signedJwt(
  header: Readonly<Record<string, unknown>>,
  claims: Readonly<Record<string, unknown>>,
  key: KeyObject,
): string {
  const signed = [{alg: 'RS256', typ: 'JWT', ...header}, claims]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`
}
