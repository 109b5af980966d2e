import {expect, test} from 'vitest'
import {givenKey, hashKey, makeKey, maskKey, sentKey} from '../../src/identity/keys.ts'

test('a made key is gk- and 43 characters, each another, and is known by its hash', () => {
  const made = Array.from({length: 50}, makeKey)
  expect(new Set(made.map(each => each.key)).size).toBe(50)
  for (const {key, hash, masked} of made) {
    expect(key).toMatch(/^gk-[\w-]{43}$/)
    expect(hash).toBe(hashKey(key))
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(masked).toBe(`gk-${key.slice(3, 5)}…${key.slice(-4)}`)
  }
})

test('the hash is SHA-256', () => {
  expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('a key that was chosen needs 32 characters', () => {
  expect(() => givenKey('x'.repeat(31))).toThrow(RangeError)
  expect(givenKey('x'.repeat(32)).masked).toBe(maskKey('x'.repeat(32)))
})

test.each([
  [{'x-gateway-api-key': 'k1'}, 'k1', 'x-gateway'],
  [{'x-portkey-api-key': 'k1'}, 'k1', 'x-portkey'],
  [{'x-portkey-api-key': 'k1', 'x-gateway-api-key': 'k2'}, 'k2', 'x-gateway'],
  [{'x-gateway-api-key': 'k1', authorization: 'Bearer other'}, 'k1', 'x-gateway'],
  [{'x-gateway-api-key': ' k1 '}, 'k1', 'x-gateway'],
  [{'x-gateway-api-key': ' ', authorization: 'Bearer k1'}, 'k1', 'x-gateway'],
  [{authorization: 'bearer k1'}, 'k1', 'x-gateway'],
  [{authorization: 'Basic dTpw'}, undefined, 'x-gateway'],
  [{authorization: 'Bearer two words'}, undefined, 'x-gateway'],
  [{authorization: 'Bearer'}, undefined, 'x-gateway'],
  [{}, undefined, 'x-gateway'],
])('the headers %j carry the key %j', (headers, key, prefix) => {
  expect(sentKey(headers)).toEqual({key, prefix})
})
