import {expect, test} from 'vitest'
import {keySetIssues} from '../../src/identity/jwt/inline-keys.ts'
import {type Signer, signer} from '../support/tokens.ts'

const RSA = signer('RS256', 'rsa')
const EC = signer('ES256', 'ec')
const ED = signer('EdDSA', 'ed')
const issuesOf = (...keys: unknown[]) => keySetIssues({keys} as never).map(({path, message}) => `${path}: ${message}`)
const privateOf = ({private_key, kid}: Signer) => ({...private_key.export({format: 'jwk'}), kid})

test('keys of every kind that tokens are signed with are taken', () => {
  expect(issuesOf(RSA.jwk, EC.jwk, ED.jwk, signer('ES384').jwk, {...RSA.jwk, kid: 'b', use: 'sig'})).toEqual([])
})

test.each([
  [
    'a private RSA key',
    privateOf(RSA),
    ['d', 'p', 'q', 'dp', 'dq', 'qi'].map(name => `keys[0].${name}: is of a private key; send the public one`),
  ],
  ['a private EC key', privateOf(EC), ['keys[0].d: is of a private key; send the public one']],
  ['a private Ed25519 key', privateOf(ED), ['keys[0].d: is of a private key; send the public one']],
  [
    'a secret',
    {kty: 'oct', kid: 'a', k: 'c2VjcmV0'},
    ['keys[0].k: is of a private key; send the public one', 'keys[0].kty: expected RSA, EC or OKP'],
  ],
  ['1024 bits', signer('RS256', 'a', 1024).jwk, ['keys[0].n: expected at least 2048 bits']],
  ['no id', {...RSA.jwk, kid: undefined}, ['keys[0].kid: expected 1 to 255 characters']],
  ['an empty id', {...RSA.jwk, kid: ''}, ['keys[0].kid: expected 1 to 255 characters']],
  ['a key to encrypt with', {...RSA.jwk, use: 'enc'}, ['keys[0].use: expected sig, or nothing']],
  ['an even exponent', {...RSA.jwk, e: 'AAQ'}, ['keys[0].e: expected an odd number of at least 3']],
  ['an exponent of 1', {...RSA.jwk, e: 'AQ'}, ['keys[0].e: expected an odd number of at least 3']],
  ['another curve', {...EC.jwk, crv: 'secp256k1'}, ['keys[0].crv: expected P-256 or P-384']],
  ['a curve of ES512', signer('ES512', 'a').jwk, ['keys[0].crv: expected P-256 or P-384']],
  ['another curve of OKP', {...ED.jwk, crv: 'X25519'}, ['keys[0].crv: expected Ed25519']],
  ['a kind by a word of every object', {kty: 'constructor', kid: 'a'}, ['keys[0].kty: expected RSA, EC or OKP']],
  ['no object', 'text', ['keys[0]: expected an object']],
])('refused with the way to it: %s', (_, key, expected) => {
  expect(issuesOf(key)).toEqual(expected)
})

test('two keys of one id are refused, and neither none nor too many are taken', () => {
  expect(issuesOf(RSA.jwk, {...EC.jwk, kid: 'rsa'})).toEqual(['keys[1].kid: is that of keys[0] too'])
  expect(issuesOf()).toEqual(['keys: expected 1 to 50 keys'])
  expect(issuesOf(...Array.from({length: 51}, (_, at) => ({...RSA.jwk, kid: `k${at}`})))).toEqual([
    'keys: expected 1 to 50 keys',
  ])
  expect(keySetIssues([] as never)).toEqual([{path: 'keys', message: 'expected a list of keys'}])
})

test('no message holds a part of a key', () => {
  const {d} = privateOf(RSA) as {d?: string}
  expect(JSON.stringify(issuesOf(privateOf(RSA)))).not.toContain(String(d).slice(0, 12))
})
