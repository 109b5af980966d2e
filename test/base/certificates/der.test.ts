import {expect, test} from 'vitest'
import {
  bits,
  explicit,
  integer,
  moment,
  octets,
  oid,
  sequence,
  tagged,
  text,
  valuesIn,
  yes,
} from '../../../src/base/certificates/der.ts'

const hex = (bytes: Buffer) => bytes.toString('hex')
const ofHex = (digits: string) => Buffer.from(digits, 'hex')

test.each([
  ['a boolean', yes(), '0101ff'],
  ['nought', integer(Buffer.from([0, 0])), '020100'],
  ['a number without leading noughts', integer(Buffer.from([0, 0, 5])), '020105'],
  ['a number whose first bit is no sign', integer(Buffer.from([0x80])), '02020080'],
  ['bits', bits(Buffer.from([0b110]), 1), '03020106'],
  ['octets', octets(Buffer.from('ab')), '04026162'],
  ['letters', text('ü'), '0c02c3bc'],
  ['an identifier', oid('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
  ['an identifier of 2.5', oid('2.5.29.17'), '0603551d11'],
  ['a tag around values', explicit(3, yes()), 'a3030101ff'],
  ['a sequence', sequence(yes(), integer(Buffer.from([1]))), '30060101ff020101'],
  ['a time until 2049', moment(Date.parse('2049-12-31T23:59:59.999Z')), '170d3439313233313233353935395a'],
  ['a time from 2050 on', moment(Date.parse('2050-01-01T00:00:00Z')), '180f32303530303130313030303030305a'],
])('%s has the bytes of X.690', (_, bytes, expected) => {
  expect(hex(bytes)).toBe(expected)
})

test.each([
  [127, '047f'],
  [128, '048180'],
  [255, '0481ff'],
  [256, '04820100'],
  [65_535, '0482ffff'],
  [65_536, '0483010000'],
])('a length of %d is written as %s, and read again', (length, head) => {
  const whole = tagged(4, Buffer.alloc(length))
  expect(hex(whole.subarray(0, head.length / 2))).toBe(head)
  expect(valuesIn(whole)?.[0]?.content.length).toBe(length)
})

test.each([
  ['04', 'no length'],
  ['0401', 'no content'],
  ['048201', 'half a length'],
  ['0480', 'a length that is not known'],
  ['0485000000000100', 'a length of five bytes'],
  ['04847fffffff00', 'a length beyond the bytes'],
  ['1f8101', 'a long tag'],
  ['010100'.repeat(65), 'too many values'],
])('%s is not read: %s', digits => {
  expect(valuesIn(ofHex(digits))).toBeUndefined()
})

test('values are read in their order, and none is in no bytes', () => {
  expect(valuesIn(ofHex('0101ff020105'))?.map(({tag, whole}) => [tag, hex(whole)])).toEqual([
    [1, '0101ff'],
    [2, '020105'],
  ])
  expect(valuesIn(Buffer.alloc(0))).toEqual([])
})
