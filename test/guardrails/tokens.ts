import {generateKeyPairSync, type KeyObject, sign} from 'node:crypto'
import {NOW_MS} from './support.ts'

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

export interface Signer {
  readonly jwk: Record<string, unknown>
  token(claims?: Record<string, unknown>, header?: Record<string, unknown>): string
}

const NOW_S = NOW_MS / 1000

function signer(kid: string, alg: string, pair: {publicKey: KeyObject; privateKey: KeyObject}): Signer {
  return {
    jwk: {...pair.publicKey.export({format: 'jwk'}), kid, alg, use: 'sig'},
    token(claims = {}, header = {}) {
      const signed = `${part({alg, kid, typ: 'JWT', ...header})}.${part({iat: NOW_S - 60, exp: NOW_S + 60, ...claims})}`
      const key = alg.startsWith('ES') ? {key: pair.privateKey, dsaEncoding: 'ieee-p1363' as const} : pair.privateKey
      return `${signed}.${sign(alg === 'EdDSA' ? null : 'sha256', Buffer.from(signed), key).toString('base64url')}`
    },
  }
}

export const rsa = signer('rsa-1', 'RS256', generateKeyPairSync('rsa', {modulusLength: 2048}))
export const ec = signer('ec-1', 'ES256', generateKeyPairSync('ec', {namedCurve: 'P-256'}))
export const ed = signer('ed-1', 'EdDSA', generateKeyPairSync('ed25519'))
/** The same id as `rsa`, another key. */
export const impostor = signer('rsa-1', 'RS256', generateKeyPairSync('rsa', {modulusLength: 2048}))

/** A key that RFC 7518 §3.3 forbids for signatures. */
export const short = signer('rsa-short', 'RS256', generateKeyPairSync('rsa', {modulusLength: 1024}))

/** `alg: none`, and a token keyed with the public key's own text. */
export const unsigned = `${part({alg: 'none'})}.${part({iat: NOW_S, exp: NOW_S + 60})}.${Buffer.from('x').toString('base64url')}`

export const jwks = {keys: [rsa.jwk, ec.jwk, ed.jwk]}
