import {afterEach, describe, expect, test, vi} from 'vitest'
import {Refusal} from '../../src/base/errors.ts'
import {nanoDollars} from '../../src/limits/budget.ts'
import {
  type Admission,
  createLimits,
  type EntityLimit,
  type Limits,
  type LimitsOptions,
  type UsageScope,
} from '../../src/limits/index.ts'
import type {Counters} from '../../src/ports/counters/index.ts'
import {createMemoryCounters} from '../../src/ports/counters/memory.ts'
import {keepRateLimits, keepUsageLimits, RateLimit, UsageLimit} from '../../src/schema/limits.ts'

/** A Wednesday noon. */
const NOON = Date.UTC(2026, 4, 6, 12)
const MINUTE = 60_000
const NOTHING = {tokens: 0n, cost_nanousd: 0n}

interface Given {
  readonly entity?: EntityLimit['entity']
  readonly name?: string
  readonly rates?: readonly Partial<RateLimit>[]
  readonly usage?: readonly Partial<UsageLimit>[]
  readonly set_at?: string
  readonly last_reset_at?: string | null
}

/** Column texts as the administration keeps them. */
function limited({
  entity = 'key',
  name = 'blue',
  rates,
  usage,
  set_at = '2026-05-06T10:00:00.000Z',
  last_reset_at = null,
}: Given): EntityLimit {
  return {
    entity,
    id: `${entity}-${name}`,
    name,
    workspace_id: 'ws',
    usage: usage
      ? keepUsageLimits(
          usage.map(each => UsageLimit.parse(each)),
          null,
          set_at,
        )
      : null,
    rates: rates ? keepRateLimits(rates.map(each => RateLimit.parse(each))) : null,
    last_reset_at,
  }
}

const faults: unknown[] = []
function opened(options: Partial<LimitsOptions> = {}): {limits: Limits; counters: Counters} {
  const counters = options.counters ?? createMemoryCounters()
  const limits = createLimits({
    usage: async () => NOTHING,
    now: () => NOON,
    enabled: true,
    onFault: fault => faults.push(fault),
    ...options,
    counters,
  })
  return {limits, counters}
}
afterEach(() => {
  expect(faults.splice(0)).toEqual([])
})

let calls = 0
const call = () => `call-${++calls}`

async function refused(limits: Limits, of: readonly EntityLimit[], now_ms = NOON): Promise<Refusal> {
  try {
    await limits.admit(of, call(), now_ms)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('the call was let through')
}

async function admitted(limits: Limits, of: readonly EntityLimit[], now_ms = NOON): Promise<Admission> {
  const admission = await limits.admit(of, call(), now_ms)
  if (!admission) throw new Error('nothing was claimed')
  return admission
}

describe('nothing is claimed', () => {
  const reserve = () => {
    throw new Error('the counters were asked')
  }
  test.each<[string, readonly EntityLimit[]]>([
    ['where there are no limits', []],
    ['where an entity has none', [limited({}), limited({entity: 'workspace'})]],
    ['where its lists are empty', [{...limited({}), usage: '[]', rates: '[]'}]],
  ])('%s', (_, of) => {
    const {limits} = opened({counters: {...createMemoryCounters(), reserve}})
    expect(limits.admit(of, call(), NOON)).toBe(null)
  })

  test('when usage limits are switched off, whatever is set', async () => {
    const of = [limited({rates: [{type: 'requests', unit: 'rpm', value: 0}], usage: [{credit_limit: 1}]})]
    const {limits} = opened({enabled: false, counters: {...createMemoryCounters(), reserve}})
    expect(limits.admit(of, call(), NOON)).toBe(null)
    expect(await limits.read(of[0]!)).toEqual([])
  })
})

describe('a rate limit', () => {
  const ten = limited({rates: [{type: 'requests', unit: 'rpm', value: 10}]})

  test('lets exactly as many requests through in a window, answers at once, and says which limit and when to come back', async () => {
    const {limits} = opened()
    for (let n = 0; n < 10; n++) expect(limits.admit([ten], call(), NOON + 15_000)).not.toBeInstanceOf(Promise)
    const refusal = await refused(limits, [ten], NOON + 15_001)
    expect(refusal.status).toBe(429)
    expect(refusal.code).toBe('key.rate_reached')
    expect(refusal.details).toEqual({
      limit: '10 requests per minute of the API key blue',
      key: 'blue',
      retry_after_s: 45,
      rate_limit: '10',
    })
    expect(limits.admit([ten], call(), NOON + MINUTE)).not.toBe(null)
  })

  test.each([
    ['rpm', MINUTE],
    ['rph', 60 * MINUTE],
    ['rpd', 24 * 60 * MINUTE],
  ] as const)('of unit %s has windows aligned to the epoch', async (unit, length_ms) => {
    const {limits} = opened()
    const one = limited({rates: [{type: 'requests', unit, value: 1}]})
    const end_ms = Math.floor(NOON / length_ms) * length_ms + length_ms
    await admitted(limits, [one], end_ms - 1)
    expect((await refused(limits, [one], end_ms - 1)).details.retry_after_s).toBe(1)
    await admitted(limits, [one], end_ms)
  })

  test('is not reset by a clock that runs back', async () => {
    const {limits} = opened()
    const one = limited({rates: [{type: 'requests', unit: 'rpm', value: 1}]})
    await admitted(limits, [one], NOON)
    await refused(limits, [one], NOON - MINUTE)
  })

  test('does not count what was refused, by itself or by another limit', async () => {
    const {limits, counters} = opened()
    const wide = limited({name: 'wide', rates: [{type: 'requests', unit: 'rph', value: 3}]})
    const one = limited({name: 'one', rates: [{type: 'requests', unit: 'rpm', value: 1}]})
    const {counter_keys} = await admitted(limits, [wide, one])
    for (let n = 0; n < 5; n++) await refused(limits, [wide, one])
    expect(await counters.read(counter_keys)).toEqual([1n, 1n])
  })

  test('gives a request back that never left, and keeps one that was settled', async () => {
    const {limits} = opened()
    const one = limited({rates: [{type: 'requests', unit: 'rpm', value: 1}]})
    const first = await admitted(limits, [one])
    first.release()
    first.release()
    const second = await admitted(limits, [one])
    second.settle({tokens: 9, cost_nanousd: 9})
    second.release()
    await refused(limits, [one])
  })

  test('of tokens is open while one more fits, and then counts what was really used', async () => {
    const {limits} = opened()
    const tokens = limited({rates: [{type: 'tokens', unit: 'rpm', value: 100}]})
    const [one, two] = [await admitted(limits, [tokens]), await admitted(limits, [tokens])]
    expect(one.counts_usage).toBe(true)
    one.settle({tokens: 99, cost_nanousd: 0})
    await admitted(limits, [tokens])
    two.settle({tokens: 1, cost_nanousd: 0})
    expect((await refused(limits, [tokens])).details.limit).toBe('100 tokens per minute of the API key blue')
  })

  test.each(['requests', 'tokens'] as const)('of 0 %s lets nothing through', async type => {
    const {limits} = opened()
    await refused(limits, [limited({rates: [{type, unit: 'rpd', value: 0}]})])
  })

  test.each([
    ['key', 'key.rate_reached', 'rate_limit_exceeded'],
    ['workspace', 'key.rate_reached', 'rate_limit_exceeded'],
    ['provider', 'provider.rate_reached', 'virtual_key_rate_limit_error'],
    ['integration', 'integration.rate_reached', 'integration_rate_limit_error'],
  ] as const)('of a %s refuses as %s', async (entity, code, type) => {
    const {limits} = opened()
    const refusal = await refused(limits, [limited({entity, rates: [{type: 'requests', unit: 'rpm', value: 0}]})])
    expect([refusal.code, refusal.codes.type, refusal.status]).toEqual([code, type, 429])
  })
})

describe('a budget', () => {
  test('is open while less than the limit was used, and then closed for good where it has no period', async () => {
    const {limits} = opened()
    const dollar = limited({usage: [{credit_limit: 1}]})
    const [one, two, three] = [
      await admitted(limits, [dollar]),
      await admitted(limits, [dollar]),
      await admitted(limits, [dollar]),
    ]
    one.settle({tokens: 5, cost_nanousd: 999_999_999})
    await admitted(limits, [dollar])
    two.settle({tokens: 5, cost_nanousd: 1})
    expect(await refused(limits, [dollar])).toMatchObject({code: 'key.exhausted', status: 412})
    three.settle({tokens: 5, cost_nanousd: 7})
    expect((await limits.read(dollar))[0]).toEqual({
      type: 'cost',
      label: '1 US dollar in all of the API key blue',
      used: 1_000_000_007n,
      limit: 1_000_000_000n,
      since_ms: Date.parse('2026-05-06T10:00:00.000Z'),
      ends_at_ms: Number.POSITIVE_INFINITY,
      mode: 'compatible',
    })
    await refused(limits, [dollar], NOON + 1e12)
  })

  test('of tokens counts tokens, one of cost counts cost, in one call', async () => {
    const {limits, counters} = opened()
    const both = [
      limited({usage: [{type: 'cost', credit_limit: 5}]}),
      limited({entity: 'workspace', usage: [{type: 'tokens', credit_limit: 100}]}),
    ]
    const admission = await admitted(limits, both)
    expect(admission.counts_usage).toBe(true)
    admission.settle({tokens: 30, cost_nanousd: 40})
    admission.settle({tokens: 30, cost_nanousd: 40})
    expect(await counters.read(admission.counter_keys)).toEqual([40n, 30n])
  })

  test('begins again with its period: Sunday 00:00 UTC for a key', async () => {
    const {limits} = opened()
    const weekly = limited({usage: [{type: 'tokens', credit_limit: 1, periodic_reset: 'weekly'}]})
    const sunday = Date.UTC(2026, 4, 10)
    const admission = await admitted(limits, [weekly])
    admission.settle({tokens: 1, cost_nanousd: 0})
    await refused(limits, [weekly], sunday - 1)
    await admitted(limits, [weekly], sunday)
  })

  test.each<[string, Given, string]>([
    [
      'its setting, when that is the latest',
      {usage: [{credit_limit: 5, periodic_reset: 'monthly'}]},
      '2026-05-06T10:00:00.000Z',
    ],
    [
      'the period, when it was set before',
      {usage: [{credit_limit: 5, periodic_reset: 'monthly'}], set_at: '2026-03-01T00:00:00.000Z'},
      '2026-05-01T00:00:00.000Z',
    ],
    [
      'the last reset by hand',
      {usage: [{credit_limit: 5, periodic_reset: 'monthly'}], last_reset_at: '2026-05-06T11:00:00.000Z'},
      '2026-05-06T11:00:00.000Z',
    ],
  ])('is rebuilt from the ledger before its first use, since %s', async (_, given, since) => {
    const asked: [UsageScope, string][] = []
    const {limits, counters} = opened({
      usage: async (scope, since_at) => {
        asked.push([scope, since_at])
        return {tokens: 7n, cost_nanousd: 4_999_999_990n}
      },
    })
    const budget = limited(given)
    const admission = await admitted(limits, [budget])
    expect(asked).toEqual([[{entity: 'key', id: 'key-blue', workspace_id: 'ws'}, since]])
    expect(await counters.read(admission.counter_keys)).toEqual([4_999_999_990n])
    expect(limits.admit([budget], call(), NOON)).not.toBeInstanceOf(Promise)
    admission.settle({tokens: 0, cost_nanousd: 10})
    await refused(limits, [budget])
    expect(asked).toHaveLength(1)
  })

  test('is read from the ledger once, however many calls wait for it, and is exact for all of them', async () => {
    let asked = 0
    let answer = (_: typeof NOTHING) => {}
    const ledger = new Promise<typeof NOTHING>(resolve => {
      answer = resolve
    })
    const {limits} = opened({
      usage: () => {
        asked++
        return ledger
      },
    })
    const both = limited({
      usage: [{type: 'tokens', credit_limit: 100}],
      rates: [{type: 'requests', unit: 'rpm', value: 3}],
    })
    const waiting = Array.from({length: 8}, () =>
      Promise.resolve(limits.admit([both], call(), NOON)).catch(fault => fault as Refusal),
    )
    answer({tokens: 99n, cost_nanousd: 0n})
    const outcomes = await Promise.all(waiting)
    expect(asked).toBe(1)
    expect(outcomes.filter(outcome => outcome instanceof Refusal).map(refusal => refusal.code)).toEqual(
      Array(5).fill('key.rate_reached'),
    )
  })

  test('that was edited keeps what was used: a lower limit closes, a new period is summed up again', async () => {
    const usage = async (_: UsageScope, since_at: string) => ({
      tokens: since_at < '2026-05-01' ? 80n : 30n,
      cost_nanousd: 0n,
    })
    const {limits} = opened({usage})
    const set_at = '2026-04-01T00:00:00.000Z'
    const of = (credit_limit: number, periodic_reset: 'monthly' | null) =>
      limited({usage: [{type: 'tokens', credit_limit, periodic_reset}], set_at})
    await admitted(limits, [of(90, null)])
    await refused(limits, [of(80, null)])
    await admitted(limits, [of(80, 'monthly')])
    await refused(limits, [of(30, 'monthly')])
  })

  test('that the ledger cannot say is left open, and counts again when it can', async () => {
    let works = false
    const usage = async () => {
      if (!works) throw new Error('the disk is gone')
      return {tokens: 100n, cost_nanousd: 0n}
    }
    const {limits} = opened({usage})
    const both = limited({
      usage: [{type: 'tokens', credit_limit: 100}],
      rates: [{type: 'requests', unit: 'rpm', value: 5}],
    })
    const admission = await admitted(limits, [both])
    expect(admission.counter_keys).toHaveLength(1)
    admission.settle({tokens: 5, cost_nanousd: 5})
    expect(faults.splice(0)).toEqual([new Error('the disk is gone')])
    works = true
    await refused(limits, [both])
  })

  test.each([
    ['key', 'key.exhausted', 'api_key_exhaust_error'],
    ['workspace', 'workspace.exhausted', 'workspace_exhaust_error'],
    ['provider', 'provider.exhausted', 'virtual_key_exhaust_error'],
    ['integration', 'integration.exhausted', 'integration_exhaust_error'],
  ] as const)('of a %s refuses as %s, before any rate is asked', async (entity, code, type) => {
    const {limits} = opened({usage: async () => ({tokens: 0n, cost_nanousd: 10n ** 9n})})
    const none = [{type: 'requests', unit: 'rpm', value: 0}] as const
    const refusal = await refused(limits, [
      limited({name: 'other', rates: none}),
      limited({entity, usage: [{credit_limit: 1}], rates: none}),
    ])
    expect([refusal.code, refusal.codes.type, refusal.codes.code, refusal.status]).toEqual([code, type, '04', 412])
    expect(refusal.message).not.toContain('{')
  })

  test.each([
    [0.1, 100_000_000n],
    [1e-9, 1n],
    [0.000000001, 1n],
    [123456789.1, 123456789100000000n],
    [1_000_000_000, 10n ** 18n],
    [2.5e-7, 250n],
  ])('of %s US dollars is exactly %s nano-dollars', (usd, nanousd) => {
    expect(nanoDollars(usd)).toBe(nanousd)
  })
})

describe('enforcement', () => {
  test('a shadow limit refuses nothing, and says which call was over', async () => {
    const onShadow = vi.fn()
    const {limits} = opened({onShadow, usage: async () => ({tokens: 100n, cost_nanousd: 0n})})
    const of = limited({
      rates: [{type: 'requests', unit: 'rpm', value: 1, enforcement: 'shadow'}],
      usage: [{type: 'tokens', credit_limit: 100, enforcement: 'shadow'}],
    })
    await limits.admit([of], 'call-a', NOON)
    await limits.admit([of], 'call-b', NOON)
    expect(onShadow.mock.calls.map(([limit, id]) => [id, limit.label])).toEqual([
      ['call-a', '100 tokens in all of the API key blue'],
      ['call-b', '100 tokens in all of the API key blue'],
      ['call-b', '1 request per minute of the API key blue'],
    ])
  })

  test('a strict limit of requests is exact', async () => {
    const {limits} = opened()
    const requests = limited({rates: [{type: 'requests', unit: 'rpm', value: 1, enforcement: 'strict'}]})
    expect((await admitted(limits, [requests])).strict_claims).toBe(null)
    await refused(limits, [requests])
  })

  test('when a shared store does not answer, compatible limits are open and strict ones closed', async () => {
    const silent = createMemoryCounters()
    const {limits} = opened({
      counters: {
        ...silent,
        reserve: async (_id, claims) => {
          const claim = claims.find(each => each.mode === 'strict')
          return claim ? {outcome: 'closed', claim} : {outcome: 'open'}
        },
      },
    })
    await admitted(limits, [limited({rates: [{type: 'requests', unit: 'rpm', value: 1}]})])
    expect(
      await refused(limits, [limited({rates: [{type: 'requests', unit: 'rpm', value: 1, enforcement: 'strict'}]})]),
    ).toMatchObject({
      code: 'limit.unavailable',
    })
  })
})

const attemptOf = (counter_keys: readonly string[]) => ({call_id: 'gone', attempt: 1, counter_keys})

describe('an admission', () => {
  const budget = limited({usage: [{type: 'tokens', credit_limit: 1000}]})

  test('names exactly the counters it claimed, and replay counts on those, where they are, what a lost call used', async () => {
    const {limits, counters} = opened()
    const both = [budget, limited({rates: [{type: 'requests', unit: 'rph', value: 5}]})]
    const {counter_keys, counts_usage} = await admitted(limits, both)
    expect(counts_usage).toBe(true)
    expect(await counters.read(counter_keys)).toEqual([0n, 1n])
    await limits.recover(attemptOf([...counter_keys, 'tokens/budget/1/key/gone', 'nonsense']), {
      tokens: 8,
      cost_nanousd: 9,
    })
    expect(await counters.read([...counter_keys, 'tokens/budget/1/key/gone', 'nonsense'])).toEqual([8n, 1n, null, null])
  })

  test('of one call at its key and at each target are reservations of their own', async () => {
    const {limits, counters} = opened()
    const target = limited({entity: 'provider', rates: [{type: 'requests', unit: 'rpm', value: 9}]})
    const [one, two] = [
      await limits.admit([target], 'same-call', NOON),
      await limits.admit([target], 'same-call', NOON),
    ]
    one!.release()
    two!.settle({tokens: 0, cost_nanousd: 0})
    expect(await counters.read(one!.counter_keys)).toEqual([1n])
  })

  test('still counts what was used when the store has lost the reservation', async () => {
    const {limits, counters} = opened()
    const admission = await admitted(limits, [budget])
    expect(counters.release(`call-${calls}/1`)).toBe(true)
    admission.settle({tokens: 6, cost_nanousd: 0})
    expect(await counters.read(admission.counter_keys)).toEqual([6n])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('store')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('store')
      },
    ],
  ])('never throws when the store %s', async (_, fail) => {
    const {limits} = opened({counters: {...createMemoryCounters(), settle: fail, release: fail, adjust: fail}})
    const [one, two] = [await admittedOpen(limits), await admittedOpen(limits)]
    one.settle({tokens: 1, cost_nanousd: 1})
    two.release()
    await limits.recover(attemptOf(one.counter_keys), {tokens: 1, cost_nanousd: 1})
    expect(faults.splice(0)).toHaveLength(3)
  })

  test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY])(
    'counts nothing for an amount of %s, and reports it',
    async tokens => {
      const {limits, counters} = opened()
      const admission = await admitted(limits, [budget])
      admission.settle({tokens, cost_nanousd: 0})
      expect(await counters.read(admission.counter_keys)).toEqual([0n])
      expect(faults.splice(0)).toHaveLength(1)
    },
  )

  const admittedOpen = (limits: Limits) =>
    admitted(limits, [limited({rates: [{type: 'tokens', unit: 'rpm', value: 5}]})])
})
