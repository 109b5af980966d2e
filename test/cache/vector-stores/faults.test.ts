import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {unitVector} from '../../../src/cache/semantic/vector.ts'
import {type Answer, type FakeProvider, fakeProvider} from '../../support/provider.ts'
import {newEntry, type OpenedVectors, openTwin, openVectors, PRODUCTS} from '../../support/vector-stores/open.ts'
import type {StoreTwin} from '../../support/vector-stores/twin.ts'

const ONE = unitVector([1, 0, 0, 0])!
const LONG = Buffer.alloc(9 << 20, ' ')

let elsewhere: FakeProvider
let expire: () => void
beforeAll(async () => {
  elsewhere = await fakeProvider()
})
afterAll(() => elsewhere.close())

const FAULTS: readonly (readonly [string, Answer])[] = [
  ['500', (_, response) => response.writeHead(500).end('{}')],
  ['401', (_, response) => response.writeHead(401).end('Unauthorized')],
  ['403 and a page', (_, response) => response.writeHead(403).end('<html>')],
  ['429', (_, response) => response.writeHead(429, {'retry-after': '1'}).end('{}')],
  ['no answer', () => expire()],
  [
    'half an answer',
    (_, response) => {
      response.writeHead(200, {'content-length': '99'}).write('{"code":0,')
      expire()
    },
  ],
  ['no JSON', (_, response) => response.end('{"result":')],
  ['JSON that is no object', (_, response) => response.end('[1, 2]')],
  ['null', (_, response) => response.end('null')],
  ['an object of another form', (_, response) => response.end('{"matches":7,"result":{},"status":"ok","code":0}')],
  ['JSON of 100,000 levels', (_, response) => response.end('['.repeat(100_000))],
  ['a redirect', (_, response) => response.writeHead(307, {location: elsewhere.url}).end()],
  ['9 MB', (_, response) => response.end(LONG)],
  ['a broken connection', (_, response) => response.destroy()],
]

describe.each(PRODUCTS)('a twin of %s', product => {
  let twin: StoreTwin
  let opened: OpenedVectors
  let now_ms: number
  beforeEach(async () => {
    twin = await openTwin(product, 4)
    now_ms = 10_000
    opened = openVectors(twin, {now: () => now_ms})
    expire = opened.expire
    elsewhere.received.length = 0
  })
  afterEach(async () => {
    await opened.close()
    await twin.close()
  })

  test.each(FAULTS)(
    'that answers %s fails searches, is notified once, and is left alone after five',
    async (_, answer) => {
      const {vectors, events, notices} = opened
      await vectors.search('p', ONE)
      twin.answers(answer)
      const search = () =>
        vectors.search('p', ONE).then(
          () => 'found',
          (fault: Error) => fault.name,
        )
      for (let at = 0; at < 5; at++) expect(await search()).toBe('VectorStoreFault')
      const requests = twin.received.length
      for (let at = 0; at < 5; at++) expect(await search()).toBe('VectorStoreFault')
      expect(twin.received).toHaveLength(requests)
      expect([notices.length, events.search_failed]).toEqual([1, 5])
      expect(notices[0]).not.toMatch(/127\.0\.0\.1|hush/)
      expect(elsewhere.received).toEqual([])
      now_ms += 30_000
      // one search tries it, and the others of that moment are not sent
      await Promise.all([search(), search(), search()])
      expect([notices.length, events.search_failed]).toEqual([1, 6])
      twin.answers(null)
      now_ms += 30_000
      expect(await search()).toBe('found')
      expect(notices).toEqual([expect.stringMatching(/^search fails: /), 'search works'])
    },
  )

  test('SC29: an error with status 200 and a code is a miss, and names no more than the code', async () => {
    const {vectors, notices} = opened
    await vectors.search('p', ONE)
    const body = {code: 1100, message: 'rm -rf', status: {error: 'rm -rf'}}
    twin.answers((_, response) => response.end(JSON.stringify(body)))
    await expect(vectors.search('p', ONE)).rejects.toThrow(/^it answered 200 with code 1100$|has another form$/)
    expect(notices.join()).not.toContain('rm -rf')
  })

  test('that takes no entries still finds them, and the operator is notified once', async () => {
    const {vectors, events, notices} = opened
    vectors.add(newEntry('a', ONE))
    await expect.poll(() => twin.entries().length, {timeout: 5_000}).toBe(1)
    const writes = /upsert|points\?wait/
    twin.refuses(writes)
    for (let at = 0; at < 7; at++) {
      vectors.add(newEntry(`b${at}`, ONE))
      await expect.poll(() => events.dropped, {timeout: 5_000}).toBe(at + 1)
      expect(await vectors.search('p', ONE)).toHaveLength(1)
    }
    expect(notices).toEqual(['write fails: it answered 403'])
    expect(twin.received.filter(({path}) => writes.test(path))).toHaveLength(1 + 5)
    twin.refuses(null)
    now_ms += 30_000
    vectors.add(newEntry('c', ONE))
    await expect.poll(() => twin.entries().length, {timeout: 5_000}).toBe(2)
    await expect.poll(() => notices).toEqual(['write fails: it answered 403', 'write works'])
  })

  test('is not reached where the wall forbids it, and its key goes nowhere', async () => {
    const blocked = openVectors({product, url: 'http://169.254.169.254'}, {})
    await expect(blocked.vectors.open(4)).rejects.toThrow('its address may not be called')
    expect(blocked.notices).toEqual([])
    await blocked.close()
  })

  test('that is not there at the start is down, and found when it is', async () => {
    twin.answers((_, response) => response.writeHead(503).end())
    await opened.vectors.open(4)
    expect(opened.notices).toEqual(['search fails: it answered 503'])
    twin.answers(null)
    expect(await opened.vectors.search('p', ONE)).toEqual([])
    expect(opened.notices.at(-1)).toBe('search works')
  })
})
