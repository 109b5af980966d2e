import {constants, createPublicKey, type JsonWebKey, type KeyObject, verify} from 'node:crypto'
import {isList, isObject, type JsonObject, type JsonValue, own} from '../json-member.ts'
import {parsedObject} from '../json-object.ts'
import {perObject} from '../memo.ts'

/** A token in its parts, nothing of it believed yet (RFC 7515 §3.1). */
export interface Token {
  readonly header: JsonObject
  readonly payload: JsonObject
  readonly signed: string
  readonly signature: Buffer
}

const LONGEST = 16 * 1024
/** RFC 7518 §3.3 and §3.5. */
const MIN_RSA_BITS = 2048

export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const
export type Algorithm = (typeof ALGORITHMS)[number]

/** The parts of a compact token; undefined for what is none. */
export function readToken(text: string): Token | undefined {
  const parts = text.split('.', 4)
  if (text.length > LONGEST || parts.length !== 3 || !parts.every(part => /^[\w-]+$/.test(part))) return undefined
  const [header, payload] = [objectIn(parts[0]!), objectIn(parts[1]!)]
  if (!header || !payload) return undefined
  return {header, payload, signed: `${parts[0]}.${parts[1]}`, signature: Buffer.from(parts[2]!, 'base64url')}
}

/**
 * A key that `algorithm` may be checked with, or undefined: of another kind, for something else, too short, or not to
 * be read.
 */
export function readKey(jwk: JsonValue, algorithm: Algorithm): KeyObject | undefined {
  if (!isObject(jwk) || own(jwk, 'use') === 'enc') return undefined
  const uses = own(jwk, 'key_ops')
  if (isList(uses) && !uses.includes('verify')) return undefined
  const {kind, curve} = NEEDS[algorithm.slice(0, 2) === 'ES' ? algorithm : algorithm.slice(0, 2)]!
  const alg = own(jwk, 'alg')
  if (own(jwk, 'kty') !== kind || (curve && own(jwk, 'crv') !== curve) || (alg !== undefined && alg !== algorithm))
    return undefined
  return publicKey(jwk)
}

/** False for a key that none of our algorithms may be checked with. One that encrypts is for something else. */
export function isFitKey(jwk: JsonValue): boolean {
  return own(jwk, 'use') === 'enc' || ALGORITHMS.some(algorithm => readKey(jwk, algorithm) !== undefined)
}

/** To read a key costs as much as to check a signature with it: a set that is kept is read once. */
const publicKey = perObject((jwk: JsonObject): KeyObject | undefined => {
  try {
    const key = createPublicKey({key: publicPart(jwk), format: 'jwk'})
    return (key.asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS) < MIN_RSA_BITS ? undefined : key
  } catch {
    return undefined
  }
})

/** True when `key` signed it with `algorithm` (RFC 7518 §3). */
export function isSigned({signed, signature}: Token, key: KeyObject, algorithm: Algorithm): boolean {
  const data = Buffer.from(signed)
  if (algorithm === 'EdDSA') return verify(null, data, key, signature)
  const hash = `sha${algorithm.slice(2)}`
  if (algorithm.startsWith('ES')) return verify(hash, data, {key, dsaEncoding: 'ieee-p1363'}, signature)
  if (algorithm.startsWith('RS')) return verify(hash, data, {key, padding: constants.RSA_PKCS1_PADDING}, signature)
  return verify(
    hash,
    data,
    {key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST},
    signature,
  )
}

const NEEDS: Readonly<Record<string, {readonly kind: string; readonly curve?: string}>> = {
  RS: {kind: 'RSA'},
  PS: {kind: 'RSA'},
  ES256: {kind: 'EC', curve: 'P-256'},
  ES384: {kind: 'EC', curve: 'P-384'},
  ES512: {kind: 'EC', curve: 'P-521'},
  Ed: {kind: 'OKP', curve: 'Ed25519'},
}

/** Without what a private key has: a set that carries one by mistake is read as its public half. */
function publicPart(jwk: JsonObject): JsonWebKey {
  return Object.fromEntries(
    ['kty', 'n', 'e', 'crv', 'x', 'y'].flatMap(name =>
      typeof own(jwk, name) === 'string' ? [[name, own(jwk, name)]] : [],
    ),
  )
}

function objectIn(part: string): JsonObject | undefined {
  return parsedObject(Buffer.from(part, 'base64url').toString('utf8')) as JsonObject | undefined
}
