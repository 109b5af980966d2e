import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {unitVector} from '../../../src/cache/semantic/vector.ts'
import {ownEntries} from '../../../src/cache/vector-stores/own-entries.ts'
import type {KeptFilter} from '../../../src/schema/cache.ts'
import {milvusTwin, NEWER_CHART} from '../../support/vector-stores/milvus.ts'
import {
  API_KEY,
  newEntry,
  type OpenedVectors,
  type OpenVectorsOptions,
  openTwin,
  openVectors,
  PRODUCTS,
} from '../../support/vector-stores/open.ts'
import type {StoreTwin} from '../../support/vector-stores/twin.ts'

const ONE = unitVector([1, 0, 0, 0])!
const MINE: KeptFilter = {workspace_ids: ['workspace-1']}
const ALL = {current_page: 0, page_size: 100}

/** The products, and a collection of Milvus by another chart: ids that are numbers, entries that are JSON. */
const STORES = [...PRODUCTS, 'milvus by the newer chart'] as const

function openStore(store: (typeof STORES)[number]): Promise<StoreTwin> {
  return store === 'milvus by the newer chart'
    ? milvusTwin({token: API_KEY, collection: NEWER_CHART(4)})
    : openTwin(store, 4)
}

describe.each(STORES)('entries in a twin of %s', store => {
  let twin: StoreTwin
  let opened: OpenedVectors[]
  beforeEach(async () => {
    twin = await openStore(store)
    opened = []
  })
  afterEach(async () => {
    for (const each of opened) await each.close()
    await twin.close()
  })
  function open(options: OpenVectorsOptions = {}) {
    const one = openVectors(twin, options)
    opened.push(one)
    return one.vectors
  }
  const kept = (entries: number) => expect.poll(() => twin.entries().length, {timeout: 5_000}).toBe(entries)
  const about = (model: string, namespace: string | null = null) => ({about: {model, namespace}})

  test('are listed the newest first, with marks and without what they say, by what narrows them', async () => {
    const vectors = open()
    vectors.add(newEntry('a', ONE, {...about('m1', 'n1'), created_at_ms: 9_001}))
    vectors.add(newEntry('b', ONE, {...about('m2'), partition: 'q', created_at_ms: 9_002}))
    vectors.add(newEntry('c', ONE, {...about('m1', 'n1'), workspace_id: 'workspace-2', created_at_ms: 9_003}))
    vectors.add(newEntry('d', ONE, {...about('m1'), expires_at_ms: 9_999}))
    await kept(4)
    const names = async (filter: Partial<KeptFilter>, page = ALL) =>
      (await open().list({...MINE, ...filter}, page)).rows.map(({digest}) => digest)
    expect(await open().list(MINE, ALL)).toEqual({
      total: 2,
      rows: [
        {
          ...{digest: 'b', workspace_id: 'workspace-1', model: 'm2', namespace: null, log_id: 'log-b'},
          ...{stored_at_ms: 9_002, expires_at_ms: 1_000_000_000, bytes: 7 + 16},
        },
        {
          ...{digest: 'a', workspace_id: 'workspace-1', model: 'm1', namespace: 'n1', log_id: 'log-a'},
          ...{stored_at_ms: 9_001, expires_at_ms: 1_000_000_000, bytes: 7 + 16},
        },
      ],
    })
    expect(await names({workspace_ids: ['workspace-1', 'workspace-2']})).toEqual(['c', 'b', 'a'])
    expect(await names({workspace_ids: []})).toEqual([])
    expect(await names({model: 'm1'})).toEqual(['a'])
    expect(await names({namespace: 'n1'})).toEqual(['a'])
    expect(await names({digest: 'b'})).toEqual(['b'])
    expect(await names({}, {current_page: 1, page_size: 1})).toEqual(['a'])
  })

  test('of many pages of a store are all listed, and all cleared', async () => {
    const vectors = open()
    const all = Array.from({length: 230}, (_, at) => `d${String(at).padStart(3, '0')}`)
    for (const [at, digest] of all.entries()) vectors.add(newEntry(digest, ONE, {created_at_ms: 1_000 + at}))
    await kept(230)
    const pages = [0, 1, 2].map(current_page => vectors.list(MINE, {current_page, page_size: 100}))
    const found = await Promise.all(pages)
    expect(found.map(({total}) => total)).toEqual([230, 230, 230])
    expect(found.flatMap(({rows}) => rows.map(({digest}) => digest))).toEqual(all.toReversed())
    expect(await vectors.clear(MINE)).toBe(230)
    expect(twin.entries()).toEqual([])
  })

  test('are cleared by what narrows them, and not found while the store still shows them', async () => {
    const vectors = open()
    vectors.add(newEntry('a', ONE, about('m1')))
    vectors.add(newEntry('b', ONE, about('m2')))
    vectors.add(newEntry('c', ONE, {...about('m1'), workspace_id: 'workspace-2'}))
    await kept(3)
    twin.behind(true)
    expect(await vectors.clear({...MINE, model: 'm1'})).toBe(1)
    expect((await vectors.search('p', ONE)).map(({digest}) => digest).sort()).toEqual(['b', 'c'])
    twin.behind(false)
    await kept(2)
    expect(await vectors.clear({workspace_ids: ['workspace-3']})).toBe(0)
    expect(await vectors.clear({workspace_ids: ['workspace-1', 'workspace-2']})).toBe(2)
  })

  test('that wait to be written are cleared as well', async () => {
    const vectors = open()
    await vectors.search('p', ONE)
    for (let at = 0; at < 120; at++) vectors.add(newEntry(`d${at}`, ONE))
    expect(await vectors.clear(MINE)).toBe(120)
    await vectors.settled()
    expect(twin.entries()).toEqual([])
  })

  test('of other keys, and those that others made or changed, are neither listed nor cleared', async () => {
    const vectors = open()
    vectors.add(newEntry('a', ONE))
    vectors.add(newEntry('b', ONE, {partition: 'q'}))
    await kept(2)
    const stranger = open({key: 2})
    expect(await stranger.list(MINE, ALL)).toEqual({total: 0, rows: []})
    expect(await stranger.clear(MINE)).toBe(0)
    const [one, other] = twin.entries()
    twin.write({...one!, id: '77'})
    twin.write({...one!, id: '78', partition: other!.partition})
    twin.write({...one!, id: '79', partition: 'workspace-1', sealed: 'no base64 !'})
    expect((await vectors.list(MINE, ALL)).total).toBe(2)
    expect(await vectors.clear(MINE)).toBe(2)
    expect(
      twin
        .entries()
        .map(({id}) => id)
        .sort(),
    ).toEqual(['77', '78', '79'])
  })

  test('of a store that fails reject; of one that is not there yet there are none', async () => {
    const vectors = open()
    expect(await vectors.list(MINE, ALL)).toEqual({total: 0, rows: []})
    vectors.add(newEntry('a', ONE))
    await kept(1)
    twin.answers((_, response) => response.writeHead(500).end('{}'))
    await expect(vectors.list(MINE, ALL)).rejects.toThrow('it answered 500')
    await expect(vectors.clear(MINE)).rejects.toThrow('it answered 500')
    twin.answers(null)
    expect(await vectors.clear(MINE)).toBe(1)
    twin.drop()
    expect(await vectors.list(MINE, ALL)).toEqual({total: 0, rows: []})
    expect(await vectors.clear(MINE)).toBe(0)
  })
})

test('a store that names the same page again is not read for ever', async () => {
  let scans = 0
  const pages = ownEntries({
    entries: {open: () => null},
    scan: async () => {
      scans++
      return {points: [], next: 'again'}
    },
    ...{now_ms: 0, dimensions: 4, signal: new AbortController().signal},
  })
  const read = async () => {
    for await (const page of pages) expect(page).toEqual([])
  }
  await expect(read()).rejects.toThrow('it names the same page again')
  expect(scans).toBe(2)
})
