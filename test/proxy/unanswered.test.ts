import {createServer} from 'node:net'
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {type Asked, newTrace, type RoutingSetup, startRouting} from '../support/routing.ts'

/**
 * A request that the provider had whole, and that got no answer, may be charged by it: so is the prompt here, once a
 * target.
 */
let routed: RoutingSetup
beforeAll(async () => {
  routed = await startRouting({})
  await routed.gateway.provider('engine', 'ollama', routed.a.url)
})
afterEach(() => routed.reset())
afterAll(() => routed.close())

const PROMPT = 'word '.repeat(800)
const CHAT = {model: 'gpt-4o', max_tokens: 500, messages: [{role: 'user', content: PROMPT}]}
const silent = () => routed.a.answer(() => undefined)
/** A client that leaves as soon as the provider has heard it. Gives its row of the log. */
async function left(config: object, asked: Asked) {
  const received = routed.a.received.length
  return leftWhen(() => expect.poll(() => routed.a.received.length, {interval: 5}).toBe(received + 1), config, asked)
}

async function leftWhen(received: () => Promise<unknown>, config: object, asked: Asked) {
  const gone = new AbortController()
  const trace = newTrace()
  const headers = {'x-gateway-trace-id': trace}
  const asking = routed.ask(config, {...asked, headers, signal: gone.signal}).catch(() => undefined)
  await received()
  gone.abort()
  await asking
  const row = async () => (await routed.gateway.logs()).find(({trace_id}) => trace_id === trace)
  await expect.poll(row, {timeout: 5000}).toBeDefined()
  return (await row())!
}

describe('a client that leaves before an answer begins', () => {
  test.each([
    ['a chat', '/chat/completions', CHAT],
    ['a stream', '/chat/completions', {...CHAT, stream: true}],
    ['a response', '/responses', {model: 'gpt-4o', input: PROMPT}],
    ['an embedding', '/embeddings', {model: 'text-embedding-3-small', input: PROMPT}],
    ['a chat by the own path', '/proxy/chat/completions', CHAT],
  ])('%s costs its prompt, and the log says that nothing was answered', async (_, path, body) => {
    silent()
    const row = await left({provider: '@a'}, {path: `/v1${path}`, body})
    expect([row.outcome, row.usage_source, row.unanswered, row.res_units]).toEqual(['aborted', 'estimated', true, 0])
    expect(row.req_units).toBeGreaterThan(790)
    expect(row.req_units).toBeLessThan(1100)
    expect(row.cost).toBeGreaterThan(0)
  })

  test('a picture is not charged by its bytes', async () => {
    silent()
    const image_url = {url: `data:image/png;base64,${'iVBORw0KGgo'.repeat(40_000)}`}
    const body = {...CHAT, messages: [{role: 'user', content: [{type: 'image_url', image_url}]}]}
    const row = await left({provider: '@a'}, {body})
    expect(row.unanswered).toBe(true)
    expect(row.req_units).toBeLessThan(100)
  })

  test('what nobody knows costs nothing', async () => {
    silent()
    const row = await left({provider: '@a'}, {path: '/v1/proxy/whatever', body: {text: PROMPT}})
    expect([row.unanswered, row.req_units, row.cost]).toEqual([false, 0, 0])
  })

  test('an engine of the house is never charged', async () => {
    silent()
    const row = await left({provider: '@engine'}, {body: CHAT})
    expect([row.unanswered, row.req_units]).toEqual([false, 0])
  })

  test('a request that was not sent whole costs nothing', async () => {
    const {promise: received, resolve} = Promise.withResolvers<unknown>()
    const deaf = createServer({pauseOnConnect: true}, resolve)
    await new Promise<void>(done => deaf.listen(0, '127.0.0.1', done))
    const {port} = deaf.address() as {port: number}
    await routed.gateway.provider('deaf', 'openai', `http://127.0.0.1:${port}`)
    const body = {...CHAT, messages: [{role: 'user', content: 'word '.repeat(6_000_000)}]}
    const row = await leftWhen(() => received, {provider: '@deaf'}, {body})
    deaf.close()
    expect([row.unanswered, row.req_units, row.cost]).toEqual([false, 0, 0])
  })
})

describe('other ends without an answer', () => {
  test('a timeout costs the prompt, and of the tries at one target the first alone', async () => {
    silent()
    routed.b.answer(() => undefined)
    const retry = {attempts: 1, on_status_codes: [408]}
    const targets = [
      {provider: '@a', retry},
      {provider: '@b', retry},
    ]
    const result = await routed.ask({strategy: {mode: 'fallback'}, request_timeout: 100, targets}, {body: CHAT})
    expect(result.status).toBe(408)
    const charged = result.entries.map(entry => [
      entry.provider_slug,
      entry.outcome,
      entry.usage_source,
      entry.cost_nanousd > 0,
    ])
    expect(charged).toEqual(
      ['a', 'b'].flatMap(slug => [
        [slug, 'timeout', 'estimated', true],
        [slug, 'timeout', 'none', false],
      ]),
    )
    expect(result.rows.map(({prompt_tokens}) => prompt_tokens > 790 && prompt_tokens < 1100)).toEqual([true, true])
  })

  test.each([
    ['a connection that breaks at once', (_: unknown, response: {destroy(): void}) => response.destroy()],
    [
      'an error of the provider',
      (_: unknown, response: {writeHead(status: number): {end(): void}}) => response.writeHead(500).end(),
    ],
  ])('%s costs nothing', async (_, answer) => {
    routed.a.answer(answer as never)
    const result = await routed.ask({provider: '@a'}, {body: CHAT})
    expect(result.entries.map(({usage_source, cost_nanousd}) => [usage_source, cost_nanousd])).toEqual([['none', 0]])
  })
})

test('CHARGE_UNANSWERED=OFF charges none of it', async () => {
  const other = await startRouting({CHARGE_UNANSWERED: 'OFF'})
  other.a.answer(() => undefined)
  const result = await other.ask({provider: '@a', request_timeout: 100}, {body: CHAT})
  expect(result.entries.map(({usage_source, cost_nanousd}) => [usage_source, cost_nanousd])).toEqual([['none', 0]])
  await other.close()
})
