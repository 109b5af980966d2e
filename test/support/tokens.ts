import {constants, createHmac, generateKeyPairSync, type KeyObject, sign} from 'node:crypto'

/** A pair that signs tokens, and its public half as a JWK with an id. */
export interface Signer {
  readonly kid: string
  readonly alg: string
  readonly private_key: KeyObject
  readonly jwk: Readonly<Record<string, unknown>>
}

/** A new pair for an algorithm of RFC 7518 or RFC 8037; `bits` of RSA. */
export function signer(alg: string, kid = `${alg}-key`, bits = 2048): Signer {
  const pair = alg.startsWith('ES')
    ? generateKeyPairSync('ec', {namedCurve: {ES256: 'P-256', ES384: 'P-384', ES512: 'P-521'}[alg]!})
    : alg === 'EdDSA'
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('rsa', {modulusLength: bits})
  const jwk = {...pair.publicKey.export({format: 'jwk'}), kid}
  return {kid, alg, private_key: pair.privateKey, jwk}
}

export const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A compact token of these parts, signed as its signer signs. A text as a part is sent as it is. */
export function signedToken(header: object | string, payload: object | string, by: Signer): string {
  const data = `${encoded(header)}.${encoded(payload)}`
  return `${data}.${signatureOf(data, by).toString('base64url')}`
}

/** The same with a secret in place of a pair (HS256), as one who knows only the public key would make it. */
export function hmacToken(header: object, payload: object, secret: string | Buffer): string {
  const data = `${encoded(header)}.${encoded(payload)}`
  return `${data}.${createHmac('sha256', secret).update(data).digest('base64url')}`
}

export function signatureOf(data: string, {alg, private_key: key}: Signer): Buffer {
  const bytes = Buffer.from(data)
  if (alg === 'EdDSA') return sign(null, bytes, key)
  const hash = `sha${alg.slice(2)}`
  if (alg.startsWith('ES')) return sign(hash, bytes, {key, dsaEncoding: 'ieee-p1363'})
  if (alg.startsWith('RS')) return sign(hash, bytes, {key, padding: constants.RSA_PKCS1_PADDING})
  return sign(hash, bytes, {
    key,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  })
}

/** A token of `by` that holds for an hour from `now_ms`, in the form that identity providers give it. */
export function heldToken(by: Signer, claims: object, now_ms: number, header: object = {}): string {
  const now_s = Math.floor(now_ms / 1000)
  const times = {iat: now_s, exp: now_s + 3600}
  return signedToken({alg: by.alg, typ: 'JWT', kid: by.kid, ...header}, {...times, ...claims}, by)
}
