import {afterEach, describe, expect, test} from 'vitest'
import type {Egress} from '../../../src/base/egress/pools.ts'
import {unitVector} from '../../../src/cache/semantic/vector.ts'
import {openStoreCall} from '../../../src/cache/vector-stores/http.ts'
import {pineconeWire} from '../../../src/cache/vector-stores/pinecone.ts'
import {CHART, type MilvusCollection, milvusTwin, NEWER_CHART} from '../../support/vector-stores/milvus.ts'
import {
  API_KEY,
  COLLECTION,
  newEntry,
  type OpenedVectors,
  type OpenVectorsOptions,
  openVectors,
} from '../../support/vector-stores/open.ts'
import {pineconeTwin} from '../../support/vector-stores/pinecone.ts'
import {qdrantTwin} from '../../support/vector-stores/qdrant.ts'
import {bodyOf, type StoreTwin} from '../../support/vector-stores/twin.ts'

const unit = (...values: number[]) => unitVector(values)!
const ONE = unit(1, 0, 0, 0)
const NEAR = unit(1, 0.5, 0, 0)
const COSINE = 1 / Math.hypot(1, 0.5)

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
async function started<T extends StoreTwin>(starting: Promise<T>): Promise<T> {
  const twin = await starting
  closing.push(() => twin.close())
  return twin
}
function open(twin: Pick<StoreTwin, 'product' | 'url'>, options: OpenVectorsOptions = {}): OpenedVectors {
  const opened = openVectors(twin, options)
  closing.push(() => opened.close())
  return opened
}
const paths = (twin: StoreTwin) => twin.received.map(({method, path}) => `${method} ${path}`)
const kept = (twin: StoreTwin, entries: number) =>
  expect.poll(() => twin.entries().length, {timeout: 5_000}).toBe(entries)

/** An entry written, and found with the cosine that it has. */
async function roundTrip(twin: StoreTwin, options: OpenVectorsOptions = {}) {
  const {vectors} = open(twin, options)
  await vectors.open(4)
  vectors.add(newEntry('a', NEAR))
  await kept(twin, 1)
  const [found] = await vectors.search('p', ONE)
  expect(found).toMatchObject({digest: 'a', similarity: expect.closeTo(COSINE, 6)})
  vectors.remove('p', [found!.id])
  await kept(twin, 0)
}

describe('Qdrant', () => {
  test('the collection and the indexes of its filters are made once, also where two processes begin at once', async () => {
    const twin = await started(qdrantTwin({api_key: API_KEY}))
    await Promise.all([open(twin).vectors.open(4), open(twin).vectors.open(4)])
    await open(twin).vectors.open(4)
    const made = paths(twin).filter(request => request.startsWith('PUT'))
    expect(made.filter(request => request === `PUT /collections/${COLLECTION}`).length).toBeLessThanOrEqual(2)
    expect(new Set(made)).toEqual(
      new Set([`PUT /collections/${COLLECTION}`, `PUT /collections/${COLLECTION}/index?wait=true`]),
    )
    const indexes = twin.received.filter(({path}) => path.endsWith('index?wait=true')).map(bodyOf)
    expect(indexes).toContainEqual({field_name: 'p', field_schema: 'keyword'})
    expect(indexes).toContainEqual({field_name: 'e', field_schema: 'integer'})
    expect(paths(twin).at(-1)).toBe(`GET /collections/${COLLECTION}`)
    await roundTrip(twin)
  })

  test('a collection without its indexes gets them: strict mode refuses filters without', async () => {
    const twin = await started(qdrantTwin({api_key: API_KEY, collection: {size: 4}}))
    await roundTrip(twin)
  })

  test('a collection of another metric, or of another length, is refused', async () => {
    const euclid = await started(qdrantTwin({api_key: API_KEY, collection: {size: 4, distance: 'Euclid'}}))
    await expect(open(euclid).vectors.open(4)).rejects.toThrow('its metric is not cosine')
    const other = await started(qdrantTwin({api_key: API_KEY, collection: {size: 8}}))
    await expect(open(other).vectors.open(4)).rejects.toThrow('its vectors have 8 places')
    await open(other).vectors.open(null)
  })

  test('a collection that is made again with another metric meanwhile is no longer believed', async () => {
    const twin = await started(qdrantTwin({api_key: API_KEY, collection: {size: 4}}))
    let now_ms = 10_000
    const {vectors, notices} = open(twin, {now: () => now_ms})
    await vectors.open(4)
    twin.drop()
    const body = JSON.stringify({vectors: {size: 4, distance: 'Euclid'}})
    await fetch(`${twin.url}/collections/${COLLECTION}`, {method: 'PUT', body, headers: {'api-key': API_KEY}})
    for (const [field_name, field_schema] of [
      ['p', 'keyword'],
      ['e', 'integer'],
    ]) {
      const index = JSON.stringify({field_name, field_schema})
      const path = `${twin.url}/collections/${COLLECTION}/index`
      await fetch(path, {method: 'PUT', body: index, headers: {'api-key': API_KEY}})
    }
    now_ms += 60_001
    vectors.add(newEntry('a', ONE))
    await expect.poll(() => notices, {timeout: 5_000}).toEqual(['prune fails: its metric is not cosine'])
    await expect(vectors.search('p', ONE)).rejects.toThrow('its metric is not cosine')
  })

  test('a store that does not describe its collection any more is searched as before', async () => {
    const twin = await started(qdrantTwin({api_key: API_KEY}))
    const {vectors, notices} = open(twin)
    await vectors.open(4)
    twin.answers((_, response) => response.writeHead(500).end('{}'), /gateway_semantic_cache$/)
    vectors.add(newEntry('a', ONE))
    await vectors.settled()
    expect(await vectors.search('p', ONE)).toHaveLength(1)
    expect(notices).toEqual([])
  })

  test('where the length of vectors is not known at the start, the collection is made with the first one', async () => {
    const twin = await started(qdrantTwin({api_key: API_KEY}))
    const {vectors} = open(twin)
    await vectors.open(null)
    expect(paths(twin)).toEqual([`GET /collections/${COLLECTION}`])
    vectors.remove('p', [1])
    expect(await vectors.search('p', ONE)).toEqual([])
    expect(paths(twin)).toContain(`PUT /collections/${COLLECTION}`)
  })
})

describe('Milvus', () => {
  test.each([0, 200] as const)('a collection is made and loaded; the code of success is %s', async done => {
    const twin = await started(milvusTwin({token: API_KEY, done}))
    await roundTrip(twin)
    expect(paths(twin).slice(0, 4)).toEqual([
      'POST /v2/vectordb/collections/has',
      'POST /v2/vectordb/collections/create',
      'POST /v2/vectordb/collections/describe',
      'POST /v2/vectordb/collections/load',
    ])
  })

  test.each([
    ['the usual chart', CHART(4)],
    ['the newer chart', NEWER_CHART(4)],
  ])('a collection by %s is used as it is', async (_, collection) => {
    const twin = await started(milvusTwin({token: API_KEY, collection}))
    await roundTrip(twin)
    expect(paths(twin)).not.toContain('POST /v2/vectordb/collections/create')
  })

  test('a metric that is not stated is not taken for cosine: vectors are compared here', async () => {
    const twin = await started(milvusTwin({token: API_KEY, collection: {...CHART(4), metric: undefined}}))
    twin.scores(() => 0.1)
    await roundTrip(twin)
  })

  const chart = CHART(4)
  const withField = (name: string, change: object): MilvusCollection => ({
    ...chart,
    fields: chart.fields.map(field => (field.name === name ? {...field, ...change} : field)),
  })
  test.each([
    [withField('vector', {name: 'embedding'}), 'no field for vectors'],
    [withField('vector', {params: []}), 'does not state the length'],
    [withField('id', {autoId: true}), 'no primary key id'],
    [withField('id', {name: 'my_id'}), 'no primary key id'],
    [withField('workspace_id', {params: [{key: 'max_length', value: '36'}]}), 'less than 64 characters'],
    [{...chart, dynamic: false}, 'no field metadata of JSON'],
    [{...chart, metric: 'L2'}, 'its metric is not cosine'],
    [CHART(8), 'its vectors have 8 places'],
  ])('a collection that takes no entries is refused with a sentence (%#)', async (collection, sentence) => {
    const twin = await started(milvusTwin({token: API_KEY, collection}))
    await expect(open(twin).vectors.open(4)).rejects.toThrow(sentence)
  })

  test('ids that are no digits do not get into a filter when what has ended is deleted', async () => {
    const twin = await started(milvusTwin({token: API_KEY}))
    const {vectors} = open(twin)
    await vectors.open(4)
    const sealed = ''
    twin.write({id: '1"] or id in ["2', vector: [1, 0, 0, 0], partition: 'f', ends_at_ms: 1, sealed})
    twin.write({id: '3', vector: [1, 0, 0, 0], partition: 'f', ends_at_ms: 1, sealed})
    vectors.add(newEntry('a', ONE))
    await expect.poll(() => twin.entries().map(({id}) => id), {timeout: 5_000}).not.toContain('3')
    const filters = twin.received.filter(({path}) => path.endsWith('/delete')).map(request => bodyOf(request).filter)
    expect(filters).toEqual(['id in ["3"] and expires_at <= 10000'])
  })
})

describe('Pinecone', () => {
  const byName = (twin: StoreTwin, address = 'semantic') => ({
    wire: (egress: Egress) =>
      pineconeWire(openStoreCall(egress), {
        ...{address, api_key: API_KEY, namespace: COLLECTION},
        control_plane: twin.url,
      }),
  })
  const OPTIONS = {api_key: API_KEY, dimension: 4}

  test('an index is known by its host, and by its name', async () => {
    const twin = await started(pineconeTwin(OPTIONS))
    await roundTrip(twin)
    await roundTrip(twin, byName(twin))
    expect(paths(twin)).toContain('GET /indexes/semantic')
    await expect(open(twin, byName(twin, 'other')).vectors.open(4)).rejects.toThrow('there is no index of this name')
  })

  test('a host whose index does not state its metric is not taken for cosine: vectors are compared here', async () => {
    for (const metric of ['euclidean', 'dotproduct'] as const) {
      const twin = await started(pineconeTwin({...OPTIONS, states_metric: false, metric}))
      twin.scores(score => score * 0.5)
      await roundTrip(twin)
      const queries = twin.received.filter(({path}) => path === '/query').map(bodyOf)
      expect(queries.every(({includeValues}) => includeValues === true)).toBe(true)
    }
    const stated = await started(pineconeTwin(OPTIONS))
    await roundTrip(stated)
    const [query] = stated.received.filter(({path}) => path === '/query').map(bodyOf)
    expect(query?.includeValues).toBe(false)
  })

  test.each(['euclidean', 'dotproduct'] as const)('an index whose metric is %s is refused', async metric => {
    const twin = await started(pineconeTwin({...OPTIONS, metric}))
    await expect(open(twin).vectors.open(4)).rejects.toThrow('its metric is not cosine')
    await expect(open(twin, byName(twin)).vectors.open(4)).rejects.toThrow('its metric is not cosine')
  })

  test.each(['attacker.example', 'pinecone.io.attacker.example', 'x.pinecone.io/path', 'a@x.pinecone.io', '10.0.0.1'])(
    'the key does not go to %s, which an answer names',
    async host => {
      const twin = await started(pineconeTwin({...OPTIONS, host}))
      await expect(open(twin, byName(twin)).vectors.open(4)).rejects.toThrow(/not one of Pinecone|may not be called/)
      expect(paths(twin)).toEqual(['GET /indexes/semantic'])
    },
  )

  test('a namespace that is not there yet is a miss, and a deletion in it is done', async () => {
    const twin = await started(pineconeTwin(OPTIONS))
    const {vectors, events, notices} = open(twin)
    expect(await vectors.search('p', ONE)).toEqual([])
    vectors.remove('p', [7])
    await expect.poll(() => paths(twin), {timeout: 5_000}).toContain('POST /vectors/delete')
    expect(await vectors.search('p', ONE)).toEqual([])
    expect([events, notices]).toEqual([{}, []])
    twin.answers((_, response) => response.writeHead(404).end('{"code":5,"message":"Namespace not found"}'))
    expect(await vectors.search('p', ONE)).toEqual([])
  })

  test('an index that deletes by id alone keeps what has ended; the operator is notified once', async () => {
    const twin = await started(pineconeTwin({...OPTIONS, deletes_by_filter: false}))
    let now_ms = 10_000
    const {vectors, notices} = open(twin, {now: () => now_ms})
    for (let at = 0; at < 3; at++) {
      vectors.add(newEntry(`d${at}`, ONE))
      await kept(twin, at + 1)
      await expect.poll(() => paths(twin).filter(path => path.endsWith('delete')).length).toBe(at + 1)
      now_ms += 60_001
    }
    expect(notices).toEqual(['prune fails: it answered 400'])
    expect(await vectors.search('p', ONE)).toHaveLength(3)
  })
})
