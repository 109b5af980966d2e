import fc from 'fast-check'
import {expect, test} from 'vitest'
import {JsonSkim} from '../../src/base/json-skim.ts'
import {forRing, seed} from '../support/ring.ts'

function skimmed(text: string, cuts: readonly number[] = []): unknown {
  const bytes = Buffer.from(text)
  const skim = new JsonSkim()
  let from = 0
  for (const cut of [...cuts.map(each => each % (bytes.length + 1)), bytes.length].toSorted(
    (one, other) => one - other,
  )) {
    skim.push(bytes.subarray(from, cut))
    from = Math.max(from, cut)
  }
  const kept = skim.bytes()
  return kept && JSON.parse(kept.toString())
}

/** The same as a value: long strings empty, numbers in lists 0. */
function expected(value: unknown, in_list = false): unknown {
  if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value)) - 2 > 1024 ? '' : value
  if (typeof value === 'number') return in_list ? 0 : value
  if (Array.isArray(value)) return value.map(each => expected(each, true))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, expected(member)]))
}

test('what is kept of any JSON is that JSON without what is long, wherever it is cut', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('x'.repeat(1024), 'x'.repeat(1025), '\\'.repeat(700), '"'.repeat(600), '界'.repeat(400)),
  )
  const value = fc.letrec(tie => ({
    any: fc.oneof(
      {maxDepth: 4},
      text,
      fc.double({noNaN: true, noDefaultInfinity: true}),
      fc.boolean(),
      fc.constant(null),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('any'), {maxLength: 5}),
    object: fc.dictionary(fc.string({maxLength: 5}), tie('any'), {maxKeys: 5}),
  })).object
  fc.assert(
    fc.property(value, fc.array(fc.nat(), {maxLength: 8}), fc.constantFrom(0, 1), (said, cuts, space) => {
      const written = JSON.stringify(said, null, space)
      expect(skimmed(written, cuts)).toEqual(JSON.parse(JSON.stringify(expected(JSON.parse(written)))))
    }),
    {seed: seed(), numRuns: forRing({own: 500, ci: 5000, full: 50_000})},
  )
})

test('of vectors and pictures of many megabytes little is kept', () => {
  const embedding = Array.from({length: 100_000}, (_, at) => -at / 7)
  const said = {data: [{embedding}, {b64_json: 'A'.repeat(20 << 20)}], usage: {prompt_tokens: 9, total_tokens: 9}}
  expect(skimmed(JSON.stringify(said))).toMatchObject({data: [{}, {b64_json: ''}], usage: {prompt_tokens: 9}})
})

test('what has no end, or says too much in short words, is not read', () => {
  expect(skimmed('{"a":"b')).toBeNull()
  expect(skimmed('[[1]')).toBeNull()
  expect(skimmed('['.repeat(5000))).toBeNull()
  expect(skimmed(`[${'"short",'.repeat(1_200_000)}"end"]`)).toBeNull()
})
