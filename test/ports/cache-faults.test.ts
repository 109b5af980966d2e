import {existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import type {AddressInfo} from 'node:net'
import {createServer} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {createDatabaseCache} from '../../src/ports/cache/database.ts'
import {lenient} from '../../src/ports/cache/fail-open.ts'
import type {Cache, FoundEntry} from '../../src/ports/cache/index.ts'
import {layered} from '../../src/ports/cache/layered.ts'
import {createMemoryCache} from '../../src/ports/cache/memory.ts'
import {openCache} from '../../src/ports/cache/open.ts'
import {CACHE_FILE, cacheTable, openCacheBeside, openCacheFile} from '../../src/store/cache.ts'
import {key} from './cache-support.ts'

const ENTRY = {body: Buffer.from('answer'), stored_at_ms: 0}
const FOUND: FoundEntry = {...ENTRY, expires_at_ms: 1e15}
const TTL_MS = 60_000

/** A store that does what `work` says, at everything. */
function storeThat(work: () => unknown): Cache & {asked: number} {
  const store = {
    asked: 0,
    peek: () => undefined,
    get: async () => {
      store.asked++
      return (await work()) as FoundEntry | undefined
    },
    set: async () => void (await work()),
    delete: async () => void (await work()),
    purge: async () => void (await work()),
    close: async () => undefined,
  }
  return store
}

describe('a store that fails', () => {
  test('is a miss, told of once a minute, and asked again after a second', async () => {
    let now_ms = 0
    const told: [string, number][] = []
    let broken = true
    const store = storeThat(() => {
      if (broken) throw new Error('broken')
      return FOUND
    })
    const cache = lenient(store, {now: () => now_ms, onFault: (fault, times) => told.push([String(fault), times])})
    for (; now_ms < 60_000; now_ms += 100) {
      expect(await cache.get(key('a'))).toBeUndefined()
      await cache.set(key('a'), ENTRY, TTL_MS)
      await cache.delete(key('a'))
    }
    expect(told).toEqual([['Error: broken', 1]])
    await cache.delete(key('a'))
    expect(told).toHaveLength(2)
    expect(told[1]![1]).toBeGreaterThan(60)
    expect(store.asked).toBeLessThanOrEqual(60)
    broken = false
    now_ms += 1_000
    expect(await cache.get(key('a'))).toBe(FOUND)
  })

  test('does not hide from who purges that it did not', async () => {
    const cache = lenient(
      storeThat(() => Promise.reject(new Error('broken'))),
      {now: () => 0, onFault: () => undefined},
    )
    await expect(cache.purge('w1')).rejects.toThrow('broken')
  })

  test('at once is a miss, too', async () => {
    const throwing = {...storeThat(() => undefined), get: () => oops(), set: () => oops()}
    const cache = lenient(throwing, {now: () => 0, onFault: () => undefined})
    expect(cache.get(key('a'))).toBeUndefined()
    expect(cache.set(key('a'), ENTRY, TTL_MS)).toBeUndefined()
  })

  test('to answer is not waited for', async () => {
    const told: unknown[] = []
    const cache = lenient(
      storeThat(() => new Promise(() => undefined)),
      {now: () => 0, timeout_ms: 1, onFault: fault => told.push(String(fault))},
    )
    expect(await cache.get(key('a'))).toBeUndefined()
    expect(told).toEqual(['Error: The cache did not answer within 1 ms.'])
  })

  test('as Redis that is not there leaves memory', async () => {
    const gone = createServer()
    await new Promise<void>(resolve => gone.listen(0, '127.0.0.1', resolve))
    const {port} = gone.address() as AddressInfo
    await new Promise(resolve => gone.close(resolve))
    const told: unknown[] = []
    const cache = await openCache({
      now: Date.now,
      redis_url: `redis://127.0.0.1:${port}`,
      table: null,
      is_shared: true,
      onFault: fault => told.push(fault),
    })
    expect(await cache.get(key('a'))).toBeUndefined()
    await cache.set(key('a'), ENTRY, TTL_MS)
    expect(await cache.get(key('a'))).toMatchObject({body: ENTRY.body})
    expect(told).toHaveLength(1)
    await cache.close()
  })

  test('to prune says so, and keeps answers', async () => {
    const told: unknown[] = []
    const rows = new Map<string, {body: Uint8Array; stored_at_ms: number; expires_at_ms: number}>()
    const cache = createDatabaseCache({
      now: () => 0,
      onFault: fault => told.push(fault),
      table: {
        find: async (_, digest) => rows.get(digest),
        put: async row => void rows.set(row.digest, row),
        delete: async () => undefined,
        purge: async () => false,
        prune: () => Promise.reject(new Error('no')),
        list: async () => ({total: 0, rows: []}),
        clear: async () => 0,
      },
    })
    await cache.set(key('a'), ENTRY, TTL_MS)
    await cache.close()
    expect(told).toHaveLength(1)
    expect((await cache.get(key('a')))?.body.toString()).toBe('answer')
  })
})

describe('what is deleted while it is looked up', () => {
  test.each(['delete', 'purge'] as const)('does not come back by %s', async how => {
    let answer: (found: FoundEntry) => void = () => undefined
    const far = {...storeThat(() => undefined), get: () => new Promise<FoundEntry>(resolve => (answer = resolve))}
    const near = createMemoryCache({now: () => 0})
    const cache = layered({near, far, now: () => 0})
    const found = cache.get(key('a'))
    await (how === 'delete' ? cache.delete(key('a')) : cache.purge('w1'))
    answer(FOUND)
    await found
    expect(near.get(key('a'))).toBeUndefined()
  })

  test('nor what was replaced', async () => {
    let answer: (found: FoundEntry) => void = () => undefined
    const far = {...storeThat(() => undefined), get: () => new Promise<FoundEntry>(resolve => (answer = resolve))}
    const near = createMemoryCache({now: () => 0})
    const cache = layered({near, far, now: () => 0})
    const found = cache.get(key('a'))
    await cache.set(key('a'), {...ENTRY, body: Buffer.from('newer')}, TTL_MS)
    answer(FOUND)
    await found
    expect(near.get(key('a'))).toMatchObject({body: Buffer.from('newer')})
  })
})

describe('the file of the cache', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-cache-'))
  })
  afterEach(() => rmSync(folder, {recursive: true, force: true}))
  const open = () => {
    const {db, close} = openCacheFile({folder})
    return {cache: createDatabaseCache({table: cacheTable(db), now: () => 1_000}), close}
  }

  test('outlives the process that closed it', async () => {
    const first = open()
    await first.cache.set(key('a'), ENTRY, TTL_MS)
    await first.close()
    const second = open()
    expect((await second.cache.get(key('a')))?.body.toString()).toBe('answer')
    await second.close()
  })

  test('stands behind memory, and fills it again', async () => {
    for (const outcome of [undefined, ENTRY.body]) {
      const {db, close} = openCacheFile({folder})
      const cache = await openCache({now: () => 1_000, table: cacheTable(db), is_shared: false, onFault: oops})
      expect(cache.peek(key('a'))).toBeUndefined()
      expect((await cache.get(key('a')))?.body).toEqual(outcome)
      if (outcome) expect(cache.peek(key('a'))).toMatchObject({body: ENTRY.body, expires_at_ms: 1_000 + TTL_MS})
      await cache.set(key('a'), ENTRY, TTL_MS)
      await cache.close()
      await close()
    }
  })

  test('is not opened beside a gateway that is gone without closing it, nor where there is none', async () => {
    expect(openCacheBeside({folder})).toBeNull()
    const first = open()
    await first.cache.set(key('a'), ENTRY, TTL_MS)
    expect(openCacheBeside({folder})).toBeNull()
    await first.close()
    const beside = openCacheBeside({folder})!
    expect(await cacheTable(beside.db).clear({workspace_ids: ['w1']})).toBe(1)
    await beside.close()
    const second = open()
    expect(await second.cache.get(key('a'))).toBeUndefined()
    await second.close()
  })

  test('of a process that did not close it is thrown away, and begun anew', async () => {
    const first = open()
    await first.cache.set(key('a'), ENTRY, TTL_MS)
    await first.close()
    writeFileSync(join(folder, `${CACHE_FILE}-wal`), 'left by a power cut')
    const second = open()
    expect(await second.cache.get(key('a'))).toBeUndefined()
    await second.cache.set(key('b'), ENTRY, TTL_MS)
    expect(await second.cache.get(key('b'))).toBeDefined()
    await second.close()
  })

  test('that is no database is begun anew', async () => {
    writeFileSync(join(folder, CACHE_FILE), 'x'.repeat(10_000))
    const opened = open()
    await opened.cache.set(key('a'), ENTRY, TTL_MS)
    expect(await opened.cache.get(key('a'))).toBeDefined()
    await opened.close()
    expect(existsSync(join(folder, `${CACHE_FILE}-wal`))).toBe(false)
  })
})

function oops(): never {
  throw new Error('oops')
}
