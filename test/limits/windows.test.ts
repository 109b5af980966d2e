import fc from 'fast-check'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {MAX_HELD_MS} from '../../src/base/clock.ts'
import {Refusal} from '../../src/base/errors.ts'
import {
  type Admission,
  type CounterReservation,
  createLimits,
  type EntityLimit,
  type Limits,
} from '../../src/limits/index.ts'
import type {Counters} from '../../src/ports/counters/index.ts'
import {createMemoryCounters} from '../../src/ports/counters/memory.ts'
import {keepRateLimits, keepUsageLimits, type RateLimit, UsageLimit} from '../../src/schema/limits.ts'
import {KINDS, testCounters} from '../ports/support.ts'

const LENGTH_MS = {rpm: 60_000, rph: 3_600_000, rpd: 86_400_000} as const
const UNITS = ['rpm', 'rph', 'rpd'] as const
const ENTITIES = ['key', 'workspace', 'provider', 'integration', 'policy'] as const
const MODES = ['compatible', 'strict'] as const
const CALLS = 10_000
/** What each call uses, where tokens and cost are limited. */
const EACH = {tokens: 7, cost_nanousd: 7_000}

function limitsOver(counters: Counters, now: () => number): Limits {
  return createLimits({counters, usage: async () => ({tokens: 0n, cost_nanousd: 0n}), now, enabled: true})
}

function rated(entity: EntityLimit['entity'], rate: RateLimit): EntityLimit {
  return {
    entity,
    id: `${entity}-${rate.unit}-${rate.enforcement}`,
    name: 'blue',
    workspace_id: 'ws',
    usage: null,
    rates: keepRateLimits([rate]),
    last_reset_at: null,
  }
}

function budgeted(entity: EntityLimit['entity'], credit_limit: number, type: 'tokens' | 'cost'): EntityLimit {
  const usage = keepUsageLimits(
    [UsageLimit.parse({type, credit_limit, enforcement: 'strict'})],
    null,
    '2026-01-01T00:00:00.000Z',
  )
  return {entity, id: entity, name: 'blue', workspace_id: 'ws', usage, rates: null, last_reset_at: null}
}

let calls = 0

/** All at once; those that were let through. */
async function together(
  limits: readonly Limits[],
  of: EntityLimit,
  at_ms: number,
  count = CALLS,
): Promise<(Admission | CounterReservation)[]> {
  const asked = Array.from({length: count}, async (_, n) => {
    const each = limits[n % limits.length]!
    const id = `call-${++calls}`
    const admission = (await each.admit([of], id, at_ms))!
    return admission.strict_claims ? each.hold(admission.strict_claims, id, 1, EACH) : admission
  })
  const outcomes = await Promise.allSettled(asked)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected' && !(outcome.reason instanceof Refusal)) throw outcome.reason
  return outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []))
}

describe.each(KINDS)(`of calls that come at once, counters in %s`, kind => {
  const shared = kind !== 'memory'
  // the network takes its time: shared stores are asked by fewer, from two processes
  const count = shared ? 400 : CALLS
  /**
   * Early in a window of every unit, and later than any clock. A store's clock and ours differ by some milliseconds.
   */
  const early_ms = Math.ceil(Date.now() / LENGTH_MS.rpd) * LENGTH_MS.rpd + 2 * LENGTH_MS.rpd + 10_000
  const limits: Limits[] = []
  let close = async () => {}

  beforeAll(async () => {
    const store = await testCounters(kind)
    const counters = shared ? [store.counters, await store.again()] : [store.counters]
    limits.push(...counters.map(each => limitsOver(each, Date.now)))
    close = () => store.close()
  })
  afterAll(() => close())

  test.each(ENTITIES.flatMap(entity => MODES.map(mode => [entity, mode] as const)))(
    'exactly as many are let through as a rate of requests says, of a %s, %s, in each unit',
    async (entity, enforcement) => {
      for (const unit of UNITS) {
        const of = rated(entity, {type: 'requests', unit, value: 137, enforcement})
        expect(await together(limits, of, early_ms, unit === 'rpm' ? count : Math.min(count, 1000))).toHaveLength(137)
        expect(await together(limits, of, early_ms + LENGTH_MS[unit] - 20_000, 10)).toHaveLength(0)
      }
    },
    120_000,
  )

  test.each(ENTITIES)(
    'exactly as many fit as strict limits of tokens and cost have room for, of a %s',
    async entity => {
      for (const unit of UNITS) {
        const of = rated(entity, {type: 'tokens', unit, value: 137 * EACH.tokens + 6, enforcement: 'strict'})
        expect(await together(limits, of, early_ms, Math.min(count, 1000))).toHaveLength(137)
      }
      expect(await together(limits, budgeted(entity, 41 * EACH.tokens, 'tokens'), early_ms, count)).toHaveLength(41)
      const spent = await together(
        limits,
        budgeted(`${entity}`, (41 * EACH.cost_nanousd + 6_999) / 1e9, 'cost'),
        early_ms,
        count,
      )
      expect(spent).toHaveLength(41)
      // what is settled for less makes room for exactly so many more
      for (const each of spent.slice(0, 14)) each.settle({tokens: 0, cost_nanousd: EACH.cost_nanousd / 2})
      const again = () =>
        together(limits, budgeted(`${entity}`, (41 * EACH.cost_nanousd + 6_999) / 1e9, 'cost'), early_ms, 50)
      await expect.poll(async () => (await again()).length, {timeout: 5000}).toBeGreaterThan(0)
    },
    120_000,
  )

  test.each(MODES)(
    'of ten thousand calls exactly as many are let through as a rate of requests says, %s',
    async enforcement => {
      const of = {
        ...rated('key', {type: 'requests', unit: 'rpm', value: 1370, enforcement}),
        id: `crowd-${enforcement}`,
      }
      expect(await together(limits, of, early_ms, CALLS)).toHaveLength(1370)
    },
    120_000,
  )

  test('of ten thousand calls exactly as many fit as strict limits of tokens and cost have room for', async () => {
    const rate = {
      ...rated('key', {type: 'tokens', unit: 'rpm', value: 1370 * EACH.tokens + 6, enforcement: 'strict'}),
      id: 'crowd-tokens',
    }
    expect(await together(limits, rate, early_ms, CALLS)).toHaveLength(1370)
    const budget = {...budgeted('key', (1370 * EACH.cost_nanousd + 6_999) / 1e9, 'cost'), id: 'crowd-cost'}
    expect(await together(limits, budget, early_ms, CALLS)).toHaveLength(1370)
  }, 120_000)
})

test('whatever the clock does, a window lets exactly its number through, and time does not run back', () => {
  const step = fc.record({
    // forwards and backwards, within a window and over many
    by_ms: fc.oneof(fc.integer({min: -200_000, max: 200_000}), fc.integer({min: -200_000_000, max: 200_000_000})),
    calls: fc.integer({min: 0, max: 12}),
  })
  fc.assert(
    fc.property(
      fc.constantFrom(...UNITS),
      fc.constantFrom(...ENTITIES),
      fc.constantFrom(...MODES),
      fc.integer({min: 0, max: 9}),
      fc.array(step, {maxLength: 25}),
      (unit, entity, enforcement, value, steps) => {
        const limits = limitsOver(createMemoryCounters({steady: () => 0}), () => 0)
        const of = rated(entity, {type: 'requests', unit, value, enforcement})
        let clock_ms = Date.UTC(2026, 4, 6, 12)
        let latest_ms = 0
        const let_through = new Map<number, number>()
        const asked = new Map<number, number>()
        for (const {by_ms, calls: count} of steps) {
          // one that was further ahead was wrong, and is believed now
          clock_ms = Math.max(clock_ms + by_ms, latest_ms - MAX_HELD_MS)
          for (let n = 0; n < count; n++) {
            latest_ms = Math.max(latest_ms, clock_ms)
            // aligned to the epoch, in UTC
            const window = Math.floor(latest_ms / LENGTH_MS[unit])
            asked.set(window, (asked.get(window) ?? 0) + 1)
            try {
              limits.admit([of], `call-${++calls}`, clock_ms)
              let_through.set(window, (let_through.get(window) ?? 0) + 1)
            } catch (fault) {
              if (!(fault instanceof Refusal)) throw fault
              expect(fault.details.retry_after_s).toBe(
                Math.max(1, Math.ceil(((window + 1) * LENGTH_MS[unit] - latest_ms) / 1000)),
              )
            }
          }
        }
        for (const [window, count] of asked) expect(let_through.get(window) ?? 0).toBe(Math.min(count, value))
      },
    ),
  )
})
