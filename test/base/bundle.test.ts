import {generateKeyPairSync} from 'node:crypto'
import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {
  type Bundle,
  BundleFault,
  makeBundleKeys,
  openBundle,
  readPublicKeys,
  writeBundle,
} from '../../src/base/bundle.ts'

const keys = makeBundleKeys()
const others = makeBundleKeys()
const bundle: Bundle = {
  serial: 7,
  created_at: '2026-01-01T00:00:00.000Z',
  note: 'January',
  contents: [{kind: 'prices', content: {a: [1, 'ä']}}],
}
const {text} = writeBundle(bundle, keys.private_key)
const said = () => JSON.parse(text)
const openFault = (value: unknown, key = keys.public_key) => {
  try {
    openBundle(value, key)
  } catch (error) {
    if (error instanceof BundleFault) return error.message
    throw error
  }
  throw new Error('the bundle was taken')
}

describe('a bundle', () => {
  test('comes back as it was signed, and says who signed it', () => {
    expect(openBundle(said(), keys.public_key)).toEqual({bundle, key_id: keys.key_id})
    expect(openBundle(said(), others.public_key + keys.public_key)).toEqual({bundle, key_id: keys.key_id})
  })

  test('is refused when any byte of it was changed', () => {
    const payload = Buffer.from(said().payload, 'base64')
    const signature = Buffer.from(said().signatures[0].signature, 'base64')
    fc.assert(
      fc.property(fc.boolean(), fc.nat(), fc.integer({min: 1, max: 255}), (in_payload, at, flip) => {
        const bytes = Buffer.from(in_payload ? payload : signature)
        bytes[at % bytes.length]! ^= flip
        const changed = said()
        if (in_payload) changed.payload = bytes.toString('base64')
        else changed.signatures[0].signature = bytes.toString('base64')
        expect(openFault(changed)).toBe(
          'its signature does not fit its content: it was changed after it was signed, or damaged on the way',
        )
      }),
    )
  })

  test('is refused whatever else it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({maxDepth: 3}), value => {
        expect(openFault(value)).toMatch(/^it is no bundle of the format/)
      }),
    )
    fc.assert(
      fc.property(fc.jsonValue({maxDepth: 2}), fc.constantFrom('payload', 'signatures'), (value, member) => {
        expect(openFault({...said(), [member]: value})).toMatch(
          /payload is not base64|not signed|unknown form|does not fit/,
        )
      }),
    )
  })

  test.each<[string, unknown, string | undefined, string]>([
    ['is not signed', {...said(), signatures: []}, undefined, 'it is not signed'],
    ['lost its signatures', {...said(), signatures: undefined}, undefined, 'it is not signed'],
    [
      'was signed by another',
      JSON.parse(writeBundle(bundle, others.private_key).text),
      undefined,
      `it is signed with the key ${others.key_id}, which is not trusted here (trusted: ${keys.key_id})`,
    ],
    [
      'claims a trusted key',
      {
        ...said(),
        signatures: [{...JSON.parse(writeBundle(bundle, others.private_key).text).signatures[0], key_id: keys.key_id}],
      },
      undefined,
      'its signature does not fit its content',
    ],
    [
      'is of another format',
      {...said(), format: 'gateway-bundle/2'},
      undefined,
      'it is no bundle of the format gateway-bundle/1',
    ],
    ['is judged without a key', said(), 'nothing', 'no public key was given'],
    [
      'is judged by a key of another kind',
      said(),
      generateKeyPairSync('x25519').publicKey.export({type: 'spki', format: 'pem'}) as string,
      'the public key is no Ed25519 key',
    ],
    [
      'has a serial that is none',
      JSON.parse(writeBundle({...bundle, serial: 0.5}, keys.private_key).text),
      undefined,
      'its content has an unknown form',
    ],
    [
      'holds what is no object',
      JSON.parse(writeBundle([] as unknown as Bundle, keys.private_key).text),
      undefined,
      'its content is no object',
    ],
  ])('is refused when it %s', (_, value, key, message) => {
    expect(openFault(value, key)).toContain(message)
  })

  test('is not signed with what is no key, and the key is not repeated', () => {
    const secret = 'hunter2-hunter2'
    expect(() => writeBundle(bundle, secret)).toThrow('the private key is no Ed25519 key in PEM form')
    expect(() => writeBundle(bundle, keys.public_key)).toThrow('no Ed25519 key')
  })

  test('keys are named by their hash', () => {
    expect([...readPublicKeys(keys.public_key).keys()]).toEqual([keys.key_id])
    expect(keys.key_id).toMatch(/^[0-9a-f]{16}$/)
  })
})
