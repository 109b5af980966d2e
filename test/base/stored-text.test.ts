import {createHash} from 'node:crypto'
import fc from 'fast-check'
import {expect, test} from 'vitest'
import {
  cleaned,
  hashedText,
  indexedText,
  isClean,
  keyText,
  storedMetadata,
  storedText,
} from '../../src/base/stored-text.ts'

const text = fc.string({unit: 'binary', maxLength: 600})
const anything = fc.oneof(
  text,
  fc.string({unit: fc.integer({min: 0, max: 0xffff}).map(n => String.fromCharCode(n)), maxLength: 600}),
)
const sha256 = (of: string) => createHash('sha256').update(of).digest('hex')

test('a text for a row is clean, bounded, and the beginning of what came', () => {
  fc.assert(
    fc.property(anything, fc.integer({min: 1, max: 300}), (given, most) => {
      const kept = storedText(given, most)
      expect(isClean(kept) && Buffer.byteLength(kept) <= most).toBe(true)
      expect(cleaned(given).startsWith(kept)).toBe(true)
      const [next = ''] = cleaned(given).slice(kept.length)
      expect(kept === cleaned(given) || Buffer.byteLength(kept + next) > most).toBe(true)
    }),
  )
})

test('a key is the text itself, or the hash of what came', () => {
  expect(keyText('someone@example.com')).toBe('someone@example.com')
  expect(keyText('é'.repeat(64))).toBe('é'.repeat(64))
  expect(keyText('é'.repeat(65))).toBe(`sha256:${sha256('é'.repeat(65))}`)
  expect(keyText('a\0b')).toBe(`sha256:${sha256('a\0b')}`)
  expect(keyText(`sha256:${sha256('a\0b')}`)).not.toBe(keyText('a\0b'))
  expect(keyText('\ud800')).not.toBe(keyText('\ud801'))
  expect(keyText('\ud800')).not.toBe(keyText('\ufffd'))
})

test('two texts have two keys, and none is long or unclean', () => {
  fc.assert(
    fc.property(anything, anything, (one, other) => {
      expect(keyText(one) === keyText(other)).toBe(one === other)
      expect(isClean(keyText(one)) && Buffer.byteLength(keyText(one)) <= 128).toBe(true)
      expect(indexedText(cleaned(one)) === indexedText(cleaned(other))).toBe(cleaned(one) === cleaned(other))
      expect(Buffer.byteLength(indexedText(one))).toBeLessThanOrEqual(255 + 65)
      expect(hashedText(one)).toHaveLength(71)
    }),
  )
})

test('metadata that fits is not copied', () => {
  const plain = {_user: 'someone', team: 'é'.repeat(500)}
  expect(storedMetadata(plain)).toBe(plain)
  expect(storedMetadata({['k'.repeat(300)]: 'v'.repeat(2_000), '\0': '\ud800'})).toEqual({
    ['k'.repeat(256)]: 'v'.repeat(1_024),
    '\ufffd': '\ufffd',
  })
})
