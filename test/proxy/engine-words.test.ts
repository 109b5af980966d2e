import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {list} from '../../src/providers/registry.ts'
import {
  ENGINE_MODELS,
  type EngineModel,
  engineAnswer,
  pathsOf,
  promptTokens,
  UNBOUNDED_TOKENS,
} from '../support/engines.ts'
import {type LogRow, startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'
import {newTrace} from '../support/routing.ts'

/**
 * What engines speak and count themselves: their own dialects where they have them, their own counts where nobody was
 * told any.
 */
let provider: FakeProvider
let gateway: TestGateway
beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
})
beforeEach(() => {
  provider.received.length = 0
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const ENGINES = Object.entries(ENGINE_MODELS) as readonly (readonly [string, EngineModel])[]
const COUNTING = ENGINES.filter(([, {routes}]) => routes.includes('/v1/messages/count_tokens'))
const PROMPT = 'What do you count of these words?'
const MESSAGES = [{role: 'user', content: PROMPT}]
const COUNT = promptTokens({messages: MESSAGES})

let made = 0
/** A provider of its own for each case: what is found out of a host is remembered. */
async function engineProvider({kind}: Pick<EngineModel, 'kind'>, base = '/v1'): Promise<string> {
  const slug = `engine-${++made}`
  await gateway.provider(slug, kind, provider.url.replace(/\/v1$/, '') + base)
  return slug
}

async function post(slug: string, path: string, body: object) {
  const trace = newTrace()
  const headers = {'content-type': 'application/json', 'x-gateway-provider': `@${slug}`, 'x-gateway-trace-id': trace}
  const reply = await gateway.call(path, {method: 'POST', headers, body: JSON.stringify({model: 'm', ...body})})
  return {reply, trace}
}

async function rowOf(trace: string): Promise<LogRow> {
  const row = async () => (await gateway.logs()).find(({trace_id}) => trace_id === trace)
  await expect.poll(row, {timeout: 5000}).toBeDefined()
  return (await row())!
}

/** The counts that the client of a stream of messages ends with, as Anthropic's library keeps them. */
function usageInEvents(text: string) {
  const events = text.split('\n').filter(line => line.startsWith('data: '))
  const parsed = events.map(
    line => JSON.parse(line.slice(6)) as {type: string; usage?: object; message?: {usage: object}},
  )
  const started = parsed.find(({type}) => type === 'message_start')?.message?.usage
  const ended = parsed.find(({type}) => type === 'message_delta')?.usage
  return {started, final: {...started, ...ended} as {input_tokens: number; output_tokens: number}}
}

describe('O4: the count of tokens of a Messages request', () => {
  test.each(COUNTING)('is that of %s', async (_, engine) => {
    provider.answer(engineAnswer(engine))
    for (const base of ['/v1', '']) {
      const {reply} = await post(await engineProvider(engine, base), '/v1/messages/count_tokens', {messages: MESSAGES})
      expect([reply.status, await reply.json()], base).toEqual([200, {input_tokens: COUNT}])
    }
  })

  test.each(['/v1/chat/completions/input_tokens', '/tokenize'])(
    'is asked at %s of an engine that has no other',
    async route => {
      const engine = {...ENGINE_MODELS[route === '/tokenize' ? 'vllm' : 'llama_cpp'], routes: [route]}
      provider.answer(engineAnswer(engine))
      const {reply} = await post(await engineProvider(engine), '/v1/messages/count_tokens', {messages: MESSAGES})
      expect([reply.status, await reply.json()]).toEqual([200, {input_tokens: COUNT}])
      expect(pathsOf(provider.received)).toEqual(['/v1/messages/count_tokens', route])
    },
  )

  test.each([
    ['has no counter', engineAnswer({...ENGINE_MODELS.llama_cpp, routes: []})],
    ['counts with something that is no number', engineAnswer(ENGINE_MODELS.llama_cpp)],
    ['breaks off', (_: unknown, response: {destroy(): void}) => response.destroy()],
  ])('is estimated for an engine that %s', async (how, answer) => {
    provider.answer(how.startsWith('counts') ? (_, response) => response.end('{"input_tokens":-3}') : answer)
    const {reply} = await post(await engineProvider(ENGINE_MODELS.llama_cpp), '/v1/messages/count_tokens', {
      messages: MESSAGES,
    })
    const {input_tokens} = (await reply.json()) as {input_tokens: number}
    expect([reply.status, input_tokens > 0 && input_tokens < COUNT], String(input_tokens)).toEqual([200, true])
  })

  test('costs nothing, and has a row', async () => {
    provider.answer(engineAnswer(ENGINE_MODELS.vllm))
    const {trace} = await post(await engineProvider(ENGINE_MODELS.vllm), '/v1/messages/count_tokens', {
      messages: MESSAGES,
    })
    expect(await rowOf(trace)).toMatchObject({outcome: 'ok', req_units: 0, cost: 0})
  })
})

describe('O4: the words of other clients', () => {
  const SPEAKING = ENGINES.filter(([, {routes}]) => routes.includes('/v1/messages'))
  test.each(SPEAKING)('%s hears messages as the client sends them, whole and streamed', async (_, engine) => {
    provider.answer(engineAnswer(engine))
    const slug = await engineProvider(engine)
    const body = {max_tokens: 5, messages: MESSAGES, thinking: {type: 'disabled'}}
    const {reply, trace} = await post(slug, '/v1/messages', body)
    expect(await reply.json()).toMatchObject({id: 'msg_own', usage: {input_tokens: COUNT}})
    expect(await rowOf(trace)).toMatchObject({usage_source: 'provider', req_units: COUNT})
    const streamed = await post(slug, '/v1/messages', {...body, stream: true})
    expect(usageInEvents(await streamed.reply.text()).final.input_tokens).toBe(COUNT)
    expect(await rowOf(streamed.trace)).toMatchObject({usage_source: 'provider', req_units: COUNT})
    expect(pathsOf(provider.received)).toEqual(Array(3).fill('/v1/messages'))
    expect(provider.received[0]!.body.toString()).toBe('{}')
    expect(JSON.parse(provider.received[1]!.body.toString())).toEqual({model: 'm', ...body})
  })

  test.each(SPEAKING)('%s hears responses as the client sends them', async (_, engine) => {
    provider.answer(engineAnswer(engine))
    const {reply} = await post(await engineProvider(engine), '/v1/responses', {input: PROMPT})
    expect(await reply.json()).toMatchObject({id: 'resp_own'})
    expect(pathsOf(provider.received)).toEqual(['/v1/responses', '/v1/responses'])
  })

  const OLDER = list().filter(({may_serve}) => may_serve)
  test('there are engines of which some versions serve them', () => {
    expect(OLDER.length).toBeGreaterThan(4)
  })

  test.each(OLDER.map(({slug}) => slug))('a %s that has no such routes is spoken to in chat', async kind => {
    for (const absent of [ENGINE_MODELS.llama_cpp.absent, ENGINE_MODELS.ollama.absent, ENGINE_MODELS.vllm.absent]) {
      provider.received.length = 0
      provider.answer(engineAnswer({...ENGINE_MODELS.ollama, routes: [], absent}))
      const slug = await engineProvider({kind})
      const message = await post(slug, '/v1/messages', {max_tokens: 5, messages: MESSAGES})
      expect(await message.reply.json()).toMatchObject({type: 'message', usage: {output_tokens: 5}})
      const response = await post(slug, '/v1/responses', {max_output_tokens: 5, input: PROMPT})
      expect(await response.reply.json()).toMatchObject({object: 'response', usage: {output_tokens: 5}})
      expect(pathsOf(provider.received)).toEqual([
        '/v1/messages',
        '/v1/chat/completions',
        '/v1/responses',
        '/v1/chat/completions',
      ])
    }
  })

  test.each([
    ['answers everything with 200', 200, '{"error":"Unexpected endpoint or method. (POST /v1/messages)"}'],
    ['answers everything with 400', 400, '{"error":"Unexpected endpoint or method. (POST /v1/messages)"}'],
    ['is behind a login', 401, ''],
    ['is overloaded', 503, ''],
  ])('one that %s is spoken to in chat', async (_, status, text) => {
    const engine = engineAnswer({...ENGINE_MODELS.ollama, routes: []})
    provider.answer((received, response, request) =>
      received.path === '/v1/messages' ? response.writeHead(status).end(text) : engine(received, response, request),
    )
    const {reply} = await post(await engineProvider({kind: 'lm-studio'}), '/v1/messages', {
      max_tokens: 5,
      messages: MESSAGES,
    })
    expect([reply.status, pathsOf(provider.received)]).toEqual([200, ['/v1/messages', '/v1/chat/completions']])
  })

  test('one that is silent is called in chat after a second, and asked once for all calls that wait', async () => {
    const engine = engineAnswer({...ENGINE_MODELS.ollama, routes: []})
    provider.answer((received, response, request) =>
      received.path === '/v1/messages' ? undefined : engine(received, response, request),
    )
    const slug = await engineProvider({kind: 'ollama'})
    const calls = await Promise.all(
      [1, 2, 3].map(() => post(slug, '/v1/messages', {max_tokens: 5, messages: MESSAGES})),
    )
    expect(calls.map(({reply}) => reply.status)).toEqual([200, 200, 200])
    expect(pathsOf(provider.received).filter(path => path === '/v1/messages')).toHaveLength(1)
  })
})

describe('O3: what the log estimates, the client is told', () => {
  const engine = ENGINE_MODELS.llama_cpp_python
  beforeEach(() => provider.answer(engineAnswer(engine)))

  test('a stream without usage: at least a token for each of its events', async () => {
    const {reply, trace} = await post(await engineProvider(engine), '/v1/messages', {
      max_tokens: 30,
      stream: true,
      messages: MESSAGES,
    })
    const {started, final} = usageInEvents(await reply.text())
    const row = await rowOf(trace)
    expect(row).toMatchObject({usage_source: 'estimated', res_units: 30})
    expect([final.input_tokens, final.output_tokens]).toEqual([row.req_units, row.res_units])
    expect(started).toMatchObject({input_tokens: row.req_units, output_tokens: 0})
  })

  test('a stream of responses', async () => {
    const {reply, trace} = await post(await engineProvider(engine), '/v1/responses', {stream: true, input: PROMPT})
    const text = await reply.text()
    const ended = JSON.parse(
      text
        .split('\n')
        .findLast(line => line.startsWith('data: {'))!
        .slice(6),
    ) as {response: {usage: object}}
    const row = await rowOf(trace)
    expect(row).toMatchObject({usage_source: 'estimated', res_units: UNBOUNDED_TOKENS})
    expect(ended.response.usage).toMatchObject({input_tokens: row.req_units, output_tokens: row.res_units})
  })

  test.each([
    ['/v1/messages', {max_tokens: 30, messages: MESSAGES}],
    ['/v1/responses', {input: PROMPT}],
  ])('a whole answer at %s', async (path, body) => {
    const silent = engineAnswer(engine)
    provider.answer((received, response, request) => {
      const {end} = response
      response.end = ((text: string) =>
        end.call(response, text.replace(/,"usage":\{[^}]*\}/, ''), 'utf8')) as typeof end
      silent(received, response, request)
    })
    const {reply, trace} = await post(await engineProvider(engine), path, body)
    const {usage} = (await reply.json()) as {usage: {input_tokens: number; output_tokens: number}}
    const row = await rowOf(trace)
    expect(row.usage_source).toBe('estimated')
    expect([usage.input_tokens, usage.output_tokens]).toEqual([row.req_units, row.res_units])
    expect(usage.input_tokens).toBeGreaterThan(0)
  })

  test('the usage that an engine tells wins over an estimate that is higher, too', async () => {
    const usage = {prompt_tokens: 1, completion_tokens: 1, total_tokens: 2}
    provider.answer((received, response, request) => {
      if (received.path !== '/v1/chat/completions') return engineAnswer(engine)(received, response, request)
      const chunk = (choices: readonly unknown[], more = {}) =>
        response.write(
          `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more})}\n\n`,
        )
      response.writeHead(200, {'content-type': 'text/event-stream'})
      for (const content of ['a', 'b', 'c']) chunk([{index: 0, delta: {content}, finish_reason: null}])
      chunk([{index: 0, delta: {}, finish_reason: 'stop'}])
      chunk([], {usage})
      response.end('data: [DONE]\n\n')
    })
    const {reply, trace} = await post(await engineProvider(engine), '/v1/messages', {
      max_tokens: 30,
      stream: true,
      messages: MESSAGES,
    })
    const {final} = usageInEvents(await reply.text())
    expect([final.input_tokens, final.output_tokens]).toEqual([1, 1])
    expect(await rowOf(trace)).toMatchObject({usage_source: 'provider', req_units: 1, res_units: 1})
  })

  test('the usage that an engine tells wins over an estimate', async () => {
    provider.answer(engineAnswer({...ENGINE_MODELS.ollama, routes: []}))
    const {reply, trace} = await post(await engineProvider(ENGINE_MODELS.ollama), '/v1/messages', {
      max_tokens: 30,
      stream: true,
      messages: MESSAGES,
    })
    const {started, final} = usageInEvents(await reply.text())
    expect([final.input_tokens, final.output_tokens]).toEqual([COUNT, 30])
    expect(started).toMatchObject({input_tokens: expect.any(Number), output_tokens: 0})
    expect(await rowOf(trace)).toMatchObject({usage_source: 'provider', req_units: COUNT, res_units: 30})
  })
})

describe('O2: calls that were left', () => {
  async function leftAfter(slug: string, path: string, body: object, events: number) {
    const gone = new AbortController()
    const trace = newTrace()
    const headers = {'content-type': 'application/json', 'x-gateway-provider': `@${slug}`, 'x-gateway-trace-id': trace}
    const asked = {method: 'POST', headers, body: JSON.stringify({model: 'm', ...body}), signal: gone.signal}
    const asking = gateway.call(path, asked).then(reply => (events ? readEvents(reply, events) : undefined))
    const is_chat = () => pathsOf(provider.received).includes('/v1/chat/completions')
    if (events) await asking
    else await expect.poll(is_chat, {interval: 5}).toBe(true)
    gone.abort()
    await asking.catch(() => undefined)
    return rowOf(trace)
  }

  /** Until so many deltas of text came. */
  async function readEvents(reply: Response, events: number) {
    const reader = reply.body!.getReader()
    let text = ''
    while (text.split(/"content":"|"text_delta"/).length <= events) {
      const {value, done} = await reader.read()
      if (done) throw new Error(`the stream ended: ${text}`)
      text += Buffer.from(value).toString()
    }
  }

  test.each(COUNTING)(
    'a stream of %s that was left counts its events, and its prompt by the engine',
    async (_, engine) => {
      provider.answer(engineAnswer(engine, 5))
      const row = await leftAfter(
        await engineProvider(engine),
        '/v1/chat/completions',
        {stream: true, messages: MESSAGES},
        5,
      )
      expect(row).toMatchObject({outcome: 'aborted', usage_source: 'partial', req_units: COUNT, res_units: 5})
    },
  )

  test.each(COUNTING)('a whole call of %s that was left counts its prompt by the engine', async (_, engine) => {
    provider.answer(engineAnswer(engine, 0))
    const row = await leftAfter(await engineProvider(engine), '/v1/chat/completions', {messages: MESSAGES}, 0)
    expect(row).toMatchObject({outcome: 'aborted', usage_source: 'estimated', unanswered: true, req_units: COUNT})
  })

  test('a translated stream that was left, too', async () => {
    const engine = {...ENGINE_MODELS.llama_cpp, routes: ['/v1/chat/completions/input_tokens']}
    provider.answer(engineAnswer(engine, 5))
    const body = {max_tokens: 30, stream: true, messages: MESSAGES}
    const row = await leftAfter(await engineProvider(engine), '/v1/messages', body, 5)
    expect(row).toMatchObject({outcome: 'aborted', usage_source: 'partial', req_units: COUNT, res_units: 5})
  })

  test('an engine without a counter: its events, and an estimate of the prompt', async () => {
    provider.answer(engineAnswer(ENGINE_MODELS.ollama, 5))
    const row = await leftAfter(
      await engineProvider(ENGINE_MODELS.ollama),
      '/v1/chat/completions',
      {stream: true, messages: MESSAGES},
      5,
    )
    expect(row).toMatchObject({outcome: 'aborted', usage_source: 'partial', res_units: 5})
    expect(row.req_units).toBeGreaterThan(5)
  })

  test('a call that goes on elsewhere after a timeout waits for no count, and nothing is guessed for the engine', async () => {
    const engine = engineAnswer(ENGINE_MODELS.vllm)
    const [silent, other] = [await engineProvider(ENGINE_MODELS.vllm), await engineProvider(ENGINE_MODELS.vllm)]
    let chats = 0
    provider.answer((received, response, request) => {
      if (received.path === '/v1/chat/completions' && ++chats === 1) return
      if (received.path !== '/tokenize') engine(received, response, request)
    })
    const targets = [{provider: `@${silent}`, request_timeout: 100}, {provider: `@${other}`}]
    const config = JSON.stringify({strategy: {mode: 'fallback', on_status_codes: [408]}, targets})
    const headers = {'content-type': 'application/json', 'x-gateway-config': config}
    const asked = {method: 'POST', headers, body: JSON.stringify({model: 'm', messages: MESSAGES})}
    expect((await gateway.call('/v1/chat/completions', asked)).status).toBe(200)
    expect(pathsOf(provider.received)).toEqual(['/v1/chat/completions', '/v1/chat/completions'])
    const rows = (await gateway.logs()).slice(0, 2)
    expect(rows.map(row => [row.outcome, row.req_units])).toEqual(
      expect.arrayContaining([
        ['ok', COUNT],
        ['timeout', 0],
      ]),
    )
  })

  test('a counter that is silent holds the row two seconds at most', async () => {
    const engine = engineAnswer(ENGINE_MODELS.vllm, 5)
    provider.answer((received, response, request) =>
      received.path === '/tokenize' ? undefined : engine(received, response, request),
    )
    const row = await leftAfter(
      await engineProvider(ENGINE_MODELS.vllm),
      '/v1/chat/completions',
      {stream: true, messages: MESSAGES},
      5,
    )
    expect(row).toMatchObject({outcome: 'aborted', res_units: 5})
  })
})
