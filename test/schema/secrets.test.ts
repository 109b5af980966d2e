import fc from 'fast-check'
import {expect, test} from 'vitest'
import {hasMask, mask, maskAll, restored} from '../../src/schema/secrets.ts'

test('of a long secret the ends are shown, of a short one nothing', () => {
  expect(mask('sk-0123456789abcdef')).toBe('sk-•••••cdef')
  expect(mask('0123456789abcdef')).toBe('012•••••cdef')
  expect(mask('0123456789abcde')).toBe('•••••')
  expect(mask('')).toBe('•••••')
})

test('every text of an object is masked, and nothing else', () => {
  expect(maskAll({a: 'secret', b: [1, 'x', {c: null}], d: true})).toEqual({
    a: '•••••',
    b: [1, '•••••', {c: null}],
    d: true,
  })
})

test('what was masked is put back where it stood, and nowhere else', () => {
  const kept = {a: 'secret-one-0123456789', list: ['secret-two-0123456789'], b: 'plain'}
  expect(restored(maskAll(kept), kept)).toEqual(kept)
  expect(restored({a: 'new', b: mask(kept.a), c: mask(kept.a)}, kept)).toEqual({
    a: 'new',
    b: mask(kept.a),
    c: mask(kept.a),
  })
  expect(restored({toString: '•••••'}, {})).toEqual({toString: '•••••'})
})

test('any object comes back whole from its mask', () => {
  const secret = fc.string({unit: fc.constantFrom('a', 'b', '-', '1'), maxLength: 24})
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.oneof(secret, fc.array(secret), fc.integer(), fc.dictionary(fc.string(), secret))),
      kept => {
        expect(restored(maskAll(kept), kept)).toEqual(kept)
      },
    ),
  )
})

test('a mask is told from a secret, however deep it stands', () => {
  expect([mask('x'), {a: [{b: mask('secret-0123456789')}]}].map(hasMask)).toEqual([true, true])
  expect(['sk-plain', {a: 'x'}, null, undefined, 7].map(hasMask)).toEqual([false, false, false, false, false])
})
