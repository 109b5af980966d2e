import type {ServerResponse} from 'node:http'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import type {Explanation} from '../../src/schema/explanations.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway
let now_ms = Date.parse('2026-11-28T12:00:00Z')
/** Each test has a part of the cache for itself. */
let namespace = 0

beforeEach(() => {
  namespace++
  provider.received.length = 0
  provider.answer(answerEach)
})

async function start(env: Record<string, string> = {}) {
  provider = await fakeProvider(answerEach)
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...env}, {now: () => now_ms})
  await gateway.provider('mock', 'openai', provider.url)
}
async function stop() {
  await gateway.close()
  await provider.close()
}

const config = (more: object = {}, cache: object = {}) => ({
  'x-gateway-config': JSON.stringify({provider: '@mock', cache: {mode: 'semantic', max_age: 3600, ...cache}, ...more}),
  'x-gateway-cache-namespace': `n${namespace}`,
})
const ask = (content: unknown, more: object = {}, headers: Record<string, string> = config()) =>
  gateway.chat({model: 'gpt-4o-mini', messages: [{role: 'user', content}], ...more}, headers)
const status = (reply: Response) => reply.headers.get('x-gateway-cache-status')
const statusOf = async (...of: Parameters<typeof ask>) => {
  const reply = await ask(...of)
  await reply.text()
  return status(reply)
}
/** The rows of this test, newest first. */
const rowsOf = async (requests: number) => (await gateway.logs()).slice(0, requests)

const CHUNK = {id: 'c', object: 'chat.completion.chunk', created: 1}
/** Every answer is another one. */
let answers = 0
function answerEach({body}: {body: Buffer}, response: ServerResponse) {
  const {stream, model} = JSON.parse(body.toString()) as {stream?: boolean; model: string}
  const text = `answer ${++answers}`
  if (!stream) return response.setHeader('content-type', 'application/json').end(JSON.stringify(chatReply(model, text)))
  response.setHeader('content-type', 'text/event-stream')
  const chunk = (delta: object, finish_reason: string | null = null) =>
    response.write(`data: ${JSON.stringify({...CHUNK, model, choices: [{index: 0, delta, finish_reason}]})}\n\n`)
  chunk({role: 'assistant', content: text})
  chunk({}, 'stop')
  response.end('data: [DONE]\n\n')
}
const contentOf = async (reply: Response) =>
  ((await reply.json()) as {choices: {message: {content: string}}[]}).choices[0]!.message.content

/** The same in other case, which every gate lets pass. */
const ASKED = 'What is the capital of France?'
const PARAPHRASE = 'what is the capital of france?'
const SECOND = 'WHAT is the capital of France?'

const metrics = async () => (await fetch(`${gateway.url}/metrics`)).text()

/** Waits until what was kept can be found: it is written after the answer. */
const settled = () => gateway.app.flushed()

describe('with the built-in embedder', () => {
  beforeAll(() => start())
  afterAll(stop)

  test('SC4, SC5, SC3, SC41: a paraphrase is SEMANTIC HIT, then HIT; nothing is charged', async () => {
    const first = await ask(ASKED)
    expect(status(first)).toBe('SEMANTIC MISS')
    const answered = await contentOf(first)
    await settled()
    expect(await statusOf(ASKED)).toBe('HIT')
    const similar = await ask(PARAPHRASE)
    expect([status(similar), await contentOf(similar)]).toEqual(['SEMANTIC HIT', answered])
    expect(Number(similar.headers.get('x-gateway-cache-similarity'))).toBeGreaterThan(0.8)
    const again = await ask(PARAPHRASE)
    expect([status(again), await contentOf(again), again.headers.get('x-gateway-cache-similarity')]).toEqual([
      'HIT',
      answered,
      null,
    ])
    expect(provider.received).toHaveLength(1)
    const rows = await rowsOf(4)
    expect(rows.map(({cache_status}) => cache_status)).toEqual(['HIT', 'SEMANTIC HIT', 'HIT', 'SEMANTIC MISS'])
    expect(rows.map(({cost, total_units}) => [Number(cost) > 0, Number(total_units) > 0])).toEqual([
      [false, false],
      [false, false],
      [false, false],
      [true, true],
    ])
    const log_id = rows[3]!.id
    const similarity = Number(similar.headers.get('x-gateway-cache-similarity'))
    expect(rows.map(({similar}) => similar)).toEqual([
      undefined,
      {similarity, log_id, served: true},
      undefined,
      undefined,
    ])
    expect(await metrics()).toMatch(/semantic_cache_searches_total\{result="hit"\} 1/)
  })

  test('SC19: a stream is stored whole, and a paraphrase that asks for one gets it replayed', async () => {
    expect(await statusOf(ASKED, {stream: true})).toBe('SEMANTIC MISS')
    await settled()
    const reply = await ask(PARAPHRASE, {stream: true})
    const text = await reply.text()
    expect([status(reply), reply.headers.get('content-type'), text.endsWith('data: [DONE]\n\n')]).toEqual([
      'SEMANTIC HIT',
      'text/event-stream; charset=utf-8',
      true,
    ])
    expect(text).toContain(`answer ${answers}`)
    expect(await statusOf(SECOND)).toBe('SEMANTIC HIT')
    expect(provider.received).toHaveLength(1)
  })

  test('SC8, SC9, SC10, SC11: what has no text is MISS; one message is searched', async () => {
    const user = (content: unknown) => ({role: 'user', content})
    const reply = {role: 'assistant', content: 'yes'}
    const of = (...messages: object[]) => statusOf('', {messages})
    expect(await of(user('1'), reply, user('2'), reply, user(ASKED))).toBe('MISS')
    expect(await of({role: 'system', content: ASKED})).toBe('MISS')
    expect(
      await of(
        user([
          {type: 'text', text: ASKED},
          {type: 'image_url', image_url: {url: 'https://a.example/a.png'}},
        ]),
      ),
    ).toBe('MISS')
    expect(
      await of(
        {
          role: 'assistant',
          content: null,
          tool_calls: [{id: 't', type: 'function', function: {name: 'f', arguments: '{}'}}],
        },
        {role: 'tool', tool_call_id: 't', content: 'x'},
        user(ASKED),
      ),
    ).toBe('MISS')
    expect(await statusOf('word '.repeat(8_191))).toBe('MISS')
    expect(await of(user(ASKED))).toBe('SEMANTIC MISS')
  })

  test('SC7: a config may raise the threshold, never lower it', async () => {
    const other = 'Tell me what the capital city of the French Republic is called'
    expect(await statusOf(ASKED)).toBe('SEMANTIC MISS')
    await settled()
    expect(await statusOf(other, {}, config({}, {threshold: 0}))).toBe('SEMANTIC MISS')
    const near = `${ASKED} Please.`
    expect(await statusOf(near, {}, config({}, {threshold: 0.999}))).toBe('SEMANTIC MISS')
    expect(await statusOf(PARAPHRASE, {}, config({}, {threshold: 0.999}))).toBe('SEMANTIC HIT')
  })

  test('SC14: with debug off it is DISABLED, and nothing is kept', async () => {
    expect(await statusOf(ASKED, {}, {...config(), 'x-gateway-debug': 'false'})).toBe('DISABLED')
    await settled()
    expect(await statusOf(PARAPHRASE)).toBe('SEMANTIC MISS')
  })

  test('SC15: a refresh asks the provider once, and its answer is the one that other words find', async () => {
    const answered = [await contentOf(await ask(ASKED))]
    await settled()
    answered.push(await contentOf(await ask(PARAPHRASE, {}, {...config(), 'x-gateway-cache-force-refresh': 'true'})))
    await settled()
    expect([answered[0] === answered[1], provider.received.length]).toEqual([false, 2])
    const found = await ask(SECOND)
    expect([status(found), await contentOf(found)]).toEqual(['SEMANTIC HIT', answered[1]])
    const former = await ask(ASKED)
    expect([status(former), await contentOf(former)]).toEqual(['SEMANTIC HIT', answered[1]])
  })

  test('SC16, SC31: what has ended is not found, and a copy ends with what it copies', async () => {
    const short = config({}, {max_age: 60})
    expect(await statusOf(ASKED, {}, short)).toBe('SEMANTIC MISS')
    await settled()
    now_ms += 50_000
    expect(await statusOf(PARAPHRASE, {}, short)).toBe('SEMANTIC HIT')
    expect(await statusOf(PARAPHRASE, {}, short)).toBe('HIT')
    now_ms += 13_000
    expect(await statusOf(PARAPHRASE, {}, short)).toBe('SEMANTIC MISS')
    expect(provider.received).toHaveLength(2)
  })

  test('an entry is not given to who wants younger ones', async () => {
    await statusOf(ASKED)
    await settled()
    now_ms += 120_000
    expect(await statusOf(PARAPHRASE, {}, config({}, {max_age: 60}))).toBe('SEMANTIC MISS')
    expect(await statusOf(SECOND)).toBe('SEMANTIC HIT')
  })

  test('SC33: an answer that was cut is for the same words again, not for others', async () => {
    provider.answer((_, response) => {
      const reply = chatReply('gpt-4o-mini', 'Par')
      const choices = [{...reply.choices[0]!, finish_reason: 'length'}]
      response.setHeader('content-type', 'application/json').end(JSON.stringify({...reply, choices}))
    })
    expect(await statusOf(ASKED)).toBe('SEMANTIC MISS')
    await settled()
    expect([await statusOf(PARAPHRASE), await statusOf(ASKED)]).toEqual(['SEMANTIC MISS', 'HIT'])
  })

  test('SC1, SC2, SC18: system prompt, tools, parameters, model, metadata and namespace part', async () => {
    const messages = (system: string) => ({
      messages: [
        {role: 'system', content: system},
        {role: 'user', content: ASKED},
      ],
    })
    const ways: [object, Record<string, string>][] = [
      [{}, {}],
      [messages('Be a pirate.'), {}],
      [messages('Be a king.'), {}],
      [{temperature: 0.3}, {}],
      [{max_tokens: 7}, {}],
      [{model: 'gpt-4o'}, {}],
      [{tools: [{type: 'function', function: {name: 'f', parameters: {type: 'object'}}}]}, {}],
      [{response_format: {type: 'json_object'}}, {}],
      [{}, {'x-gateway-cache-namespace': '', 'x-gateway-metadata': '{"_user":"u2"}'}],
      [{}, {'x-gateway-cache-namespace': '', 'x-gateway-metadata': '{"_user":"u3"}'}],
      [{}, {'x-gateway-cache-namespace': 'n'}],
    ]
    for (const [more, headers] of ways) {
      expect(await statusOf(ASKED, more, {...config(), ...headers}), JSON.stringify([more, headers])).toBe(
        'SEMANTIC MISS',
      )
      await settled()
    }
    const named = {'x-gateway-cache-namespace': 'n', 'x-gateway-metadata': '{"_user":"u3"}'}
    expect(await statusOf(PARAPHRASE, {}, {...config(), ...named})).toBe('SEMANTIC HIT')
  })

  test('many that ask in other words at once get one answer', async () => {
    await statusOf(ASKED)
    await settled()
    const all = await Promise.all(Array.from({length: 20}, () => statusOf(PARAPHRASE)))
    expect(new Set(all)).toEqual(new Set(['SEMANTIC HIT', 'HIT']))
    expect(provider.received).toHaveLength(1)
  })

  test('an explanation tells if other words are searched for, and why not', async () => {
    const workspace_id = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id
    const explained = async (messages: object[]) => {
      const config = {provider: '@mock', cache: {mode: 'semantic', threshold: 0.9}}
      const request = {path: '/v1/chat/completions', body: {model: 'gpt-4o-mini', messages}}
      const {targets} = await gateway.admin<Explanation>('POST', '/configs/explain', {config, request, workspace_id})
      return targets[0]!.cache
    }
    expect(await explained([{role: 'user', content: ASKED}])).toMatchObject({
      mode: 'semantic',
      semantic: {searches: true, because: null, embedder: 'builtin', threshold: 0.9, gate: 'strict'},
    })
    const {semantic} = await explained([{role: 'system', content: ASKED}])
    expect(semantic).toMatchObject({searches: false, because: expect.stringContaining('no text to compare')})
  })

  test('messages, responses and completions are searched as chats are', async () => {
    const reply: Record<string, object> = {
      '/v1/completions': {
        id: 'c',
        object: 'text_completion',
        model: 'm',
        choices: [{index: 0, text: 'Paris', finish_reason: 'stop'}],
      },
      '/v1/responses': {
        id: 'r',
        object: 'response',
        status: 'completed',
        model: 'm',
        output: [
          {
            id: 'o',
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{type: 'output_text', text: 'Paris', annotations: []}],
          },
        ],
      },
    }
    provider.answer(({path}, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(reply[path])),
    )
    for (const [path, body] of [
      ['/v1/completions', (prompt: string) => ({model: 'm', prompt})],
      ['/v1/responses', (input: string) => ({model: 'm', input, store: false})],
    ] as const) {
      const statuses = []
      for (const text of [ASKED, PARAPHRASE]) {
        const answer = await gateway.call(path, {
          method: 'POST',
          body: JSON.stringify(body(text)),
          headers: {'content-type': 'application/json', ...config()},
        })
        await answer.text()
        await settled()
        statuses.push(status(answer))
      }
      expect(statuses, path).toEqual(['SEMANTIC MISS', 'SEMANTIC HIT'])
    }
  })
})

describe('with other settings', () => {
  afterEach(stop)

  test('SC13, SC42: with none it works as simple', async () => {
    await start({SEMANTIC_CACHE_EMBEDDER: 'none'})
    expect([await statusOf(ASKED), await statusOf(PARAPHRASE), await statusOf(ASKED)]).toEqual(['MISS', 'MISS', 'HIT'])
  })

  test('SC22: shadow mode counts what it would give, and never gives it', async () => {
    await start({SEMANTIC_CACHE_MODE: 'shadow'})
    await statusOf(ASKED)
    await settled()
    expect(await statusOf(PARAPHRASE)).toBe('SEMANTIC MISS')
    expect(provider.received).toHaveLength(2)
    const [row, first] = await rowsOf(2)
    expect(row!.similar).toMatchObject({log_id: first!.id, served: false, agreement: 'unknown'})
    expect(await metrics()).toMatch(/searches_total\{result="would_hit"\} 1/)
    expect(await metrics()).toMatch(/compared_total\{agreement="unknown"\} 1/)
  })

  test('shadow mode compares both answers, whole and streamed; they are the bodies of two rows', async () => {
    await start({SEMANTIC_CACHE_MODE: 'shadow'})
    const same = ({body}: {body: Buffer}, response: ServerResponse) => {
      answers = 6
      answerEach({body}, response)
    }
    provider.answer(same)
    await statusOf(ASKED)
    await settled()
    expect(await statusOf(PARAPHRASE)).toBe('SEMANTIC MISS')
    expect(await statusOf(SECOND, {stream: true})).toBe('SEMANTIC MISS')
    const [streamed, whole, first] = await rowsOf(3)
    expect([streamed, whole].map(each => each!.similar)).toEqual([
      {similarity: expect.any(Number), log_id: expect.any(String), served: false, agreement: 'equal'},
      {similarity: expect.any(Number), log_id: first!.id, served: false, agreement: 'equal'},
    ])
    expect(await metrics()).toMatch(/compared_total\{agreement="equal"\} 2/)
    const bodyOf = async (id: unknown) => JSON.stringify(await gateway.admin('GET', `/logs/${id}`))
    for (const id of [whole!.id, (whole!.similar as {log_id: string}).log_id])
      expect(await bodyOf(id)).toContain('answer 7')
  })

  test('a shadow hit whose call fails has no agreement', async () => {
    await start({SEMANTIC_CACHE_MODE: 'shadow'})
    await statusOf(ASKED)
    await settled()
    provider.answer((_, response) => response.writeHead(400, {'content-type': 'application/json'}).end('{"error":{}}'))
    await statusOf(PARAPHRASE)
    const [row] = await rowsOf(1)
    expect(row!.similar).toEqual({similarity: expect.any(Number), log_id: expect.any(String), served: false})
  })

  test('with SEMANTIC_CACHE_IGNORE_SYSTEM_PROMPT a system prompt parts no more, and all else does', async () => {
    await start({SEMANTIC_CACHE_IGNORE_SYSTEM_PROMPT: 'true'})
    const asPersona = (content: string, text: string) => ({
      messages: [
        {role: 'system', content},
        {role: 'user', content: text},
      ],
    })
    expect(await statusOf(ASKED, asPersona('Be a pirate.', ASKED))).toBe('SEMANTIC MISS')
    await settled()
    expect(await statusOf(ASKED, asPersona('Be a king.', ASKED))).toBe('SEMANTIC HIT')
    // no copy is left behind, which would be found when system prompts part answers again
    expect(await statusOf(ASKED, asPersona('Be a king.', ASKED))).toBe('SEMANTIC HIT')
    expect(await statusOf(PARAPHRASE)).toBe('SEMANTIC HIT')
    expect(await statusOf(SECOND, {temperature: 0.5})).toBe('SEMANTIC MISS')
    expect(provider.received).toHaveLength(2)
  })

  test('entries are listed without texts, and a clearing takes them from memory too', async () => {
    await start()
    await statusOf(ASKED)
    await settled()
    expect(await statusOf(PARAPHRASE)).toBe('SEMANTIC HIT')
    type Shown = {total: number; data: Record<string, unknown>[]}
    await expect.poll(async () => (await gateway.admin<Shown>('GET', '/cache/entries')).total).toBe(3)
    const {data} = await gateway.admin<Shown>('GET', '/cache/entries')
    expect(data.map(({kind, model, namespace: of}) => [kind, model, of])).toEqual([
      ['simple', 'gpt-4o-mini', `n${namespace}`],
      ['simple', 'gpt-4o-mini', `n${namespace}`],
      ['semantic', 'gpt-4o-mini', `n${namespace}`],
    ])
    expect(JSON.stringify(data)).not.toMatch(/capital|answer/i)
    expect(await gateway.admin('POST', '/cache/clear', {namespace: `n${namespace}`})).toMatchObject({
      simple: 2,
      semantic: 1,
    })
    expect(await statusOf(ASKED)).toBe('SEMANTIC MISS')
    expect(provider.received).toHaveLength(2)
  })
})

describe('with a service', () => {
  /** The vectors it gives, by text; another text: one of its own. */
  const VECTORS: Record<string, number[]> = {[ASKED]: [1, 0, 0, 0], [PARAPHRASE]: [2, 0.1, 0, 0]}
  const LONG = Buffer.from(`{"data":[{"embedding":[1${',1'.repeat(1 << 20)}]}]}`)
  let embedder: FakeProvider
  beforeAll(async () => {
    embedder = await fakeProvider(embed)
    await start({
      SEMANTIC_CACHE_EMBEDDER: 'openai',
      SEMANTIC_CACHE_EMBEDDINGS_URL: `${embedder.url}/embeddings`,
      SEMANTIC_CACHE_EMBEDDING_API_KEY: 'sk-of-the-operator',
      SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: '4',
      SEMANTIC_CACHE_EMBEDDING_TIMEOUT_MS: '300',
    })
  })
  afterAll(async () => {
    await stop()
    await embedder.close()
  })
  beforeEach(() => {
    now_ms += 30_001 // what a test before has done to the service is over
    embedder.received.length = 0
    embedder.answer(embed)
  })

  function embed({body}: {body: Buffer}, response: ServerResponse) {
    const {input} = JSON.parse(body.toString()) as {input: [string]}
    const embedding = VECTORS[input[0]] ?? [0, 0, 1, 0]
    const usage = {prompt_tokens: 7, total_tokens: 7}
    response.setHeader('content-type', 'application/json').end(JSON.stringify({data: [{embedding}], usage}))
  }

  test('SC27, SC4: a text is embedded once, by the operator’s credential, with a row of its own', async () => {
    const own = {...config(), 'x-gateway-forward-headers': 'x-own', 'x-own': 'mine', 'x-gateway-trace-id': 't-1'}
    const both = await Promise.all([statusOf(ASKED, {}, own), statusOf(ASKED, {temperature: 0.5}, own)])
    expect(both).toEqual(['SEMANTIC MISS', 'SEMANTIC MISS'])
    await settled()
    expect(await statusOf(PARAPHRASE, {}, own)).toBe('SEMANTIC HIT')
    expect(embedder.received.map(({body}) => (JSON.parse(body.toString()) as {input: string[]}).input)).toEqual([
      [ASKED],
      [PARAPHRASE],
    ])
    const [sent] = embedder.received
    expect(JSON.parse(sent!.body.toString())).toEqual({
      input: [ASKED],
      model: 'text-embedding-3-small',
      dimensions: 4,
      user: 'Semantic Cache',
    })
    expect(sent!.headers.authorization).toBe('Bearer sk-of-the-operator')
    expect(Object.keys(sent!.headers).filter(name => name.startsWith('x-'))).toEqual([])
    const rows = (await rowsOf(5)).filter(({endpoint}) => endpoint === 'embed')
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatchObject({ai_model: 'text-embedding-3-small', req_units: 7, trace_id: 't-1'})
    expect(Number(rows[0]!.cost)).toBeGreaterThan(0)
  })

  test.each([
    ['500', (response: ServerResponse) => response.writeHead(500).end('{}')],
    ['no answer in time', () => undefined],
    ['another dimension', (response: ServerResponse) => response.end('{"data":[{"embedding":[1,2]}]}')],
    ['NaN', (response: ServerResponse) => response.end('{"data":[{"embedding":[1,null,"x",2]}]}')],
    ['zero', (response: ServerResponse) => response.end('{"data":[{"embedding":[0,0,0,0]}]}')],
    ['no JSON', (response: ServerResponse) => response.end('<html>')],
    ['a redirect', (response: ServerResponse) => response.writeHead(307, {location: provider.url}).end()],
    ['2 MB', (response: ServerResponse) => response.end(LONG)],
    ['an error as 200', (response: ServerResponse) => response.end('{"error":{"message":"no"},"data":[]}')],
    ['a broken connection', (response: ServerResponse) => response.destroy()],
  ])('SC12: with %s from it the call goes on as MISS, and after five the service is left alone', async (_, answer) => {
    embedder.answer((__, response) => void answer(response))
    const text = (word: string | number) => `${ASKED} ${namespace} ${word}`
    for (let at = 0; at < 7; at++) expect(await statusOf(text(at))).toBe('MISS')
    expect(embedder.received).toHaveLength(5)
    now_ms += 30_001
    expect([await statusOf(text('again')), await statusOf(text('more'))]).toEqual(['MISS', 'MISS'])
    // one request tries it; on a connection that had just been broken it does not get there
    expect(embedder.received.length).toBeLessThanOrEqual(6)
    expect(await statusOf(text(0))).toBe('HIT')
    embedder.answer(embed)
    now_ms += 30_001
    expect(await statusOf(text('at last'))).toBe('SEMANTIC MISS')
    expect(gateway.lines.join('')).not.toContain('capital')
  })

  test('a client that leaves while the service is silent ends the call: no provider is called', async () => {
    embedder.answer(() => undefined)
    const leaving = new AbortController()
    const call = gateway!
      .call('/v1/chat/completions', {
        method: 'POST',
        signal: leaving.signal,
        headers: {'content-type': 'application/json', ...config()},
        body: JSON.stringify({model: 'gpt-4o-mini', messages: [{role: 'user', content: 'A silent service'}]}),
      })
      .catch(() => 'left')
    await expect.poll(() => embedder.received.length, {timeout: 10_000}).toBe(1)
    leaving.abort()
    expect(await call).toBe('left')
    await expect
      .poll(async () => (await rowsOf(2)).map(({endpoint, error}) => [endpoint, error]), {timeout: 10_000})
      .toContainEqual(['embed', 'the service did not answer'])
    expect(provider.received).toHaveLength(0)
  })

  test('a leader that leaves while the service is silent leaves the lead to those that wait', async () => {
    embedder.answer(() => undefined)
    const leaving = new AbortController()
    const body = JSON.stringify({model: 'gpt-4o-mini', messages: [{role: 'user', content: 'Silence for many'}]})
    const headers = {'content-type': 'application/json', ...config()}
    const call = (signal?: AbortSignal) =>
      gateway.call('/v1/chat/completions', {method: 'POST', headers, body, signal: signal ?? null})
    const first = call(leaving.signal).catch(() => 'left')
    await expect.poll(() => embedder.received.length, {timeout: 10_000}).toBe(1)
    const others = [call(), call()]
    leaving.abort()
    expect(await first).toBe('left')
    expect((await Promise.all(others)).map(({status}) => status)).toEqual([200, 200])
    expect(provider.received).toHaveLength(1)
    expect(embedder.received).toHaveLength(1)
  })

  test('a call that is refused asks no embedding', async () => {
    expect((await ask('A refused call', {}, config({provider: '@unknown'}))).status).toBeGreaterThanOrEqual(400)
    const refused = await gateway.chat(
      {model: 'm', messages: [{role: 'user', content: 'A refused call'}]},
      {...config(), 'x-gateway-api-key': 'wrong'},
    )
    expect(refused.status).toBe(401)
    expect(embedder.received).toHaveLength(0)
  })
})
