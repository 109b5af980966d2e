import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
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
import {keepRateLimits, keepUsageLimits, RateLimit, UsageLimit} from '../../src/schema/limits.ts'

const NOON = Date.UTC(2026, 4, 6, 12)
const faults: unknown[] = []

function opened(counters: Counters = createMemoryCounters(), used = 0n) {
  const limits = createLimits({
    counters,
    usage: async () => ({tokens: used, cost_nanousd: used}),
    now: () => NOON,
    enabled: true,
    onFault: fault => faults.push(fault),
  })
  return {limits, counters}
}

function strict(type: 'tokens' | 'cost', credit_limit: number, entity: EntityLimit['entity'] = 'key'): EntityLimit {
  const usage = keepUsageLimits(
    [UsageLimit.parse({type, credit_limit, enforcement: 'strict'})],
    null,
    '2026-05-06T10:00:00.000Z',
  )
  return {entity, id: entity, name: 'blue', workspace_id: 'ws', usage, rates: null, last_reset_at: null}
}

async function admitted(limits: Limits, of: readonly EntityLimit[], id = 'call'): Promise<Admission> {
  return (await limits.admit(of, id, NOON))!
}

async function hold(
  limits: Limits,
  {strict_claims: held}: Admission,
  tokens: number,
  cost_nanousd = 0,
  id = 'call',
): Promise<CounterReservation | Refusal> {
  try {
    return await limits.hold(held!, id, 1, {tokens, cost_nanousd})
  } catch (fault) {
    if (fault instanceof Refusal) return fault
    throw fault
  }
}

const used = async (counters: Counters, {counter_keys}: Admission) => counters.read(counter_keys)

describe('a strict budget', () => {
  test('takes nothing at the door, holds what an attempt may use, and puts the truth in its place once', async () => {
    const {limits, counters} = opened()
    const admission = await admitted(limits, [strict('tokens', 1000)])
    expect([admission.counts_usage, await used(counters, admission)]).toEqual([true, [0n]])
    const held = (await hold(limits, admission, 600)) as CounterReservation
    expect([held.keys, await used(counters, admission)]).toEqual([admission.counter_keys, [600n]])
    expect(await held.reach({tokens: 900, cost_nanousd: 0})).toBe(null)
    expect(await used(counters, admission)).toEqual([900n])
    for (let n = 0; n < 3; n++) held.settle({tokens: 250, cost_nanousd: 7})
    admission.settle({tokens: 250, cost_nanousd: 7})
    admission.settle({tokens: 250, cost_nanousd: 7})
    expect(await used(counters, admission)).toEqual([250n])
  })

  test('refuses a hold that does not fit, an extension that does not, and at the door when nothing is left', async () => {
    const {limits} = opened()
    const admission = await admitted(limits, [strict('cost', 1e-6)])
    const one = (await hold(limits, admission, 0, 900, 'one')) as CounterReservation
    expect(await hold(limits, admission, 0, 101, 'two')).toMatchObject({code: 'key.exhausted', status: 412})
    expect(await one.reach({tokens: 0, cost_nanousd: 1001})).toMatchObject({code: 'key.exhausted', status: 412})
    expect(await one.reach({tokens: 0, cost_nanousd: 1000})).toBe(null)
    await expect(async () => limits.admit([strict('cost', 1e-6)], 'three', NOON)).rejects.toMatchObject({
      code: 'key.exhausted',
    })
    one.settle({tokens: 0, cost_nanousd: 0})
    expect(await hold(limits, admission, 0, 1000, 'four')).not.toBeInstanceOf(Refusal)
  })

  test('of several entities is held by all or by none', async () => {
    const {limits, counters} = opened()
    const key = await admitted(limits, [strict('tokens', 1000)])
    const provider = await admitted(limits, [strict('tokens', 50, 'provider')])
    const both = {...key, strict_claims: [...key.strict_claims!, ...provider.strict_claims!]} as unknown as Admission
    expect(await hold(limits, both, 60)).toMatchObject({code: 'provider.exhausted'})
    expect([await used(counters, key), await used(counters, provider)]).toEqual([[0n], [0n]])
    await hold(limits, both, 50)
    expect([await used(counters, key), await used(counters, provider)]).toEqual([[50n], [50n]])
  })

  test('counts tokens and cost each in its own', async () => {
    const {limits, counters} = opened()
    const admission = await admitted(limits, [strict('tokens', 100), strict('cost', 1, 'workspace')])
    const held = (await hold(limits, admission, 10, 2000)) as CounterReservation
    expect(await used(counters, admission)).toEqual([10n, 2000n])
    // what one of them has already is not taken twice
    expect(await held.reach({tokens: 10, cost_nanousd: 3000})).toBe(null)
    expect(await used(counters, admission)).toEqual([10n, 3000n])
  })

  test('is rebuilt from the ledger before it is held', async () => {
    const {limits} = opened(createMemoryCounters(), 70n)
    const admission = await admitted(limits, [strict('tokens', 100)])
    expect(await hold(limits, admission, 31)).toMatchObject({status: 412})
    expect(await hold(limits, admission, 30)).not.toBeInstanceOf(Refusal)
  })

  test.each(['tokens', 'cost'] as const)(
    'of %s is rebuilt from what the ledger says of just that, priced or not',
    async type => {
      const ledger = {tokens: 1_100n, cost_nanousd: 195_000n}
      const limit = type === 'tokens' ? 1_500 : 0.0003
      const limits = createLimits({
        counters: createMemoryCounters(),
        usage: async () => ledger,
        now: () => NOON,
        enabled: true,
      })
      const admission = await admitted(limits, [strict(type, limit)])
      expect((await limits.read(strict(type, limit)))[0]).toMatchObject({
        type,
        used: type === 'tokens' ? 1_100n : 195_000n,
      })
      const [left, more] = type === 'tokens' ? [400, 401] : [105_000, 105_001]
      expect(await hold(limits, admission, more, more, 'more')).toMatchObject({status: 412})
      expect(await hold(limits, admission, left, left, 'left')).not.toBeInstanceOf(Refusal)
    },
  )

  test('a rate of tokens is held in its window, and says when to come back', async () => {
    const {limits} = opened()
    const rates = keepRateLimits([RateLimit.parse({type: 'tokens', unit: 'rpm', value: 100, enforcement: 'strict'})])
    const admission = await admitted(limits, [{...strict('tokens', 1), usage: null, rates}])
    await hold(limits, admission, 80, 0, 'one')
    expect(await hold(limits, admission, 21, 0, 'two')).toMatchObject({
      status: 429,
      details: {retry_after_s: 60, rate_limit: '100'},
    })
  })
})

describe('a hold over a shared store', () => {
  /** Memory that answers a turn of the loop later, as a store over the network does. */
  function slow(): Counters & {silent: boolean} {
    const counters = createMemoryCounters()
    const later = {
      ...counters,
      silent: false,
      reserve: async (...of: Parameters<Counters['reserve']>) => {
        await new Promise(resolve => setImmediate(resolve))
        return counters.reserve(...of)
      },
      extend: async (...of: Parameters<Counters['extend']>) => {
        await new Promise(resolve => setImmediate(resolve))
        return later.silent ? {outcome: 'closed' as const, claim: of[1][0]!} : counters.extend(...of)
      },
      settle: async (...of: Parameters<Counters['settle']>) => counters.settle(...of),
    }
    return later as unknown as Counters & {silent: boolean}
  }

  test('settles after an extension that is under way, which then is part of what is put right', async () => {
    const {limits, counters} = opened(slow())
    const admission = await admitted(limits, [strict('tokens', 1000)])
    const held = (await hold(limits, admission, 10)) as CounterReservation
    const growing = held.reach({tokens: 500, cost_nanousd: 0})
    held.settle({tokens: 3, cost_nanousd: 0})
    expect(await growing).toBe(null)
    await expect.poll(async () => used(counters, admission)).toEqual([3n])
  })

  test('takes no more than was asked for, however often it is asked at once', async () => {
    const {limits, counters} = opened(slow())
    const admission = await admitted(limits, [strict('tokens', 1000)])
    const held = (await hold(limits, admission, 10)) as CounterReservation
    await Promise.all([100, 300, 200].map(tokens => held.reach({tokens, cost_nanousd: 0})))
    expect(await used(counters, admission)).toEqual([300n])
  })

  test('ends a stream when the store is silent: a strict limit fails closed', async () => {
    const counters = slow()
    const {limits} = opened(counters)
    const held = (await hold(limits, await admitted(limits, [strict('tokens', 1000)]), 10)) as CounterReservation
    counters.silent = true
    expect(await held.reach({tokens: 20, cost_nanousd: 0})).toMatchObject({code: 'limit.unavailable', status: 503})
  })

  test('takes all of it again when the store has lost it', async () => {
    const {limits, counters} = opened(slow())
    const admission = await admitted(limits, [strict('tokens', 1000)])
    const held = (await hold(limits, admission, 100)) as CounterReservation
    await counters.release('call/hold/1')
    expect(await used(counters, admission)).toEqual([0n])
    expect(await held.reach({tokens: 150, cost_nanousd: 0})).toBe(null)
    expect(await used(counters, admission)).toEqual([150n])
  })
})

test('what an attempt of a former process held gives way to what it is charged, once', async () => {
  const {limits, counters} = opened()
  const admission = await admitted(limits, [strict('cost', 1)])
  await hold(limits, admission, 0, 5000)
  const intent = {call_id: 'call', attempt: 1, counter_keys: admission.counter_keys, held_keys: admission.counter_keys}
  await limits.recover(intent, {tokens: 0, cost_nanousd: 700})
  expect(await used(counters, admission)).toEqual([700n])
})

test('whatever calls hold, extend and settle, never more is used and held than the limit; at the end what was used', async () => {
  const step = fc.record({
    call: fc.integer({min: 0, max: 7}),
    deed: fc.constantFrom('hold', 'reach', 'settle'),
    share: fc.double({min: 0, max: 1, noNaN: true}),
  })
  await fc.assert(
    fc.asyncProperty(fc.integer({min: 1, max: 300}), fc.array(step, {maxLength: 60}), async (limit, steps) => {
      const {limits, counters} = opened()
      const door = await admitted(limits, [strict('tokens', limit)])
      const open = new Map<number, {hold: CounterReservation; held: number}>()
      let settled = 0
      const left = () => limit - settled - [...open.values()].reduce((sum, {held}) => sum + held, 0)
      for (const [at, {call, deed, share}] of steps.entries()) {
        const known = open.get(call)
        if (deed === 'hold' && !known) {
          const tokens = Math.ceil(share * 100)
          const fits = Math.max(1, tokens) <= left()
          const got = await hold(limits, door, tokens, 0, `${call}-${at}`)
          expect(got instanceof Refusal).toBe(!fits)
          if (!(got instanceof Refusal)) open.set(call, {hold: got, held: tokens})
        } else if (deed === 'reach' && known) {
          const wanted = known.held + Math.ceil(share * 50)
          const fits = wanted - known.held <= left()
          const refusal = await known.hold.reach({tokens: wanted, cost_nanousd: 0})
          expect(refusal === null).toBe(fits || wanted === known.held)
          if (!refusal) known.held = wanted
        } else if (deed === 'settle' && known) {
          const tokens = Math.floor(share * known.held)
          known.hold.settle({tokens, cost_nanousd: 0})
          settled += tokens
          open.delete(call)
        }
        expect((await used(counters, door))[0]).toBe(BigInt(limit - left()))
      }
      for (const {hold} of open.values()) hold.settle({tokens: 0, cost_nanousd: 0})
      expect(await used(counters, door)).toEqual([BigInt(settled)])
    }),
  )
})
