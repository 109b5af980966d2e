import {createHmac} from 'node:crypto'
import {createLocalJWKSet, jwtVerify} from 'jose'
import {describe, expect, test} from 'vitest'
import {keysNamed} from '../../src/base/jwt/key-set.ts'
import {timeClaimError} from '../../src/base/jwt/times.ts'
import {ALGORITHMS, isSigned, readKey, readToken} from '../../src/base/jwt/token.ts'
import {NOW_MS} from './support.ts'
import {ec, ed, impostor, jwks, rsa, short, unsigned} from './tokens.ts'

const NOW_S = NOW_MS / 1000
const TOLERANCE_S = 5
const MAX_AGE_S = 86_400
type Keys = readonly Record<string, unknown>[]

function isTaken(text: string, keys: Keys): boolean {
  const token = readToken(text)
  const algorithm = ALGORITHMS.find(each => each === token?.header.alg)
  if (!token || !algorithm || Object.hasOwn(token.header, 'crit')) return false
  const usable = keysNamed(keys as never, token.header.kid).map(key => readKey(key, algorithm))
  if (!usable.some(key => key && isSigned(token, key, algorithm))) return false
  return timeClaimError(token.payload, NOW_S, TOLERANCE_S, MAX_AGE_S) === undefined
}

async function isTakenByJose(text: string, keys: Keys): Promise<boolean> {
  const how = {
    algorithms: [...ALGORITHMS],
    clockTolerance: TOLERANCE_S,
    maxTokenAge: MAX_AGE_S,
    currentDate: new Date(NOW_MS),
  }
  return jwtVerify(text, createLocalJWKSet({keys} as never), how).then(
    () => true,
    () => false,
  )
}

const good = rsa.token()
const [head, body, mark] = good.split('.') as [string, string, string]
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const shared = `${base64url({alg: 'HS256', kid: 'rsa-1'})}.${body}`

const TOKENS: Readonly<Record<string, string>> = {
  RSA: good,
  EC: ec.token(),
  Ed25519: ed.token(),
  'no signature asked': unsigned,
  'no signature asked, one given': `${base64url({alg: 'none', kid: 'rsa-1'})}.${body}.${mark}`,
  'none in other letters': `${base64url({alg: 'None', kid: 'rsa-1'})}.${body}.${mark}`,
  'keyed with the public key': `${shared}.${createHmac('sha256', JSON.stringify(rsa.jwk)).update(shared).digest('base64url')}`,
  "another's key": impostor.token(),
  'another algorithm': rsa.token({}, {alg: 'ES256'}),
  'the id of a key of another kind': rsa.token({}, {kid: 'ec-1'}),
  'an unknown id': rsa.token({}, {kid: 'x'}),
  'an id that is a number': rsa.token({}, {kid: 1}),
  'an id that is null': rsa.token({}, {kid: null}),
  'no id': rsa.token({}, {kid: undefined}),
  'an extension': rsa.token({}, {crit: ['x'], x: 1}),
  'a claim as an extension': rsa.token({}, {crit: ['exp']}),
  'no extension in the list of them': rsa.token({}, {crit: []}),
  'a payload that is not encoded': rsa.token({}, {b64: false, crit: ['b64']}),
  expired: rsa.token({exp: NOW_S - TOLERANCE_S}),
  'expired within the tolerance': rsa.token({exp: NOW_S - TOLERANCE_S + 1}),
  'of tomorrow': rsa.token({nbf: NOW_S + TOLERANCE_S + 1}),
  'of a moment later': rsa.token({nbf: NOW_S + TOLERANCE_S}),
  'made in the future': rsa.token({iat: NOW_S + TOLERANCE_S + 1}),
  'too old': rsa.token({iat: NOW_S - MAX_AGE_S - TOLERANCE_S - 1}),
  'without its age': rsa.token({iat: undefined}),
  'for good': rsa.token({exp: undefined}),
  'an end that is text': rsa.token({exp: String(NOW_S + 60)}),
  'a beginning that is text': rsa.token({nbf: 'x'}),
  'another payload': `${head}.${base64url({iat: NOW_S, exp: NOW_S + 60, sub: 'root'})}.${mark}`,
  'no signature': `${head}.${body}.`,
  'two parts': `${head}.${body}`,
  'four parts': `${good}.x`,
  padded: `${good}=`,
  'a space before it': ` ${good}`,
}

const SETS: Readonly<Record<string, Keys>> = {
  'for encryption': [{...rsa.jwk, use: 'enc'}],
  'for something else': [{...rsa.jwk, key_ops: ['encrypt']}],
  'for nothing': [{...rsa.jwk, key_ops: []}],
  'for this': [{...rsa.jwk, key_ops: ['verify']}],
  'of another algorithm': [{...rsa.jwk, alg: 'RS512'}],
  'of any algorithm': [{...rsa.jwk, alg: undefined, use: undefined}],
  'a shared secret': [{kty: 'oct', k: 'eA', kid: 'rsa-1', alg: 'RS256'}],
  'no key': [],
}

describe('tokens beside jose', () => {
  test.each(Object.entries(TOKENS))('%s', async (_, token) => {
    expect(isTaken(token, jwks.keys)).toBe(await isTakenByJose(token, jwks.keys))
  })

  test.each(Object.entries(SETS))('a key %s', async (_, keys) => {
    expect(isTaken(good, keys)).toBe(await isTakenByJose(good, keys))
  })

  test('a short RSA key', async () => {
    expect([isTaken(short.token(), [short.jwk]), await isTakenByJose(short.token(), [short.jwk])]).toEqual([
      false,
      false,
    ])
  })

  /** A set may hold two keys of one id (RFC 7517 §4.5); `jose` leaves it to its caller to try them. */
  test('of two keys of one id either may have signed', async () => {
    expect(isTaken(good, [impostor.jwk, rsa.jwk])).toBe(true)
    expect(await isTakenByJose(good, [impostor.jwk, rsa.jwk])).toBe(false)
  })
})
