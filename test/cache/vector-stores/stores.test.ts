import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {SemanticCache} from '../../../src/cache/semantic/semantic-cache.ts'
import {unitVector} from '../../../src/cache/semantic/vector.ts'
import {
  newEntry,
  type OpenedVectors,
  type OpenVectorsOptions,
  openTwin,
  openVectors,
  PRODUCTS,
} from '../../support/vector-stores/open.ts'
import type {StoreTwin} from '../../support/vector-stores/twin.ts'

const unit = (...values: number[]) => unitVector(values)!
const ONE = unit(1, 0, 0, 0)
/** `count` vectors that are ever farther from `ONE`. */
const row = (count: number) => Array.from({length: count}, (_, at) => unit(1, at / 100, 0, 0))

/** The first request of a product that looks for what has ended, and the one that deletes. */
const PRUNES = {milvus: 'entities/query', pinecone: '/vectors/delete', qdrant: '/points/scroll'}
const DELETES = {milvus: 'entities/delete', pinecone: '/vectors/delete', qdrant: '/points/delete'}

/** Twins alone: nothing here was run against the products themselves. */
describe.each(PRODUCTS)('a twin of %s', product => {
  let twin: StoreTwin
  let opened: OpenedVectors[]
  let now_ms: number
  beforeEach(async () => {
    twin = await openTwin(product, 4)
    opened = []
    now_ms = 10_000
  })
  afterEach(async () => {
    for (const each of opened) await each.close()
    await twin.close()
  })
  function open(options: OpenVectorsOptions = {}): OpenedVectors {
    const one = openVectors(twin, {now: () => now_ms, ...options})
    opened.push(one)
    return one
  }
  const kept = (entries: number) => expect.poll(() => twin.entries().length, {timeout: 5_000}).toBe(entries)
  const requests = (path: string) => twin.received.filter(request => request.path.includes(path)).length

  test('SC28: an entry that one process keeps is found by another, in its own partition alone', async () => {
    const [one, other, stranger] = [open(), open(), open({key: 2})]
    one.vectors.add(newEntry('a', unit(1, 0.1, 0, 0)))
    one.vectors.add(newEntry('b', unit(1, 0.5, 0, 0)))
    one.vectors.add(newEntry('c', ONE, {partition: 'q'}))
    await kept(3)
    const found = await other.vectors.search('p', ONE)
    expect(found.map(({digest}) => digest)).toEqual(['a', 'b'])
    expect(found[0]).toEqual({
      ...newEntry('a', ONE),
      id: expect.any(Number),
      vector: undefined,
      similarity: expect.closeTo(1 / Math.hypot(1, 0.1), 6),
    })
    expect((await other.vectors.search('q', ONE)).map(({digest}) => digest)).toEqual(['c'])
    // another gateway on the same collection has other keys, and finds nothing
    expect(await stranger.vectors.search('p', ONE)).toEqual([])
    expect([one.notices, other.notices, other.events]).toEqual([[], [], {}])
  })

  test('an entry is written again in its own place, and of those of one request the last one counts', async () => {
    const {vectors} = open()
    vectors.add(newEntry('a', unit(0, 1, 0, 0)))
    vectors.add(newEntry('a', unit(0, 0, 1, 0)))
    vectors.add(newEntry('b', unit(0, 0, 1, 0)))
    await kept(2)
    vectors.add(newEntry('a', ONE, {log_id: 'newer'}))
    await expect.poll(async () => (await vectors.search('p', ONE))[0]?.log_id, {timeout: 5_000}).toBe('newer')
    expect(twin.entries()).toHaveLength(2)
  })

  test('SC16: what has ended is not found, and deleted, but not what was written again meanwhile', async () => {
    const {vectors} = open()
    vectors.add(newEntry('ended', ONE, {expires_at_ms: 12_000}))
    vectors.add(newEntry('renewed', ONE, {expires_at_ms: 12_000}))
    await kept(2)
    await expect.poll(() => requests(PRUNES[product]), {timeout: 5_000}).toBe(1)
    expect(await vectors.search('p', ONE)).toHaveLength(2)
    now_ms = 12_000
    expect(await vectors.search('p', ONE)).toEqual([])
    const {id} = (await open({now: () => 11_000}).vectors.search('p', ONE)).find(({digest}) => digest === 'renewed')!
    const renewed = twin.entries().find(entry => entry.id === String(id))!
    // another process writes it while this one deletes
    twin.before(DELETES[product], () => twin.write({...renewed, ends_at_ms: 500_000}))
    now_ms += 60_001
    vectors.add(newEntry('later', ONE))
    await expect
      .poll(() => requests(DELETES[product]), {timeout: 5_000})
      .toBeGreaterThan(product === 'pinecone' ? 1 : 0)
    await kept(2)
    expect(twin.entries().find(entry => entry.id === String(id))?.ends_at_ms).toBe(500_000)
  })

  test('SC15: what was removed is not found while the store still shows it; what is behind it is', async () => {
    const {vectors} = open()
    for (const [at, vector] of row(10).entries()) vectors.add(newEntry(`d${at}`, vector))
    await kept(10)
    twin.behind(true)
    const best = await vectors.search('p', ONE)
    expect(best.map(({digest}) => digest)).toEqual(['d0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7'])
    vectors.remove(
      'p',
      best.map(({id}) => id),
    )
    await kept(2)
    expect((await vectors.search('p', ONE)).map(({digest}) => digest)).toEqual(['d8', 'd9'])
    twin.behind(false)
    vectors.add(newEntry('d3', row(4)[3]!, {created_at_ms: now_ms}))
    await kept(3)
    expect((await vectors.search('p', ONE)).map(({digest}) => digest)).toEqual(['d3', 'd8', 'd9'])
  })

  test('SC17: an entry whose answer is gone is a miss, and it is removed from the store', async () => {
    const {vectors} = open()
    const results: string[] = []
    const cache = new SemanticCache({
      embedder: {identity: 'e', name: 'e', service: null, threshold: 0.8, max_tokens: 100, embed: () => ONE},
      vectors,
      answers: {get: () => undefined, delete: () => undefined},
      features_key: Buffer.alloc(32),
      gate: 'strict',
      threshold: undefined,
      is_shadow: false,
      now: () => now_ms,
      onResult: result => void results.push(result),
    })
    const question = (await cache.ask('What is DNS?', {workspace_id: 'w', partition: 'p'}, null))!
    cache.keep(question, {digest: 'd', log_id: 'l', max_age_ms: 60_000})
    await kept(1)
    expect(await cache.find(question, 0.8, 60_000)).toBeNull()
    await kept(0)
    expect(results).toEqual(['gone'])
  })

  test('SC30: no text of a caller leaves, in a filter or elsewhere; a stored entry opens with the keys alone', async () => {
    const hostile = `p" or workspace_id != "' } ], "$or": [`
    const {vectors, events} = open()
    const words = {
      partition: hostile,
      workspace_id: 'finance-department',
      log_id: 'call-of-a-person',
      features: '{"words":["diabetes"]}',
    }
    vectors.add(newEntry('digest-of-a-request', ONE, words))
    await kept(1)
    const [found] = await vectors.search(hostile, ONE)
    expect(found).toMatchObject(words)
    vectors.remove(hostile, [found!.id])
    await kept(0)
    const sent = twin.received.map(({path, body}) => path + body.toString()).join('\n')
    expect(sent).not.toMatch(/diabetes|finance|digest-of|call-of|\$or|!=/)
    expect(sent).toMatch(/[0-9a-f]{64}/)
    expect(events).toEqual({})
  })

  test('an entry that others made or changed is passed over, and counted', async () => {
    const {vectors, events} = open()
    vectors.add(newEntry('a', ONE))
    vectors.add(newEntry('b', ONE, {partition: 'q'}))
    await kept(2)
    const {id} = (await vectors.search('p', ONE))[0]!
    const own = twin.entries().find(entry => entry.id === String(id))!
    const foreign = twin.entries().find(entry => entry.id !== String(id))!
    const sealed = String(own.sealed)
    const turned = sealed.slice(0, 60) + (sealed[60] === 'A' ? 'B' : 'A') + sealed.slice(61)
    const changes = [turned, '', 'no base64 !', foreign.sealed].map(other => ({...own, sealed: other}))
    for (const change of changes) {
      twin.write(change)
      expect(await vectors.search('p', ONE)).toEqual([])
    }
    expect(events).toEqual({passed_over: 4})
    twin.write(own)
    // the same under another id, and scores that no cosine is
    twin.write({...own, id: '77'})
    expect(await vectors.search('p', ONE)).toHaveLength(1)
    for (const score of [2, -1.5, Number.NaN, '0.99', null, undefined]) {
      twin.scores(() => score)
      expect(await vectors.search('p', ONE), String(score)).toEqual([])
    }
    expect(events).toEqual({passed_over: 4 + 1 + 12})
  })

  test('vectors of another length than those of the collection are refused, and not searched for', async () => {
    const first = open()
    await first.vectors.search('p', ONE)
    const {vectors, events, notices} = open()
    await expect(vectors.open(8)).rejects.toThrow('its vectors have 4 places, and those of calls 8')
    await expect(vectors.search('p', unit(1, 1, 1))).rejects.toThrow('its vectors have 4 places, and those of calls 3')
    vectors.add(newEntry('a', unit(1, 1, 1)))
    await expect.poll(() => events.dropped, {timeout: 5_000}).toBe(1)
    expect(twin.entries()).toEqual([])
    expect(notices[0]).toBe('search fails: its vectors have 4 places, and those of calls 3')
  })

  test('a collection that is gone is as a store that is down; it is found again without a restart', async () => {
    const {vectors, notices} = open()
    await vectors.search('p', ONE)
    twin.drop()
    await expect(vectors.search('p', ONE)).rejects.toThrow('is not there')
    if (product === 'pinecone') return // an index is made by the operator
    expect(await vectors.search('p', ONE)).toEqual([])
    expect(notices).toEqual(['search fails: its collection is not there', 'search works'])
    vectors.add(newEntry('a', ONE))
    await kept(1)
    expect(await vectors.search('p', ONE)).toHaveLength(1)
  })

  test('a deletion in a collection that is gone is done', async () => {
    const {vectors, events, notices} = open()
    await vectors.search('p', ONE)
    twin.drop()
    vectors.remove('p', [7])
    await vectors.settled()
    expect(requests(DELETES[product])).toBe(1)
    expect([events, notices]).toEqual([{}, []])
  })

  test('the end of a process is waited for once, by whichever part ends it', async () => {
    const {vectors} = open()
    expect(vectors.close()).toBe(vectors.close())
    await vectors.close()
  })

  test('1,000 writes wait for a store that is silent, and no more; the end of the process does not wait', async () => {
    const {vectors, events, notices, expire} = open()
    await vectors.search('p', ONE)
    twin.answers(expire)
    for (let at = 0; at < 1_300; at++) vectors.add(newEntry(`d${at}`, ONE))
    expect(events.dropped).toBe(301) // one place in the queue is that of deleting what has ended
    await vectors.close()
    expect(events.dropped).toBe(1_300)
    expect(notices.filter(notice => notice.startsWith('write'))).toEqual(['write fails: it did not answer in time'])
    vectors.add(newEntry('after', ONE))
    expect(events.dropped).toBe(1_301)
  })

  test('many entries at once are few requests', async () => {
    const {vectors} = open()
    for (let at = 0; at < 120; at++) vectors.add(newEntry(`d${at}`, ONE))
    await kept(120)
    const puts = {milvus: 'entities/upsert', pinecone: '/vectors/upsert', qdrant: '/points?wait'}
    expect(requests(puts[product])).toBeLessThanOrEqual(4)
  })
})
