import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {
  addUsage,
  emptyUsage,
  imageUnit,
  isEmptyUsage,
  laterReport,
  mergeUsage,
  TOKEN_CLASSES,
  totals,
} from '../../src/schema/usage.ts'

describe('merging reports', () => {
  test('joins what a stream tells in parts: input at its start, output at its end', () => {
    const start = {input_uncached_tokens: 12, cache_read_tokens: 3, output_text_tokens: 1}
    const end = {output_text_tokens: 40, cache_read_tokens: null}
    expect(mergeUsage(start, end)).toEqual({
      ...emptyUsage(),
      input_uncached_tokens: 12,
      cache_read_tokens: 3,
      output_text_tokens: 40,
    })
  })

  test('takes units one by one, the last that is not null', () => {
    const merged = mergeUsage(
      {units: {web_search: 1, pages: 2}},
      undefined,
      {units: {web_search: 3, pages: null}},
      {units: null},
    )
    expect(merged.units).toEqual({web_search: 3, pages: 2})
  })

  test('leaves aside what is no count, and counts a started second', () => {
    const hostile = {
      input_uncached_tokens: -1,
      cache_read_tokens: Number.NaN,
      output_text_tokens: 1e300,
      units: {audio_seconds: 3.2},
    }
    expect(mergeUsage(hostile)).toEqual({...emptyUsage(), units: {audio_seconds: 4}})
  })
})

describe('a later report of a stream', () => {
  const usage = (input: number, output: number, more: object = {}) => ({
    ...emptyUsage(),
    input_uncached_tokens: input,
    output_text_tokens: output,
    ...more,
  })
  test.each([
    ['grows', usage(10, 4), usage(10, 9), usage(10, 9)],
    ['falls', usage(10, 9), usage(7, 4), usage(10, 9)],
    ['falls by half', usage(10, 9), usage(12, 4), usage(12, 9)],
    [
      'tells the parts of the same',
      usage(10, 9),
      usage(6, 5, {cache_read_tokens: 4, output_reasoning_tokens: 4}),
      null,
    ],
    [
      'adds units',
      usage(1, 1, {units: {web_search: 1}}),
      usage(1, 1, {units: {pages: 2}}),
      usage(1, 1, {units: {web_search: 1, pages: 2}}),
    ],
  ])('%s: a smaller sum replaces nothing', (_, earlier, later, want) => {
    expect(laterReport(earlier, later)).toEqual(want ?? later)
  })

  test('is the first where there was none, and none takes nothing away', () => {
    expect([laterReport(null, usage(1, 2)), laterReport(usage(1, 2), null), laterReport(null, null)]).toEqual([
      usage(1, 2),
      usage(1, 2),
      null,
    ])
  })
})

describe('totals', () => {
  test('count as OpenAI does: the prompt with its cache, the completion with its reasoning', () => {
    const usage = {
      ...emptyUsage(),
      input_uncached_tokens: 800,
      cache_read_tokens: 200,
      output_text_tokens: 60,
      output_reasoning_tokens: 40,
    }
    expect(totals(usage)).toEqual({prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100})
  })

  test('of a sum are the sums of the totals', () => {
    const count = fc.nat(1_000_000)
    const usage = fc.record(Object.fromEntries(TOKEN_CLASSES.map(name => [name, count])), {requiredKeys: []})
    fc.assert(
      fc.property(usage, usage, (one, other) => {
        expect(totals(addUsage(one, other)).total_tokens).toBe(totals(one).total_tokens + totals(other).total_tokens)
      }),
    )
  })
})

test('a sum adds units by name and leaves its parts alone', () => {
  const one = {units: {web_search: 1}}
  expect(addUsage(one, {units: {web_search: 2, pages: 5}}).units).toEqual({web_search: 3, pages: 5})
  expect(one.units).toEqual({web_search: 1})
})

test('usage is empty when no token and no unit was counted', () => {
  expect(isEmptyUsage(emptyUsage())).toBe(true)
  expect(isEmptyUsage({units: {requests: 0}})).toBe(true)
  expect(isEmptyUsage({units: {requests: 1}})).toBe(false)
  expect(isEmptyUsage({image_out_tokens: 1})).toBe(false)
})

test('an image without a chosen quality or size is the default one', () => {
  expect(imageUnit('hd', '1024x1024')).toBe('image:hd:1024x1024')
  expect(imageUnit()).toBe('image:default:default')
})
