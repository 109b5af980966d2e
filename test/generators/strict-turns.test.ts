import {encode} from 'gpt-tokenizer/encoding/o200k_base'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {closeFrame} from '../../src/base/websocket/index.ts'
import type {ProxyServices} from '../../src/proxy/services.ts'
import {type RealtimeGateway, startRealtime} from '../support/realtime.ts'
import {type Peer, rawClient} from '../support/realtime-provider.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {countAnew, counted} from './strict-reservations/counted.ts'
import {Random} from './strict-reservations/random.ts'

// Turns of sessions, spoken and written, of any order and length: each uses no more than strict limits reserved for it.

vi.mock('../../src/ports/counters/open.ts', async original => {
  const {openCounters} = await original<typeof import('../../src/ports/counters/open.ts')>()
  const {listening} = await import('./strict-reservations/counted.ts')
  return {openCounters: async (...of: Parameters<typeof openCounters>) => listening(await openCounters(...of))}
})
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

const SESSIONS = forRing({own: 25, ci: 150, full: 1500})
const TURNS = 4
const MODELS = [
  ['gpt-realtime', 4096],
  ['gpt-realtime-mini', 4096],
  ['gpt-realtime-2', 32_000],
] as const
/** Bytes of sound for a token: 100 ms at 24 kHz and 16 bits, or as telephones send it. */
const FORMATS = [
  ['pcm16', 4800],
  ['g711_ulaw', 800],
] as const
const FRAME = 4

let here: RealtimeGateway
let key: string
beforeAll(async () => {
  here = await startRealtime(() => known.services as ProxyServices)
  const [workspace] = (await here.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const usage_limits = (['tokens', 'cost'] as const).map(type => ({
    type,
    credit_limit: type === 'cost' ? 1e6 : 1e9,
    enforcement: 'strict',
  }))
  await here.gateway.admin('PUT', `/admin/workspaces/${workspace!.id}`, {usage_limits})
  const body = {name: 'strict', workspace_id: workspace!.id, scopes: ['completions.write']}
  key = (await here.gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)).key
})
afterAll(() => here.close())

const tokensOf = (text: string) => encode(text, {disallowedSpecial: new Set<string>()}).length

/** What the provider has in its context. */
interface Context {
  text: number
  audio: number
}

interface Session {
  readonly client: Peer
  readonly upstream: Peer
  readonly context: Context
  readonly bytes_a_token: number
  readonly most_answer: number
}

async function opened(random: Random): Promise<Session> {
  const [model, most_answer] = random.of(MODELS)
  const [format, bytes_a_token] = random.of(FORMATS)
  const upstream = here.provider.next()
  const {peer, status, body} = await rawClient(`${here.http}?model=@voice/${model}`, {'x-gateway-api-key': key})
  if (!peer) throw new Error(`the session was refused: ${status} ${body}`)
  const session = {client: peer, upstream: await upstream, context: {text: 0, audio: 0}, bytes_a_token, most_answer}
  const instructions = random.text()
  session.upstream.say({type: 'session.created', session: {type: 'realtime', model, instructions}})
  await peer.until(() => peer.messages.length === 1)
  session.context.text += tokensOf(instructions)
  await sent(session, {type: 'session.update', session: {input_audio_format: format, output_audio_format: format}})
  return session
}

async function sent({client, upstream}: Session, event: object) {
  const count = upstream.messages.length + 1
  client.say(event)
  await Promise.race([upstream.until(() => upstream.messages.length >= count), client.ended])
  expect(client.closing(), JSON.stringify(event).slice(0, 200)).toBeNull()
}

/** Something that a client says, and what it adds to the context. */
async function response(session: Session, random: Random) {
  const {context, bytes_a_token} = session
  const text = random.text()
  switch (random.of(['item', 'output', 'instructions', 'tools', 'sound', 'sound', 'spoken item'])) {
    case 'item':
      context.text += tokensOf(text) + FRAME
      return sent(session, item({type: 'message', role: 'user', content: [{type: 'input_text', text}]}))
    case 'output':
      context.text += tokensOf(text) + FRAME
      return sent(session, item({type: 'function_call_output', call_id: 'call_1', output: text}))
    case 'instructions':
      context.text += tokensOf(text)
      return sent(session, {type: 'session.update', session: {instructions: text}})
    case 'tools':
      context.text += tokensOf(text) + FRAME
      return sent(session, {
        type: 'session.update',
        session: {tools: [{type: 'function', name: 'f', description: text, parameters: {}}]},
      })
    case 'sound': {
      const tokens = 1 + random.below(40)
      context.audio += tokens
      return sent(session, {
        type: 'input_audio_buffer.append',
        audio: Buffer.alloc(tokens * bytes_a_token).toString('base64'),
      })
    }
    default: {
      const tokens = 1 + random.below(40)
      context.audio += tokens
      context.text += FRAME
      const audio = Buffer.alloc(tokens * bytes_a_token).toString('base64')
      return sent(session, item({type: 'message', role: 'user', content: [{type: 'input_audio', audio}]}))
    }
  }
}

const item = (of: object) => ({type: 'conversation.item.create', item: of})

/** One turn: what was said, the answer, and what it is charged by. */
async function turn(session: Session, random: Random, id: string): Promise<void> {
  const {client, upstream, context, most_answer} = session
  for (let times = 1 + random.below(3); times > 0; times--) await response(session, random)
  if (random.chance(0.6)) {
    const instructions = random.text(6)
    context.text += tokensOf(instructions)
    await sent(session, {type: 'response.create', response: {instructions}})
  }
  const received = client.messages.length
  upstream.say({type: 'response.created', response: {id, status: 'in_progress'}})
  await client.until(() => client.messages.length === received + 1)
  const output_tokens = 1 + random.below(most_answer)
  const audio_tokens = random.below(output_tokens + 1)
  const input_tokens = context.text + context.audio
  const cached = random.chance(0.5) ? random.below(context.text + 1) : 0
  upstream.say({
    type: 'response.done',
    response: {
      ...{id, status: 'completed', output: []},
      usage: {
        ...{total_tokens: input_tokens + output_tokens, input_tokens, output_tokens},
        input_token_details: {
          text_tokens: context.text,
          audio_tokens: context.audio,
          cached_tokens: cached,
          cached_tokens_details: {text_tokens: cached},
        },
        output_token_details: {text_tokens: output_tokens - audio_tokens, audio_tokens},
      },
    },
  })
  await client.until(() => client.messages.length === received + 2)
  context.text += output_tokens - audio_tokens
  context.audio += audio_tokens
}

test('whatever is said in a session, a turn uses no more than strict limits reserved for it', {
  timeout: 600_000,
}, async () => {
  const random = new Random(seed())
  let turns = 0
  for (let at = 0; at < SESSIONS; at++) {
    const session = await opened(random)
    for (let nth = 0; nth < TURNS; nth++) {
      countAnew()
      await turn(session, random, `r${nth}`)
      await expect.poll(() => counted.used !== null, {interval: 1}).toBe(true)
      const {reserved} = counted
      const used = counted.used!
      const response = `session ${at}, turn ${nth}`
      expect(used.tokens, response).toBeGreaterThan(0)
      expect(used.tokens, `${response} tokens`).toBeLessThanOrEqual(reserved.tokens)
      expect(used.cost_nanousd, `${response} cost`).toBeLessThanOrEqual(reserved.cost_nanousd)
      turns++
    }
    session.client.write(closeFrame('client', {code: 1000, reason: ''}))
    await session.client.ended
  }
  generated('strict turns', turns)
})
