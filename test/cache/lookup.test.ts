import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {createFlights} from '../../src/cache/coalesce.ts'
import {type CacheLookup, lookUp} from '../../src/cache/lookup.ts'
import type {Cache, CacheEntry} from '../../src/ports/cache/index.ts'
import {layered} from '../../src/ports/cache/layered.ts'
import {createMemoryCache} from '../../src/ports/cache/memory.ts'

const KEY = {workspace_id: 'w1', digest: 'd'.repeat(64)}
const OTHER = {workspace_id: 'w1', digest: 'e'.repeat(64)}
const MAX_AGE_MS = 60_000
const entry = (text: string): CacheEntry => ({body: Buffer.from(text), stored_at_ms: 0})

/** A store elsewhere, whose answers come when the test says so. */
function slowStore() {
  const kept = createMemoryCache({now: () => 0})
  const waiting: (() => void)[] = []
  let lookups = 0
  const cache: Cache = {
    ...kept,
    peek: () => undefined,
    get(key) {
      lookups++
      return new Promise(resolve => waiting.push(() => resolve(kept.get(key))))
    },
  }
  return {
    cache,
    get lookups() {
      return lookups
    },
    async answer() {
      for (const each of waiting.splice(0)) each()
      for (let turns = 0; turns < 10; turns++) await Promise.resolve()
    },
  }
}

describe('calls at the cache', () => {
  let store: ReturnType<typeof slowStore>
  let on: Parameters<typeof lookUp>[0]
  let near: Cache
  beforeEach(() => {
    store = slowStore()
    near = createMemoryCache({now: () => 0})
    on = {
      cache: layered({near, far: store.cache, now: () => 0}),
      flights: createFlights({after: () => () => undefined}),
    }
  })
  afterEach(() => expect(on.flights.size).toBe(0))

  interface Call {
    readonly visit: CacheLookup
    readonly received: string[]
  }
  const come = (key = KEY, refresh = false): Call => {
    const received: string[] = []
    const visit = lookUp(
      on,
      key,
      {refresh, max_age_ms: MAX_AGE_MS},
      {
        onHit: ({body}) => received.push(body.toString()),
        onMiss: () => received.push('miss'),
        onAbandoned: () => received.push('deserted'),
      },
    )
    return {visit, received}
  }
  const crowd = (size: number) => Array.from({length: size}, () => come())
  const misses = (calls: readonly Call[]) =>
    calls.filter(({visit, received}) => visit.outcome === 'miss' || received.includes('miss'))
  const heardBy = (calls: readonly Call[]) => calls.map(({received}) => received.join())

  test('100 that miss make one look-up and one call, and those that come later a hit at once', async () => {
    const calls = crowd(100)
    expect(calls.every(({visit}) => visit.outcome === 'pending')).toBe(true)
    await store.answer()
    expect(store.lookups).toBe(1)
    expect(misses(calls)).toEqual([calls[0]])
    calls[0]!.visit.store(entry('answer'))
    expect(heardBy(calls)).toEqual(['miss', ...Array(99).fill('answer')])
    expect(come().visit.outcome).toMatchObject(entry('answer'))
    expect(store.lookups).toBe(1)
  })

  test('100 that find make one look-up and no call', async () => {
    await store.cache.set(KEY, entry('kept'), MAX_AGE_MS)
    const calls = crowd(100)
    await store.answer()
    expect(heardBy(calls)).toEqual(Array(100).fill('kept'))
    expect(store.lookups).toBe(1)
  })

  test('one that comes between the answer and its keeping finds it', async () => {
    const first = come()
    await store.answer()
    first.visit.store(entry('answer'))
    const next = come()
    expect(next.visit.outcome).toMatchObject(entry('answer'))
  })

  test('that differ do not meet', async () => {
    const [one, other] = [come(), come(OTHER)]
    await store.answer()
    one.visit.store(entry('one'))
    expect(heardBy([one, other])).toEqual(['miss', 'miss'])
    other.visit.fail()
  })

  test.each(['while it is looked up', 'while the provider is asked'])(
    '100 of which the first leaves %s make one call',
    async when => {
      const calls = crowd(100)
      if (when === 'while it is looked up') {
        expect(calls[0]!.visit.leave()).toBe(false)
        await store.answer()
        expect(misses(calls)).toEqual([calls[1]])
        calls[1]!.visit.store(entry('answer'))
      } else {
        await store.answer()
        expect(calls[0]!.visit.leave()).toBe(true)
        calls[0]!.visit.store(entry('answer'))
      }
      expect(misses(calls)).toHaveLength(1)
      expect(heardBy(calls.slice(2))).toEqual(Array(98).fill('answer'))
      expect(come().visit.outcome).toMatchObject(entry('answer'))
    },
  )

  test('one that leaves alone while it is looked up hears nothing more', async () => {
    const call = come()
    expect(call.visit.leave()).toBe(false)
    await store.answer()
    expect(call.received).toEqual([])
  })

  test('one that was refused hands over to the next', async () => {
    const calls = crowd(3)
    await store.answer()
    calls[0]!.visit.passLead()
    expect(heardBy(calls)).toEqual(['miss', 'miss', ''])
    calls[1]!.visit.store(entry('answer'))
    expect(calls[2]!.received).toEqual(['answer'])
  })

  test('whose leader has nothing to share ask for themselves, and nothing is kept', async () => {
    const calls = crowd(3)
    await store.answer()
    calls[0]!.visit.decline()
    expect(heardBy(calls)).toEqual(['miss', 'miss', 'miss'])
    calls[2]!.visit.store(entry('mine'))
    calls[1]!.visit.fail()
    expect(come().visit.outcome).toMatchObject(entry('mine'))
  })

  test('whose leader fails have one that asks in its place', async () => {
    const calls = crowd(3)
    await store.answer()
    calls[0]!.visit.fail()
    expect(heardBy(calls)).toEqual(['miss', 'miss', ''])
    calls[1]!.visit.store(entry('answer'))
    expect(calls[2]!.received).toEqual(['answer'])
  })

  test('that nobody waits for any more are aborted', async () => {
    const calls = crowd(2)
    await store.answer()
    calls[0]!.visit.leave()
    calls[1]!.visit.leave()
    expect(heardBy(calls)).toEqual(['miss,deserted', ''])
  })

  test('that refresh look nothing up, share one call, and replace what was kept', async () => {
    await on.cache.set(KEY, entry('old'), MAX_AGE_MS)
    const [first, second] = [come(KEY, true), come(KEY, true)]
    expect(first!.visit.outcome).toBe('miss')
    expect(come().visit.outcome).toMatchObject(entry('old'))
    first!.visit.store(entry('new'))
    expect(second!.received).toEqual(['new'])
    expect(come().visit.outcome).toMatchObject(entry('new'))
    expect(store.lookups).toBe(0)
  })

  test('that refresh do not take the answer of a call that only looked', async () => {
    await store.cache.set(KEY, entry('old'), MAX_AGE_MS)
    const looks = come()
    const refreshes = come(KEY, true)
    await store.answer()
    expect(heardBy([looks, refreshes])).toEqual(['old', ''])
    refreshes.visit.store(entry('new'))
  })

  test('go on when the store fails', async () => {
    on = {
      ...on,
      cache: {
        ...on.cache,
        get: () => Promise.reject(new Error('broken')),
        set: () => Promise.reject(new Error('broken')),
      },
    }
    const calls = crowd(2)
    for (let turns = 0; turns < 10; turns++) await Promise.resolve()
    expect(heardBy(calls)).toEqual(['miss', ''])
    calls[0]!.visit.store(entry('answer'))
    expect(calls[1]!.received).toEqual(['answer'])
  })

  test('are not held up by one that throws', async () => {
    const faults: unknown[] = []
    on = {...on, onFault: fault => faults.push(String(fault))}
    const throws = () => {
      throw new Error('broken')
    }
    lookUp(on, KEY, {refresh: false, max_age_ms: MAX_AGE_MS}, {onHit: throws, onMiss: throws, onAbandoned: throws})
    const next = come()
    await store.answer()
    expect(next.received).toEqual(['miss'])
    expect(faults).toEqual(['Error: broken'])
    next.visit.fail()
  })

  test('with memory alone know at once', () => {
    on = {...on, cache: near}
    const call = come()
    expect(call.visit.outcome).toBe('miss')
    call.visit.store(entry('answer'))
    expect(come().visit.outcome).toMatchObject(entry('answer'))
    expect(call.received).toEqual([])
  })
})
