import {describe, expect, test} from 'vitest'
import {
  authorityValidity,
  checkBegun,
  DAY_MS,
  daysLeft,
  serverValidity,
  stateOf,
} from '../../../src/base/certificates/lifetime.ts'

const NOW_MS = Date.parse('2026-03-04T05:06:07.890Z')
const iso = (ms: number) => new Date(ms).toISOString()

describe('when a certificate is valid', () => {
  test('it begins an hour ago, and ends after its days', () => {
    const {begins_ms, ends_ms} = authorityValidity(NOW_MS, 10)
    expect([iso(begins_ms), iso(ends_ms)]).toEqual(['2026-03-04T04:06:07.000Z', '2026-03-14T05:06:07.000Z'])
  })

  test('it is within the time of its authority', () => {
    const ca = {begins_ms: NOW_MS - 1000, ends_ms: NOW_MS + 5 * DAY_MS}
    expect(serverValidity(NOW_MS, 10, ca)).toEqual(ca)
    expect(serverValidity(NOW_MS, 4, {...ca, begins_ms: 0})).toEqual(authorityValidity(NOW_MS, 4))
  })

  test.each([
    ['1970-01-01T00:00:05Z', 'The clock of this machine shows 1970-01-01, which cannot be right.'],
    ['2024-12-31T23:59:59Z', 'shows 2024-12-31'],
    ['9000-01-01T00:00:00Z', 'shows 9000-01-01'],
  ])('a clock at %s is refused', (time, words) => {
    expect(() => authorityValidity(Date.parse(time), 10)).toThrow(words)
  })

  test('a clock that shows no time at all is refused', () => {
    for (const now_ms of [Number.NaN, Number.POSITIVE_INFINITY, -1, 1e17])
      expect(() => authorityValidity(now_ms, 10)).toThrow('cannot be right')
  })

  test('a clock before the beginning of the authority is refused, and so is an authority that has ended', () => {
    const ca = authorityValidity(NOW_MS, 10)
    const at = (now_ms: number) => () => serverValidity(now_ms, 1, ca)
    expect(at(ca.begins_ms - 1)).toThrow(
      'The certificate authority is valid from 2026-03-04, and the clock of this machine shows 2026-03-04.',
    )
    expect(at(ca.begins_ms + 3_600_000)).not.toThrow()
    expect(at(ca.ends_ms)).toThrow('The certificate authority ended on 2026-03-14.')
    expect(at(ca.ends_ms - 1)).not.toThrow()
    expect(() => checkBegun(NOW_MS - DAY_MS, ca, 'The certificate')).toThrow('The certificate is valid from 2026-03-04')
  })

  test('days left are whole, and the state is of the moment', () => {
    const validity = {begins_ms: NOW_MS, ends_ms: NOW_MS + 10 * DAY_MS}
    const at = (days: number) => {
      const now_ms = NOW_MS + days * DAY_MS
      return [daysLeft(validity, now_ms), stateOf(validity, now_ms)]
    }
    expect([at(-1), at(0), at(0.5), at(10), at(10.5)]).toEqual([
      [11, 'not yet valid'],
      [10, 'active'],
      [9, 'active'],
      [0, 'active'],
      [-1, 'expired'],
    ])
  })
})
