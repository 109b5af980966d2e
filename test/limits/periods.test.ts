import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {periodOf, type Resets} from '../../src/schema/periods.ts'

const at = (text: string) => Date.parse(text)
const iso = (ms: number) => (Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 16) : 'ever')
const never: Resets = {
  periodic_reset: null,
  periodic_reset_days: null,
  next_usage_reset_at: null,
  started_at: '2026-01-05T13:30:00.000Z',
}
const shown = (resets: Resets, day: 'sunday' | 'monday', now: string) => {
  const {starts_at_ms, ends_at_ms} = periodOf(resets, day, at(now))
  return [iso(starts_at_ms), iso(ends_at_ms)]
}

describe('a period', () => {
  const weekly: Resets = {...never, periodic_reset: 'weekly'}
  const monthly: Resets = {...never, periodic_reset: 'monthly'}
  const ten: Resets = {...never, periodic_reset_days: 10}

  test.each([
    ['sunday', '2026-05-03T00:00:00Z', '2026-05-03T00:00', '2026-05-10T00:00'], // a Sunday
    ['sunday', '2026-05-02T23:59:59.999Z', '2026-04-26T00:00', '2026-05-03T00:00'],
    ['monday', '2026-05-03T23:59:59.999Z', '2026-04-27T00:00', '2026-05-04T00:00'],
    ['monday', '2026-05-04T00:00:00Z', '2026-05-04T00:00', '2026-05-11T00:00'],
  ] as const)('of a week from %s at %s is %s to %s', (day, now, from, to) => {
    expect(shown(weekly, day, now)).toEqual([from, to])
  })

  test('of a month goes from the 1st to the 1st, over the end of a year and in a leap year', () => {
    expect(shown(monthly, 'sunday', '2026-12-31T23:59:59.999Z')).toEqual(['2026-12-01T00:00', '2027-01-01T00:00'])
    expect(shown(monthly, 'sunday', '2028-02-29T12:00:00Z')).toEqual(['2028-02-01T00:00', '2028-03-01T00:00'])
  })

  test('of ten days is counted from the day the limit was set, at 00:00 UTC', () => {
    expect(shown(ten, 'sunday', '2026-01-05T13:30:00Z')).toEqual(['2026-01-05T00:00', '2026-01-15T00:00'])
    expect(shown(ten, 'sunday', '2026-01-15T00:00:00Z')).toEqual(['2026-01-15T00:00', '2026-01-25T00:00'])
  })

  test('of ten days with a given reset begins again then, not before, and every ten days after', () => {
    const given: Resets = {...ten, next_usage_reset_at: '2026-02-20T18:00:00.000Z'}
    expect(shown(given, 'sunday', '2026-01-20T00:00:00Z')).toEqual(['ever', '2026-02-20T00:00'])
    expect(shown(given, 'sunday', '2026-02-20T00:00:00Z')).toEqual(['2026-02-20T00:00', '2026-03-02T00:00'])
    expect(shown(given, 'sunday', '2026-03-02T00:00:00Z')).toEqual(['2026-03-02T00:00', '2026-03-12T00:00'])
  })

  test('of a week or month with a given reset begins again then, and then with the calendar', () => {
    const given: Resets = {...monthly, next_usage_reset_at: '2026-02-20T00:00:00.000Z'}
    expect(shown(given, 'sunday', '2026-02-19T00:00:00Z')).toEqual(['ever', '2026-02-20T00:00'])
    expect(shown(given, 'sunday', '2026-02-21T00:00:00Z')).toEqual(['2026-02-20T00:00', '2026-03-01T00:00'])
    expect(shown(given, 'sunday', '2026-03-01T00:00:00Z')).toEqual(['2026-03-01T00:00', '2026-04-01T00:00'])
  })

  test('without a reset is all time', () => {
    expect(shown(never, 'sunday', '2026-05-03T00:00:00Z')).toEqual(['ever', 'ever'])
  })
})

const moment = fc.integer({min: at('1975-01-01T00:00:00Z'), max: at('2100-01-01T00:00:00Z')})
const day = fc.constantFrom('sunday' as const, 'monday' as const)
const resets: fc.Arbitrary<Resets> = fc
  .tuple(
    fc.oneof(
      fc
        .constantFrom('weekly' as const, 'monthly' as const)
        .map(periodic_reset => ({periodic_reset, periodic_reset_days: null})),
      fc.integer({min: 1, max: 365}).map(periodic_reset_days => ({periodic_reset: null, periodic_reset_days})),
    ),
    fc.option(moment),
    moment,
  )
  .map(([repeats, next, started]) => ({
    ...repeats,
    next_usage_reset_at: next === null ? null : new Date(next).toISOString(),
    started_at: new Date(started).toISOString(),
  }))

describe('for any reset and any time', () => {
  test('the time lies in its period, and both ends are midnights in UTC', () => {
    fc.assert(
      fc.property(resets, day, moment, (reset, first, now) => {
        const {starts_at_ms, ends_at_ms} = periodOf(reset, first, now)
        expect(starts_at_ms <= now && now < ends_at_ms).toBe(true)
        for (const end of [starts_at_ms, ends_at_ms]) if (Number.isFinite(end)) expect(end % 86_400_000).toBe(0)
      }),
    )
  })

  test('all of a period say the same period, and its end begins the next: no gap, no overlap', () => {
    fc.assert(
      fc.property(resets, day, moment, fc.double({min: 0, max: 1, noNaN: true}), (reset, first, now, part) => {
        const period = periodOf(reset, first, now)
        const from = Math.max(period.starts_at_ms, 0)
        const other = Math.floor(from + (period.ends_at_ms - 1 - from) * part)
        expect(periodOf(reset, first, other)).toEqual(period)
        expect(periodOf(reset, first, period.ends_at_ms - 1)).toEqual(period)
        expect(periodOf(reset, first, period.ends_at_ms).starts_at_ms).toBe(period.ends_at_ms)
      }),
    )
  })
})
