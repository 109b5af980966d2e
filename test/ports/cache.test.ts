import {randomBytes} from 'node:crypto'
import fc from 'fast-check'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import type {AnswerMarks, Cache, KeptAnswers} from '../../src/ports/cache/index.ts'
import {layered} from '../../src/ports/cache/layered.ts'
import {createMemoryCache, ENTRY_BYTES} from '../../src/ports/cache/memory.ts'
import {KINDS, key, type TestCache, testCache} from './cache-support.ts'

const MAX_BYTES = 400_000
const MAX_ENTRY_BYTES = 100_000
const MINUTE_MS = 60_000
const body = (text: string) => Buffer.from(text)

describe.each(KINDS)('a cache in %s', kind => {
  let now_ms = Date.now()
  let opened: TestCache
  let cache: Cache & KeptAnswers
  let other: Cache & KeptAnswers
  const now = () => now_ms
  beforeAll(async () => {
    opened = await testCache(kind, {now, most_bytes: MAX_BYTES, most_entry_bytes: MAX_ENTRY_BYTES})
    cache = opened.cache
    other = await opened.again()
  })
  beforeEach(async () => {
    now_ms = Date.now()
    for (const workspace_id of ['w1', 'w2', 'w12', 'w[1]*']) await cache.purge(workspace_id)
  })
  afterAll(() => opened.close())
  const put = (name: string, text: string, ttl_ms = MINUTE_MS, workspace_id?: string) =>
    cache.set(key(name, workspace_id), {body: body(text), stored_at_ms: now_ms}, ttl_ms)
  const read = async (name: string, workspace_id?: string, by = cache) =>
    (await by.get(key(name, workspace_id)))?.body.toString('utf8')

  test('gives what was set, to every process, and nothing else', async () => {
    await put('a', 'answer')
    expect(await cache.get(key('a'))).toMatchObject({
      body: body('answer'),
      stored_at_ms: now_ms,
      expires_at_ms: now_ms + MINUTE_MS,
    })
    expect(await read('a', 'w1', other)).toBe('answer')
    expect(await read('b')).toBeUndefined()
  })

  test('gives bytes as they were, whatever they are', async () => {
    const bytes = Buffer.concat([Buffer.from([0, 255, 254, 10, 13]), randomBytes(5_000), Buffer.from('é😀')])
    await cache.set(key('bytes'), {body: bytes.subarray(1, -1), stored_at_ms: now_ms}, MINUTE_MS)
    expect((await cache.get(key('bytes')))?.body.equals(bytes.subarray(1, -1))).toBe(true)
    await put('empty', '')
    expect(await read('empty')).toBe('')
  })

  test('gives nothing any more when its time is over', async () => {
    await put('a', 'answer', MINUTE_MS)
    now_ms += MINUTE_MS - 1
    expect(await read('a')).toBe('answer')
    now_ms += 1
    expect(await read('a')).toBeUndefined()
    await put('a', 'again')
    expect(await read('a')).toBe('again')
  })

  test('gives nothing that was stored at a time that is to come: the clock was wrong then, and so is its age', async () => {
    await put('a', 'answer', MINUTE_MS)
    now_ms -= 3_600_000
    expect(await read('a')).toBeUndefined()
  })

  test('keeps the last that was set, with its own time', async () => {
    await put('a', 'first', MINUTE_MS)
    now_ms += MINUTE_MS / 2
    await put('a', 'second', MINUTE_MS)
    now_ms += MINUTE_MS - 1
    expect(await read('a', 'w1', other)).toBe('second')
  })

  test('does not give a workspace what is another’s, though the digest were the same', async () => {
    await put('a', 'mine')
    const {digest} = key('a')
    expect(await cache.get({workspace_id: 'w2', digest})).toBeUndefined()
  })

  test('forgets what is deleted, and no more', async () => {
    await put('a', 'a')
    await put('b', 'b')
    await cache.delete(key('a'))
    await cache.delete(key('never'))
    expect([await read('a'), await read('b')]).toEqual([undefined, 'b'])
  })

  test('forgets all of a workspace that is purged, and nothing of others', async () => {
    for (let n = 0; n < 120; n++) await put(`n${n}`, `${n}`)
    await put('x', 'x', MINUTE_MS, 'w[1]*')
    await put('y', 'y', MINUTE_MS, 'w12')
    await cache.purge('w1')
    const left = await Promise.all(Array.from({length: 120}, (_, n) => read(`n${n}`)))
    expect(left.filter(text => text !== undefined)).toEqual([])
    expect([await read('x', 'w[1]*'), await read('y', 'w12')]).toEqual(['x', 'y'])
    await cache.purge('w[1]*')
    expect([await read('x', 'w[1]*'), await read('y', 'w12')]).toEqual([undefined, 'y'])
  })

  test('does not keep an answer that is too large, nor the one it replaces', async () => {
    await put('a', 'small')
    await put('a', 'x'.repeat(MAX_ENTRY_BYTES + 1))
    expect(await read('a')).toBeUndefined()
    await put('a', 'x'.repeat(MAX_ENTRY_BYTES))
    expect(await read('a')).toHaveLength(MAX_ENTRY_BYTES)
  })

  test('keeps within its bound, the newest staying', async () => {
    const large = 'x'.repeat(50_000)
    for (let n = 0; n < 30; n++) await put(`n${n}`, large, MINUTE_MS + n)
    // What is written between two prunings comes on top: the last of these prunes.
    now_ms += 1_000
    const kept = async () => {
      const found = await Promise.all(Array.from({length: 30}, (_, n) => read(`n${n}`)))
      return found.flatMap((text, n) => (text === undefined ? [] : [n]))
    }
    await put('last', large, 2 * MINUTE_MS)
    await cache.delete(key('never'))
    await cache.delete(key('never'))
    const numbers = await kept()
    expect(numbers.length).toBeLessThanOrEqual(7)
    expect(numbers.length).toBeGreaterThanOrEqual(5)
    expect(numbers).toEqual(Array.from({length: numbers.length}, (_, at) => 30 - numbers.length + at))
    expect(await read('last')).toBe(large)
    expect(await opened.bytes()).toSatisfy(bytes => bytes === null || bytes <= MAX_BYTES)
  })

  test('does not keep what is larger than all it may keep, and keeps the rest', async () => {
    const tiny = await testCache(kind, {now, most_bytes: 5_000, most_entry_bytes: MAX_ENTRY_BYTES})
    const set = (name: string, size: number) =>
      tiny.cache.set(key(name), {body: Buffer.alloc(size), stored_at_ms: now_ms}, MINUTE_MS)
    await set('large', 50_000)
    await tiny.cache.delete(key('never'))
    await tiny.cache.delete(key('never'))
    expect(await tiny.cache.get(key('large'))).toBeUndefined()
    await set('small', 1_000)
    expect((await tiny.cache.get(key('small')))?.body).toHaveLength(1_000)
    await tiny.close()
  })

  test('gives room for what is over', async () => {
    if (kind === 'redis') return // Redis does that by a clock of its own
    for (let n = 0; n < 60; n++) await put(`n${n}`, 'x'.repeat(1_000))
    now_ms += 2 * MINUTE_MS
    await put('new', 'new')
    await cache.delete(key('never'))
    await cache.delete(key('never'))
    expect(await opened.bytes()).toSatisfy(bytes => bytes === null || bytes < 1_000)
    expect(await read('new')).toBe('new')
  })

  test('of a rush of writes keeps all, each last', async () => {
    await Promise.all(Array.from({length: 200}, (_, n) => put(`n${n % 20}`, `${n}`)))
    const found = await Promise.all(Array.from({length: 20}, (_, n) => read(`n${n}`)))
    expect(found).toEqual(Array.from({length: 20}, (_, n) => `${180 + n}`))
  })

  describe('for those who list and clear', () => {
    const PAGE = {current_page: 0, page_size: 10}
    const all = {workspace_ids: ['w1', 'w2']}
    const keep = (name: string, about?: AnswerMarks, workspace_id = 'w1') => {
      const entry = {body: body(name), stored_at_ms: ++now_ms}
      return cache.set({...key(name, workspace_id), ...(about && {about})}, entry, MINUTE_MS)
    }
    const digests = async (filter: Parameters<KeptAnswers['list']>[0], page = PAGE, by = other) =>
      (await by.list(filter, page)).rows.map(({digest}) => digest)
    const digest = (name: string, workspace_id = 'w1') => key(name, workspace_id).digest
    beforeEach(async () => {
      await keep('a', {model: 'm1', namespace: 'n1'})
      await keep('b', {model: 'm2', namespace: 'n1'})
      await keep('c', {model: 'm1', namespace: null}, 'w2')
      await keep('d')
    })

    test('lists answers with their marks, the newest first, in every process', async () => {
      const {total, rows} = await other.list(all, PAGE)
      expect(total).toBe(4)
      expect(rows.map(each => each.digest)).toEqual([digest('d'), digest('c', 'w2'), digest('b'), digest('a')])
      expect(rows.at(-1)).toEqual({
        ...{digest: digest('a'), workspace_id: 'w1', model: 'm1', namespace: 'n1', bytes: 1, log_id: null},
        // Redis counts by its own clock
        ...{stored_at_ms: now_ms - 3, expires_at_ms: kind === 'redis' ? expect.any(Number) : now_ms - 3 + MINUTE_MS},
      })
      expect(rows[0]).toMatchObject({model: null, namespace: null})
    })

    test.each([
      ['a workspace', {workspace_ids: ['w2']}, ['c']],
      ['a digest', {...all, digest: digest('b')}, ['b']],
      ['a model', {...all, model: 'm1'}, ['c', 'a']],
      ['a namespace', {...all, namespace: 'n1'}, ['b', 'a']],
      ['a model and a namespace', {...all, model: 'm1', namespace: 'n1'}, ['a']],
      ['no workspace', {workspace_ids: []}, []],
      ['the name of none', {...all, model: "m1' or 1 = 1"}, []],
    ])('%s narrows the list, and what is cleared', async (_, filter, names) => {
      const meant = names.map(name => digest(name, name === 'c' ? 'w2' : 'w1'))
      expect(await digests(filter)).toEqual(meant)
      expect(await other.clear(filter)).toBe(names.length)
      expect(await digests(filter)).toEqual([])
      expect((await cache.list(all, PAGE)).total).toBe(4 - names.length)
      expect(await other.clear(filter)).toBe(0)
    })

    test('has pages, and leaves out what has ended', async () => {
      expect(await digests(all, {current_page: 1, page_size: 3})).toEqual([digest('a')])
      now_ms += MINUTE_MS - 2
      if (kind !== 'redis') expect(await digests(all)).toEqual([digest('d'), digest('c', 'w2')])
      now_ms += MINUTE_MS
      expect(await digests(all)).toEqual([])
    })

    test('clears many, and leaves the others', async () => {
      for (let each = 0; each < 450; each++) await keep(`many ${each}`, {model: 'many', namespace: null})
      expect(await cache.clear({...all, model: 'many'})).toBe(450)
      expect((await cache.list(all, PAGE)).total).toBe(4)
      expect(await read('a')).toBe('a')
    })
  })

  test('behind memory gives the same, and fills it for what is left of the time', async () => {
    const near = createMemoryCache({now})
    const both = layered({near, far: cache, now, most_near_ms: 10_000})
    await put('a', 'answer')
    expect((await both.get(key('a')))?.body.toString()).toBe('answer')
    expect(await near.get(key('a'))).toMatchObject({expires_at_ms: now_ms + 10_000})
    now_ms += 55_000
    await both.get(key('a'))
    expect(await near.get(key('a'))).toMatchObject({expires_at_ms: now_ms + 5_000})
    await both.set(key('b'), {body: body('b'), stored_at_ms: now_ms}, MINUTE_MS)
    expect(await read('b')).toBe('b')
    expect(both.get(key('b'))).toMatchObject({body: body('b')}) // at once
    await cache.clear({workspace_ids: ['w1']})
    both.drop()
    expect(await both.get(key('b'))).toBeUndefined()
    await both.set(key('b'), {body: body('b'), stored_at_ms: now_ms}, MINUTE_MS)
    await both.delete(key('a'))
    await both.purge('w1')
    expect([await both.get(key('a')), await both.get(key('b')), await read('b')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('memory', () => {
  test('never keeps more bytes than its bound, whatever is done to it', () => {
    const MOST = 20_000
    const act = fc.record({
      name: fc.nat({max: 40}).map(String),
      size: fc.nat({max: 9_000}),
      kind: fc.constantFrom('set', 'set', 'set', 'get', 'delete', 'purge'),
      pass_ms: fc.nat({max: 40_000}),
    })
    fc.assert(
      fc.property(fc.array(act, {maxLength: 80}), acts => {
        let now_ms = 0
        const cache = createMemoryCache({now: () => now_ms, most_bytes: MOST, most_entry_bytes: 8_000})
        const expected = new Map<string, {size: number; ends_ms: number}>()
        for (const {name, size, kind, pass_ms} of acts) {
          now_ms += pass_ms
          if (kind === 'set') {
            cache.set(key(name), {body: Buffer.alloc(size), stored_at_ms: now_ms}, MINUTE_MS)
            if (size > 8_000) expected.delete(name)
            else expected.set(name, {size, ends_ms: now_ms + MINUTE_MS})
          } else if (kind === 'delete') {
            cache.delete(key(name))
            expected.delete(name)
          } else if (kind === 'purge') {
            cache.purge('w1')
            expected.clear()
          } else {
            const found = cache.get(key(name)) as {body: Buffer} | undefined
            const set = expected.get(name)
            if (found)
              expect({size: found.body.length, over: set && set.ends_ms <= now_ms}).toEqual({
                size: set?.size,
                over: false,
              })
          }
          let bytes = 0
          for (let n = 0; n <= 40; n++) {
            const found = cache.get(key(`${n}`)) as {body: Buffer} | undefined
            if (found) bytes += found.body.length + ENTRY_BYTES
          }
          expect(bytes).toBeLessThanOrEqual(MOST)
        }
      }),
      {numRuns: 500},
    )
  })

  test('lets go first what was used longest ago', () => {
    const cache = createMemoryCache({now: () => 0, most_bytes: 3 * (1_000 + ENTRY_BYTES)})
    const put = (name: string) => cache.set(key(name), {body: Buffer.alloc(1_000), stored_at_ms: 0}, MINUTE_MS)
    for (const name of ['a', 'b', 'c']) put(name)
    cache.get(key('a'))
    put('d')
    expect(['a', 'b', 'c', 'd'].filter(name => cache.get(key(name)))).toEqual(['a', 'c', 'd'])
  })

  test('keeps no more of a buffer than the answer', () => {
    const cache = createMemoryCache({now: () => 0})
    cache.set(key('a'), {body: Buffer.alloc(1 << 20).subarray(10, 20), stored_at_ms: 0}, MINUTE_MS)
    expect((cache.get(key('a')) as {body: Buffer}).body.buffer.byteLength).toBe(10)
  })
})
