import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import type {z} from 'zod'
import {
  keepRateLimits,
  keepUsageLimits,
  RateLimits,
  rateLimitViews,
  reactivates,
  readUsageLimits,
  UsageLimitList,
  UsageLimits,
  UsageLimitView,
  usageLimitViews,
} from '../../src/schema/limits.ts'
import {explain} from '../../src/schema/validation-message.ts'

const NOW = '2026-03-04T05:06:07.000Z'
const LATER = '2026-04-04T05:06:07.000Z'
const budget = {
  type: 'cost',
  credit_limit: 5,
  alert_threshold: null,
  periodic_reset: null,
  periodic_reset_days: null,
  next_usage_reset_at: null,
  enforcement: 'compatible',
}

function complaint(schema: z.ZodType, input: unknown): string | undefined {
  const result = schema.safeParse(input)
  return result.success ? undefined : explain(result.error, schema, input, {root: 'limits'})
}

describe('usage limits', () => {
  test.each([
    [{credit_limit: 5}, [budget]],
    [[{credit_limit: 5}], [budget]],
    [
      {type: 'tokens', credit_limit: 100, periodic_reset: 'weekly'},
      [{...budget, type: 'tokens', credit_limit: 100, periodic_reset: 'weekly'}],
    ],
    [{credit_limit: 0.5, alert_threshold: 0.25}, [{...budget, credit_limit: 0.5, alert_threshold: 0.25}]],
    [{credit_limit: null}, [{...budget, credit_limit: null}]],
    [{credit_limit: 5, periodic_reset: null, periodic_reset_days: 365}, [{...budget, periodic_reset_days: 365}]],
    [{credit_limit: 5, enforcement: 'shadow'}, [{...budget, enforcement: 'shadow'}]],
    [[], []],
    [null, null],
  ])('%j is read', (input, read) => {
    expect(UsageLimits.parse(input)).toEqual(read)
  })

  test.each([
    [{credit_limit: 0}, 'credit_limit: must be more than 0.'],
    [{credit_limit: -1}, 'credit_limit: must be more than 0.'],
    [{credit_limit: '5'}, 'credit_limit: must be a number, not a string.'],
    [{type: 'tokens', credit_limit: 1.5}, 'credit_limit: must be a whole number of tokens.'],
    [{type: 'requests', credit_limit: 1}, 'type: must be one of cost, tokens.'],
    [{credit_limit: 1e12}, 'credit_limit: must be at most 1000000000 US dollars.'],
    [{credit_limit: 5, alert_threshold: 5}, 'alert_threshold: must be below credit_limit.'],
    [{alert_threshold: 1}, 'alert_threshold: must be below credit_limit.'],
    [{credit_limit: 5, periodic_reset: 'daily'}, 'periodic_reset: must be one of weekly, monthly.'],
    [{credit_limit: 5, periodic_reset_days: 0}, 'periodic_reset_days: must be at least 1.'],
    [{credit_limit: 5, periodic_reset_days: 366}, 'periodic_reset_days: must be at most 365.'],
    [
      {credit_limit: 5, periodic_reset_days: 1.5},
      'periodic_reset_days: must be a whole number, not a number with a fraction.',
    ],
    [
      {credit_limit: 5, periodic_reset: 'weekly', periodic_reset_days: 7},
      'periodic_reset_days: cannot be given together with periodic_reset: send one of them.',
    ],
    [
      {credit_limit: 5, next_usage_reset_at: LATER},
      'next_usage_reset_at: has no effect without periodic_reset or periodic_reset_days: send one of them too.',
    ],
    [
      {credit_limit: 5, periodic_reset: 'weekly', next_usage_reset_at: '2026-04-04'},
      'next_usage_reset_at: must be a time such as 2026-01-31T00:00:00Z (ISO 8601 with a zone).',
    ],
    [
      {credit_limit: 5, current_usage: 1},
      'limits: the key current_usage is not known here (known: type, credit_limit, alert_threshold, periodic_reset, periodic_reset_days, next_usage_reset_at, enforcement).',
    ],
    [
      {credit_limit: 5, periodic_rest: 'weekly'},
      'limits: the key periodic_rest is not known here: did you mean periodic_reset?',
    ],
    [{credit_limit: 5, enforcement: 'hard'}, 'enforcement: must be one of compatible, strict, shadow.'],
    ['5', 'limits: must be a list or an object.'],
  ])('%j is refused: %s', (input, message) => {
    expect(complaint(UsageLimits, input)).toBe(message)
  })

  test('a list holds one, or where it may be several one of each type', () => {
    expect(complaint(UsageLimits, [{credit_limit: 1}, {credit_limit: 2}])).toBe('limits: must have at most 1 item.')
    expect(UsageLimitList.parse([{credit_limit: 1}, {type: 'tokens', credit_limit: 2}])).toHaveLength(2)
    expect(complaint(UsageLimitList, [{credit_limit: 1}, {credit_limit: 2}])).toBe(
      'limits: names cost twice: send each once.',
    )
  })

  test('what is kept is shown again, whatever it is', () => {
    const given = fc.record(
      {
        credit_limit: fc.double({min: 0.01, max: 1e9, noNaN: true}),
        periodic_reset: fc.constantFrom('weekly', 'monthly', null),
        enforcement: fc.constantFrom('compatible', 'shadow'),
      },
      {requiredKeys: ['credit_limit']},
    )
    fc.assert(
      fc.property(given, input => {
        const views = usageLimitViews(keepUsageLimits(UsageLimits.parse(input), null, NOW), Date.parse(NOW))
        const {enforcement = 'compatible', ...rest} = input
        expect(UsageLimitView.parse(views[0])).toMatchObject({...rest, type: 'cost'})
        expect(views[0]!.enforcement).toBe(enforcement === 'compatible' ? undefined : enforcement)
      }),
    )
  })

  test('one without a credit limit is no limit', () => {
    expect(keepUsageLimits(UsageLimits.parse({credit_limit: null}), null, NOW)).toBeNull()
    expect(keepUsageLimits([], null, NOW)).toBeNull()
    expect(keepUsageLimits(null, '[]', NOW)).toBeNull()
  })

  test('an edit goes on counting; another type, or one that was taken away, begins anew', () => {
    const kept = (input: unknown, before: string | null, now: string) =>
      keepUsageLimits(UsageLimits.parse(input), before, now)
    const started = (column: string | null) => readUsageLimits(column).map(limit => limit.started_at)
    const first = kept({credit_limit: 5}, null, NOW)
    expect(started(kept({credit_limit: 9, periodic_reset: 'monthly'}, first, LATER))).toEqual([NOW])
    expect(started(kept({type: 'tokens', credit_limit: 9}, first, LATER))).toEqual([LATER])
    expect(started(kept({credit_limit: 5}, kept(null, first, NOW), LATER))).toEqual([LATER])
  })

  test.each([
    [5, 6, true],
    [5, 5, false],
    [5, 4, false],
    [5, null, true],
    [null, 5, false],
  ])('from %j to %j: used-up keys come back: %j', (before, after, back) => {
    const column = (credit_limit: number | null) => keepUsageLimits(UsageLimits.parse({credit_limit}), null, NOW)
    expect(reactivates(column(before), column(after))).toBe(back)
  })
})

describe('rate limits', () => {
  test('one stands alone or in a list, and is shown without what is usual', () => {
    const one = {type: 'requests', unit: 'rpm', value: 0}
    expect(rateLimitViews(keepRateLimits(RateLimits.parse(one)))).toEqual([one])
    const two = [one, {type: 'requests', unit: 'rph', value: 3, enforcement: 'strict'}]
    expect(rateLimitViews(keepRateLimits(RateLimits.parse(two)))).toEqual(two)
    expect(keepRateLimits(RateLimits.parse([]))).toBeNull()
  })

  test.each([
    [{type: 'requests', unit: 'rps', value: 1}, 'unit: must be one of rpm, rph, rpd: did you mean rpm?'],
    [{type: 'requests', unit: 'rpm', value: -1}, 'value: must be at least 0.'],
    [{type: 'requests', unit: 'rpm', value: 1.5}, 'value: must be a whole number, not a number with a fraction.'],
    [{type: 'cost', unit: 'rpm', value: 1}, 'type: must be one of requests, tokens.'],
    [{unit: 'rpm', value: 1}, 'type: is required (one of requests, tokens).'],
    [
      [
        {type: 'requests', unit: 'rpm', value: 1},
        {type: 'requests', unit: 'rpm', value: 2},
      ],
      'limits: names requests rpm twice: send each once.',
    ],
  ])('%j is refused: %s', (input, message) => {
    expect(complaint(RateLimits, input)).toBe(message)
  })
})
