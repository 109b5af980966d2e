import {randomBytes} from 'node:crypto'
import {Redis} from 'iovalkey'
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import type {Counters} from '../../src/ports/counters/index.ts'
import {openRedisCounters} from '../../src/ports/counters/redis.ts'
import {claim, KINDS, soon, type TestCounters, testCounters, wipe} from './support.ts'

const NOTHING = {tokens: 0, cost_nanousd: 0}

describe.each(KINDS)('counters in %s', kind => {
  let opened: TestCounters
  let counters: Counters
  let other: Counters
  beforeAll(async () => {
    opened = await testCounters(kind)
    counters = opened.counters
    other = await opened.again()
  })
  afterAll(() => opened.close())
  const used = async (...keys: string[]) =>
    (await counters.read(keys)).map(value => (value === null ? null : Number(value)))

  test('a counter nobody claimed is not there', async () => {
    expect(await counters.read(['nobody'])).toEqual([null])
    expect(await counters.read([])).toEqual([])
  })

  test('a request is taken at once, stays taken when settled, and is given back when released', async () => {
    expect(await counters.reserve('r1', [claim('requests')], soon())).toEqual({outcome: 'taken', over: []})
    expect(await counters.reserve('r2', [claim('requests')], soon())).toEqual({outcome: 'taken', over: []})
    expect(await used('requests')).toEqual([2])
    expect(await counters.settle('r1', {tokens: 50, cost_nanousd: 70})).toBe(true)
    expect(await used('requests')).toEqual([2])
    expect(await counters.release('r2')).toBe(true)
    expect(await used('requests')).toEqual([1])
  })

  test('what does not fit one counter is taken from none, and is not counted', async () => {
    const full = claim('full', {limit: 1})
    await counters.reserve('f1', [full], soon())
    const refused = await counters.reserve('f2', [claim('roomy'), full, claim('also-roomy')], soon())
    expect(refused).toEqual({outcome: 'refused', claim: full})
    expect((await used('roomy', 'full', 'also-roomy')).map(value => value ?? 0)).toEqual([0, 1, 0])
    expect(await counters.settle('f2', NOTHING)).toBe(false)
  })

  test('the first claim that does not fit is the one named, whatever the order of the keys', async () => {
    const one = claim('z-none', {limit: 0})
    const two = claim('a-none', {limit: 0})
    expect(await counters.reserve('n1', [one, two], soon())).toEqual({outcome: 'refused', claim: one})
    expect(await counters.reserve('n1', [two, one], soon())).toEqual({outcome: 'refused', claim: two})
  })

  test('a limit of tokens or cost is open until it is reached, and takes what was really used', async () => {
    const tokens = claim('tokens', {type: 'tokens', amount: 0, limit: 100})
    const cost = claim('cost', {type: 'cost', amount: 0, limit: 1000})
    for (const id of ['t1', 't2'])
      expect(await counters.reserve(id, [tokens, cost], soon())).toMatchObject({outcome: 'taken'})
    await counters.settle('t1', {tokens: 99, cost_nanousd: 7})
    expect(await counters.reserve('t3', [tokens, cost], soon())).toMatchObject({outcome: 'taken'})
    await counters.settle('t2', {tokens: 30, cost_nanousd: 8})
    expect(await used('tokens', 'cost')).toEqual([129, 15])
    expect(await counters.reserve('t4', [tokens, cost], soon())).toEqual({outcome: 'refused', claim: tokens})
  })

  test('settling twice counts once; releasing what was settled, or settling what was released, does nothing', async () => {
    const tokens = claim('once', {type: 'tokens', amount: 0, limit: 1000})
    await counters.reserve('o1', [tokens], soon())
    expect(await counters.settle('o1', {tokens: 5, cost_nanousd: 0})).toBe(true)
    expect(await counters.settle('o1', {tokens: 5, cost_nanousd: 0})).toBe(false)
    expect(await counters.release('o1')).toBe(false)
    await counters.reserve('o2', [tokens], soon())
    await counters.release('o2')
    expect(await counters.settle('o2', {tokens: 5, cost_nanousd: 0})).toBe(false)
    expect(await used('once')).toEqual([5])
  })

  test('a strict hold is taken in advance, grows by slices, and becomes what was really used', async () => {
    const hold = (amount: number) => claim('strict', {type: 'cost', mode: 'strict', amount, limit: 100})
    await counters.reserve('s1', [hold(40)], soon())
    const refused = hold(61)
    expect(await counters.reserve('s2', [refused], soon())).toEqual({outcome: 'refused', claim: refused})
    expect(await counters.extend('s1', [hold(60)])).toMatchObject({outcome: 'taken'})
    expect(await counters.extend('s1', [hold(1)])).toMatchObject({outcome: 'refused'})
    expect(await used('strict')).toEqual([100])
    await counters.settle('s1', {tokens: 9, cost_nanousd: 55})
    expect(await used('strict')).toEqual([55])
  })

  test('a released hold gives back every slice', async () => {
    const hold = claim('slices', {type: 'tokens', mode: 'strict', amount: 10, limit: 100})
    await counters.reserve('sl', [hold], soon())
    await counters.extend('sl', [hold])
    await counters.release('sl')
    expect(await used('slices')).toEqual([0])
  })

  test('nothing is extended that is not open, or is past its deadline; a late settlement still corrects the recovered hold', async () => {
    const hold = claim('late', {type: 'cost', mode: 'strict', amount: 40, limit: 100})
    expect(await counters.extend('nobody', [hold])).toEqual({outcome: 'unknown'})
    await counters.reserve('l1', [hold], Date.now() - 60_000)
    expect(await counters.extend('l1', [hold])).toEqual({outcome: 'unknown'})
    expect(await used('late')).toEqual([40])
    expect(await counters.settle('l1', {tokens: 0, cost_nanousd: 12})).toBe(true)
    expect(await used('late')).toEqual([12])
  })

  test('a shadow is reported and never refuses', async () => {
    const shadow = claim('shadow', {mode: 'shadow', limit: 1})
    expect(await counters.reserve('h1', [claim('h'), shadow], soon())).toEqual({outcome: 'taken', over: []})
    expect(await counters.reserve('h2', [claim('h'), shadow], soon())).toEqual({outcome: 'taken', over: [shadow]})
    expect(await used('shadow', 'h')).toEqual([2, 2])
  })

  test('a missing counter that rebuilds takes nothing until it is restored, once', async () => {
    const known = claim('b-known')
    const budget = claim('a-budget', {
      type: 'cost',
      amount: 0,
      limit: 100,
      rebuilds: true,
      ends_at_ms: Number.POSITIVE_INFINITY,
    })
    const answer = await counters.reserve('m1', [known, budget], soon())
    if (answer.outcome !== 'missing') throw new Error(`not ${answer.outcome}`)
    expect(answer.claims).toEqual([budget])
    expect((await used('b-known'))[0] ?? 0).toBe(0)
    await counters.restore([{key: budget.key, used: 99n, ends_at_ms: budget.ends_at_ms}], answer.generation)
    await other.restore([{key: budget.key, used: 5n, ends_at_ms: budget.ends_at_ms}], answer.generation)
    expect(await counters.reserve('m1', [known, budget], soon())).toEqual({outcome: 'taken', over: []})
    await counters.settle('m1', {tokens: 0, cost_nanousd: 1})
    expect(await used('a-budget', 'b-known')).toEqual([100, 1])
    expect(await counters.reserve('m2', [known, budget], soon())).toMatchObject({outcome: 'refused'})
  })

  test('an adjustment adds to what is there, and makes no counter', async () => {
    await counters.reserve('a1', [claim('adjusted', {type: 'tokens', amount: 0})], soon())
    await counters.adjust([
      {key: 'adjusted', amount: 7},
      {key: 'absent', amount: 7},
    ])
    await counters.adjust([])
    expect(await used('adjusted', 'absent')).toEqual([7, null])
  })

  /** A budget that the ledger says has used so much. */
  const restored = async (key: string, amount: number, more: Partial<Parameters<typeof claim>[1]> = {}) => {
    const budget = claim(key, {type: 'tokens', mode: 'strict', amount: 0, limit: 10_000, rebuilds: true, ...more})
    const answer = await counters.reserve(`${key}-asks`, [budget], soon())
    if (answer.outcome !== 'missing') throw new Error(`not ${answer.outcome}`)
    await counters.restore([{key, used: BigInt(amount), ends_at_ms: budget.ends_at_ms}], answer.generation)
    return (amount: number) => ({...budget, amount})
  }

  test('a restored counter says what of it is held in advance; one that began with a claim is none', async () => {
    const hold = await restored('stands', 100)
    await counters.reserve('stands-1', [claim('stands-rate'), hold(40)], soon())
    await other.reserve('stands-2', [hold(7)], soon())
    await counters.extend('stands-1', [hold(3)])
    const held = async () =>
      (await other.standings(['stands', 'stands-rate', 'stands-nowhere'])).map(each => each && [each.used, each.held])
    expect(await held()).toEqual([[150n, 50n], null, null])
    await other.settle('stands-1', {tokens: 5, cost_nanousd: 0})
    expect(await held()).toEqual([[112n, 7n], null, null])
    await counters.release('stands-2')
    expect(await held()).toEqual([[105n, 0n], null, null])
    const keys = await other.restored()
    expect([keys.includes('stands'), keys.includes('stands-rate')]).toEqual([true, false])
    expect(await counters.standings([])).toEqual([])
  })

  test('a difference is put right once, whatever calls do meanwhile', async () => {
    const hold = await restored('differs', 100)
    await counters.reserve('differs-1', [hold(40)], soon())
    const [standing] = await counters.standings(['differs'])
    await counters.settle('differs-1', {tokens: 11, cost_nanousd: 0})
    const {revision} = standing!
    const corrections = [counters.correct('differs', 30n, revision), other.correct('differs', 30n, revision)]
    expect((await Promise.all(corrections)).toSorted()).toEqual([false, true])
    expect(await used('differs')).toEqual([141])
    const [after] = await counters.standings(['differs'])
    expect(await other.correct('differs', -500n, after!.revision)).toBe(true)
    expect(await used('differs')).toEqual([0])
    expect(await counters.correct('nowhere', 5n, revision)).toBe(false)
    expect(await used('nowhere')).toEqual([null])
  })

  test('sums beyond 2^53 are exact', async () => {
    const limit = 2n ** 59n
    const huge = claim('huge', {type: 'cost', mode: 'strict', amount: 1, limit, rebuilds: true})
    const answer = await counters.reserve('g1', [huge], soon())
    if (answer.outcome !== 'missing') throw new Error(`not ${answer.outcome}`)
    await counters.restore([{key: 'huge', used: limit - 2n, ends_at_ms: huge.ends_at_ms}], answer.generation)
    for (const outcome of ['taken', 'taken', 'refused'])
      expect(await counters.reserve(`g-${outcome}`, [huge], soon())).toMatchObject({outcome})
    expect(await counters.read(['huge'])).toEqual([limit])
  })

  test('of many that reserve at the same time exactly as many get through as fit, whatever the order of their claims', async () => {
    const limit = 37
    const pair = [claim('crowd-a', {limit}), claim('crowd-b', {limit: limit + 20})]
    const everybody = Array.from({length: 120}, (_, n) => {
      const by = n % 2 ? counters : other
      return by.reserve(`crowd-${n}`, n % 3 ? pair : [...pair].reverse(), soon())
    })
    const outcomes = (await Promise.all(everybody)).map(answer => answer.outcome)
    expect(outcomes.filter(outcome => outcome === 'taken')).toHaveLength(limit)
    expect(await used('crowd-a', 'crowd-b')).toEqual([limit, limit])
  })

  test('time never runs back', () => {
    const now = Date.now()
    const first = counters.time(now)
    expect(counters.time(now - 60_000)).toBe(first)
    expect(counters.time(now + 60_000)).toBe(first + 60_000)
  })
})

test.runIf(KINDS.includes('redis'))(
  'in Redis, what is known beside a counter lasts as long as it, and one of before has it when it is claimed',
  async () => {
    const tag = `test-${randomBytes(6).toString('hex')}`
    const counters = await openRedisCounters({url: process.env.TEST_REDIS_URL!, tag, now: Date.now, timeout_ms: 10_000})
    const redis = new Redis(process.env.TEST_REDIS_URL!)
    onTestFinished(async () => {
      await counters.close()
      redis.disconnect()
      await wipe(tag)
    })
    const hour = claim('lasts', {type: 'tokens', amount: 0, rebuilds: true})
    const answer = await counters.reserve('asks', [hour], soon())
    if (answer.outcome !== 'missing') throw new Error(`not ${answer.outcome}`)
    await counters.restore([{key: 'lasts', used: 5n, ends_at_ms: Date.now() + 1_000}], answer.generation)
    const [beside] = await redis.keys(`{${tag}}:beside:*`)
    expect(await redis.pttl(beside!)).toBeLessThan(120_000)
    await counters.reserve('renews', [hour], soon())
    expect(await redis.pttl(beside!)).toBeGreaterThan(3_000_000)

    const held = {...hour, mode: 'strict', amount: 4, limit: 100n} as const
    await counters.reserve('of-before', [held], soon())
    await redis.del(beside!)
    await counters.reserve('since', [hour], soon())
    expect([await counters.restored(), (await counters.standings(['lasts']))[0]]).toMatchObject([
      ['lasts'],
      {used: 9n, held: 0n},
    ])
    await counters.settle('of-before', {tokens: 1, cost_nanousd: 0})
    expect((await counters.standings(['lasts']))[0]).toMatchObject({used: 6n, held: 0n})
    expect(await redis.pttl(beside!)).toBeGreaterThan(3_000_000)
  },
)
