import {once} from 'node:events'
import type {ServerResponse} from 'node:http'
import {gzipSync} from 'node:zlib'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {chatEvents, fakeProvider, json} from '../support/provider.ts'
import {
  ANTHROPIC_OVERLOAD,
  CHAT,
  chatText,
  events,
  MESSAGE,
  MESSAGE_REST,
  MESSAGE_START,
  type RoutingSetup,
  said,
  startRouting,
  statuses,
} from '../support/routing.ts'

let routed: RoutingSetup

beforeAll(async () => {
  routed = await startRouting({DRAIN_TIMEOUT_MS: '3000'})
  await routed.gateway.provider('groq', 'groq', routed.b.url)
})
beforeEach(() => routed.reset())
afterAll(() => routed.close())

const [A, B, C] = [{provider: '@a'}, {provider: '@b'}, {provider: '@c'}]
const CLAUDE = {provider: '@claude'}
const fallback = (...targets: object[]) => ({strategy: {mode: 'fallback'}, targets})
const on = (on_status_codes: number[], ...targets: object[]) => ({
  strategy: {mode: 'fallback', on_status_codes},
  targets,
})
/** Waits as long as a 429 says: not at all. */
const AT_ONCE = {'retry-after-ms': '0'}
const retry = (attempts: number, more = {}) => ({retry: {attempts, use_retry_after_header: true, ...more}})
const silent = () => undefined
/** Ends the connection, not the answer, once all of `text` has left. */
function breaksAfter(response: ServerResponse, text: string) {
  response.write(text)
  response.socket!.write('', () => response.destroy())
}

describe('retries', () => {
  test('ask again while attempts are left: 429, 429, 200 makes one row, three entries, and the sum of what was used', async () => {
    routed.a.answer(statuses([429, 429, 200], AT_ONCE))
    const result = await routed.ask({...A, ...retry(2)})
    expect([result.status, result.retries, result.path, routed.received().a]).toEqual([200, '2', 'config', 3])
    expect(result.rows).toMatchObject([
      {status: 200, retry_count: 2, mode: 'single', option_path: 'config', prompt_tokens: 12},
    ])
    expect(result.entries).toMatchObject([
      {attempt: 1, status: 429, outcome: 'ok', delivered: 0, cost_nanousd: 0},
      {attempt: 2, status: 429, delivered: 0},
      {attempt: 3, status: 200, delivered: 1},
    ])
    expect(routed.a.received.map(({body}) => body.toString())).toEqual(
      Array.from({length: 3}, () => JSON.stringify(CHAT)),
    )
  })

  test('sum what every attempt used in the row, when one of them was charged', async () => {
    const received: number[] = []
    routed.claude.answer((_, response) => {
      received.push(1)
      response.writeHead(200, {'content-type': 'text/event-stream'})
      if (received.length === 1) response.end(MESSAGE_START + ANTHROPIC_OVERLOAD)
      else response.end(MESSAGE_START + MESSAGE_REST.join(''))
    })
    const result = await routed.ask(
      {...CLAUDE, retry: {attempts: 1}},
      {path: '/v1/messages', body: {...CHAT, model: 'claude-sonnet-4-5', max_tokens: 9, stream: true}},
    )
    expect([result.status, result.retries, result.text]).toEqual([200, '1', MESSAGE_START + MESSAGE_REST.join('')])
    expect(result.entries).toMatchObject([
      {prompt_tokens: 25, delivered: 0},
      {prompt_tokens: 25, completion_tokens: 3, delivered: 1},
    ])
    expect(result.rows).toMatchObject([{retry_count: 1, prompt_tokens: 50, status: 200}])
    expect(result.rows[0]!.cost_nanousd).toBe(result.entries.reduce((sum, entry) => sum + entry.cost_nanousd, 0))
    expect(result.rows[0]!.cost_nanousd).toBeGreaterThan(0)
  })

  test('have limits count an attempt that was charged while the next one is under way', async () => {
    const {gateway} = routed
    const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const {key, id} = await gateway.admin<{key: string; id: string}>('POST', '/api-keys/workspace/service', {
      name: 'between attempts',
      workspace_id: workspace!.id,
      scopes: ['completions.write'],
      usage_limits: {type: 'tokens', credit_limit: 1_000_000},
    })
    const limits = async () =>
      (
        await gateway.admin<{data: {entity: string; id: string; used: number}[]}>(
          'GET',
          `/limits?workspace_id=${workspace!.id}`,
        )
      ).data
    const used = async () => (await limits()).find(each => each.id === id)?.used
    const between: (number | undefined)[] = []
    for (const config of [{...CLAUDE, retry: {attempts: 1}}, fallback(CLAUDE, CLAUDE)]) {
      let received = 0
      routed.claude.answer(async (_, response) => {
        if (++received > 1) between.push(await used())
        response.writeHead(200, {'content-type': 'text/event-stream'})
        response.end(received === 1 ? MESSAGE_START + ANTHROPIC_OVERLOAD : MESSAGE_START + MESSAGE_REST.join(''))
      })
      const body = {...CHAT, model: 'claude-sonnet-4-5', max_tokens: 9, stream: true}
      expect((await routed.ask(config, {path: '/v1/messages', body, headers: {'x-gateway-api-key': key}})).status).toBe(
        200,
      )
      between.push(await used())
    }
    expect(between).toEqual([26, 54, 80, 108])
  })

  test('that are spent leave the last failure and say -1', async () => {
    routed.a.answer(statuses([429], AT_ONCE))
    const result = await routed.ask({...A, ...retry(2)})
    expect([result.status, result.retries, routed.received().a, result.entries.length]).toEqual([429, '-1', 3, 3])
    expect(result.text).toContain('told 429')
    expect(result.rows).toMatchObject([{status: 429, retry_count: 2, cost_nanousd: 0}])
  })

  test('wait a second before the first, where the provider says nothing', async () => {
    const at: number[] = []
    routed.a.answer((received, response, request) => {
      at.push(performance.now())
      statuses(at.length === 1 ? [500] : [200])(received, response, request)
    })
    const result = await routed.ask({...A, retry: {attempts: 1}})
    expect([result.status, result.retries]).toEqual([200, '1'])
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(990)
  })

  test('are not made for a wait of 60 s or more, nor of statuses that are not named', async () => {
    routed.a.answer(statuses([429], {'retry-after': '70'}))
    const long = await routed.ask({...A, ...retry(3)})
    expect([long.status, long.retries, long.headers.get('retry-after'), routed.received().a]).toEqual([
      429,
      '-1',
      '70',
      1,
    ])
    routed.a.answer(statuses([418]))
    const other = await routed.ask({...A, ...retry(3)})
    expect([other.status, other.retries, routed.received().a]).toEqual([418, '0', 2])
    routed.a.answer(statuses([429], AT_ONCE))
    const named = await routed.ask({...A, ...retry(3, {on_status_codes: [503]})})
    expect([named.status, named.retries, routed.received().a]).toEqual([429, '0', 3])
  })

  test('end when the waits together would be longer than 60 s', async () => {
    const waits = ['100', '59950']
    routed.a.answer((_, response) => json(response, {}, 429, {'retry-after-ms': waits.shift() ?? '0'}))
    const result = await routed.ask({...A, ...retry(5)})
    expect([result.status, result.retries, routed.received().a]).toEqual([429, '-1', 2])
    expect(result.rows).toMatchObject([{status: 429, retry_count: 1}])
  })

  test('of a target come before its neighbour, whose count is its own', async () => {
    routed.a.answer(statuses([429], AT_ONCE))
    routed.b.answer(statuses([429, 200], AT_ONCE))
    const result = await routed.ask({...fallback(A, B), ...retry(1)})
    expect([result.status, result.retries, result.path]).toEqual([200, '1', 'config.targets[1]'])
    expect(result.rows).toMatchObject([
      {provider_slug: 'a', status: 429, retry_count: 1},
      {provider_slug: 'b', status: 200, retry_count: 1, prompt_tokens: 12},
    ])
    expect(result.entries.map(({attempt, provider_slug}) => [attempt, provider_slug])).toEqual([
      [1, 'a'],
      [2, 'a'],
      [3, 'b'],
      [4, 'b'],
    ])
  })
})

describe('a timeout', () => {
  test('ends the attempt with 408', async () => {
    routed.a.answer(silent)
    const result = await routed.ask({...A, request_timeout: 100})
    expect([result.status, result.retries, JSON.parse(result.text)]).toEqual([
      408,
      '0',
      {error: {message: expect.stringContaining('100 ms'), type: 'timeout_error', param: null, code: null}},
    ])
    expect(result.rows).toMatchObject([{status: 408}])
    expect(result.entries).toMatchObject([{outcome: 'timeout', delivered: 1}])
  })

  test.each([
    ['not streamed', silent],
    [
      'streamed, where only its head came',
      (_: unknown, response: ServerResponse) => {
        response.writeHead(200, {'content-type': 'text/event-stream'}).write(': wait\n\n')
      },
    ],
  ])('falls back without codes being named, %s', async (_, answer) => {
    routed.a.answer(answer)
    const result = await routed.ask(fallback({...A, request_timeout: 60}, B), {body: {...CHAT, stream: true}})
    expect([result.status, result.path, chatText(result.text)]).toEqual([
      200,
      'config.targets[1]',
      {text: 'Hello you', ends: 1, errors: []},
    ])
    expect(result.rows).toMatchObject([
      {provider_slug: 'a', status: 408},
      {provider_slug: 'b', status: 200},
    ])
    expect(result.entries).toMatchObject([
      {outcome: 'timeout', delivered: 0},
      {outcome: 'ok', delivered: 1},
    ])
  })

  test('holds for each attempt, not for all of them', async () => {
    routed.a.answer(silent)
    const result = await routed.ask({...A, request_timeout: 40, retry: {attempts: 1, on_status_codes: [408]}})
    expect([result.status, result.retries, routed.received().a]).toEqual([408, '-1', 2])
  })
})

describe('status codes', () => {
  test('that a fallback does not name pass', async () => {
    routed.a.answer(statuses([500]))
    const result = await routed.ask(on([429], A, B))
    expect([result.status, result.path, routed.received()]).toEqual([
      500,
      'config.targets[0]',
      {a: 1, b: 0, c: 0, claude: 0},
    ])
    expect(result.text).toContain('told 500')
    expect([result.rows.length, result.entries.length]).toEqual([1, 1])
  })

  test('of ours count like those of providers: 408 and 503 by name', async () => {
    routed.a.answer(silent)
    const result = await routed.ask(on([408], {...A, request_timeout: 40}, B))
    expect([result.status, result.path]).toEqual([200, 'config.targets[1]'])
  })

  test('of the last target are answered', async () => {
    for (const [provider, status] of [[routed.a, 500] as const, [routed.b, 404] as const])
      provider.answer(statuses([status]))
    const result = await routed.ask(fallback(A, B))
    expect([result.status, result.path]).toEqual([404, 'config.targets[1]'])
    expect(result.text).toContain('told 404')
  })
})

describe('the network', () => {
  test('that refuses a connection is 503, and falls back', async () => {
    const gone = await fakeProvider()
    await gone.close()
    await routed.gateway.provider('gone', 'openai', gone.url)
    const result = await routed.ask(fallback({provider: '@gone'}, B))
    expect([result.status, result.path]).toEqual([200, 'config.targets[1]'])
    expect(result.rows.map(({status}) => status)).toEqual([503, 200])
    expect(result.entries).toMatchObject([{outcome: 'failed', status: null, cost_nanousd: 0}, {outcome: 'ok'}])
    expect((await routed.ask({provider: '@gone'})).status).toBe(503)
  })

  test('that breaks before the head is 502, retried whatever the codes, and falls back', async () => {
    routed.a.answer((_, response) => response.destroy())
    const result = await routed.ask(fallback({...A, retry: {attempts: 1, on_status_codes: [429]}}, B))
    expect([result.status, result.path, routed.received().a]).toEqual([200, 'config.targets[1]', 2])
    expect(result.rows).toMatchObject([
      {status: 502, retry_count: 1},
      {status: 200, retry_count: 0},
    ])
  })

  test('that breaks in the middle of a body is told, and nobody else is asked', async () => {
    let go = () => {}
    routed.a.answer((_, response) => {
      response
        .writeHead(200, {'content-type': 'application/json', 'content-length': '5000'})
        .write('{"id":"chatcmpl-1","x":"')
      go = () => response.destroy()
    })
    const reply = await routed.gateway.chat(CHAT, {
      'x-gateway-config': JSON.stringify(fallback(A, B)),
      'x-gateway-trace-id': 'cut-body',
    })
    expect(reply.status).toBe(200)
    const reader = reply.body!.getReader()
    await reader.read()
    go()
    await expect(reader.read()).rejects.toThrow()
    const {rows, entries} = await routed.recorded('cut-body')
    expect([routed.received().b, rows.length]).toEqual([0, 1])
    expect(entries).toMatchObject([{outcome: 'failed', status: 200}])
  })

  test('that breaks in the middle of a stream is told in it, and nobody else is asked', async () => {
    routed.a.answer((_, response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'})
      breaksAfter(response, chatEvents('gpt-4o-mini').slice(0, 3).join(''))
    })
    const result = await routed.ask(fallback(A, B), {body: {...CHAT, stream: true}})
    expect(chatText(result.text)).toEqual({
      text: 'Hello',
      ends: 0,
      errors: [expect.objectContaining({type: 'connection_error'})],
    })
    expect([result.path, routed.received().b, result.entries.length]).toEqual(['config.targets[0]', 0, 1])
  })

  test('that breaks before the first event of a stream falls back', async () => {
    routed.a.answer((_, response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'})
      breaksAfter(response, ': soon\n\n')
    })
    const result = await routed.ask(fallback(A, B), {body: {...CHAT, stream: true}})
    expect([result.status, result.path, chatText(result.text)]).toEqual([
      200,
      'config.targets[1]',
      {text: 'Hello you', ends: 1, errors: []},
    ])
  })
})

const OPENAI_OVERLOAD = `data: ${JSON.stringify({error: {message: 'The server is overloaded', type: 'overloaded_error', code: null}})}\n\n`
const RATE = `data: ${JSON.stringify({error: {message: 'Slow down', type: 'rate_limit_error', code: null}})}\n\n`
const MESSAGES = {path: '/v1/messages', body: {...CHAT, model: 'claude-sonnet-4-5', max_tokens: 9, stream: true}}

describe('a stream whose first event is an error', () => {
  test('in OpenAI’s words falls back, and the client sees one clean stream', async () => {
    routed.a.answer(events([': comment\n\n', OPENAI_OVERLOAD, 'data: [DONE]\n\n']))
    const result = await routed.ask(fallback(A, B), {body: {...CHAT, stream: true}})
    expect([result.status, result.path]).toEqual([200, 'config.targets[1]'])
    expect(result.text).toBe(chatEvents('gpt-4o-mini', {usage: false}).join(''))
    expect(result.entries.map(({provider_slug, delivered}) => [provider_slug, delivered])).toEqual([
      ['a', 0],
      ['b', 1],
    ])
    expect(result.rows[0]!.error).toContain('The server is overloaded')
  })

  test('in Anthropic’s words, behind its preamble, falls back for a client of Messages', async () => {
    routed.claude.answer(events([MESSAGE_START, said('ping'), ANTHROPIC_OVERLOAD]))
    const result = await routed.ask(
      fallback(CLAUDE, {provider: '@groq', override_params: {model: 'llama-3.3-70b-versatile'}}),
      MESSAGES,
    )
    expect([result.status, result.path]).toEqual([200, 'config.targets[1]'])
    expect(result.text.match(/^event: message_start$/gm)).toHaveLength(1)
    expect(result.text).not.toContain('overloaded')
    expect(result.text).toMatch(/event: message_stop\n/)
    expect(JSON.parse(routed.b.received[0]!.body.toString())).toMatchObject({
      model: 'llama-3.3-70b-versatile',
      stream: true,
    })
  })

  test('in Anthropic’s words falls back for a client of chat', async () => {
    routed.claude.answer(events([MESSAGE_START, said('ping'), ANTHROPIC_OVERLOAD]))
    const result = await routed.ask(fallback({...CLAUDE, override_params: {model: 'claude-sonnet-4-5'}}, B), {
      body: {...CHAT, stream: true},
    })
    expect([result.status, result.path, chatText(result.text)]).toEqual([
      200,
      'config.targets[1]',
      {text: 'Hello you', ends: 1, errors: []},
    ])
  })

  test('in a compressed stream falls back too', async () => {
    routed.a.answer((_, response) =>
      response
        .writeHead(200, {'content-type': 'text/event-stream', 'content-encoding': 'gzip'})
        .end(gzipSync(OPENAI_OVERLOAD)),
    )
    const result = await routed.ask(fallback(A, B), {
      body: {...CHAT, stream: true},
      headers: {'accept-encoding': 'gzip'},
    })
    expect([result.status, result.path, chatText(result.text).text]).toEqual([200, 'config.targets[1]', 'Hello you'])
  })

  test('is judged by the status it would have had: 529 is named here, 429 there', async () => {
    const asked = {body: {...CHAT, stream: true}}
    routed.a.answer(events([OPENAI_OVERLOAD]))
    expect((await routed.ask(on([529], A, B), asked)).path).toBe('config.targets[1]')
    expect((await routed.ask(on([429], A, B), asked)).path).toBe('config.targets[0]')
    routed.a.answer(events([RATE]))
    expect((await routed.ask(on([429], A, B), asked)).path).toBe('config.targets[1]')
    expect((await routed.ask(on([529], A, B), asked)).path).toBe('config.targets[0]')
  })

  test('of the last target, or not one to fall back on, reaches the client as it was told', async () => {
    routed.a.answer(events([OPENAI_OVERLOAD]))
    for (const config of [A, on([429], A, B), fallback({...A, name: 'only'})]) {
      const result = await routed.ask(config, {body: {...CHAT, stream: true}})
      expect([result.status, result.text, routed.received().b]).toEqual([200, OPENAI_OVERLOAD, 0])
    }
  })
})

describe('a stream', () => {
  test('that tells an error later does not hide it, and nobody else is asked', async () => {
    routed.a.answer(events([...chatEvents('gpt-4o-mini').slice(0, 2), OPENAI_OVERLOAD]))
    const result = await routed.ask(fallback(A, B), {body: {...CHAT, stream: true}})
    expect([result.path, routed.received().b]).toEqual(['config.targets[0]', 0])
    expect(result.text).toBe(chatEvents('gpt-4o-mini').slice(0, 2).join('') + OPENAI_OVERLOAD)
    routed.claude.answer(events([MESSAGE_START, ...MESSAGE_REST.slice(0, 2), ANTHROPIC_OVERLOAD]))
    const translated = await routed.ask(fallback({...CLAUDE, override_params: {model: 'claude-sonnet-4-5'}}, B), {
      body: {...CHAT, stream: true},
    })
    expect(chatText(translated.text)).toEqual({
      text: 'Hello',
      ends: 0,
      errors: [expect.objectContaining({type: 'overloaded_error'})],
    })
    expect(routed.received().b).toBe(0)
  })

  test('that is answered with 500 falls back', async () => {
    routed.a.answer(statuses([500]))
    const result = await routed.ask(fallback(A, B), {body: {...CHAT, stream: true}})
    expect([result.status, result.path, chatText(result.text).text]).toEqual([200, 'config.targets[1]', 'Hello you'])
  })

  test('that is answered with 500 as a stream falls back, and nothing of it reaches the client', async () => {
    routed.a.answer((_, response) => {
      response.writeHead(500, {'content-type': 'text/event-stream'}).write('data: {"error":{"message":"broken"}}\n\n')
      setTimeout(() => response.end('data: [DONE]\n\n'), 50)
    })
    const result = await routed.ask(fallback(A, B), {body: {...CHAT, stream: true}})
    expect([result.status, result.text.includes('broken'), routed.received().b]).toEqual([200, false, 1])
    expect(result.entries).toMatchObject([
      {status: 500, delivered: 0},
      {status: 200, delivered: 1},
    ])
  })

  test('reaches the client event by event while another target could still be asked', async () => {
    const said = chatEvents('gpt-4o-mini')
    const opened = new Promise<ServerResponse>(resolve => {
      routed.a.answer((_, response) => {
        response.writeHead(200, {'content-type': 'text/event-stream'}).write(said[0]!)
        resolve(response)
      })
    })
    const reply = await routed.gateway.chat(
      {...CHAT, stream: true},
      {'x-gateway-config': JSON.stringify(fallback(A, B))},
    )
    const reader = reply.body!.getReader()
    const read = async () => Buffer.from((await reader.read()).value!).toString()
    expect(await read()).toBe(said[0])
    const response = await opened
    for (const event of said.slice(1, -1)) {
      response.write(event)
      expect(await read()).toBe(event)
    }
    response.end(said.at(-1))
    await once(response, 'close')
    expect(await read()).toBe(said.at(-1))
  })
})

test('a translated answer that is no answer falls back; one that is passes in the client’s words', async () => {
  const claude = {...CLAUDE, override_params: {model: 'claude-sonnet-4-5'}}
  const good = await routed.ask(fallback(claude, B))
  expect([good.path, JSON.parse(good.text).choices[0].message.content]).toEqual([
    'config.targets[0]',
    MESSAGE.content[0]!.text,
  ])
  routed.claude.answer((_, response) => json(response, {nothing: 'here'}))
  const bad = await routed.ask(fallback(claude, C))
  expect([bad.status, bad.path, bad.rows.map(({status}) => status)]).toEqual([200, 'config.targets[1]', [502, 200]])
})
