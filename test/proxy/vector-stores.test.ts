import type {ServerResponse} from 'node:http'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {gatewayOn} from '../support/gateway-on.ts'
import {chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'
import {KINDS} from '../support/stores.ts'
import {API_KEY, openTwin, PRODUCTS} from '../support/vector-stores/open.ts'
import {qdrantTwin} from '../support/vector-stores/qdrant.ts'
import type {StoreTwin} from '../support/vector-stores/twin.ts'

const PLACES = 512 // of the built-in embedder
const ASKED = 'What is the capital of France?'
const PARAPHRASE = 'what is the capital of france?'
const SECOND = 'WHAT is the capital of France?'

let provider: FakeProvider
let twin: StoreTwin
let gateways: TestGateway[]
let now_ms: number
let answers = 0

beforeEach(async () => {
  provider = await fakeProvider(({body}, response: ServerResponse) => {
    const {model} = JSON.parse(body.toString()) as {model: string}
    const reply = JSON.stringify(chatReply(model, `Paris, answer ${++answers}`))
    response.setHeader('content-type', 'application/json').end(reply)
  })
  gateways = []
  now_ms = Date.parse('2026-11-28T12:00:00Z')
})
afterEach(async () => {
  for (const gateway of gateways.reverse()) await gateway.close()
  await provider.close()
  await twin.close()
})

async function start(env: Record<string, string> = {}): Promise<TestGateway> {
  const all = {TRUSTED_CUSTOM_HOSTS: '127.0.0.1', VECTOR_STORE_TIMEOUT_MS: '10000', ...twin.settings, ...env}
  const gateway = await startGateway(all, {now: () => now_ms})
  gateways.push(gateway)
  await gateway.provider('mock', 'openai', provider.url)
  return gateway
}

interface Answered {
  readonly status: string | null
  readonly content: string | undefined
}

async function ask(gateway: TestGateway, content: string, cache: object = {}, headers: Record<string, string> = {}) {
  const config = {provider: '@mock', cache: {mode: 'semantic', max_age: 3600, ...cache}}
  const reply = await gateway.chat(
    {model: 'gpt-4o-mini', messages: [{role: 'user', content}]},
    {'x-gateway-config': JSON.stringify(config), ...headers},
  )
  const {choices} = (await reply.json()) as {choices?: {message: {content: string}}[]}
  const answered: Answered = {
    status: reply.headers.get('x-gateway-cache-status'),
    content: choices?.[0]?.message.content,
  }
  return answered
}
const statusOf = async (...of: Parameters<typeof ask>) => (await ask(...of)).status
const kept = (entries: number) => expect.poll(() => twin.entries().length, {timeout: 5_000}).toBe(entries)
const metrics = async (gateway: TestGateway) => (await fetch(`${gateway.url}/metrics`)).text()

describe.each(PRODUCTS)('vectors in a twin of %s', product => {
  beforeEach(async () => {
    twin = await openTwin(product, PLACES)
  })

  test('a paraphrase is SEMANTIC HIT; the store learns no text, and the key is in no line of the log', async () => {
    const gateway = await start()
    const first = await ask(gateway, ASKED)
    expect(first.status).toBe('SEMANTIC MISS')
    await kept(1)
    expect(await ask(gateway, PARAPHRASE)).toEqual({status: 'SEMANTIC HIT', content: first.content})
    expect(provider.received).toHaveLength(1)
    const sent = twin.received.map(({path, body}) => path + body.toString()).join('\n')
    expect(sent).not.toMatch(/capital of|of france|paris,|gpt-4o/i)
    const [row] = await gateway.logs()
    expect(sent).not.toContain(String((row!.similar as {log_id: string}).log_id))
    expect(gateway.lines.join('')).not.toContain(API_KEY)
    expect(gateway.lines.join('')).not.toMatch(/vector store/)
  })

  test('SC15: a refresh removes what is similar from the store, and its answer is the one that is found', async () => {
    const gateway = await start()
    const first = await ask(gateway, ASKED)
    await kept(1)
    const [old] = twin.entries()
    const fresh = await ask(gateway, PARAPHRASE, {}, {'x-gateway-cache-force-refresh': 'true'})
    expect([fresh.status, fresh.content === first.content, provider.received.length]).toEqual(['REFRESH', false, 2])
    await expect.poll(() => twin.entries().map(({id}) => id), {timeout: 5_000}).not.toContain(old!.id)
    await kept(1)
    expect(await ask(gateway, SECOND)).toEqual({status: 'SEMANTIC HIT', content: fresh.content})
  })

  test('SC16: an entry whose time is over is not found, and leaves the store with the next writes', async () => {
    const gateway = await start()
    expect(await statusOf(gateway, ASKED, {max_age: 60})).toBe('SEMANTIC MISS')
    await kept(1)
    now_ms += 61_000
    expect(await statusOf(gateway, PARAPHRASE, {max_age: 60})).toBe('SEMANTIC MISS')
    expect(provider.received).toHaveLength(2)
    await expect
      .poll(() => twin.entries().filter(({ends_at_ms}) => Number(ends_at_ms) <= now_ms), {timeout: 5_000})
      .toEqual([])
    await kept(1)
  })

  test('a store that fails is a miss of each call; one line of the log, and the metrics, say it', async () => {
    const gateway = await start()
    expect(await statusOf(gateway, ASKED)).toBe('SEMANTIC MISS')
    await kept(1)
    twin.answers((_, response) => response.writeHead(500).end())
    for (let at = 0; at < 8; at++) expect(await statusOf(gateway, `${ASKED} ${at}`)).toBe('SEMANTIC MISS')
    expect(provider.received).toHaveLength(9)
    const lines = gateway.lines.filter(line => line.includes('the vector store does not answer searches'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('it answered 500')
    const page = await metrics(gateway)
    expect(page).toMatch(/gateway_vector_store_events_total\{event="search_failed"\} 5\n/)
    expect(page).toMatch(/semantic_cache_searches_total\{result="failed"\} 8\n/)
  })

  test('a call whose config has no semantic cache sends nothing to the store', async () => {
    const gateway = await start()
    const before = twin.received.length
    expect(await statusOf(gateway, ASKED, {mode: 'simple'})).toBe('MISS')
    expect(await statusOf(gateway, ASKED, {mode: 'simple'})).toBe('HIT')
    await gateway.app.flushed()
    expect(twin.received).toHaveLength(before)
  })

  test('entries are listed and cleared by operations; a store that fails refuses, and what went is noted', async () => {
    const gateway = await start()
    await ask(gateway, ASKED, {}, {'x-gateway-cache-namespace': 'faq'})
    now_ms += 1_000
    await ask(gateway, 'How high is the highest mountain?')
    await kept(2)
    type Listed = {total: number; data: {kind: string; model: string; namespace: string | null; log_id: string}[]}
    const listed = (query = '') => gateway.admin<Listed>('GET', `/cache/entries?page_size=10${query}`)
    const logs = (await gateway.logs()).map(({id}) => id)
    const {total, data} = await listed('&kind=semantic')
    expect(total).toBe(2)
    expect(data).toMatchObject([
      {kind: 'semantic', model: 'gpt-4o-mini', namespace: null, log_id: logs[0]},
      {kind: 'semantic', model: 'gpt-4o-mini', namespace: 'faq', log_id: logs[1]},
    ])
    expect((await listed()).total).toBe(4)
    const clear = (body: object) => gateway.app.inject({method: 'POST', url: '/v1/cache/clear', body})
    expect((await clear({namespace: 'faq'})).body).toMatchObject({simple: 1, semantic: 1})
    expect(await statusOf(gateway, PARAPHRASE, {}, {'x-gateway-cache-namespace': 'faq'})).toBe('SEMANTIC MISS')
    twin.answers((_, response) => response.writeHead(500).end('{}'))
    const refused = await clear({})
    expect(refused.status).toBe(503)
    expect(JSON.stringify(refused.body)).toContain('The vector store cannot be read or cleared now: it answered 500.')
    expect(JSON.stringify(refused.body)).not.toContain(API_KEY)
    type Audited = {records: {response_status_code: number}[]}
    const [start_time, end_time] = [-86_400_000, 86_400_000].map(ms => new Date(now_ms + ms).toISOString())
    const path = `/audit-logs?start_time=${start_time}&end_time=${end_time}&resource_type=cache`
    const {records} = await gateway.admin<Audited>('GET', path)
    expect(records.map(row => row.response_status_code).sort()).toEqual([200, 503])
    twin.answers(null)
    // the answers are gone all the same, from the memory of the process as well
    expect((await listed('&kind=simple')).total).toBe(0)
    expect(await statusOf(gateway, ASKED, {}, {'x-gateway-cache-namespace': 'faq'})).toBe('SEMANTIC MISS')
  })

  test('the start is refused where the store has vectors of another length, and not where it is down', async () => {
    const first = await start()
    await ask(first, ASKED)
    const other = {SEMANTIC_CACHE_EMBEDDER: 'openai', SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: '4'}
    await expect(start(other)).rejects.toThrow(
      `VECTOR_STORE=${product} cannot be used: its vectors have 512 places, and those of calls 4.`,
    )
    twin.answers((_, response) => response.writeHead(503).end())
    const second = await start()
    expect(await statusOf(second, ASKED)).toBe('SEMANTIC MISS')
    expect(second.lines.filter(line => line.includes('the vector store')).length).toBeGreaterThan(0)
    twin.answers(null)
    expect(await statusOf(second, 'How high is the highest mountain?')).toBe('SEMANTIC MISS')
    expect(second.lines.join('')).toContain('the vector store works again')
  })
})

test.runIf(KINDS.includes('postgres')).each(PRODUCTS)(
  'SC28: a process finds in a twin of %s what another one has just stored',
  async product => {
    twin = await openTwin(product, PLACES)
    const env = {TRUSTED_CUSTOM_HOSTS: '127.0.0.1', VECTOR_STORE_TIMEOUT_MS: '10000', ...twin.settings}
    const one = await gatewayOn('postgres', env, {now: () => now_ms})
    gateways.push(one)
    await one.provider('mock', 'openai', provider.url)
    const other = await startGateway(one.shared, {now: () => now_ms})
    gateways.push(other)
    const first = await ask(one, ASKED)
    await kept(1)
    // the same clock: it needs no time
    expect(await ask(other, PARAPHRASE)).toEqual({status: 'SEMANTIC HIT', content: first.content})
    expect(provider.received).toHaveLength(1)
  },
)

test('an address that no call may go to refuses the start', async () => {
  twin = await qdrantTwin()
  const refused = (address: string) => start({VECTOR_STORE_ADDRESS: address})
  await expect(refused('http://169.254.169.254')).rejects.toThrow('its address may not be called')
  await expect(refused('http://127.0.0.1:6379')).rejects.toThrow('its address may not be called')
  await expect(refused('http://0x7f.1:6333')).rejects.toThrow('VECTOR_STORE_ADDRESS is not usable')
})
