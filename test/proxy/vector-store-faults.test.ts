import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type Answer, chatReply, type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {type StoreRelay, storeRelay} from '../support/store-relay.ts'
import {openTwin, PRODUCTS} from '../support/vector-stores/open.ts'
import type {StoreTwin} from '../support/vector-stores/twin.ts'

const PLACES = 512 // of the built-in embedder
/** A call is served in less, whatever the store does; a store that hangs would hold it for ever. */
const SOON_MS = 5_000
const TIMEOUT_MS = 300
const LONG = Buffer.alloc(10 << 20, ' ')

/** The ways in which a store fails; null: the wire to it is cut. */
const FAULTS: Readonly<Record<string, Answer | null>> = {
  'is refused': null,
  hangs: () => undefined,
  'answers 500': (_, response) => response.writeHead(500).end('{}'),
  'is reset': (_, response) => {
    response.writeHead(200, {'content-length': '99'}).write('{"code":0,')
    setImmediate(() => response.destroy())
  },
  'answers another code': (_, response) => json(response, {code: 1100, message: 'no', status: {error: 'no'}}),
  'answers no JSON': (_, response) => response.end('{"result": <html>'),
  'answers 10 MB': (_, response) => response.end(LONG),
  redirects: (_, response) => response.writeHead(307, {location: elsewhere.url}).end(),
}

/** The requests of each work. */
const PATHS = {
  search: {milvus: /entities\/search/, pinecone: /^\/query$/, qdrant: /points\/query/},
  write: {milvus: /entities\/upsert/, pinecone: /vectors\/upsert/, qdrant: /points\?wait/},
  delete: {milvus: /entities\/delete/, pinecone: /vectors\/delete/, qdrant: /points\/delete/},
} as const
type Work = keyof typeof PATHS
const WORKS = Object.keys(PATHS) as Work[]

let elsewhere: FakeProvider
let provider: FakeProvider
let now_ms = Date.parse('2026-11-28T12:00:00Z')
beforeAll(async () => {
  elsewhere = await fakeProvider()
  provider = await fakeProvider((_, response) => json(response, chatReply('gpt-4o-mini', 'Paris.')))
})
afterAll(async () => {
  await provider.close()
  await elsewhere.close()
})

async function start(twin: StoreTwin, relay: StoreRelay): Promise<TestGateway> {
  const address = {VECTOR_STORE_ADDRESS: new URL(relay.url).origin, VECTOR_STORE_TIMEOUT_MS: String(TIMEOUT_MS)}
  const env = {TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...twin.settings, ...address}
  const gateway = await startGateway(env, {now: () => now_ms})
  await gateway.provider('mock', 'openai', provider.url)
  return gateway
}

/** One call: its status for the cache, if it was served in time. */
async function ask(gateway: TestGateway, content: string, refresh = false): Promise<string | null> {
  const config = {provider: '@mock', cache: {mode: 'semantic', max_age: 86_400}}
  const began = performance.now()
  const reply = await gateway.chat(
    {model: 'gpt-4o-mini', messages: [{role: 'user', content}]},
    {'x-gateway-config': JSON.stringify(config), ...(refresh && {'x-gateway-cache-force-refresh': 'true'})},
  )
  await reply.text()
  expect(reply.status).toBe(200)
  expect(performance.now() - began).toBeLessThan(SOON_MS)
  return reply.headers.get('x-gateway-cache-status')
}

async function counted(gateway: TestGateway): Promise<Record<string, number>> {
  const page = await (await fetch(`${gateway.url}/metrics`)).text()
  const counts = page.matchAll(/gateway_vector_store_events_total\{event="(\w+)"\} (\d+)/g)
  return Object.fromEntries([...counts].map(([, event, count]) => [event!, Number(count)]))
}

/** A text about another place each time, so that nothing but its own paraphrase is similar. */
const LETTERS = 'bcdfghjklmnpqrstvwxz'
let asked = 0
function question(): {readonly first: string; readonly again: string} {
  let rest = (++asked * 104_729) % LETTERS.length ** 5
  let word = ''
  for (let at = 0; at < 5; at++) {
    word += `${LETTERS[rest % LETTERS.length]}a`
    rest = Math.floor(rest / LETTERS.length)
  }
  return {first: `What is the capital of ${word}?`, again: `what is the capital of ${word}?`}
}

describe.each(PRODUCTS)('a twin of %s', product => {
  let twin: StoreTwin
  let relay: StoreRelay
  beforeAll(async () => {
    twin = await openTwin(product, PLACES)
    relay = await storeRelay(twin.url)
  })
  afterAll(async () => {
    relay.close()
    await twin.close()
  })
  const fail = (fault: Answer | null, paths?: RegExp) => (fault ? twin.answers(fault, paths) : relay.cut())
  /** A call that nothing answers, and its entry in the store. */
  async function kept(gateway: TestGateway, content: string) {
    const entries = twin.entries().length
    expect(await ask(gateway, content)).toBe('SEMANTIC MISS')
    await expect.poll(() => twin.entries().length, {timeout: 10_000}).toBeGreaterThan(entries)
  }
  /** The store works again: a question is found in other words, by entries that may be written a little later. */
  async function found(gateway: TestGateway) {
    const {first} = question()
    let blanks = 0
    const another = () => {
      heal()
      return ask(gateway, first + ' '.repeat(blanks++))
    }
    await expect.poll(another, {timeout: 30_000, interval: 200}).toBe('SEMANTIC HIT')
  }
  function heal() {
    twin.answers(null)
    relay.heal()
    now_ms += 61_000 // whatever was left alone is tried again
  }

  describe('while the gateway runs', () => {
    let gateway: TestGateway
    let resources: number
    beforeAll(async () => {
      gateway = await start(twin, relay)
      await ask(gateway, question().first)
      resources = process.getActiveResourcesInfo().length
    })
    afterAll(() => gateway.close())

    const cases = WORKS.flatMap(work => Object.keys(FAULTS).map(fault => [work, fault] as const))
    test.each(cases)('in its %s, %s: calls are served in time, it is counted, and it heals', async (work, fault) => {
      const {first, again} = question()
      await kept(gateway, first)
      const before = await counted(gateway)
      fail(FAULTS[fault]!, PATHS[work][product])
      if (work === 'search') expect(await ask(gateway, again)).toBe('SEMANTIC MISS')
      else if (work === 'write') expect(await ask(gateway, question().first)).toBe('SEMANTIC MISS')
      else expect(await ask(gateway, again, true)).toBe('REFRESH')
      const event = work === 'search' || fault === 'is refused' ? 'search_failed' : 'write_failed'
      const more = async () => ((await counted(gateway))[event] ?? 0) - (before[event] ?? 0)
      await expect.poll(more, {timeout: 10_000}).toBeGreaterThan(0)
      heal()
      await found(gateway)
      expect(elsewhere.received).toEqual([])
    })

    test('nothing is left of all that: no socket, no timer', async () => {
      await expect.poll(() => process.getActiveResourcesInfo().length, {timeout: 20_000}).toBeLessThan(resources + 12)
    })
  })

  test.each(Object.keys(FAULTS))(
    'at the start, %s: the gateway starts, and serves',
    async fault => {
      fail(FAULTS[fault]!)
      const gateway = await start(twin, relay)
      try {
        expect(await ask(gateway, question().first)).toBe('SEMANTIC MISS')
        expect(await counted(gateway)).toMatchObject({search_failed: 1})
        expect(gateway.lines.filter(line => line.includes('the vector store does not answer searches'))).toHaveLength(1)
        // a request that hangs is given up after 10 seconds, and the store is looked at again
        await found(gateway)
      } finally {
        heal()
        await gateway.close()
      }
    },
    60_000,
  )
})
