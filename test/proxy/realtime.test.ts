import {createHash} from 'node:crypto'
import {cpSync, mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import fc from 'fast-check'
import {OpenAI} from 'openai'
import {OpenAIRealtimeWS} from 'openai/realtime/ws'
import {afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi} from 'vitest'
import {closeFrame, frame, OPCODE, pingFrame, textFrame} from '../../src/base/websocket/index.ts'
import type {ProxyServices} from '../../src/proxy/services.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {type LogRow, startGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {MODEL, OWN_KEY, pem, type RealtimeGateway, startRealtime} from '../support/realtime.ts'
import {ACCEPT, type Peer, rawClient} from '../support/realtime-provider.ts'
import {scraped} from '../support/scrape.ts'

// Until the server takes upgrades itself, sessions stand on what the gateway's data plane was made of.
const known = vi.hoisted(() => ({services: null as unknown}))
vi.mock(import('../../src/proxy/proxy.ts'), async original => {
  const {createProxy} = await original()
  return {
    createProxy: on => {
      known.services = on
      return createProxy(on)
    },
  }
})
const services = () => known.services as ProxyServices

const USAGE = {
  total_tokens: 253,
  input_tokens: 132,
  output_tokens: 121,
  input_token_details: {
    text_tokens: 119,
    audio_tokens: 13,
    image_tokens: 0,
    cached_tokens: 64,
    cached_tokens_details: {text_tokens: 60, audio_tokens: 4, image_tokens: 0},
  },
  output_token_details: {text_tokens: 30, audio_tokens: 91},
}
const TEXT_USAGE = {
  total_tokens: 150,
  input_tokens: 100,
  output_tokens: 50,
  input_token_details: {text_tokens: 100, audio_tokens: 0, cached_tokens: 0},
  output_token_details: {text_tokens: 50, audio_tokens: 0},
}
/** 100 tokens at 5 and 50 at 20 dollars a million, in cents. */
const TEXT_COST = 0.15

const created = (id: string) => ({type: 'response.created', response: {id, status: 'in_progress'}})
const done = (id: string, usage: object | null = TEXT_USAGE, more = {}) => ({
  type: 'response.done',
  response: {id, status: 'completed', output: [], usage, ...more},
})

const sessionWith = (audio: object) => ({type: 'session.updated', session: {type: 'realtime', model: MODEL, audio}})
/** OpenAI, Realtime API, server events. */
const transcribed = (item_id: string, usage: object | null = TRANSCRIPT_USAGE) => ({
  type: 'conversation.item.input_audio_transcription.completed',
  event_id: `event_${item_id}`,
  item_id,
  content_index: 0,
  transcript: 'Hello, how are you?',
  usage,
})
const TRANSCRIPT_USAGE = {
  type: 'tokens',
  total_tokens: 48,
  input_tokens: 38,
  input_token_details: {text_tokens: 10, audio_tokens: 28},
  output_tokens: 10,
}

/** Answers each `response.create` with a turn. */
function talks(peerAnswers: RealtimeGateway['provider']) {
  let turn = 0
  peerAnswers.answer((message, peer) => {
    if (JSON.parse(message).type !== 'response.create') return
    turn++
    peer.say(created(`resp_${turn}`))
    peer.say({type: 'response.output_text.delta', response_id: `resp_${turn}`, delta: 'Hi'})
    peer.say(done(`resp_${turn}`))
  })
}

let here: RealtimeGateway
beforeAll(async () => {
  here = await startRealtime(services)
})
afterAll(() => here.close())
afterEach(() => {
  here.provider.refuse(null)
  here.provider.answer(() => undefined)
})

const path = (on = here) => `${on.http}?model=@voice/${MODEL}`

/** A session: the client's end and the provider's. */
async function session(
  headers: Record<string, string> = OWN_KEY,
  on = here,
  url = path(on),
): Promise<{client: Peer; upstream: Peer; headers: object}> {
  const upstream = on.provider.next()
  const {peer, headers: said, status, body} = await rawClient(url, headers)
  if (!peer) throw new Error(`the session was refused: ${status} ${body}`)
  return {client: peer, upstream: await upstream, headers: said}
}

async function rowsOf(headers: Record<string, unknown>, on = here): Promise<LogRow[]> {
  const rows = await on.gateway.logs()
  return rows.filter(row => row.trace_id === (headers['x-gateway-trace-id'] ?? headers['x-portkey-trace-id']))
}

/** A key of the workspace with these limits. */
async function keyWith(limits: object, on = here): Promise<Record<string, string>> {
  const [workspace] = (await on.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const {key} = await on.gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
    name: `limited ${Math.random()}`,
    workspace_id: workspace!.id,
    scopes: ['completions.write'],
    ...limits,
  })
  return {'x-gateway-api-key': key}
}

async function close(client: Peer) {
  client.write(closeFrame('client', {code: 1000, reason: ''}))
  await client.ended
}

describe('opening a session', () => {
  test('hands the trace of the client on, with the span of the session as its parent', async () => {
    const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736'
    const traceparent = `00-${trace_id}-00f067aa0ba902b7-01`
    const {client, upstream} = await session({...OWN_KEY, traceparent, tracestate: 'vendor=1'})
    const sent = upstream.request.headers
    expect(sent.traceparent).toMatch(new RegExp(`^00-${trace_id}-[0-9a-f]{16}-01$`))
    expect(sent.traceparent).not.toBe(traceparent)
    expect(sent.tracestate).toBe('vendor=1')
    await close(client)
    const without = await session({...OWN_KEY, tracestate: 'vendor=1'})
    expect(Object.keys(without.upstream.request.headers)).not.toContain('tracestate')
    expect(Object.keys(without.upstream.request.headers)).not.toContain('traceparent')
    await close(without.client)
  })

  test('asks the provider with its own key and the model alone, and answers with what it chose', async () => {
    const {client, upstream, headers} = await session({
      ...OWN_KEY,
      'sec-websocket-protocol': 'realtime, openai-beta.realtime-v1',
      'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
      'openai-beta': 'realtime=v1',
      'x-other': 'mine',
    })
    expect(upstream.request.url).toBe(`/v1/realtime?model=${MODEL}`)
    const {'sec-websocket-key': key, host: _, ...sent} = upstream.request.headers
    expect(key).toMatch(/^[\w+/]{22}==$/)
    expect(sent).toEqual({
      connection: 'upgrade',
      upgrade: 'websocket',
      'user-agent': expect.stringMatching(/^gateway\//),
      authorization: 'Bearer sk-upstream-secret-0123456789',
      'openai-beta': 'realtime=v1',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'realtime, openai-beta.realtime-v1',
    })
    expect(headers).toMatchObject({
      'sec-websocket-accept': ACCEPT,
      'sec-websocket-protocol': 'realtime',
      'x-request-id': 'req_1',
      'x-gateway-provider': 'openai',
    })
    expect(headers).not.toHaveProperty('sec-websocket-extensions')
    await close(client)
  })

  const PROTOCOL = `openai-insecure-api-key.${WORKSPACE_KEY}`
  test.each<[string, Record<string, string>]>([
    ['our header', OWN_KEY],
    ['its other spelling', {'x-portkey-api-key': WORKSPACE_KEY}],
    ['a bearer token', {authorization: `Bearer ${WORKSPACE_KEY}`}],
    ['a subprotocol', {'sec-websocket-protocol': `realtime, ${PROTOCOL}, openai-beta.realtime-v1`}],
    ['our own subprotocol', {'sec-websocket-protocol': `realtime, gateway-insecure-api-key.${WORKSPACE_KEY}`}],
  ])('takes the key from %s, and shows it to nobody', async (_, headers) => {
    const {client, upstream, headers: said} = await session(headers)
    expect(JSON.stringify(upstream.request.headers)).not.toContain(WORKSPACE_KEY)
    expect(JSON.stringify(said)).not.toContain(WORKSPACE_KEY)
    await close(client)
    const [row] = await rowsOf(said as Record<string, unknown>)
    const whole = await here.gateway.admin('GET', `/logs/${row!.id}`)
    expect(JSON.stringify(whole)).not.toContain(WORKSPACE_KEY)
    expect(here.gateway.lines.join()).not.toContain(WORKSPACE_KEY)
  })

  test('answers `realtime` where the provider chooses nothing', async () => {
    const other = await startRealtime(services)
    other.provider.chooseNone()
    const {client, headers} = await session({...OWN_KEY, 'sec-websocket-protocol': 'realtime'}, other)
    expect(headers).toMatchObject({'sec-websocket-protocol': 'realtime'})
    await close(client)
    const plain = await session(OWN_KEY, other)
    expect(plain.headers).not.toHaveProperty('sec-websocket-protocol')
    await close(plain.client)
    await other.close()
  })

  test('goes where headers, configs and the model of a config say', async () => {
    const config = JSON.stringify({provider: '@voice', override_params: {model: 'gpt-realtime-mini'}})
    const {client, upstream} = await session(
      {...OWN_KEY, 'x-gateway-config': config},
      here,
      `${here.http}?model=gpt-realtime&intent=conversation`,
    )
    expect(upstream.request.url).toBe('/v1/realtime?model=gpt-realtime-mini&intent=conversation')
    await close(client)
    const by_header = await session(
      {...OWN_KEY, 'x-gateway-provider': '@voice'},
      here,
      `${here.http}?intent=transcription`,
    )
    expect(by_header.upstream.request.url).toBe('/v1/realtime?intent=transcription')
    await close(by_header.client)
  })

  test.each<[string, string, Record<string, string>, number, RegExp]>([
    ['no key', path2(), {}, 401, /No API key was sent/],
    ['a key that nobody knows', path2(), {authorization: 'Bearer gk-nobody'}, 401, /not known/],
    ['no provider', '?model=gpt-realtime', OWN_KEY, 400, /No provider is named/],
    ['a provider that nobody knows', '?model=@nobody/gpt-realtime', OWN_KEY, 400, /No provider is called @nobody/],
    [
      'a provider without sessions',
      '?model=m',
      {...OWN_KEY, 'x-gateway-provider': 'anthropic'},
      400,
      /anthropic does not offer GET \/realtime/,
    ],
    [
      'a wrong version',
      path2(),
      {...OWN_KEY, 'sec-websocket-version': '8'},
      400,
      /sec-websocket-version is not valid: expected 13/,
    ],
    [
      'a wrong key of the handshake',
      path2(),
      {...OWN_KEY, 'sec-websocket-key': 'x'},
      400,
      /sec-websocket-key is not valid/,
    ],
    [
      'subprotocols that are none',
      path2(),
      {...OWN_KEY, 'sec-websocket-protocol': 'a b'},
      400,
      /sec-websocket-protocol is not valid/,
    ],
    [
      'a host that is not trusted',
      '?model=m',
      {
        ...OWN_KEY,
        authorization: 'Bearer sk-mine',
        'x-gateway-provider': 'openai',
        'x-gateway-custom-host': 'http://127.0.0.1:9/v1',
      },
      400,
      /Invalid custom host/,
    ],
    [
      'the metadata service',
      '?model=m',
      {
        ...OWN_KEY,
        authorization: 'Bearer sk-mine',
        'x-gateway-provider': 'openai',
        'x-gateway-custom-host': 'http://169.254.169.254/v1',
      },
      400,
      /Invalid custom host/,
    ],
  ])('refuses %s', async (_, query, headers, status, sentence) => {
    const before = here.provider.peers.length
    const counted = () => scraped(here.gateway, 'request_count', 'endpoint="realtime"', `code="${status}"`)
    const calls = await counted()
    const said = await rawClient(here.http + query, headers)
    expect(await counted()).toBe(calls + 1)
    expect([said.status, JSON.parse(said.body).error.message]).toEqual([status, expect.stringMatching(sentence)])
    expect(here.provider.peers.length).toBe(before)
  })

  test('that was never sent has a row, and no entry of the ledger', async () => {
    const held: (() => void)[] = []
    const on = await startRealtime(services, {
      change: given => ({
        ...given,
        recorder: {
          ...given.recorder,
          begin: (intent, done) => void held.push(() => given.recorder.begin(intent, done)),
        },
      }),
    })
    onTestFinished(() => on.close())
    const refused = rawClient(path(on), OWN_KEY)
    await vi.waitFor(() => expect(held.length).toBe(1))
    const drained = on.live.drain(0)
    held[0]!()
    expect((await refused).status).toBe(503)
    await drained
    const rows = await on.gateway.logs()
    expect(rows.map(row => [row.response_status_code, row.outcome, row.cost])).toEqual([[503, 'aborted', 0]])
    const store = await openStore({kind: 'sqlite', folder: on.gateway.folder, role: 'operator'})
    try {
      expect(await store.db.selectFrom('traffic.ledger_entries').select('call_id').execute()).toEqual([])
      const {detail} = await store.db.selectFrom('traffic.logs').select('detail').executeTakeFirstOrThrow()
      const {last_byte_ms, overhead_ms} = JSON.parse(detail)
      expect(overhead_ms).toBe(last_byte_ms)
    } finally {
      await store.close()
    }
  })

  test.each([
    [401, '{"error":{"message":"Incorrect API key provided","type":"invalid_request_error"}}'],
    [404, '{"error":{"message":"no such model"}}'],
    [429, '{"error":{"message":"slow down"}}'],
  ])('gives back what a provider refuses with: %i', async (status, body) => {
    here.provider.refuse({status, headers: {'content-type': 'application/json', 'retry-after': '7'}, body})
    const said = await rawClient(path(), OWN_KEY)
    expect([said.status, said.body, said.headers['retry-after'], said.headers['content-type']]).toEqual([
      status,
      body,
      '7',
      'application/json',
    ])
    const rows = await rowsOf(said.headers)
    expect(rows.map(row => [row.response_status_code, row.cost, row.outcome])).toEqual([[status, 0, 'ok']])
  })

  test('tells what is wrong with a provider that accepts and does not know the key', async () => {
    here.provider.refuse({
      status: 101,
      headers: {upgrade: 'websocket', connection: 'upgrade', 'sec-websocket-accept': 'bad'},
      body: '',
    })
    const said = await rawClient(path(), OWN_KEY)
    expect([said.status, JSON.parse(said.body).error.message]).toEqual([
      502,
      expect.stringContaining('does not answer the key'),
    ])
  })

  test('is told when nobody listens at the provider', async () => {
    await here.gateway.provider('nobody', 'openai', 'http://127.0.0.1:9999/v1')
    const said = await rawClient(`${here.http}?model=@nobody/m`, OWN_KEY)
    expect(said.status).toBe(503)
    expect((await rowsOf(said.headers)).map(row => [row.response_status_code, row.outcome])).toEqual([[503, 'failed']])
  })
})

function path2() {
  return `?model=@voice/${MODEL}`
}

describe('frames', () => {
  test('pass both ways as they are, whatever they are', async () => {
    const {client, upstream} = await session()
    const frames = (side: 'client' | 'server') =>
      Buffer.concat([
        textFrame(side, '{"type":"session.update","session":{}}'),
        frame(side, OPCODE.text, Buffer.from('{"type":"conversation.item'), false),
        pingFrame(side, Buffer.from('in between')),
        frame(side, OPCODE.continuation, Buffer.from('.created","item":{"id":"é'.slice(0, 21)), false),
        frame(side, OPCODE.continuation, Buffer.from('"}}')),
        frame(side, OPCODE.pong, Buffer.from('x')),
        textFrame(side, 'this is no JSON'),
        frame(side, OPCODE.binary, Buffer.from([0, 255, 1, 254])),
        frame(side, OPCODE.binary, Buffer.alloc(70_000, 5)),
        textFrame(side, JSON.stringify({type: 'input_audio_buffer.append', audio: 'A'.repeat(3 << 20)})),
        textFrame(side, ''),
      ])
    const [up, down] = [frames('client'), frames('server')]
    for (let at = 0; at < up.length; at += 50_021) client.write(up.subarray(at, at + 50_021))
    for (let at = 0; at < down.length; at += 49_999) upstream.write(down.subarray(at, at + 49_999))
    await upstream.until(() => upstream.size() >= up.length)
    await client.until(() => client.size() >= down.length)
    expect(upstream.bytes().equals(up)).toBe(true)
    expect(client.bytes().equals(down)).toBe(true)
    await close(client)
  })

  test('wait for a reader who is slow, and all arrive', async () => {
    const {client, upstream} = await session()
    client.socket.pause()
    const sent = createHash('sha256')
    let bytes = 0
    for (let at = 0; at < 48; at++) {
      const one = frame('server', OPCODE.binary, Buffer.alloc(1 << 20, at))
      bytes += one.length
      sent.update(one)
      upstream.write(one)
    }
    client.socket.resume()
    await client.until(() => client.size() >= bytes)
    expect(createHash('sha256').update(client.bytes()).digest('hex')).toBe(sent.digest('hex'))
    await close(client)
  })

  test.each<[string, Buffer, number]>([
    ['an unmasked frame', textFrame('server', 'hello'), 1002],
    ['a reserved bit', Buffer.from('c18537fa213d7f9f4d5158', 'hex'), 1002],
  ])('of a client that break the protocol end the session: %s', async (_, bytes, code) => {
    const {client, upstream, headers} = await session()
    client.write(Buffer.concat([textFrame('client', '{"type":"session.update"}'), bytes]))
    await client.ended
    await upstream.until(() => upstream.closing() !== null)
    expect([client.closing()?.code, upstream.closing()?.code]).toEqual([code, 1001])
    expect(upstream.messages).toEqual(['{"type":"session.update"}'])
    expect((await rowsOf(headers as never)).map(row => [row.response_status_code, row.error])).toEqual([
      [400, expect.stringContaining('The client broke the WebSocket protocol')],
    ])
  })

  test('of a provider that break the protocol end the session too', async () => {
    const {client, upstream} = await session()
    upstream.write(textFrame('client', 'masked'))
    await client.ended
    await upstream.until(() => upstream.closing() !== null)
    expect([client.closing()?.code, upstream.closing()?.code]).toEqual([1011, 1002])
  })
})

describe('whatever comes', () => {
  test('a session ends, and nothing of it stays open', async () => {
    const event = fc.oneof(
      fc.json().map(json => textFrame('server', json)),
      fc
        .record({
          type: fc.constantFrom(
            'response.created',
            'response.done',
            'error',
            'session.created',
            'conversation.item.created',
            'x.delta',
          ),
          response: fc.oneof(
            fc.jsonValue(),
            fc.record({id: fc.constantFrom('a', 'b'), usage: fc.jsonValue(), output: fc.jsonValue()}),
          ),
          error: fc.jsonValue(),
          item: fc.oneof(fc.jsonValue(), fc.record({id: fc.string()})),
          session: fc.jsonValue(),
        })
        .map(said => textFrame('server', JSON.stringify(said))),
      fc.uint8Array({maxLength: 40}).map(bytes => Buffer.from(bytes)),
    )
    const asked = fc.oneof(
      fc
        .constantFrom('response.create', 'input_audio_buffer.append', 'session.update', 'nonsense')
        .map(type => textFrame('client', JSON.stringify({type}))),
      fc.uint8Array({maxLength: 40}).map(bytes => Buffer.from(bytes)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(event, {maxLength: 8}), fc.array(asked, {maxLength: 8}), async (events, messages) => {
        const {client, upstream, headers} = await session()
        for (const bytes of events) upstream.write(bytes)
        for (const bytes of messages) client.write(bytes)
        client.write(closeFrame('client', {code: 1000, reason: ''}))
        client.socket.end()
        upstream.socket.end()
        await Promise.all([client.ended, upstream.ended])
        await vi.waitFor(() => expect(here.live.size).toBe(0))
        const rows = await rowsOf(headers as never)
        expect(rows.filter(row => row.parent_span_id === null).length).toBe(1)
      }),
      {numRuns: 60},
    )
    expect(here.gateway.lines.filter(line => JSON.parse(line).level >= 50)).toEqual([])
  }, 60_000)
})

describe('turns', () => {
  test('are rows of their own with usage and cost, in one trace with the session', async () => {
    talks(here.provider)
    const {client, headers} = await session()
    for (const count of [3, 6]) {
      client.say({type: 'response.create'})
      await client.until(() => client.messages.length === count)
    }
    await close(client)
    const rows = await rowsOf(headers as never)
    expect(
      rows.map(row => [row.response_status_code, row.usage, row.usage_source, row.cost, row.outcome, row.ai_model]),
    ).toEqual([
      [200, {input_uncached_tokens: 100, output_text_tokens: 50}, 'provider', TEXT_COST, 'ok', MODEL],
      [200, {input_uncached_tokens: 100, output_text_tokens: 50}, 'provider', TEXT_COST, 'ok', MODEL],
      [101, {}, 'none', 0, 'ok', MODEL],
    ])
    expect(new Set(rows.map(row => row.parent_span_id))).toEqual(new Set([rows[2]!.span_id, null]))
  })

  test('have what the client said written down at the price of the model that does it, each item once', async () => {
    const {client, upstream, headers} = await session()
    upstream.say(sessionWith({input: {transcription: {model: 'gpt-4o-transcribe', language: 'en'}}}))
    client.say({type: 'input_audio_buffer.append', audio: 'AAAA'})
    await upstream.until(() => upstream.messages.length === 1)
    upstream.say(transcribed('item_1'))
    upstream.say(transcribed('item_1'))
    upstream.say(transcribed('item_2', {type: 'duration', seconds: 3}))
    upstream.say(transcribed('item_3', null))
    await client.until(() => client.messages.length === 5)
    await close(client)
    const rows = await rowsOf(headers as never)
    expect(rows.map(row => [row.response_status_code, row.usage, row.usage_source, row.cost, row.ai_model])).toEqual([
      // three seconds have no price of their own there
      [200, {units: {audio_seconds: 3}}, 'provider', 0, 'gpt-4o-transcribe'],
      // 10 tokens of text at 2.5, 28 of sound at 6 and 10 written at 10 dollars a million, in cents
      [
        200,
        {input_uncached_tokens: 10, audio_in_tokens: 28, output_text_tokens: 10},
        'provider',
        0.0293,
        'gpt-4o-transcribe',
      ],
      [101, {}, 'none', 0, MODEL],
    ])
    expect(rows[1]!.parent_span_id).toBe(rows[2]!.span_id)
  })

  test.each([
    [
      'as the first version named it',
      {type: 'session.updated', session: {input_audio_transcription: {model: 'whisper-1'}}},
      'whisper-1',
    ],
    [
      'in a session for that alone',
      {type: 'transcription_session.updated', session: {input_audio_transcription: {model: 'whisper-1'}}},
      'whisper-1',
    ],
    ['by a model that nobody named', {type: 'session.updated', session: {}}, null],
  ])('have it written down %s', async (_, event, ai_model) => {
    const {client, upstream, headers} = await session()
    upstream.say(event)
    upstream.say(transcribed('item_1', {type: 'duration', seconds: 60}))
    await client.until(() => client.messages.length === 2)
    await close(client)
    const [row] = await rowsOf(headers as never)
    // whisper-1: 0.36 dollars an hour
    expect([row!.ai_model ?? null, row!.cost]).toEqual([ai_model, ai_model ? 0.6 : 0])
  })

  test('tell sound, text and what was cached apart', async () => {
    const {client, upstream, headers} = await session()
    client.say({type: 'response.create'})
    await upstream.until(() => upstream.messages.length === 1)
    upstream.say(created('r'))
    upstream.say(done('r', USAGE))
    await client.until(() => client.messages.length === 2)
    await close(client)
    const [turn] = await rowsOf(headers as never)
    expect(turn!.usage).toEqual({
      input_uncached_tokens: 59,
      cache_read_tokens: 60,
      audio_in_tokens: 9,
      audio_cache_read_tokens: 4,
      output_text_tokens: 30,
      audio_out_tokens: 91,
    })
    expect(turn!.total_units).toBe(253)
  })

  test('keep what was asked and answered, in the order of the conversation', async () => {
    const {client, upstream, headers} = await session()
    const item = (id: string, previous_item_id: string | null) => ({
      type: 'conversation.item.created',
      previous_item_id,
      item: {id, type: 'message'},
    })
    upstream.say(item('b', null))
    upstream.say(item('c', 'b'))
    upstream.say(item('a', 'b'))
    upstream.say({type: 'conversation.item.deleted', item_id: 'c'})
    client.say({type: 'response.create'})
    await upstream.until(() => upstream.messages.length === 1)
    upstream.say(created('r'))
    upstream.say(item('answer', 'a'))
    upstream.say(done('r', TEXT_USAGE, {output: [{id: 'answer'}]}))
    await client.until(() => client.messages.length === 7)
    await close(client)
    const [turn] = await rowsOf(headers as never)
    const {request, response} = await here.gateway.admin<Record<string, {body: unknown}>>('GET', `/logs/${turn!.id}`)
    expect(request!.body).toEqual({
      items: [
        {id: 'b', type: 'message'},
        {id: 'a', type: 'message'},
      ],
    })
    expect(response!.body).toMatchObject({type: 'response.done', response: {id: 'r'}})
  })

  test('that the provider begins by itself count as well, and sound alone costs nothing', async () => {
    const {client, upstream, headers} = await session()
    client.say({type: 'input_audio_buffer.append', audio: 'AAAA'})
    client.say({type: 'input_audio_buffer.append', audio: 'AAAA'})
    await upstream.until(() => upstream.messages.length === 2)
    upstream.say(created('by-vad'))
    upstream.say(created('beside'))
    upstream.say(done('beside'))
    upstream.say(done('by-vad'))
    upstream.say(done('never-begun'))
    upstream.say(done('beside')) // again: it counts once
    client.say({type: 'input_audio_buffer.append', audio: 'AAAA'})
    await client.until(() => client.messages.length === 6)
    await upstream.until(() => upstream.messages.length === 3)
    await close(client)
    const rows = await rowsOf(headers as never)
    expect(rows.map(row => [row.response_status_code, row.cost])).toEqual([
      ...Array.from({length: 3}, () => [200, TEXT_COST]),
      [101, 0],
    ])
  })

  test('that fail, and errors, are rows with the reason', async () => {
    const {client, upstream, headers} = await session()
    client.say({type: 'response.create', event_id: 'mine'})
    await upstream.until(() => upstream.messages.length === 1)
    upstream.say({
      type: 'error',
      error: {type: 'invalid_request_error', code: 'bad', message: 'It cannot be.', event_id: 'mine'},
    })
    upstream.say({type: 'error', error: {type: 'server_error', message: 'Something broke.'}})
    client.say({type: 'response.create'})
    await upstream.until(() => upstream.messages.length === 2)
    upstream.say(created('r'))
    const error = {type: 'server_error', code: 'rate_limit_exceeded', message: 'Rate limit reached.'}
    upstream.say(done('r', null, {status: 'failed', status_details: {type: 'failed', error}}))
    await client.until(() => client.messages.length === 4)
    await close(client)
    const rows = await rowsOf(headers as never)
    expect(rows.map(row => [row.response_status_code, row.error, row.outcome]).sort()).toEqual([
      [101, null, 'ok'],
      [400, 'It cannot be.', 'failed'],
      [429, 'Rate limit reached.', 'failed'],
      [500, 'Something broke.', 'failed'],
    ])
  })

  test('that a session cuts off are settled at an estimate', async () => {
    const {client, upstream, headers} = await session()
    client.say({type: 'response.create', response: {instructions: 'x'.repeat(1000)}})
    await upstream.until(() => upstream.messages.length === 1)
    upstream.say(created('r'))
    upstream.say({type: 'response.output_text.delta', delta: 'y'.repeat(800)})
    await client.until(() => client.messages.length === 2)
    await close(client)
    const rows = await rowsOf(headers as never)
    expect(rows.map(row => [row.response_status_code, row.outcome, row.usage_source])).toEqual([
      [200, 'aborted', 'partial'],
      [101, 'ok', 'none'],
    ])
    expect(rows[0]!.cost).toBeGreaterThan(0)
  })
})

test('many short pieces of a turn that is cut off are charged as one long one is', async () => {
  const {client, upstream, headers} = await session()
  client.say({type: 'response.create'})
  await upstream.until(() => upstream.messages.length === 1)
  upstream.say(created('r'))
  for (let piece = 0; piece < 100; piece++) upstream.say({type: 'response.output_text.delta', delta: 'word '})
  await client.until(() => client.messages.length === 101)
  await close(client)
  const [row] = await rowsOf(headers as never)
  expect(row).toMatchObject({outcome: 'aborted', usage_source: 'partial', usage: {output_text_tokens: 125}})
})

describe('limits', () => {
  test('are taken when a session is opened', async () => {
    const key = await keyWith({rate_limits: [{type: 'requests', unit: 'rph', value: 1}]})
    const {client} = await session(key)
    const said = await rawClient(path(), key)
    expect([said.status, said.headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)])
    await close(client)
  })

  test('are taken for each turn; the one too many never leaves, and the session is closed with the reason', async () => {
    talks(here.provider)
    const key = await keyWith({rate_limits: [{type: 'requests', unit: 'rph', value: 2}]})
    const {client, upstream, headers} = await session(key)
    client.say({type: 'response.create'})
    await client.until(() => client.messages.length === 3)
    client.say({type: 'session.update', session: {}})
    client.say({type: 'response.create'})
    await client.ended
    expect(client.closing()).toEqual({code: 1008, reason: expect.stringMatching(/^The rate limit .* is reached/)})
    expect(JSON.parse(client.messages[3]!)).toMatchObject({
      type: 'error',
      error: {type: 'rate_limit_exceeded', message: client.closing()!.reason},
    })
    await upstream.until(() => upstream.closing() !== null)
    expect(upstream.messages.map(message => JSON.parse(message).type)).toEqual(['response.create', 'session.update'])
    expect((await rowsOf(headers as never)).map(row => row.response_status_code)).toEqual([200, 429])
  })

  test('of tokens and cost count what turns used', async () => {
    talks(here.provider)
    const key = await keyWith({rate_limits: [{type: 'tokens', unit: 'rph', value: 200}]})
    const {client} = await session(key)
    for (const count of [3, 6]) {
      client.say({type: 'response.create'})
      await client.until(() => client.messages.length === count)
    }
    client.say({type: 'input_audio_buffer.append', audio: 'AAAA'})
    await client.ended
    expect(client.closing()).toEqual({code: 1008, reason: expect.stringMatching(/rate limit/)})
    expect((await rawClient(path(), key)).status).toBe(429)
  })

  test('of cost count what was transcribed beside the turns', async () => {
    const key = await keyWith({usage_limits: [{type: 'tokens', credit_limit: 40}]})
    const {client, upstream} = await session(key)
    upstream.say(sessionWith({input: {transcription: {model: 'gpt-4o-transcribe'}}}))
    client.say({type: 'input_audio_buffer.append', audio: 'AAAA'})
    await upstream.until(() => upstream.messages.length === 1)
    upstream.say(transcribed('item_1'))
    await client.until(() => client.messages.length === 2)
    await close(client)
    await here.gateway.logs()
    expect((await rawClient(path(), key)).status).toBe(412)
  })

  test('that are strict hold the longest answer of a turn, and what the one before used', async () => {
    talks(here.provider)
    const strict = (credit_limit: number) =>
      keyWith({usage_limits: {type: 'tokens', credit_limit, enforcement: 'strict'}})
    // an answer has 4096 tokens at most (OpenAI, Realtime API); a turn of this provider uses 150
    const short = await session(await strict(4000))
    short.client.say({type: 'response.create'})
    await short.client.ended
    expect(short.client.closing()).toEqual({code: 1008, reason: expect.stringMatching(/used up/)})
    const {client} = await session(await strict(4096 + 150 + 149))
    client.say({type: 'response.create'})
    await client.until(() => client.messages.length === 3)
    client.say({type: 'response.create'})
    await client.ended
    expect(client.closing()).toEqual({code: 1008, reason: expect.stringMatching(/used up/)})
    const roomy = await session(await strict(4096 + 3 * 150))
    for (const count of [3, 6]) {
      roomy.client.say({type: 'response.create'})
      await roomy.client.until(() => roomy.client.messages.length === count)
    }
    await close(roomy.client)
  })

  test('are given back by sound that led to nothing', async () => {
    const key = await keyWith({rate_limits: [{type: 'requests', unit: 'rph', value: 3}]})
    const first = await session(key)
    first.client.say({type: 'input_audio_buffer.append', audio: 'AAAA'})
    await first.upstream.until(() => first.upstream.messages.length === 1)
    await close(first.client)
    const second = await session(key)
    second.client.say({type: 'response.create'})
    await second.upstream.until(() => second.upstream.messages.length === 1)
    await close(second.client)
  })

  test('a key that was deleted opens no further turn', async () => {
    talks(here.provider)
    const key = await keyWith({})
    const {client} = await session(key)
    client.say({type: 'response.create'})
    await client.until(() => client.messages.length === 3)
    const {data} = await here.gateway.admin<{data: {id: string; name: string}[]}>('GET', '/api-keys?page_size=100')
    const newest = data.filter(({name}) => name.startsWith('limited')).map(({id}) => id)
    for (const id of newest) await here.gateway.admin('DELETE', `/api-keys/${id}`)
    client.say({type: 'response.create'})
    await client.ended
    expect(client.closing()).toEqual({code: 1008, reason: expect.stringContaining('not known')})
  })
})

describe('the end', () => {
  test.each([
    [1000, 'done'],
    [3001, 'mine'],
    [1005, ''],
  ])('a client that closes with %i is answered by the provider', async (code, reason) => {
    const {client, upstream, headers} = await session()
    client.write(closeFrame('client', {code, reason}))
    await client.ended
    expect([upstream.closing(), client.closing()]).toEqual([
      {code, reason},
      {code, reason},
    ])
    expect((await rowsOf(headers as never)).map(row => [row.response_status_code, row.outcome])).toEqual([[101, 'ok']])
  })

  test.each<[number, string, number, string]>([
    [1000, 'bye', 101, 'ok'],
    [1005, '', 101, 'ok'],
    [1001, 'Your session hit the maximum duration of 60 minutes.', 101, 'ok'],
    [4001, 'session expired', 502, 'failed'],
  ])('a provider that closes with %i is heard by the client', async (code, reason, status, outcome) => {
    const {client, upstream, headers} = await session()
    upstream.write(closeFrame('server', {code, reason}))
    await client.ended
    expect(client.closing()).toEqual({code, reason})
    expect((await rowsOf(headers as never)).map(row => [row.response_status_code, row.outcome])).toEqual([
      [status, outcome],
    ])
  })

  test('a provider that vanishes is told to the client', async () => {
    const {client, upstream} = await session()
    upstream.socket.destroy()
    await client.ended
    expect(client.closing()).toEqual({code: 1011, reason: expect.stringContaining('ended the connection')})
  })

  test('a client that vanishes is told to the provider', async () => {
    const {client, upstream, headers} = await session()
    client.socket.destroy()
    await upstream.until(() => upstream.closing() !== null)
    expect(upstream.closing()?.code).toBe(1001)
    await vi.waitFor(async () =>
      expect((await rowsOf(headers as never)).map(row => [row.outcome, row.delivered])).toEqual([['aborted', false]]),
    )
  })

  test('a session in which nobody says anything is closed', async () => {
    const other = await startRealtime(services, {env: {UPSTREAM_IDLE_TIMEOUT_MS: '200'}})
    const {client, upstream} = await session(OWN_KEY, other)
    await client.ended
    expect(client.closing()).toEqual({
      code: 1001,
      reason: 'Neither side sent a frame for 200 ms (UPSTREAM_IDLE_TIMEOUT_MS).',
    })
    expect(upstream.closing()?.code).toBe(1001)
    await other.close()
  })

  test('a client that takes nothing any more is cut off', async () => {
    const other = await startRealtime(services, {env: {CLIENT_WRITE_TIMEOUT_MS: '200'}})
    const {client, upstream, headers} = await session(OWN_KEY, other)
    client.socket.pause()
    const one = frame('server', OPCODE.binary, Buffer.alloc(1 << 20))
    const fill = () => {
      while (!upstream.socket.destroyed && upstream.socket.write(one));
    }
    upstream.socket.on('drain', fill)
    fill()
    await upstream.until(() => upstream.closing() !== null)
    expect(upstream.closing()?.code).toBe(1001)
    await vi.waitFor(async () =>
      expect((await rowsOf(headers as never, other)).map(row => [row.outcome, row.error])).toEqual([
        ['aborted', 'The client took no bytes for 200 ms.'],
      ]),
    )
    client.socket.destroy()
    await other.close()
  })

  test('a provider that does not answer a close keeps nobody', async () => {
    const live = vi.spyOn(here.live, 'add')
    const {client, upstream} = await session()
    const its = live.mock.lastCall![0]
    live.mockRestore()
    upstream.socket.removeAllListeners('data')
    const received = new Promise(resolve => upstream.socket.once('data', resolve))
    client.write(closeFrame('client', {code: 1000, reason: ''}))
    await received
    its.check(performance.now() + 4000)
    expect(client.closing()).toBeNull()
    its.check(performance.now() + 6000)
    await client.until(() => client.closing() !== null)
    expect(client.closing()).toEqual({code: 1000, reason: ''})
    upstream.socket.destroy()
    await client.ended
  })

  test('a gateway that stops lets answers come to their end, and no session waits for more', async () => {
    const other = await startRealtime(services)
    const idle = await session(OWN_KEY, other)
    const busy = await session(OWN_KEY, other)
    busy.client.say({type: 'response.create'})
    await busy.upstream.until(() => busy.upstream.messages.length === 1)
    const drained = other.live.drain(60_000)
    await idle.client.ended
    expect([idle.client.closing()?.code, busy.client.closing()]).toEqual([1001, null])
    busy.upstream.say(created('r'))
    busy.upstream.say(done('r'))
    await busy.client.ended
    expect([busy.client.messages.length, busy.client.closing()?.code]).toEqual([2, 1001])
    await drained
    await other.close()
  })

  test('a gateway that stops closes what is left with 1001, and takes nothing new', async () => {
    const other = await startRealtime(services)
    const {client, upstream} = await session(OWN_KEY, other)
    client.say({type: 'response.create'})
    await upstream.until(() => upstream.messages.length === 1)
    await other.live.drain(0)
    await client.ended
    expect([client.closing()?.code, upstream.closing()?.code]).toEqual([1001, 1001])
    expect((await rawClient(path(other), OWN_KEY)).status).toBe(503)
    await other.close()
  })
})

describe('the journal', () => {
  test('has the intent before a turn leaves, and the settlement before the client hears of its end', async () => {
    const order: string[] = []
    const held: (() => void)[] = []
    const other = await startRealtime(services, {
      change: on => ({
        ...on,
        recorder: {
          ...on.recorder,
          begin: (intent, then) =>
            on.recorder.begin(intent, fault => {
              order.push('intent')
              held.push(() => then(fault))
            }),
          settle: (settlement, bodies, then) =>
            on.recorder.settle(settlement, bodies, fault => {
              order.push('settlement')
              held.push(() => then(fault))
            }),
        },
      }),
    })
    const letGo = async () => {
      await vi.waitFor(() => expect(held.length).toBe(1))
      held.shift()!()
    }
    const arriving = session(OWN_KEY, other)
    await vi.waitFor(() => expect(order).toEqual(['intent']))
    expect(other.provider.peers).toEqual([])
    await letGo()
    const {client, upstream} = await arriving
    client.say({type: 'response.create'})
    await vi.waitFor(() => expect(order).toEqual(['intent', 'intent']))
    expect(upstream.messages).toEqual([])
    await letGo()
    await upstream.until(() => upstream.messages.length === 1)
    upstream.say(created('r'))
    upstream.say(done('r'))
    await vi.waitFor(() => expect(order).toEqual(['intent', 'intent', 'settlement']))
    expect(client.messages.length).toBe(1)
    await letGo()
    await client.until(() => client.messages.length === 2)
    upstream.write(closeFrame('server', {code: 1000, reason: ''}))
    await vi.waitFor(() => expect(order).toEqual(['intent', 'intent', 'settlement', 'settlement']))
    expect(client.closing()).toBeNull()
    await letGo()
    await client.ended
    await other.close()
  })

  test('lets nothing leave that it cannot record', async () => {
    const fault = new Error('full')
    let is_full = false
    const other = await startRealtime(services, {
      change: on => ({
        ...on,
        recorder: {...on.recorder, begin: (intent, then) => (is_full ? then(fault) : on.recorder.begin(intent, then))},
      }),
    })
    const {client, upstream} = await session(OWN_KEY, other)
    is_full = true
    client.say({type: 'response.create'})
    await client.ended
    expect(client.closing()).toEqual({code: 1013, reason: expect.stringContaining('journal')})
    expect(upstream.messages).toEqual([])
    expect((await rawClient(path(other), OWN_KEY)).status).toBe(503)
    await other.close()
  })

  test('of a process that was killed gives its open turns back as recovered, each once', async () => {
    const other = await startRealtime(services)
    const {client, upstream} = await session(OWN_KEY, other)
    talks(other.provider)
    client.say({type: 'response.create'})
    await client.until(() => client.messages.length === 3)
    await other.gateway.logs()
    other.provider.answer(() => undefined)
    client.say({type: 'response.create', response: {instructions: 'x'.repeat(4000)}})
    await upstream.until(() => upstream.messages.length === 2)
    const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'))
    cpSync(other.gateway.folder, folder, {recursive: true}) // what a kill would leave
    for (const _ of [1, 2]) {
      const after = await startGateway({}, {folder})
      const rows = await after.logs()
      expect(rows.map(row => [row.outcome, (row.cost as number) > 0]).sort()).toEqual([
        ['ok', true],
        ['recovered', false],
        ['recovered', true],
      ])
      await after.close()
    }
    rmSync(folder, {recursive: true, force: true})
    await close(client)
    await other.close()
  })
})

describe('clients', () => {
  test('the WebSocket of a browser opens a session with a subprotocol', async () => {
    talks(here.provider)
    const socket = new WebSocket(`${here.ws}?model=@voice/${MODEL}`, [
      'realtime',
      `openai-insecure-api-key.${WORKSPACE_KEY}`,
    ])
    const received: string[] = []
    const closed = new Promise<CloseEvent>(resolve => socket.addEventListener('close', resolve))
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', reject)
    })
    expect([socket.protocol, socket.extensions]).toEqual(['realtime', ''])
    const answered = new Promise<void>(resolve =>
      socket.addEventListener('message', ({data}) => {
        received.push(JSON.parse(data as string).type)
        if (received.length === 3) resolve()
      }),
    )
    socket.send(JSON.stringify({type: 'response.create'}))
    await answered
    expect(received).toEqual(['response.created', 'response.output_text.delta', 'response.done'])
    socket.close(3000, 'enough')
    const {code, reason, wasClean} = await closed
    expect([code, reason, wasClean]).toEqual([3000, 'enough', true])
  })

  test('the openai SDK talks in a session, over TLS', async () => {
    const other = await startRealtime(services, {is_tls: true})
    talks(other.provider)
    const client = new OpenAI({apiKey: WORKSPACE_KEY, baseURL: other.http.replace('/realtime', '')})
    const realtime = new OpenAIRealtimeWS(
      {model: `@voice/${MODEL}`, options: {ca: pem('ca.pem'), servername: 'models.example'}},
      client,
    )
    const faults: unknown[] = []
    realtime.on('error', fault => void faults.push(fault))
    const finished = new Promise(resolve => realtime.on('response.done', ({response}) => resolve(response.usage)))
    await new Promise((resolve, reject) => {
      realtime.socket.on('open', resolve)
      realtime.socket.on('error', reject)
    })
    realtime.send({type: 'response.create'})
    expect(await finished).toEqual(TEXT_USAGE)
    const closed = new Promise(resolve => realtime.socket.on('close', resolve))
    realtime.close()
    await closed
    expect(faults).toEqual([])
    await other.close()
  })
})

test('the server of the gateway itself opens sessions, and tells a request without an upgrade what it expected', async () => {
  const here = await startRealtime(services)
  onTestFinished(() => here.close())
  talks(here.provider)
  const {url} = here.gateway
  const protocols = ['realtime', `openai-insecure-api-key.${WORKSPACE_KEY}`]
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime?model=@voice/${MODEL}`, protocols)
  const first = new Promise<string>((resolve, reject) => {
    socket.addEventListener('message', ({data}) => resolve(String(data)))
    socket.addEventListener('error', () => reject(new Error('no session')))
  })
  socket.addEventListener('open', () => socket.send(JSON.stringify({type: 'response.create'})))
  expect(JSON.parse(await first)).toMatchObject({type: 'response.created'})
  socket.close()
  const plain = await fetch(`${url}/v1/realtime?model=${MODEL}`, {
    headers: {...OWN_KEY, 'x-gateway-provider': '@voice'},
  })
  expect([plain.status, await plain.text()]).toEqual([400, expect.stringContaining('expected websocket')])
})
