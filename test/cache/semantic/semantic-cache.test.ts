import {expect, test} from 'vitest'
import type {Embedder} from '../../../src/cache/semantic/embedder.ts'
import {type SearchResult, SemanticCache} from '../../../src/cache/semantic/semantic-cache.ts'
import {createServiceEmbedder} from '../../../src/cache/semantic/service-embedder.ts'
import type {NewSimilarEntry, SimilarEntry} from '../../../src/cache/semantic/vector-store.ts'
import type {FoundEntry} from '../../../src/ports/cache/index.ts'
import type {EmbeddingAnswer, EmbeddingWire} from '../../../src/schema/embeddings.ts'

const NOW_MS = 1_000_000
const VECTOR = Float32Array.of(1, 0)
const EMBEDDER: Embedder = {
  identity: 'e',
  name: 'e',
  service: null,
  threshold: 0.8,
  max_tokens: 100,
  embed: () => VECTOR,
}
const ANSWER: FoundEntry = {body: Buffer.from('{}'), stored_at_ms: NOW_MS - 1_000, expires_at_ms: NOW_MS + 60_000}

/** A cache whose store gives these entries, and what it was bidden to write. */
async function cacheOf(
  entries: readonly Partial<SimilarEntry>[],
  {has_answer = true, fails = false, is_silent = false, text = 'What is DNS?'} = {},
) {
  const removed: number[] = []
  const added: NewSimilarEntry[] = []
  const dropped: string[] = []
  const results: SearchResult[] = []
  let features = ''
  const cache = new SemanticCache({
    embedder: EMBEDDER,
    vectors: {
      search: async partition => {
        if (fails) throw new Error('late')
        return entries
          .map((each, id) => ({...entry(partition, features), id, ...each}))
          .filter(({id}) => !removed.includes(id))
      },
      add: each => void added.push(each),
      remove: (_, ids) => void removed.push(...ids),
      settled: async () => undefined,
      close: async () => undefined,
    },
    answers: {
      get: () => (has_answer ? ANSWER : undefined),
      delete({digest}) {
        dropped.push(digest)
        if (is_silent) return new Promise<void>(() => undefined)
      },
    },
    features_key: Buffer.alloc(32),
    gate: 'strict',
    threshold: undefined,
    is_shadow: false,
    now: () => NOW_MS,
    onResult: result => void results.push(result),
  })
  const question = (await cache.ask(text, {workspace_id: 'w', partition: 'p'}, null))!
  features = JSON.stringify(question.features)
  const find = (threshold = 0.8, max_age_ms = 3_600_000) => cache.find(question, threshold, max_age_ms)
  return {cache, question, find, removed, added, results, dropped}
}
const entry = (partition: string, features: string): SimilarEntry => ({
  id: 0,
  partition,
  similarity: 0.9,
  workspace_id: 'w',
  digest: 'd',
  log_id: 'l',
  features,
  created_at_ms: NOW_MS - 1_000,
  expires_at_ms: NOW_MS + 30_000,
})

test('SC6: at the threshold exactly it is a hit, a hair below it is none', async () => {
  const {find} = await cacheOf([{similarity: 0.9}])
  expect(await find(0.9)).toMatchObject({similarity: 0.9, log_id: 'l', ends_at_ms: NOW_MS + 30_000})
  expect(await find(0.9 + Number.EPSILON)).toBeNull()
})

test('SC7: the floor is the operator’s, and only raised', async () => {
  const {cache} = await cacheOf([])
  expect([cache.threshold(null), cache.threshold(0.1), cache.threshold(0.95)]).toEqual([0.8, 0.8, 0.95])
})

test('SC17: an entry whose answer is gone is removed, and the next one is looked at', async () => {
  const gone = await cacheOf([{}, {}], {has_answer: false})
  expect(await gone.find()).toBeNull()
  expect([gone.removed, gone.results]).toEqual([[0, 1], ['gone']])
})

test('what a store gives is believed only where it can be true', async () => {
  for (const wrong of [
    {partition: 'q'},
    {workspace_id: 'w2'},
    {similarity: 1.1},
    {similarity: Number.NaN},
    {similarity: Number.POSITIVE_INFINITY},
    {expires_at_ms: NOW_MS},
    {expires_at_ms: Number.NaN},
    {created_at_ms: NOW_MS + 120_000},
    {features: 'no JSON'},
    {features: '[]'},
    {features: '{"v":1}'},
    {features: 'null'},
  ])
    expect(await (await cacheOf([wrong])).find(), JSON.stringify(wrong)).toBeNull()
})

test('an entry that is older than the asker’s max_age is passed over; a store that fails is a miss', async () => {
  const {find} = await cacheOf([{}])
  expect([(await find(0.8, 1_000)) === null, (await find(0.8, 2_000)) === null]).toEqual([true, false])
  const failing = await cacheOf([{}], {fails: true})
  expect([await failing.find(), failing.results]).toEqual([null, ['failed']])
  await failing.cache.forget(failing.question, 0.8)
})

test('SC15: a refresh removes all that is similar', async () => {
  const {cache, question, removed, dropped} = await cacheOf([
    {digest: 'a'},
    {similarity: 0.7},
    {digest: 'b'},
    {features: '{"v":0}'},
  ])
  await cache.forget(question, 0.8)
  expect(removed).toEqual([0, 2])
  expect(dropped).toEqual(['a', 'b'])
})

test('a refresh does not wait for a store of answers that is silent', async () => {
  const {cache, question, dropped, removed} = await cacheOf([{digest: 'a'}, {digest: 'b'}], {is_silent: true})
  await cache.forget(question, 0.8)
  expect(dropped).toEqual(['a', 'b'])
  expect(removed).toEqual([0, 1])
})

test('who asks for what is current gets no answer of an hour ago, whatever words it was stored under', async () => {
  const old = {created_at_ms: NOW_MS - 900_000}
  expect(await (await cacheOf([old])).find()).not.toBeNull()
  expect(await (await cacheOf([old], {text: 'What is DNS currently?'})).find()).toBeNull()
  const young = await cacheOf([{created_at_ms: NOW_MS - 890_000}], {text: 'What is DNS currently?'})
  expect((await young.find())?.ends_at_ms).toBe(NOW_MS + 10_000)
})

test('an entry holds no word of the text', async () => {
  const {cache, question, added} = await cacheOf([])
  cache.keep(question, {digest: 'd', log_id: 'l', max_age_ms: 60_000})
  expect(added[0]).toMatchObject({digest: 'd', log_id: 'l', created_at_ms: NOW_MS, expires_at_ms: NOW_MS + 60_000})
  expect(JSON.stringify(added[0])).not.toMatch(/dns/i)
})

function service(read: (answer: unknown) => EmbeddingAnswer | undefined, status = 200) {
  const sent: string[] = []
  const faults: string[] = []
  let now_ms = 0
  const wire: EmbeddingWire = {
    provider: 'p',
    model: 'text-embedding-3-small',
    url: 'http://e',
    task: '',
    request: text => ({url: 'http://e', headers: {}, body: text}),
    read,
  }
  const embedder = createServiceEmbedder({
    wire,
    now: () => now_ms,
    send: async ({body}) => {
      sent.push(body)
      return {status, body: '{}'}
    },
    onFault: reason => void faults.push(reason),
  })
  return {embedder, sent, faults, later: (ms: number) => (now_ms += ms)}
}
const given =
  (more: Partial<EmbeddingAnswer> = {}) =>
  () => ({vector: [3, 4], tokens: null, is_truncated: false, ...more})

test('SC27: equal texts at the same time, and later, are one request', async () => {
  const {embedder, sent} = service(given())
  const all = await Promise.all([embedder.embed('a', null), embedder.embed('a', null), embedder.embed('b', null)])
  expect(all).toEqual(Array(3).fill(Float32Array.of(0.6, 0.8)))
  await embedder.embed('a', null)
  expect(sent).toEqual(['a', 'b'])
})

test('SC12, SC32: a vector that is none, and one of a text that was cut, are refused', async () => {
  const long = 'word '.repeat(1_000)
  for (const more of [
    {vector: []},
    {vector: [0, 0]},
    {vector: [Number.NaN, 1]},
    {vector: ['1', 2]},
    {vector: Array(10_000).fill(1)},
    {is_truncated: true},
    {tokens: 512},
    {tokens: 900},
  ]) {
    const {embedder, faults} = service(given(more))
    expect(await embedder.embed(long, null), JSON.stringify(more).slice(0, 40)).toBeNull()
    expect(faults).toHaveLength(1)
    expect(faults[0]).not.toContain('word')
  }
  expect(await service(given({tokens: 1_100})).embedder.embed(long, null)).not.toBeNull()
  expect(await service(() => undefined).embedder.embed('a', null)).toBeNull()
  expect(await service(given(), 500).embedder.embed('a', null)).toBeNull()
})

test('SC12: after five failures nothing is sent for 30 s; then one request tries it', async () => {
  const {embedder, sent, later} = service(given(), 503)
  for (let at = 0; at < 8; at++) await embedder.embed(`text ${at}`, null)
  expect(sent).toHaveLength(5)
  later(30_000)
  await Promise.all([embedder.embed('one', null), embedder.embed('two', null)])
  expect(sent).toHaveLength(6)
})
