import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import type {RetryRule} from '../../src/routing/plan.ts'
import {Retries, retryAfterMs, type TryResult} from '../../src/routing/retry.ts'

/** What a compiled rule lists where the config gives no codes (reference: retry, conflicts). */
const usual = [429, 500, 502, 503, 504, 529]
const rule = (said: Partial<RetryRule> = {}): RetryRule => ({
  attempts: 5,
  on_status_codes: usual,
  use_retry_after_header: false,
  ...said,
})
const said = (status: number, headers: Record<string, string> = {}, kind: TryResult['kind'] = 'answer'): TryResult => ({
  status,
  kind,
  headers,
  is_committed: false,
})
const all = (retries: Retries, results: readonly TryResult[]) => results.map(result => retries.after(result))
const obeying = () => new Retries(rule({use_retry_after_header: true}))
const wanting = (value: string) => said(429, {'retry-after': value})

describe('the wait', () => {
  test('doubles from one second, without jitter, and ends with the attempts', () => {
    const retries = new Retries(rule())
    expect(all(retries, Array(6).fill(said(500)))).toEqual([1000, 2000, 4000, 8000, 16_000, 'spent'])
    expect(retries.made).toBe(5)
    expect(retries.areLeft).toBe(false)
  })

  test('is as a 429 says where the rule wants it, and goes on doubling from its place otherwise', () => {
    const results = [
      said(429, {'retry-after-ms': '1500'}),
      said(429),
      said(500, {'retry-after': '9'}),
      wanting('0'),
      wanting('3'),
    ]
    expect(all(obeying(), results)).toEqual([1500, 2000, 4000, 0, 3000])
  })

  test('is nobody else’s word where the rule does not want it', () => {
    expect(new Retries(rule()).after(wanting('70'))).toBe(1000)
  })

  test.each([
    ['60 s is too long', ['60'], ['spent']],
    ['59 s is not', ['59'], [59_000]],
    ['70 s is too long at the first try', ['70'], ['spent']],
    ['20 s and 50 s are too long together', ['20', '50'], [20_000, 'spent']],
    ['60 s together are not, one more is', ['20', '40', '1'], [20_000, 40_000, 'spent']],
    ['what no number holds is too long', ['9'.repeat(400)], ['spent']],
  ])('%s', (_, waits, steps) => {
    expect(all(obeying(), waits.map(wanting))).toEqual(steps)
  })

  test('in backoff is not counted against the limit of what is obeyed', () => {
    const results = [said(500), said(500), said(500), said(500), wanting('59')]
    expect(all(obeying(), results)).toEqual([1000, 2000, 4000, 8000, 59_000])
  })
})

describe('a retry', () => {
  test.each([
    ...usual.map(status => [status, 'answer', 1000] as const),
    ...[200, 204, 206, 246, 301, 400, 401, 404, 408, 409, 412, 446, 501].map(
      status => [status, 'answer', 'returned'] as const,
    ),
    [408, 'timeout', 'returned'],
    [500, 'network_error', 1000],
    [502, 'network_error', 1000],
    [429, 'refusal', 'returned'],
    [446, 'refusal', 'returned'],
    [500, 'gateway', 'returned'],
  ] as const)('of %i (%s) by default: %s', (status, kind, step) => {
    expect(new Retries(rule()).after(said(status, {}, kind))).toBe(step)
  })

  test.each([
    [408, 'timeout', 1000],
    [446, 'answer', 1000],
    [246, 'answer', 1000],
    [429, 'answer', 'returned'],
    [500, 'answer', 'returned'],
    [503, 'network_error', 1000],
    [446, 'refusal', 'returned'],
    [408, 'gateway', 'returned'],
  ] as const)('of %i (%s) where 246, 408 and 446 stand instead: %s', (status, kind, step) => {
    expect(new Retries(rule({on_status_codes: [246, 408, 446]})).after(said(status, {}, kind))).toBe(step)
  })

  test('is never made where none are allowed', () => {
    expect(new Retries(rule({attempts: 0})).after(said(500))).toBe('spent')
  })
})

test.each([
  [{'retry-after-ms': '1500', 'x-ms-retry-after-ms': '2', 'retry-after': '3'}, 1500],
  [{'x-ms-retry-after-ms': '2500', 'retry-after': '3'}, 2500],
  [{'retry-after': '3'}, 3000],
  [{'retry-after': ' 3 '}, 3000],
  [{'retry-after': '0'}, 0],
  [{'retry-after-ms': 'soon', 'retry-after': '3'}, 3000],
  [{'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT'}, null],
  [{'retry-after': '1.5'}, null],
  [{'retry-after': '-1'}, null],
  [{'retry-after': '1e3'}, null],
  [{'retry-after': ''}, null],
  [{}, null],
])('%j asks for %s ms', (headers, ms) => {
  expect(retryAfterMs(headers)).toBe(ms)
})

test('no row of answers makes it wait a minute at once, over a minute for the header, or more often than allowed', () => {
  const header = fc.oneof(fc.nat(80).map(String), fc.string(), fc.constant(undefined))
  const answer = fc
    .tuple(fc.constantFrom(200, 429, 500), header)
    .map(([status, value]) => said(status, value === undefined ? {} : {'retry-after': value}))
  fc.assert(
    fc.property(fc.integer({min: 0, max: 5}), fc.array(answer, {minLength: 1, maxLength: 8}), (attempts, answers) => {
      const retries = new Retries(rule({attempts, use_retry_after_header: true}))
      let obeyed_ms = 0
      for (const given of answers) {
        const made = retries.made
        const step = retries.after(given)
        if (typeof step === 'string') {
          expect(retries.made).toBe(made)
          expect(step).toBe(given.status === 200 ? 'returned' : 'spent')
          break
        }
        expect(retries.made).toBe(made + 1)
        const asked_ms = given.status === 429 ? retryAfterMs(given.headers!) : null
        expect(step).toBe(asked_ms ?? 1000 * 2 ** made)
        obeyed_ms += asked_ms ?? 0
        expect(asked_ms ?? 0).toBeLessThan(60_000)
        expect(obeyed_ms).toBeLessThanOrEqual(60_000)
      }
      expect(retries.made).toBeLessThanOrEqual(attempts)
    }),
    {numRuns: 2000},
  )
})
