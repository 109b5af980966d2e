import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import type {Claim, Counters} from '../../src/ports/counters/index.ts'
import {createMemoryCounters} from '../../src/ports/counters/memory.ts'
import {claim, KINDS, soon, testCounters} from './support.ts'

/** What the counters should be, in the plainest words: a number for each key, and what each open reservation holds. */
interface Model {
  readonly used: Map<string, number>
  readonly open: Map<string, Claim[]>
}

type Step = (model: Model, counters: Counters, name: (text: string) => string) => Promise<void>

const KINDS_OF_COUNTER = {
  a: {type: 'requests', rebuilds: false},
  b: {type: 'tokens', rebuilds: false},
  c: {type: 'cost', rebuilds: true},
  d: {type: 'tokens', rebuilds: true},
} as const

const ids = fc.constantFrom('one', 'two', 'three', 'four')
const claims = fc
  .uniqueArray(
    fc.record({
      key: fc.constantFrom('a' as const, 'b' as const, 'c' as const, 'd' as const),
      mode: fc.constantFrom('compatible' as const, 'strict' as const, 'shadow' as const),
      amount: fc.integer({min: 0, max: 6}),
      limit: fc.integer({min: 0, max: 20}),
    }),
    {selector: each => each.key, minLength: 1, maxLength: 4},
  )
  // A counter is of one kind for good; its mode and limit are edited while it counts.
  .map(each => each.map(one => ({...one, ...KINDS_OF_COUNTER[one.key]})))

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(ids, claims, fc.boolean()).map(
    ([id, wanted, extends_]): Step =>
      async (model, counters, name) => {
        const given = wanted.map(({key, ...each}) => claim(name(key), each))
        const answer = extends_
          ? await counters.extend(name(id), given)
          : await counters.reserve(name(id), given, soon())
        if (extends_ && !model.open.has(id)) return expect(answer).toEqual({outcome: 'unknown'})
        const missing = given.filter((each, n) => each.rebuilds && !model.used.has(wanted[n]!.key))
        const over = given.filter(
          (each, n) =>
            !missing.includes(each) &&
            (model.used.get(wanted[n]!.key) ?? 0) + Math.max(1, each.amount) > Number(each.limit),
        )
        const refused = over.find(each => each.mode !== 'shadow')
        if (missing.length > 0) return expect(answer).toMatchObject({outcome: 'missing', claims: missing})
        if (refused) return expect(answer).toEqual({outcome: 'refused', claim: refused})
        expect(answer).toEqual({outcome: 'taken', over})
        for (const each of wanted) model.used.set(each.key, (model.used.get(each.key) ?? 0) + each.amount)
        model.open.set(id, [...(model.open.get(id) ?? []), ...wanted.map(({key, ...each}) => claim(key, each))])
      },
  ),
  fc.tuple(ids, fc.nat(9), fc.nat(9)).map(
    ([id, tokens, cost_nanousd]): Step =>
      async (model, counters, name) => {
        const held = model.open.get(id)
        expect(await counters.settle(name(id), {tokens, cost_nanousd})).toBe(held !== undefined)
        end(model, id, {requests: null, tokens, cost: cost_nanousd})
      },
  ),
  ids.map(
    (id): Step =>
      async (model, counters, name) => {
        expect(await counters.release(name(id))).toBe(model.open.has(id))
        end(model, id, {requests: 0, tokens: 0, cost: 0})
      },
  ),
  fc.tuple(fc.constantFrom('c', 'd'), fc.nat(5)).map(
    ([key, amount]): Step =>
      async (model, counters, name) => {
        await counters.adjust([{key: name(key), amount}])
        const before = model.used.get(key)
        if (before !== undefined) model.used.set(key, before + amount)
      },
  ),
  fc.tuple(fc.constantFrom('c', 'd'), fc.nat(20)).map(
    ([key, used]): Step =>
      async (model, counters, name) => {
        const asked = await counters.reserve(
          name('asks'),
          [
            claim(name('z'), {amount: 0, limit: 1e6}),
            claim(name(key), {rebuilds: true, limit: 1e6, amount: 0, type: 'tokens'}),
          ],
          soon(),
        )
        if (asked.outcome === 'missing') {
          await counters.restore([{key: name(key), used: BigInt(used), ends_at_ms: soon()}], asked.generation)
          model.used.set(key, used)
        } else await counters.release(name('asks'))
      },
  ),
)

/** Each counter is corrected once for a reservation, by all that was held on it. */
function end(model: Model, id: string, actual: Record<Claim['type'], number | null>) {
  const held = new Map<string, {type: Claim['type']; amount: number}>()
  for (const {key, type, amount} of model.open.get(id) ?? [])
    held.set(key, {type, amount: (held.get(key)?.amount ?? 0) + amount})
  for (const [key, {type, amount}] of held)
    model.used.set(key, Math.max(0, model.used.get(key)! + (actual[type] ?? amount) - amount))
  model.open.delete(id)
}

describe.each(KINDS)('counters in %s, against a model', kind => {
  test('any sequence of claims, settlements, releases, adjustments and restorations ends where the model ends', async () => {
    const {counters, close} = await testCounters(kind)
    let runs = 0
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(steps, {minLength: 1, maxLength: 40}), async sequence => {
          const run = ++runs
          const name = (text: string) => `${run}/${text}`
          const model: Model = {used: new Map(), open: new Map()}
          for (const step of sequence) {
            await step(model, counters, name)
            const keys = ['a', 'b', 'c', 'd']
            const used = await counters.read(keys.map(name))
            expect(used.map(value => Number(value ?? 0))).toEqual(keys.map(key => model.used.get(key) ?? 0))
          }
        }),
        {numRuns: kind === 'memory' ? 500 : 40},
      )
    } finally {
      await close()
    }
  })

  test('however many reserve at once, and whatever each asks for, no limit is passed and none refuses without cause', async () => {
    const {counters, again, close} = await testCounters(kind)
    const other = await again()
    let runs = 0
    try {
      await fc.assert(
        fc.asyncProperty(fc.integer({min: 0, max: 12}), fc.integer({min: 1, max: 30}), async (limit, reservers) => {
          const key = `crowd-${++runs}`
          const all = Array.from({length: reservers}, (_, n) =>
            (n % 2 ? counters : other).reserve(`${key}-${n}`, [claim(key, {limit})], soon()),
          )
          const taken = (await Promise.all(all)).filter(answer => answer.outcome === 'taken')
          expect(taken).toHaveLength(Math.min(limit, reservers))
        }),
        {numRuns: kind === 'memory' ? 100 : 15},
      )
    } finally {
      await close()
    }
  })
})

describe('counters in memory', () => {
  const NOW = Date.UTC(2026, 0, 1)

  test('a counter is forgotten once its window has ended, a reservation a day after its deadline', () => {
    const counters = createMemoryCounters()
    counters.time(NOW)
    counters.reserve(
      'r',
      [claim('window', {ends_at_ms: NOW + 60_000}), claim('ever', {ends_at_ms: Number.POSITIVE_INFINITY})],
      NOW + 1000,
    )
    const sweep = () => {
      for (let n = 0; n < 40; n++)
        counters.reserve('other', [claim('other', {limit: 100, ends_at_ms: NOW + 1e12})], NOW + 1e12)
    }
    counters.time(NOW + 59_999)
    sweep()
    expect(counters.read(['window', 'ever'])).toEqual([1n, 1n])
    counters.time(NOW + 60_000)
    sweep()
    expect(counters.read(['window', 'ever'])).toEqual([null, 1n])
    counters.time(NOW + 1000 + 24 * 3_600_000)
    sweep()
    expect(counters.release('r')).toBe(false)
  })

  test('no more counters are kept than it was told; a budget that was forgotten has to be rebuilt', () => {
    const counters = createMemoryCounters({most_counters: 3})
    const budget = claim('budget', {rebuilds: true})
    counters.restore([{key: 'budget', used: 4n, ends_at_ms: budget.ends_at_ms}], 'process')
    for (const n of [1, 2, 3]) counters.reserve(`r${n}`, [claim(`k${n}`)], NOW)
    expect(counters.read(['budget', 'k1', 'k2', 'k3'])).toEqual([null, 1n, 1n, 1n])
    // what limits a key finds room also where nothing may go
    expect(counters.reserve('r4', [claim('k4')], NOW)).toMatchObject({outcome: 'taken'})
    expect(counters.reserve('p', [claim('entity', {group: 'policy'})], NOW)).toMatchObject({outcome: 'full'})
    expect(counters.read(['k1', 'k2', 'k3', 'k4', 'entity'])).toEqual([1n, 1n, 1n, 1n, null])
    expect(counters.reserve('r', [budget], NOW)).toMatchObject({outcome: 'missing', claims: [budget]})
  })

  test('answers are values, never promises', () => {
    const counters = createMemoryCounters()
    expect(counters.reserve('r', [claim('k')], NOW)).toEqual({outcome: 'taken', over: []})
    expect(counters.extend('nobody', [claim('k')])).toEqual({outcome: 'unknown'})
    expect(counters.settle('r', {tokens: 0, cost_nanousd: 0})).toBe(true)
    expect(counters.read(['k'])).toEqual([1n])
  })
})
