import {afterAll, afterEach, beforeAll, describe, expect, test, vi} from 'vitest'
import {closeFrame} from '../../src/base/websocket/index.ts'
import type {ProxyServices} from '../../src/proxy/services.ts'
import {MODEL, OWN_KEY, type RealtimeGateway, startRealtime} from '../support/realtime.ts'
import {type Peer, rawClient} from '../support/realtime-provider.ts'

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

let here: RealtimeGateway
beforeAll(async () => {
  here = await startRealtime(() => known.services as ProxyServices)
})
afterAll(() => here.close())
afterEach(() => here.provider.answer(() => undefined))

/** The longest answer of the model of these sessions. */
const ANSWER = 4096
const SECOND_BYTES = 48_000
const SECOND_TOKENS = 10
const CREATE = {type: 'response.create'}
const sound = (bytes: number) => ({type: 'input_audio_buffer.append', audio: Buffer.alloc(bytes).toString('base64')})
const says = (text: string) => ({
  type: 'conversation.item.create',
  item: {type: 'message', role: 'user', content: [{type: 'input_text', text}]},
})

async function session(
  credit_limit: number,
  model = MODEL,
  type: 'tokens' | 'cost' = 'tokens',
): Promise<{client: Peer; upstream: Peer}> {
  const [workspace] = (await here.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const {key} = await here.gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
    name: `limited ${Math.random()}`,
    workspace_id: workspace!.id,
    scopes: ['completions.write'],
    usage_limits: {type, credit_limit, enforcement: 'strict'},
  })
  const upstream = here.provider.next()
  const {peer, status, body} = await rawClient(`${here.http}?model=@voice/${model}`, {'x-gateway-api-key': key})
  if (!peer) throw new Error(`the session was refused: ${status} ${body}`)
  return {client: peer, upstream: await upstream}
}

/** Sends these, and tells whether the last of them reached the provider; else the session was closed as used up. */
async function passes({client, upstream}: {client: Peer; upstream: Peer}, ...events: object[]): Promise<boolean> {
  const count = upstream.messages.length + events.length
  for (const event of events) client.say(event)
  await Promise.race([upstream.until(() => upstream.messages.length >= count), client.ended])
  const left = upstream.messages.length >= count
  if (!left) expect(client.closing()).toEqual({code: 1008, reason: expect.stringMatching(/used up/)})
  if (left) {
    client.write(closeFrame('client', {code: 1000, reason: ''}))
    await client.ended
  }
  return left
}

describe('a strict limit holds for a turn', () => {
  test('what the words of its client come to at most, in any language', async () => {
    const text = '龘靐齉'.repeat(500)
    const bytes = Buffer.byteLength(text)
    expect(await passes(await session(ANSWER + Math.ceil(bytes / 3)), says(text), CREATE)).toBe(false)
    expect(await passes(await session(ANSWER + bytes + 200), says(text), CREATE)).toBe(true)
  })

  test('what it said before the session was told', async () => {
    const instructions = 'Speak of the sea. '.repeat(400)
    const opened = async (limit: number) => {
      const one = await session(limit)
      one.upstream.say({type: 'session.created', session: {type: 'realtime', model: MODEL, instructions}})
      await one.client.until(() => one.client.messages.length === 1)
      return one
    }
    expect(await passes(await opened(ANSWER + 1000), CREATE)).toBe(false)
    expect(await passes(await opened(ANSWER + 4000), CREATE)).toBe(true)
  })

  test('its tools, which are read with every answer', async () => {
    const tools = [
      {
        type: 'function',
        name: 'f',
        description: 'Tells of the sea. '.repeat(400),
        parameters: {type: 'object', properties: {}},
      },
    ]
    const update = {type: 'session.update', session: {type: 'realtime', tools}}
    expect(await passes(await session(ANSWER + 1000), update, CREATE)).toBe(false)
    expect(await passes(await session(ANSWER + 4000), update, CREATE)).toBe(true)
  })

  test('all that is heard, as it is sent: sound that the provider answers when it will', async () => {
    const minute = Array.from({length: 60}, () => sound(SECOND_BYTES))
    expect(await passes(await session(ANSWER + 30 * SECOND_TOKENS), ...minute)).toBe(false)
    expect(await passes(await session(ANSWER + 60 * SECOND_TOKENS), ...minute)).toBe(true)
  })

  test('sound of telephones, which has a sixth of the bytes', async () => {
    const g711 = {type: 'session.update', session: {input_audio_format: 'g711_ulaw'}}
    const pcmu = {type: 'session.update', session: {audio: {input: {format: {type: 'audio/pcmu'}}}}}
    const minute = Array.from({length: 60}, () => sound(SECOND_BYTES / 6))
    for (const format of [g711, pcmu]) {
      expect(await passes(await session(ANSWER + 30 * SECOND_TOKENS + 50), format, ...minute)).toBe(false)
      expect(await passes(await session(ANSWER + 60 * SECOND_TOKENS + 50), format, ...minute)).toBe(true)
    }
  })

  test('the longest answer of its model', async () => {
    for (const [model, most] of [
      ['gpt-realtime', 4096],
      ['gpt-realtime-mini-2025-10-06', 4096],
      ['gpt-realtime-2', 32_000],
      ['a-name-of-ours', 32_000],
    ] as const) {
      expect(await passes(await session(most - 1, model), CREATE), model).toBe(false)
      expect(await passes(await session(most + 10, model), CREATE), model).toBe(true)
    }
  })

  test('the turn before at the price of what is in no cache', async () => {
    const usage = {
      ...{total_tokens: 100_050, input_tokens: 100_000, output_tokens: 50},
      input_token_details: {
        text_tokens: 100_000,
        audio_tokens: 0,
        cached_tokens: 100_000,
        cached_tokens_details: {text_tokens: 100_000},
      },
      output_token_details: {text_tokens: 50, audio_tokens: 0},
    }
    const second = async (dollars: number) => {
      const one = await session(dollars, MODEL, 'cost')
      one.client.say(CREATE)
      await one.upstream.until(() => one.upstream.messages.length === 1)
      one.upstream.say({type: 'response.created', response: {id: 'r', status: 'in_progress'}})
      one.upstream.say({type: 'response.done', response: {id: 'r', status: 'completed', output: [], usage}})
      await one.client.until(() => one.client.messages.length === 2)
      return passes(one, CREATE)
    }
    // 100,000 tokens are 0.25 dollars from the cache and 0.50 else, an answer of sound 0.328 at most
    expect(await second(0.25 + 0.25 + 0.33)).toBe(false)
    expect(await second(0.25 + 0.5 + 0.34)).toBe(true)
  })

  test('what was sent while the turn before was answered', async () => {
    const text = 'Tell more of the sea. '.repeat(1000)
    const second = async (limit: number) => {
      const one = await session(limit)
      one.client.say(CREATE)
      await one.upstream.until(() => one.upstream.messages.length === 1)
      one.upstream.say({type: 'response.created', response: {id: 'r', status: 'in_progress'}})
      one.client.say(says(text))
      await one.upstream.until(() => one.upstream.messages.length === 2)
      const usage = {
        total_tokens: 30,
        input_tokens: 20,
        output_tokens: 10,
        input_token_details: {text_tokens: 20},
        output_token_details: {text_tokens: 10},
      }
      one.upstream.say({type: 'response.done', response: {id: 'r', status: 'completed', output: [], usage}})
      await one.client.until(() => one.client.messages.length === 2)
      return passes(one, CREATE)
    }
    expect(await second(ANSWER + 60 + 5000)).toBe(false)
    expect(await second(ANSWER + 60 + 16_000)).toBe(true)
  })
})

test('doors 16: a session of translation, whose minutes nothing counts yet, is refused', async () => {
  const url = here.http.replace('/realtime', '/realtime/translations?model=@voice/gpt-realtime-translate')
  const {peer, status, body} = await rawClient(url, OWN_KEY)
  expect([peer, status, body]).toEqual([null, 404, expect.stringContaining('/v1/realtime/translations')])
})
