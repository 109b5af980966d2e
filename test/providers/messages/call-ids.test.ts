import fc from 'fast-check'
import {expect, test} from 'vitest'
import {clientCallId, providerCallId} from '../../../src/providers/messages/call-ids.ts'

test.each(['toolu_01A-b', 'call_abc', 'c', 'x'.repeat(64)])('%s is an id that every API takes, and stays', id => {
  expect(clientCallId(id)).toBe(id)
  expect(providerCallId(id)).toBe(id)
})

test('any other id is written so that every API takes it, and leads back', () => {
  fc.assert(
    fc.property(fc.string({minLength: 1, maxLength: 40, unit: 'binary'}), id => {
      const written = clientCallId(id)
      expect(written).toMatch(/^[\w-]{1,64}$/)
      if (Buffer.byteLength(id) <= 42 && Buffer.from(id).toString() === id) expect(providerCallId(written)).toBe(id)
    }),
  )
  expect(providerCallId(clientCallId('functions.Bash:0'))).toBe('functions.Bash:0')
})

test('an id of 10 KB is a hash, the same each time, and another for another id', () => {
  const long = 'a.'.repeat(5_000)
  expect(clientCallId(long)).toMatch(/^call_h_[\w-]{43}$/)
  expect(clientCallId(long)).toBe(clientCallId(long))
  expect(clientCallId(`${long}b`)).not.toBe(clientCallId(long))
  expect(providerCallId(clientCallId(long))).toBe(clientCallId(long))
})

test('an id that only looks written is the client’s own', () => {
  expect(providerCallId('call_w_abc')).toBe('call_w_abc')
  expect(providerCallId(`call_w_${Buffer.from('plain').toString('base64url')}`)).toBe('call_w_cGxhaW4')
})
