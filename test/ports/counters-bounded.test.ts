import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {Counters} from '../../src/ports/counters/index.ts'
import {claim, HOUR_MS, KINDS, soon, type TestCounters, testCounters} from './support.ts'

const MOST = 4
const GENERATION = {memory: 'process', postgres: 'tables', redis: ''}
let ids = 0

describe.each(KINDS)('counters of one policy in %s', kind => {
  let opened: TestCounters
  let counters: Counters
  beforeAll(async () => {
    opened = await testCounters(kind, {most_of_group: MOST})
    counters = opened.counters
  })
  afterAll(() => opened.close())
  const take = async (...claims: ReturnType<typeof claim>[]) => {
    const id = `r${++ids}`
    const first = await counters.reserve(id, claims, soon())
    if (first.outcome !== 'missing') return first.outcome
    const bases = first.claims.map(({key, ends_at_ms, group}) => ({key, used: 3n, ends_at_ms, group}))
    await counters.restore(bases, GENERATION[kind] || first.generation)
    return (await counters.reserve(id, claims, soon())).outcome
  }

  test('are bounded: a new entity is refused, those that are there go on, and other policies and keys are untouched', async () => {
    const window = (entity: number, group = 'full') => claim(`${group}/${entity}`, {group, limit: 3})
    for (let entity = 0; entity < MOST; entity++) expect(await take(window(entity))).toBe('taken')
    expect(await take(window(MOST))).toBe('full')
    expect(await take(window(0), claim('beside'), window(MOST))).toBe('full')
    expect([await take(window(0)), await take(window(0)), await take(window(0))]).toEqual(['taken', 'taken', 'refused'])
    expect([await take(window(0, 'other')), await take(claim('key'))]).toEqual(['taken', 'taken'])
    expect(await counters.read([window(MOST).key])).toEqual([null])
  })

  test('that only report let the call go, and say so', async () => {
    const window = (entity: number) => claim(`shadow/${entity}`, {group: 'shadow', mode: 'shadow'})
    for (let entity = 0; entity < MOST; entity++) await take(window(entity))
    const more = window(MOST)
    const id = `r${++ids}`
    expect(await counters.reserve(id, [more], soon())).toEqual({outcome: 'taken', over: [more]})
    await counters.settle(id, {tokens: 1, cost_nanousd: 1})
    expect(await counters.read([more.key])).toEqual([null])
  })

  test('that have ended make room', async () => {
    const window = (entity: number, ends_at_ms: number) => claim(`ended/${entity}`, {group: 'ended', ends_at_ms})
    const soon_ms = kind === 'memory' ? Date.now() + HOUR_MS : Date.now() - HOUR_MS
    for (let entity = 0; entity < MOST; entity++) await take(window(entity, soon_ms))
    if (kind === 'memory') {
      expect(await take(window(MOST, Date.now() + 2 * HOUR_MS))).toBe('full')
      counters.time(Date.now() + HOUR_MS)
    }
    await expect.poll(() => take(window(MOST, Date.now() + 2 * HOUR_MS)), {timeout: 5_000}).toBe('taken')
  })

  test('that the ledger rebuilds give way to new ones, but for those that something is held of', async () => {
    // The test before moved the clock of the counters an hour on: these end after it.
    const budget = (entity: number, amount = 0) =>
      claim(`budget/${entity}`, {
        group: 'budget',
        rebuilds: true,
        type: 'tokens',
        amount,
        limit: 1_000,
        ends_at_ms: Date.now() + 3 * HOUR_MS,
      })
    expect(await take(budget(0, 7))).toBe('taken')
    for (let entity = 1; entity < 3 * MOST; entity++) expect(await take(budget(entity))).toBe('taken')
    const keys = Array.from({length: 3 * MOST}, (_, entity) => budget(entity).key)
    const kept = async () => (await counters.read(keys)).flatMap((used, entity) => (used === null ? [] : [entity]))
    const again = async () => {
      await take(budget(3 * MOST - 1))
      return (await kept()).length
    }
    if (kind === 'postgres') await expect.poll(again, {timeout: 10_000}).toBeLessThanOrEqual(MOST)
    const left = await kept()
    expect([left.length <= MOST, left[0]]).toEqual([true, 0])
    expect(await counters.read([keys[0]!])).toEqual([10n])
  })
})
