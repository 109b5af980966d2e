import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {CHAT_ROUTE} from '../support/guarded.ts'
import {chatEvents, chatReply, type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {events, type RoutingSetup, startRouting, type Told} from '../support/routing.ts'

const A = {provider: '@a'}
const chat = (content: string, more: object = {}) => ({body: CHAT_ROUTE.ask(content, more)})
const forbids = (word: string, more: object = {}) => ({'default.contains': {words: [word], operator: 'none'}, ...more})
const SECRET = 'canary-81c2'

let routed: RoutingSetup
let service: FakeProvider

beforeAll(async () => {
  routed = await startRouting({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  service = await fakeProvider()
})
beforeEach(() => {
  routed.reset()
  service.received.length = 0
})
afterAll(async () => {
  await routed.close()
  await service.close()
})

const rowOf = async (result: Told) =>
  JSON.stringify(await routed.gateway.admin('GET', `/logs/${(result.rows[0] as unknown as {id: string}).id}`))

describe('the log', () => {
  const guarded = {...A, output_guardrails: [forbids('bad', {deny: true})]}

  test('has nothing of an answer that could not be judged', async () => {
    routed.a.answer((_, response) => response.writeHead(200, {'content-type': 'text/html'}).end(`<p>${SECRET}</p>`))
    const result = await routed.ask(guarded, chat('hi'))
    expect([result.status, (await rowOf(result)).includes(SECRET)]).toEqual([502, false])
  })

  test('has nothing of an answer that broke off before it was judged', async () => {
    routed.a.answer((_, response) => {
      response.writeHead(200, {'content-type': 'application/json', 'content-length': '5000'})
      response.write(`{"choices":[{"message":{"content":"${SECRET}`)
      setImmediate(() => response.socket?.destroy())
    })
    const result = await routed.ask(guarded, chat('hi'))
    expect([result.status, (await rowOf(result)).includes(SECRET)]).toEqual([502, false])
  })
})

describe('the cache', () => {
  const cache = {mode: 'simple'}

  test('keeps no stream that was judged when it was gone', async () => {
    routed.a.answer((received, response, request) =>
      received.body.includes('"stream":true')
        ? events(chatEvents('m', {words: ['a ', 'bad ', 'one']}))(received, response, request)
        : json(response, chatReply('m', 'a bad one')),
    )
    const config = {...A, cache, output_guardrails: [forbids('bad', {deny: true})]}
    expect((await routed.ask(config, chat('late?', {stream: true}))).status).toBe(200)
    const result = await routed.ask(config, chat('late?'))
    expect([result.status, result.text.includes('a bad one')]).toEqual([446, false])
  })

  test('keeps no stream in which something is put back', async () => {
    routed.a.answer(events(chatEvents('m', {words: ['To ', '<EMAIL_1>']})))
    const config = {
      ...A,
      cache,
      input_guardrails: [{'default.pii': {categories: ['email'], redact: true, reversible: true}}],
    }
    const first = await routed.ask(config, chat('From ann@example.com', {stream: true}))
    const second = await routed.ask(config, chat('From bob@example.org', {stream: true}))
    expect([CHAT_ROUTE.read(first.text), CHAT_ROUTE.read(second.text)]).toEqual([
      'To ann@example.com',
      'To bob@example.org',
    ])
  })
})

test('a comment between two pieces of a placeholder does not part it', async () => {
  const [head, tail, ...rest] = chatEvents('m', {words: ['<EM', 'AIL_1>']}) as [string, string, ...string[]]
  routed.a.answer(events([head, ': still there\n\n', tail, ': still there\n\n', ...rest]))
  const config = {...A, input_guardrails: [{'default.pii': {categories: ['email'], redact: true, reversible: true}}]}
  const result = await routed.ask(config, chat('From ann@example.com', {stream: true}))
  expect(CHAT_ROUTE.read(result.text)).toBe('ann@example.com')
})

test('the end of one choice does not part a placeholder in another', async () => {
  const said = (index: number, content: string, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{index, delta: content ? {content} : {}, finish_reason}]})}\n\n`
  routed.a.answer(
    events([
      said(0, 'hi'),
      said(1, '<EM'),
      said(0, '', 'stop'),
      said(1, 'AIL_1>'),
      said(1, '', 'stop'),
      'data: [DONE]\n\n',
    ]),
  )
  const config = {...A, input_guardrails: [{'default.pii': {categories: ['email'], redact: true, reversible: true}}]}
  const result = await routed.ask(config, chat('From ann@example.com', {stream: true, n: 2}))
  expect(CHAT_ROUTE.read(result.text)).toBe('hiann@example.com')
})

test('a denied answer’s hosts are not in the body of its 446', async () => {
  routed.a.answer((_, response) => json(response, chatReply('m', `See https://${SECRET}.invalid/x`)))
  const result = await routed.ask({...A, output_guardrails: [{validUrls: {onlyDNS: true}, deny: true}]}, chat('hi'))
  expect([result.status, result.text.includes(SECRET)]).toEqual([446, false])
})

test('a drain ends a call whose guardrail hangs', async () => {
  const draining = await startRouting({DRAIN_TIMEOUT_MS: '50', TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  const arrived = Promise.withResolvers<void>()
  service.answer(() => arrived.resolve())
  const config = {
    ...A,
    input_guardrails: [{webhook: {webhookURL: `${service.url}/judge`, timeout: 60_000}, deny: true}],
  }
  const asked = draining.gateway.chat(CHAT_ROUTE.ask('hi'), {'x-gateway-config': JSON.stringify(config)})
  await arrived.promise
  const drained = draining.gateway.app.drain()
  expect((await asked).status).toBe(503)
  await drained
  expect(draining.a.received).toEqual([])
  await draining.close()
})

test.each([false, true])(
  'what is taken out of an answer is not put back as another person’s, streamed %s',
  async stream => {
    const words = ['Ask ', 'eve@other.example ', 'now']
    routed.a.answer((received, response, request) =>
      stream
        ? events(chatEvents('m', {words}))(received, response, request)
        : json(response, chatReply('m', words.join(''))),
    )
    const redacts = {categories: ['email'], redact: true}
    const config = {
      ...A,
      input_guardrails: [{'default.pii': {...redacts, reversible: true}}],
      output_guardrails: [{'default.pii': redacts, stream_mode: 'window'}],
    }
    const result = await routed.ask(config, chat('From ann@example.com', stream ? {stream: true} : {}))
    const content = stream
      ? CHAT_ROUTE.read(result.text)
      : (JSON.parse(result.text) as ReturnType<typeof chatReply>).choices[0]!.message.content
    expect(content).toBe('Ask <EMAIL_2> now')
  },
)
