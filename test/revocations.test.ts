import {setImmediate as turn} from 'node:timers/promises'
import {expect, test} from 'vitest'
import {Revocations} from '../src/app/revocations.ts'
import {StoreSilentFault} from '../src/base/store-fault.ts'
import {Timers} from './support/timers.ts'

const silent = () => Promise.reject(new StoreSilentFault('PostgreSQL', 'no answer came'))

/** Revocations over a store that answers with `version`, or as `answer` says. */
function opened({max_stale_s = 60, query_timeout_ms = 5_000, reports = false} = {}) {
  const timers = new Timers(1_000_000)
  const store = {
    version: 1,
    answer: undefined as (() => Promise<number>) | undefined,
    patience: [] as number[],
    revisions: undefined as ReadonlyMap<string, number> | undefined,
    reconnect: () => {},
    writes: () => {},
    reportsNoMore: () => {},
    is_watched: false,
  }
  let forgotten = 0
  const dropped: (readonly string[] | null)[] = []
  const revocations = new Revocations({
    store: {
      kind: 'postgres',
      async dataVersion(within_ms = 0) {
        store.patience.push(within_ms)
        return store.answer ? store.answer() : store.version
      },
      revisions: async () => store.revisions ?? new Map([['api_keys', store.version]]),
      ...(reports && {
        watchWrites(onWriting: () => void, onLost: () => void) {
          Object.assign(store, {writes: onWriting, reportsNoMore: onLost, is_watched: true})
          return () => {
            store.is_watched = false
          }
        },
      }),
      onReconnect: listener => {
        store.reconnect = listener
      },
    },
    log: {warn: () => undefined, info: () => undefined},
    steady: timers.now,
    after: timers.after,
    query_timeout_ms,
    max_stale_s,
  })
  return {
    revocations,
    store,
    forgotten: () => forgotten,
    dropped,
    start: () =>
      revocations.start(moved => {
        forgotten++
        dropped.push(moved && [...moved])
      }),
    pass: (ms: number) => timers.pass(ms, turn),
    /** A process that did not run: no timer of it did. */
    sleep(ms: number) {
      timers.now_ms += ms
    },
  }
}

test('what another process revoked is forgotten within a second, and what is held may be used meanwhile', async () => {
  const {revocations, store, forgotten, start, pass} = opened()
  await start()
  expect([revocations.holds, forgotten()]).toEqual([true, 1])
  await pass(10_000)
  expect([revocations.holds, forgotten()]).toEqual([true, 1])
  store.version++
  await pass(999)
  expect([revocations.holds, forgotten()]).toEqual([true, 2])
})

test('while revocations cannot be read, what is held is used for CALLER_CACHE_MAX_STALE_S after the last that could; then nobody is let in', async () => {
  const {revocations, store, start, pass} = opened({max_stale_s: 60})
  await start()
  store.answer = silent
  await pass(58_000)
  expect(revocations.holds).toBe(true)
  expect(revocations.silence).toBe('the database does not answer: no answer came')
  await pass(2_001)
  expect(revocations.holds).toBe(false)
  await expect(revocations.ready()).rejects.toMatchObject({code: 'callers.stale', status: 503, retry_after_s: 2})
  expect(revocations.silence).toMatch(/CALLER_CACHE_MAX_STALE_S/)
  store.answer = undefined
  await pass(1_000)
  expect([revocations.holds, revocations.silence]).toEqual([true, null])
  await revocations.ready()
})

test('at 0 seconds nobody is let in from the first look that fails, and everybody while looks do not', async () => {
  const {revocations, store, start, pass} = opened({max_stale_s: 0})
  await start()
  await pass(5_000)
  expect(revocations.holds).toBe(true)
  store.answer = silent
  await pass(400)
  expect(revocations.holds).toBe(false)
  await expect(revocations.ready()).rejects.toMatchObject({code: 'callers.stale'})
})

test('a first failure may be a connection that was cut: it is looked again at once, and only the second is told', async () => {
  const {revocations, store, start, pass} = opened()
  await start()
  let failures = 0
  store.answer = () => (failures++ === 0 ? silent() : Promise.resolve(store.version))
  await pass(301)
  expect([failures, revocations.silence]).toEqual([2, null])
})

test('each look that fails waits longer for the next answer, at most DB_QUERY_TIMEOUT_MS', async () => {
  const {store, start, pass} = opened({query_timeout_ms: 1_000})
  await start()
  store.answer = silent
  await pass(1_300)
  expect(store.patience.slice(0, 6)).toEqual([300, 300, 600, 1_000, 1_000, 1_000])
})

test('a server that answers again is asked before anything held is used', async () => {
  const {revocations, store, forgotten, start, pass} = opened()
  await start()
  store.answer = silent
  await pass(1_000)
  expect(revocations.holds).toBe(true)
  store.answer = undefined
  store.version++
  store.reconnect()
  expect(revocations.holds).toBe(false)
  await revocations.ready()
  expect([revocations.holds, forgotten()]).toEqual([true, 2])
})

test.each([
  ['nothing, where nothing moved', {api_keys: 3, configs: 5, server_started: 1}, []],
  ['what another process wrote', {api_keys: 4, configs: 5, server_started: 1}, [['api_keys']]],
  ['everything, where a number went back', {api_keys: 4, configs: 4, server_started: 1}, [null]],
  [
    'what is unknown, and so everything, of a server that started later',
    {api_keys: 3, configs: 5, server_started: 2},
    [['server_started']],
  ],
])('after a reconnect is forgotten: %s', async (_, found, expected) => {
  const {revocations, store, dropped, start} = opened()
  store.revisions = new Map(Object.entries({api_keys: 3, configs: 5, server_started: 1}))
  await start()
  store.revisions = new Map(Object.entries(found))
  store.reconnect()
  await revocations.ready()
  expect(dropped.slice(1)).toEqual(expected)
})

test('a store that reports writes is looked at twice a second without, and often from one on', async () => {
  const {revocations, store, forgotten, start, pass} = opened({reports: true})
  const looks = async (ms: number) => {
    const before = store.patience.length
    await pass(ms)
    return store.patience.length - before
  }
  await start()
  expect(await looks(10_000)).toBe(20)
  expect(revocations.holds).toBe(true)
  await pass(40)
  store.writes()
  await pass(900) // until then the disk syncs it
  store.version++
  await pass(300)
  expect(forgotten()).toBe(2)
  await pass(2_000)
  expect(await looks(10_000)).toBe(20)
  revocations.close()
  expect(store.is_watched).toBe(false)
})

test('without its reports a store is looked at as often as one that has none', async () => {
  const {store, forgotten, start, pass} = opened({reports: true})
  await start()
  await pass(5_000)
  store.reportsNoMore()
  const before = store.patience.length
  await pass(3_000)
  expect(store.patience.length - before).toBe(11)
  store.version++
  await pass(300)
  expect(forgotten()).toBe(2)
})

test('at 0 seconds a store that reports writes lets callers in between two looks', async () => {
  const {revocations, start, pass} = opened({reports: true, max_stale_s: 0})
  await start()
  for (let turn = 0; turn < 30; turn++) {
    await pass(70)
    expect(revocations.holds).toBe(true)
  }
})

test('a process that did not run for longer than that looks before it uses what it holds', async () => {
  const {revocations, store, forgotten, start, sleep} = opened()
  await start()
  sleep(3_600_000)
  expect(revocations.holds).toBe(false)
  store.version++
  await revocations.ready()
  expect([revocations.holds, forgotten()]).toEqual([true, 2])
})
