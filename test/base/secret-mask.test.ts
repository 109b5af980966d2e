import fc from 'fast-check'
import {expect, test} from 'vitest'
import {SecretMask} from '../../src/base/secret-mask.ts'
import {seed} from '../support/ring.ts'

const KEY = 'sk-proj-9Zk/2L+mQ7=aB'
const mask = SecretMask.of([KEY])!

test.each([
  ['as it is', KEY] as const,
  ['percent-encoded', encodeURIComponent(KEY)] as const,
  ['with the escapes of JSON', KEY.replaceAll('/', '\\/')] as const,
  ...['', 'a', 'ab', 'Bearer '].map(
    before => [`in base64 behind "${before}"`, Buffer.from(`${before}${KEY}:x`).toString('base64')] as const,
  ),
  ...['', 'a', 'ab'].map(
    before => [`in base64 for URLs behind "${before}"`, Buffer.from(`${before}${KEY}`).toString('base64url')] as const,
  ),
])('a secret %s is masked, and lengths stay', (_name, form) => {
  const text = `{"error":{"message":"your key ${form} is bad"}}`
  const masked = mask.text(text)
  expect(masked).toHaveLength(text.length)
  expect(JSON.parse(masked)).toBeTruthy()
  // of base64, the few characters that hold bits of other bytes stay
  expect(masked).toMatch(/\*{20}/)
  expect(masked).not.toContain(form)
  expect(mask.bytes(Buffer.from(text)).toString()).toBe(masked)
})

test('nothing else is touched, and short words are no secrets', () => {
  const text = 'a key that is not it: sk-proj-9Zk'
  expect(mask.text(text)).toBe(text)
  const bytes = Buffer.from(text)
  expect(mask.bytes(bytes)).toBe(bytes)
  expect(SecretMask.of(['key', ''])).toBeNull()
})

test('however it is cut into chunks, no more than its first three characters leave', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(KEY, 'sk-', 'sk-proj-', 'sk', ' and ', KEY.slice(0, 12), KEY.slice(1)), {maxLength: 6}),
      fc.array(fc.nat(30), {maxLength: 20}),
      (words, cuts) => {
        const text = words.join('')
        const filter = mask.filter()
        const sent: Buffer[] = []
        let at = 0
        for (const cut of [...cuts, text.length]) {
          sent.push(filter.push(Buffer.from(text.slice(at, at + cut))))
          at += cut
        }
        sent.push(filter.end())
        const given = Buffer.concat(sent).toString()
        const whole = mask.text(text)
        expect(given).toHaveLength(text.length)
        // what differs are the beginnings that had left
        for (let place = 0; place < text.length; place++)
          if (given[place] !== whole[place]) expect(KEY.slice(0, 3)).toContain(given[place])
        expect(given).not.toContain(KEY.slice(0, 4) + KEY.slice(4))
        expect(given).not.toContain(KEY)
      },
    ),
    {numRuns: 3000, seed: seed()},
  )
})

test('a byte at a time leaves three characters', () => {
  const filter = mask.filter()
  const sent = [...Buffer.from(`x ${KEY} y`)].map(byte => filter.push(Buffer.of(byte)).toString())
  expect(sent.join('') + filter.end().toString()).toBe(`x sk-${'*'.repeat(KEY.length - 3)} y`)
})
