import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {createCircuits} from '../../src/routing/breaker.ts'
import type {BreakerRule} from '../../src/routing/plan.ts'
import type {TryResult} from '../../src/routing/retry.ts'

const key = {config_id: 'c1', workspace_id: 'w1', path: 'config.targets[0]'}
const rule = (said: Partial<BreakerRule> = {}): BreakerRule => ({
  failure_threshold: null,
  failure_threshold_percentage: null,
  minimum_requests: null,
  cooldown_interval_ms: 30_000,
  failure_status_codes: null,
  ...said,
})
const two = rule({failure_threshold: 2})
const result = (status: number, kind: TryResult['kind'] = 'answer'): TryResult => ({
  status,
  kind,
  headers: null,
  is_committed: false,
})

/** Calls that end as they begin, a millisecond apart; whether the circuit is open after each, as a row of 0 and 1. */
function follow(statuses: readonly number[], with_rule: BreakerRule, circuits = createCircuits()) {
  return statuses.map((status, now) => {
    circuits.record(key, with_rule, result(status), now, now)
    return circuits.isOpen(key, now) ? 1 : 0
  })
}

describe('it opens', () => {
  test.each([
    ['at the threshold, whatever succeeded between', [500, 200, 503, 200], two, [0, 0, 1, 1]],
    ['at 1', [500], rule({failure_threshold: 1}), [1]],
    [
      'never without failures',
      [200, 400, 404, 429, 200],
      rule({failure_threshold: 1, failure_threshold_percentage: 0}),
      [0, 0, 0, 0, 0],
    ],
    [
      'at the rate, once there are enough calls',
      [500, 500, 500, 200, 200],
      rule({failure_threshold_percentage: 50, minimum_requests: 5}),
      [0, 0, 0, 0, 1],
    ],
    [
      'not below the rate',
      [200, 200, 200, 200, 500],
      rule({failure_threshold_percentage: 21, minimum_requests: 5}),
      [0, 0, 0, 0, 0],
    ],
    [
      'at the very rate',
      [200, 200, 200, 200, 500],
      rule({failure_threshold_percentage: 20, minimum_requests: 5}),
      [0, 0, 0, 0, 1],
    ],
    ['at the first failure where no minimum is said', [500], rule({failure_threshold_percentage: 50}), [1]],
    [
      'at whichever comes first',
      [500, 500],
      rule({failure_threshold: 2, failure_threshold_percentage: 50, minimum_requests: 9}),
      [0, 1],
    ],
    [
      'for its own codes only',
      [500, 429, 401],
      rule({failure_threshold: 2, failure_status_codes: new Set([401, 429])}),
      [0, 0, 1],
    ],
    ['never where nothing is said', [500, 500, 500], rule(), [0, 0, 0]],
  ])('%s', (_, statuses, with_rule, open) => {
    expect(follow(statuses, with_rule)).toEqual(open)
  })

  test('soon in an outage after a million successes', () => {
    const circuits = createCircuits()
    const half = rule({failure_threshold_percentage: 50, minimum_requests: 10})
    for (let n = 0; n < 1_000_000; n++) circuits.record(key, half, result(200), 0, 0)
    let failures = 0
    for (; failures < 2000 && !circuits.isOpen(key, 0); failures++) circuits.record(key, half, result(500), 0, 0)
    expect(failures).toBeLessThanOrEqual(1000)
    expect(circuits.list(0)[0]).toMatchObject({failures, successes: 1_000_000})
  })
})

test.each([
  ['a network error', 503, 'network_error', [1, 0]],
  ['a 5xx', 500, 'answer', [1, 0]],
  ['an overload', 529, 'answer', [1, 0]],
  ['a timeout', 408, 'timeout', null],
  ['a provider’s 408', 408, 'answer', [0, 1]],
  ['a denied answer', 446, 'answer', [0, 1]],
  ['a refusal of ours', 429, 'refusal', null],
  ['a fault of ours', 500, 'gateway', null],
] as const)('%s (%i) counts as failures and successes %j', (_, status, kind, counted) => {
  const circuits = createCircuits()
  circuits.record(key, two, result(status, kind), 0, 0)
  expect(circuits.list(0).map(({failures, successes}) => [failures, successes])).toEqual(counted ? [counted] : [])
})

test('a timeout counts where it is listed', () => {
  const circuits = createCircuits()
  circuits.record(key, rule({failure_threshold: 1, failure_status_codes: new Set([408])}), result(408, 'timeout'), 0, 0)
  expect(circuits.isOpen(key, 0)).toBe(true)
})

describe('an open circuit', () => {
  test('closes when the cooldown is over, and counts anew', () => {
    const circuits = createCircuits()
    follow([500, 500], two, circuits)
    expect([1, 30_000, 30_001].map(now => circuits.isOpen(key, now))).toEqual([true, true, false])
    circuits.record(key, two, result(500), 30_001, 30_001)
    expect(circuits.isOpen(key, 30_001)).toBe(false)
    circuits.record(key, two, result(500), 30_002, 30_002)
    expect(circuits.isOpen(key, 30_002)).toBe(true)
  })

  test('stays open no longer for calls that were on their way, nor do they count afterwards', () => {
    const circuits = createCircuits()
    follow([500, 500], two, circuits)
    for (const ends of [2, 20_000, 30_001, 40_000]) circuits.record(key, two, result(500), 0, ends)
    circuits.record(key, two, result(500), 20_000, 50_000) // asked in spite of it
    expect(circuits.isOpen(key, 30_001)).toBe(false)
    expect(circuits.list(50_000)).toEqual([
      {...key, state: 'closed', failures: 0, successes: 0, first_failure_ms: null, until_ms: null},
    ])
    circuits.record(key, two, result(500), 30_001, 50_001)
    expect(circuits.isOpen(key, 50_001)).toBe(false)
  })

  test('is listed with what it saw, and is nobody else’s', () => {
    const circuits = createCircuits()
    follow([200, 500, 500], two, circuits)
    const others = [
      {...key, config_id: 'c2'},
      {...key, workspace_id: 'w2'},
      {...key, path: 'config.targets[1]'},
    ]
    expect(others.map(other => circuits.isOpen(other, 2))).toEqual([false, false, false])
    expect(circuits.list(2)).toEqual([
      {...key, state: 'open', failures: 2, successes: 1, first_failure_ms: 1, until_ms: 30_002},
    ])
  })

  test('is closed by a change of its config, and others are not', () => {
    const circuits = createCircuits()
    const other = {...key, config_id: 'c2'}
    for (const of of [key, other]) circuits.record(of, rule({failure_threshold: 1}), result(500), 0, 0)
    circuits.forget('c1')
    expect([key, other].map(of => circuits.isOpen(of, 0))).toEqual([false, true])
  })
})

test('no more circuits are remembered than are allowed', () => {
  const circuits = createCircuits({most: 3})
  for (let n = 0; n < 10; n++) circuits.record({...key, path: `config.targets[${n}]`}, two, result(500), 0, 0)
  expect(circuits.list(0).map(({path}) => path)).toEqual([
    'config.targets[7]',
    'config.targets[8]',
    'config.targets[9]',
  ])
})

test('it is open exactly when the threshold was reached within the last cooldown, whatever comes in whatever order', () => {
  const call = fc.record({
    passes_ms: fc.nat(20_000),
    lasts_ms: fc.nat(40_000),
    status: fc.constantFrom(200, 429, 500, 503),
  })
  fc.assert(
    fc.property(fc.integer({min: 1, max: 4}), fc.array(call, {maxLength: 40}), (failure_threshold, calls) => {
      const circuits = createCircuits()
      let now = 0
      let failures = 0
      let closes = Number.NEGATIVE_INFINITY
      for (const {passes_ms, lasts_ms, status} of calls) {
        now += passes_ms
        const asked = now - lasts_ms
        circuits.record(key, rule({failure_threshold}), result(status), asked, now)
        if (asked >= closes && status >= 500 && ++failures === failure_threshold) {
          failures = 0
          closes = now + 30_000
        }
        expect(circuits.isOpen(key, now)).toBe(now < closes)
        expect(circuits.isOpen(key, now + 30_000)).toBe(false)
      }
    }),
    {numRuns: 2000},
  )
})
