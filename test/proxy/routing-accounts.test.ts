import {once} from 'node:events'
import type {ServerResponse} from 'node:http'
import {afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test} from 'vitest'
import {json, openaiLike} from '../support/provider.ts'
import {
  ANTHROPIC_OVERLOAD,
  CHAT,
  chatText,
  events,
  MESSAGE_START,
  newTrace,
  type RoutingSetup,
  startRouting,
  statuses,
} from '../support/routing.ts'

let routed: RoutingSetup

beforeAll(async () => {
  routed = await startRouting({DRAIN_TIMEOUT_MS: '3000'})
})
beforeEach(() => routed.reset())
afterAll(() => routed.close())

const [A, B, C] = [{provider: '@a'}, {provider: '@b'}, {provider: '@c'}]
const CLAUDE = {provider: '@claude', override_params: {model: 'claude-sonnet-4-5'}}
const fallback = (...targets: object[]) => ({strategy: {mode: 'fallback'}, targets})
const WAIT_MS = 250
const WAITS = {retry: {attempts: 5, use_retry_after_header: true}}
const asksForWait = (wait_ms: number) => statuses([429], {'retry-after-ms': String(wait_ms)})

let slugs = 0
/** Another provider at the place of `@a`, with limits or an end of its own. */
async function limited(more: object, of: RoutingSetup = routed): Promise<{provider: string}> {
  const slug = `limited-${++slugs}`
  await of.gateway.provider(slug, 'openai', of.a.url)
  await of.gateway.admin('PUT', `/providers/${slug}`, more)
  return {provider: `@${slug}`}
}
const keyed = async (more: object) => ({headers: {'x-gateway-api-key': await routed.key(more)}})

describe('limits', () => {
  test('of a provider that are reached are a 429 that falls back, with nobody asked', async () => {
    const first = await limited({rate_limits: [{type: 'requests', unit: 'rpd', value: 1}]})
    const config = {strategy: {mode: 'fallback', on_status_codes: [429]}, targets: [first, B]}
    expect((await routed.ask(config)).path).toBe('config.targets[0]')
    const result = await routed.ask(config)
    expect([result.status, result.path, routed.received().a, result.entries.length]).toEqual([
      200,
      'config.targets[1]',
      1,
      1,
    ])
    expect(result.rows).toMatchObject([
      {provider_slug: 'b', status: 200, mode: 'fallback', option_path: 'config.targets[1]'},
    ])
    const alone = await routed.ask(first)
    expect([alone.status, Number(alone.headers.get('retry-after')) > 0, alone.entries]).toEqual([429, true, []])
    expect(alone.rows).toMatchObject([{status: 429, provider_slug: first.provider.slice(1)}])
  })

  test('of a provider count a visit once, however often it is retried', async () => {
    const one = await limited({rate_limits: [{type: 'requests', unit: 'rpd', value: 1}]})
    routed.a.answer(statuses([429, 429, 200], {'retry-after-ms': '0'}))
    const result = await routed.ask({...one, ...WAITS})
    expect([result.status, result.retries]).toEqual([200, '2'])
    expect((await routed.ask(one)).status).toBe(429)
  })

  test('of a provider are a 412 that falls back when its budget is used up; the next one’s use is not its own', async () => {
    const tokens = (credit_limit: number) => ({usage_limits: {type: 'tokens', credit_limit}})
    const [small, large] = [await limited(tokens(10)), await limited(tokens(30))]
    expect((await routed.ask(fallback(small, large))).path).toBe('config.targets[0]')
    routed.claude.answer(events([MESSAGE_START, ANTHROPIC_OVERLOAD]))
    const result = await routed.ask(fallback(CLAUDE, small, large), {body: {...CHAT, stream: true}})
    expect([result.status, result.path]).toEqual([200, 'config.targets[2]'])
    // 17 of 30 tokens and the 26 of the stream that was dropped elsewhere
    expect((await routed.ask(fallback(small, large))).path).toBe('config.targets[1]')
    expect((await routed.ask(small)).status).toBe(412)
  })

  test('of the caller count one request, however many targets are asked', async () => {
    const own = await keyed({rate_limits: [{type: 'requests', unit: 'rpd', value: 2}]})
    for (const provider of [routed.a, routed.b]) provider.answer(statuses([500]))
    const config = fallback({...A, retry: {attempts: 0}}, B, C)
    expect((await routed.ask(config, own)).entries).toHaveLength(3)
    expect((await routed.ask(config, own)).status).toBe(200)
    expect((await routed.ask(config, own)).status).toBe(429)
    expect(routed.received()).toMatchObject({a: 2, b: 2, c: 2})
  })

  test('of the caller count one request when a target was passed over before it was asked', async () => {
    const own = await keyed({rate_limits: [{type: 'requests', unit: 'rpd', value: 1}]})
    const full = await limited({rate_limits: [{type: 'requests', unit: 'rpd', value: 0}]})
    expect((await routed.ask(fallback(full, B), own)).status).toBe(200)
    expect((await routed.ask(B, own)).status).toBe(429)
  })

  test('of the caller count what a dropped stream used', async () => {
    routed.claude.answer(events([MESSAGE_START, ANTHROPIC_OVERLOAD]))
    const config = fallback(CLAUDE, B)
    const own = await keyed({usage_limits: {type: 'tokens', credit_limit: 27}})
    const result = await routed.ask(config, {
      ...own,
      body: {...CHAT, stream: true, stream_options: {include_usage: true}},
    })
    expect([result.status, chatText(result.text).text]).toEqual([200, 'Hello you'])
    expect(result.entries).toMatchObject([
      {provider_slug: 'claude', prompt_tokens: 25, delivered: 0},
      {provider_slug: 'b', prompt_tokens: 12, completion_tokens: 5, delivered: 1},
    ])
    expect(result.entries[0]!.cost_nanousd).toBeGreaterThan(0)
    expect(result.rows.map(({cost_nanousd}) => cost_nanousd)).toEqual(
      result.entries.map(({cost_nanousd}) => cost_nanousd),
    )
    expect((await routed.ask(B, own)).status).toBe(412)
    // neither of the two alone is as much
    const other = await keyed({usage_limits: {type: 'tokens', credit_limit: 27}})
    expect((await routed.ask(B, other)).status).toBe(200)
    expect((await routed.ask(B, other)).status).toBe(200)
  })

  test('of the caller are given back when nobody could be asked', async () => {
    const own = await keyed({rate_limits: [{type: 'requests', unit: 'rpd', value: 1}]})
    const full = await limited({rate_limits: [{type: 'requests', unit: 'rpd', value: 0}]})
    expect((await routed.ask(fallback(full, full), own)).entries).toEqual([])
    expect((await routed.ask(B, own)).status).toBe(200)
  })
})

test('a provider past its time is passed over', async () => {
  const old = await limited({expires_at: new Date(Date.now() - 60_000).toISOString()})
  expect((await routed.ask(old)).status).toBe(401)
  const result = await routed.ask(fallback(old, B))
  expect([result.status, result.path, routed.received().a]).toEqual([200, 'config.targets[1]', 0])
})

test('a model that is not allowed there is a 412 that falls back', async () => {
  await routed.gateway.provider('picky', 'openai', routed.a.url)
  await routed.gateway.admin('PUT', '/integrations/picky/models', {
    models: [{slug: 'good', enabled: true}],
    allow_all_models: false,
  })
  const result = await routed.ask(fallback({provider: '@picky'}, B))
  expect([result.status, result.path, routed.received().a]).toEqual([200, 'config.targets[1]', 0])
})

/** A call whose client can leave. */
function leaving(config: object, body: object = CHAT) {
  const trace_id = newTrace()
  const client = new AbortController()
  const reply = routed.gateway
    .call('/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        'x-gateway-config': JSON.stringify(config),
        'x-gateway-trace-id': trace_id,
      },
      signal: client.signal,
    })
    .catch((fault: Error) => fault.name)
  return {trace_id, reply, leave: () => client.abort()}
}
const settled = (trace_id: string, of: RoutingSetup = routed) =>
  expect.poll(async () => (await of.recorded(trace_id)).entries.length).toBe(1)

describe('a client that leaves', () => {
  test('during the wait for a retry ends the call: nobody is asked again, and it is settled once', async () => {
    routed.a.answer(asksForWait(WAIT_MS))
    const {trace_id, reply, leave} = leaving(fallback({...A, ...WAITS}, C))
    await settled(trace_id)
    leave()
    expect(await reply).toBe('AbortError')
    await expect
      .poll(async () => (await routed.recorded(trace_id)).rows)
      .toMatchObject([{status: 499, outcome: 'aborted'}])
    // a wait as long, begun later, is over: the other one would be
    routed.b.answer(statuses([429, 200], {'retry-after-ms': String(WAIT_MS)}))
    expect((await routed.ask({...B, ...WAITS})).retries).toBe('1')
    expect(routed.received()).toMatchObject({a: 1, b: 2, c: 0})
    const {entries, rows} = await routed.recorded(trace_id)
    expect([entries.length, rows.length]).toEqual([1, 1])
    expect(entries).toMatchObject([{status: 429, delivered: 0}])
  })

  test('while an answer that is not wanted still comes ends the call', async () => {
    const opened = new Promise<ServerResponse>(resolve => {
      routed.a.answer((_, response) => {
        response.writeHead(500, {'content-type': 'application/json'}).write('{"error":')
        resolve(response)
      })
    })
    const {trace_id, reply, leave} = leaving(fallback(A, B))
    const closed = once(await opened, 'close')
    leave()
    await closed
    expect(await reply).toBe('AbortError')
    await settled(trace_id)
    await routed.ask(C)
    const {entries, rows} = await routed.recorded(trace_id)
    expect([entries.length, rows.length, routed.received().b]).toEqual([1, 1, 0])
    expect(entries).toMatchObject([{outcome: 'aborted', delivered: 0}])
  })

  test('before the first event of a stream ends the call', async () => {
    const opened = new Promise<ServerResponse>(resolve => {
      routed.a.answer((_, response) => {
        response.writeHead(200, {'content-type': 'text/event-stream'}).write(': soon\n\n')
        resolve(response)
      })
    })
    const {trace_id, leave} = leaving(fallback(A, B), {...CHAT, stream: true})
    const closed = once(await opened, 'close')
    leave()
    await closed
    await settled(trace_id)
    const {entries, rows} = await routed.recorded(trace_id)
    expect([entries.length, rows.length, routed.received().b]).toEqual([1, 1, 0])
    expect(entries).toMatchObject([{outcome: 'aborted', delivered: 0}])
  })
})

test('a drain during the wait for a retry ends it with 503, and settles the call', async () => {
  const draining = await startRouting({DRAIN_TIMEOUT_MS: '100'})
  onTestFinished(() => draining.close())
  draining.a.answer(asksForWait(50_000))
  const trace_id = newTrace()
  const reply = draining.gateway.chat(CHAT, {
    'x-gateway-config': JSON.stringify(fallback({...A, ...WAITS}, B)),
    'x-gateway-trace-id': trace_id,
  })
  await settled(trace_id, draining)
  await draining.gateway.app.drain()
  expect((await reply).status).toBe(503)
  const {entries, rows} = await draining.recorded(trace_id)
  expect([entries.length, rows.map(({status}) => status), draining.received()]).toEqual([
    1,
    [503],
    {a: 1, b: 0, c: 0, claude: 0},
  ])
})

describe('bodies', () => {
  const form = () => {
    const body = new FormData()
    body.set('model', 'whisper-1')
    body.set(
      'file',
      new File([Buffer.from(Array.from({length: 5000}, (_, at) => at % 256))], 'a.wav', {type: 'audio/wav'}),
    )
    return body
  }

  test('that are forms go to the next target byte for byte, with its model where it has one', async () => {
    routed.a.answer(statuses([500]))
    routed.b.answer(statuses([500]))
    const result = await routed.ask(fallback(A, B, {...C, override_params: {model: 'whisper-2'}}), {
      path: '/v1/audio/transcriptions',
      body: form(),
    })
    expect([result.status, result.path]).toEqual([200, 'config.targets[2]'])
    const [a, b, c] = [routed.a, routed.b, routed.c].map(({received}) => received[0]!)
    expect(b!.body.equals(a!.body)).toBe(true)
    expect(b!.headers['content-type']).toBe(a!.headers['content-type'])
    expect(c!.body.toString('latin1')).toBe(a!.body.toString('latin1').replace('whisper-1', 'whisper-2'))
  })

  test('that are JSON on a path we do not know go to the next target too', async () => {
    routed.a.answer(statuses([500]))
    const result = await routed.ask(fallback(A, B), {path: '/v1/threads', body: {x: 1}})
    expect([result.status, result.path, routed.b.received[0]!.body.toString()]).toEqual([
      200,
      'config.targets[1]',
      '{"x":1}',
    ])
  })

  test('that stay on the wire go to one target only', async () => {
    routed.a.answer(statuses([500]))
    const result = await routed.ask(fallback(A, B), {
      path: '/v1/upload',
      body: 'x'.repeat(100_000),
      headers: {'content-type': 'application/octet-stream'},
    })
    expect([result.status, result.path, routed.received()]).toEqual([
      500,
      'config.targets[0]',
      {a: 1, b: 0, c: 0, claude: 0},
    ])
    expect(routed.a.received[0]!.body.length).toBe(100_000)
  })

  test('that stay on the wire go past a target that cannot be asked', async () => {
    const old = await limited({expires_at: new Date(Date.now() - 60_000).toISOString()})
    const result = await routed.ask(fallback(old, B), {
      path: '/v1/upload',
      body: 'x'.repeat(100_000),
      headers: {'content-type': 'application/octet-stream'},
    })
    expect([result.status, result.path, routed.b.received[0]!.body.length]).toEqual([200, 'config.targets[1]', 100_000])
  })

  test('that are not there stand in nobody’s way', async () => {
    routed.a.answer(statuses([500]))
    const reply = await routed.gateway.call('/v1/files', {
      headers: {'x-gateway-config': JSON.stringify(fallback(A, B))},
    })
    expect([reply.status, routed.received().b]).toEqual([200, 1])
  })
})

test('the ledger holds an entry for every call that a provider heard, one of each call delivered', async () => {
  let at = 0
  const draws = [0, 1, 2, 3, 4]
  for (const [name, provider] of Object.entries({a: routed.a, b: routed.b})) {
    provider.answer((received, response) => {
      const draw = draws[(at++ * 7 + Math.floor(at / 5)) % draws.length]
      if (draw === 1) return json(response, {error: {message: 'no', type: 'server_error'}}, 500)
      if (draw === 2) return json(response, {error: {message: 'slow down'}}, 429, {'retry-after-ms': '0'})
      if (draw === 3 && name === 'a') return response.destroy() // a target with retries would wait a second for it
      if (draw === 4 && JSON.parse(received.body.toString()).stream)
        return response
          .writeHead(200, {'content-type': 'text/event-stream'})
          .end('data: {"error":{"type":"overloaded_error","message":"x"}}\n\n')
      return openaiLike(received, response)
    })
  }
  const retry = {attempts: 2, on_status_codes: [429], use_retry_after_header: true}
  const config = {
    strategy: {mode: 'loadbalance'},
    targets: [
      fallback(A, B, C),
      fallback({...B, retry}, A, C),
      fallback({...B, retry}, C),
      {strategy: {mode: 'single'}, targets: [A]},
    ],
  }
  const result = await Promise.all(
    Array.from({length: 80}, async (_, n) => {
      const call = String(n)
      const headers = {'x-call': call, 'x-gateway-forward-headers': 'x-call'}
      return {call, ...(await routed.ask(config, {body: {...CHAT, stream: n % 2 === 0}, headers}))}
    }),
  )
  const heardOf = (call: string) => {
    const of = {a: routed.a, b: routed.b, c: routed.c}
    return Object.entries(of).flatMap(([slug, {received}]) =>
      received.filter(({headers}) => headers['x-call'] === call).map(() => slug),
    )
  }
  for (const {call, entries, rows} of result) {
    expect(entries.map(({provider_slug}) => provider_slug).sort()).toEqual(heardOf(call))
    expect(entries.map(({attempt}) => attempt)).toEqual(entries.map((_, index) => index + 1))
    expect(entries.filter(({delivered}) => delivered === 1)).toHaveLength(1)
    expect(rows.reduce((sum, row) => sum + row.retry_count + 1, 0)).toBe(entries.length)
    expect(rows.reduce((sum, row) => sum + row.cost_nanousd, 0)).toBe(
      entries.reduce((sum, entry) => sum + entry.cost_nanousd, 0),
    )
  }
  expect(result.some(({rows}) => rows.some(({retry_count}) => retry_count > 0))).toBe(true)
  const {a, b, c} = routed.received()
  expect(result.reduce((sum, {entries}) => sum + entries.length, 0)).toBe(a! + b! + c!)
  expect(a! + b! + c!).toBeGreaterThan(80)
})
