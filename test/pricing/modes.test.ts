import {describe, expect, test} from 'vitest'
import {bundledCatalogue} from '../../src/pricing/catalogue.ts'
import {cost} from '../../src/pricing/cost.ts'
import {effectiveRates, type Price} from '../../src/pricing/price.ts'
import {NO_MODE, tierClass, tierWord, usageOfKind} from '../../src/providers/service-tiers.ts'
import {usedBy} from '../../src/proxy/records/usage.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'
import {emptyUsage} from '../../src/schema/usage.ts'
import {generated} from '../support/ring.ts'
import {events, named} from './table/case.ts'
import {readBy} from './table/read.ts'

const at = Date.parse('2026-11-21T12:00:00Z')
const PRICE: Price = {
  provider: 'p',
  model: 'm',
  source: 'case',
  aliases: [],
  periods: [{rates: {input: 1_000_000, output: 2_000_000}}],
}
/** 10 in and 5 out at that price. */
const STANDARD = 20_000

/** `standard`, `batch`, or the word that the entry is flagged with. */
type Served = string
type Said = string | null

/** How a provider tells of the mode a call was served in; `null` in its `says`: not at all. */
interface Dialect {
  readonly name: string
  readonly provider: string
  readonly model: string
  readonly endpoint: EndpointName
  /** What it may say, and what that means. */
  readonly says: readonly (readonly [said: Said, means: Served | null])[]
  /** The member of a request that asks for a mode, with what it asks for. */
  readonly asks: readonly (readonly [asked: object, mode: Served])[]
  readonly reply?: (said: Said) => object
  readonly stream?: (said: Said) => string
}

const TIERS = [
  [null, null],
  ['default', 'standard'],
  ['priority', 'priority'],
  ['flex', 'batch'],
  ['auto', null],
  ['ultrafast', 'ultrafast'],
] as const
const ASKS = [
  [{}, 'standard'],
  [{service_tier: 'default'}, 'standard'],
  [{service_tier: 'auto'}, 'standard'],
  [{service_tier: 'priority'}, 'priority'],
  [{service_tier: 'flex'}, 'standard'],
  [{service_tier: 'ultrafast'}, 'ultrafast'],
  [{serviceTier: {type: 'priority'}}, 'priority'],
  [{service_tier: 7}, 'standard'],
  [{messages: [{role: 'user', content: '"service_tier":"priority"'}]}, 'standard'],
] as const
const SPEEDS = [
  [null, null],
  ['standard', 'standard'],
  ['fast', 'fast'],
  ['warp', 'warp'],
] as const
const FAST = [
  [{}, 'standard'],
  [{speed: 'standard'}, 'standard'],
  [{speed: 'fast'}, 'fast'],
  [{speed: 'warp'}, 'warp'],
  [{system: 'be "fast"'}, 'standard'],
] as const

const tier = (said: Said) => (said === null ? {} : {service_tier: said})
const speed = (said: Said) => (said === null ? {} : {speed: said})
const chat = {prompt_tokens: 10, completion_tokens: 5, total_tokens: 15}
const responses = {input_tokens: 10, output_tokens: 5, total_tokens: 15}
const claude = {input_tokens: 10, output_tokens: 5}
const choice = {index: 0, message: {role: 'assistant', content: 'Noon.'}, finish_reason: 'stop'}
const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{type: 'text', text: 'Noon.'}],
  stop_reason: 'end_turn',
}
const converse = {
  output: {message: {role: 'assistant', content: [{text: 'Noon.'}]}},
  stopReason: 'end_turn',
  metrics: {latencyMs: 1},
}

const openai = {provider: 'openai', model: 'gpt-x', says: TIERS, asks: ASKS} as const
const anthropic = {provider: 'anthropic', model: 'claude-x', says: SPEEDS, asks: FAST} as const

const DIALECTS: readonly Dialect[] = [
  {
    ...openai,
    name: 'chat',
    endpoint: 'chatComplete',
    reply: said => ({
      id: 'c',
      object: 'chat.completion',
      model: 'gpt-x',
      choices: [choice],
      usage: chat,
      ...tier(said),
    }),
  },
  {
    ...openai,
    name: 'a stream of chat',
    endpoint: 'chatComplete',
    stream: said =>
      events(
        {choices: [{index: 0, delta: {content: 'Noon.'}}], ...tier(said)},
        {choices: [], usage: chat, ...tier(said)},
        '[DONE]',
      ),
  },
  {
    ...openai,
    name: 'Responses',
    endpoint: 'createModelResponse',
    reply: said => ({
      id: 'r',
      object: 'response',
      status: 'completed',
      model: 'gpt-x',
      output: [],
      usage: responses,
      ...tier(said),
    }),
  },
  {
    ...openai,
    name: 'a stream of Responses',
    endpoint: 'createModelResponse',
    stream: said =>
      named({
        type: 'response.completed',
        response: {id: 'r', status: 'completed', output: [], usage: responses, ...tier(said)},
      }),
  },
  {
    ...openai,
    name: 'embeddings',
    endpoint: 'embed',
    reply: said => ({data: [], model: 'm', usage: {...chat}, ...tier(said)}),
  },
  {
    ...openai,
    name: 'Azure',
    provider: 'azure-openai',
    endpoint: 'chatComplete',
    reply: said => ({choices: [choice], usage: chat, ...tier(said)}),
  },
  {
    ...anthropic,
    name: 'Messages',
    endpoint: 'messages',
    reply: said => ({...message, usage: {...claude, ...speed(said)}}),
  },
  {
    ...anthropic,
    name: 'a stream of Messages',
    endpoint: 'messages',
    stream: said =>
      named(
        {
          type: 'message_start',
          message: {...message, content: [], usage: {input_tokens: 10, output_tokens: 1, ...speed(said)}},
        },
        {type: 'message_delta', delta: {stop_reason: 'end_turn'}, usage: {output_tokens: 5}},
        {type: 'message_stop'},
      ),
  },
  {
    ...anthropic,
    name: 'chat with Claude',
    endpoint: 'chatComplete',
    reply: said => ({...message, usage: {...claude, ...speed(said)}}),
  },
  {
    ...anthropic,
    name: 'the tier of Messages',
    endpoint: 'messages',
    says: [
      [null, null],
      ['standard', 'standard'],
      ['standard_only', 'standard'],
      ['priority', 'priority'],
      ['batch', 'batch'],
    ],
    asks: ASKS.slice(0, 3),
    reply: said => ({...message, usage: {...claude, ...tier(said)}}),
  },
  {
    name: 'Converse',
    provider: 'bedrock',
    model: 'a-model',
    endpoint: 'chatComplete',
    says: TIERS,
    asks: ASKS,
    reply: said => ({
      ...converse,
      usage: {inputTokens: 10, outputTokens: 5, totalTokens: 15},
      ...(said && {serviceTier: {type: said}}),
    }),
  },
  {
    name: 'Gemini on Vertex AI',
    provider: 'vertex-ai',
    model: 'gemini-x',
    endpoint: 'chatComplete',
    says: [
      [null, null],
      ['ON_DEMAND', 'standard'],
      ['TRAFFIC_TYPE_UNSPECIFIED', 'standard'],
      ['ON_DEMAND_LATER', 'ON_DEMAND_LATER'],
      ['ON_DEMAND_PRIORITY', 'priority'],
      ['ON_DEMAND_FLEX', 'batch'],
    ],
    asks: [
      [{}, 'standard'],
      [{service_tier: 'priority'}, 'priority'],
      [{service_tier: 'standard'}, 'standard'],
    ],
    reply: said => ({
      candidates: [{content: {role: 'model', parts: [{text: 'Noon.'}]}, finishReason: 'STOP', index: 0}],
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 5,
        totalTokenCount: 15,
        ...(said && {trafficType: said}),
      },
    }),
  },
]

const CASES = DIALECTS.flatMap(dialect =>
  dialect.says.flatMap(([said, means]) =>
    dialect.asks.map(([asked, mode]) => ({dialect, said, asked, served: means ?? mode})),
  ),
)

describe('a call is charged as it was served, and a mode without a price of its own says so', () => {
  generated('modes', CASES.length)
  test.each(CASES.map(each => [each.dialect.name, JSON.stringify(each.asked), each.said ?? 'nothing', each] as const))(
    '%s, asked with %s and answered with %s',
    (_name, _asked, _said, {dialect, said, asked, served}) => {
      const {provider, model, endpoint} = dialect
      const reply = dialect.reply?.(said)
      const stream = dialect.stream?.(said)
      const body = Buffer.from(JSON.stringify({model, ...asked}))
      const read = readBy({
        provider,
        model,
        endpoint,
        asked,
        ...(reply && {reply}),
        ...(stream !== undefined && {stream}),
      })
      const used = usedBy({
        kind: provider,
        operation: null,
        model: null,
        reply_headers: {},
        endpoint,
        method: 'POST',
        path: '',
        request_body: body,
        mode_in: body,
        asked_bytes: body.length,
        status: 200,
        outcome: 'ok',
        reply_facts: read,
        plain: reply ? Buffer.from(JSON.stringify(reply)) : null,
        text_bytes: 5,
        text_pieces: 0,
        is_cut_stream: false,
      })
      const charged = cost(used.usage, PRICE, {at})
      expect(charged).toMatchObject({
        cost_nanousd: served === 'batch' ? STANDARD / 2 : STANDARD,
        mode_unpriced: served === 'standard' || served === 'batch' ? null : served,
        unpriced: false,
        unpriced_units: [],
      })
    },
  )
})

const catalogue = bundledCatalogue()

/** Words that a reply may say, and what they cost there: `null` stands for the standard price and a flag. */
const WORDS: readonly (readonly [kind: string, word: string, means: string | null])[] = [
  ['openai', 'default', 'standard'],
  ['openai', 'fast', 'priority'],
  ['openai', 'scale', null],
  ['azure-openai', 'flex', 'batch'],
  ['openrouter', 'standard', 'standard'],
  ['groq', 'on_demand', 'standard'],
  ['groq', 'flex', 'standard'],
  ['groq', 'performance', null],
  ['anthropic', 'standard_only', 'standard'],
  ['anthropic', 'flex', null],
  ['google', 'unspecified', 'standard'],
  ['google', 'SERVICE_TIER_STANDARD', 'standard'],
  ['google', 'deferred', null],
  ['vertex-ai', 'ON_DEMAND', 'standard'],
  ['vertex-ai', 'ON_DEMAND_FLEX', 'batch'],
  ['vertex-ai', 'PROVISIONED_THROUGHPUT', 'provisioned'],
  ['bedrock', 'reserved', 'provisioned'],
  ['deepinfra', 'flex', null],
  ['deepinfra', 'default', 'standard'],
  ['openai', 'constructor', null],
  ['constructor', '__proto__', null],
]

describe('doors 12: each documented word of a service tier has its class at its kind of provider', () => {
  test.each(WORDS)('%s: %s', (kind, word, means) => {
    expect(tierClass(kind, word)).toBe(means)
    const {units, mode} = usageOfKind(kind, {...emptyUsage(), tier: word})
    expect(mode ?? null).toBe(means === null ? word : null)
    expect(Object.keys(units)).toEqual(means === null || means === 'standard' ? [] : [`${means}_requests`])
  })

  test('a word that is kept has at most 64 bytes, and nothing that no store takes', () => {
    expect(tierWord(`\u0000\ud800${'é'.repeat(200)}`)).toBe(`\ufffd\ufffd${'é'.repeat(29)}`)
    expect([tierWord(''), tierWord(7), tierWord(null), tierWord({})]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('doors 15: the header of Gemini tells it, and the reply before it', () => {
    const headers = {'x-gemini-service-tier': 'priority'}
    expect(usageOfKind('google', emptyUsage(), NO_MODE, headers).units).toEqual({priority_requests: 1})
    expect(usageOfKind('google', {...emptyUsage(), tier: 'ON_DEMAND'}, NO_MODE, headers).units).toEqual({})
    expect(usageOfKind('openai', emptyUsage(), NO_MODE, headers).units).toEqual({})
    expect(
      usageOfKind('google', emptyUsage(), {tier: 'priority', speed: null}, {'x-gemini-service-tier': 'standard'}).units,
    ).toEqual({})
  })
})

describe('a profile of Bedrock that may go anywhere has the price of those', () => {
  const rows = catalogue.list().filter(({provider, model}) => provider === 'bedrock' && model.startsWith('global.'))
  const SPELLED: readonly ((id: string) => string)[] = [
    id => id,
    id => id.replace(/:0$/, ''),
    id => id.toUpperCase(),
    id => `bedrock/${id}`,
    id => `${id}:200k`,
    id => `arn:aws:bedrock:us-east-1:123456789012:inference-profile/${id}`,
    id => `arn:aws:bedrock:ap-south-1:123456789012:inference-profile/${id.replace(/:0$/, '')}`,
  ]
  const cases = rows.flatMap(row => SPELLED.map(spell => [spell(row.model), row] as const))
  generated('global profiles', cases.length)

  test.each(cases)('%s', (id, row) => {
    expect(catalogue.lookup('bedrock', id)).toBe(row)
    expect(catalogue.lookup('bedrock-mantle', id)).toBe(row)
  })

  test('and one with a region that of the region', () => {
    const inputs = rows.map(({model}) => {
      const plain = model.slice('global.'.length)
      return ['us', 'eu', 'me', 'af'].map(region => catalogue.lookup('bedrock', `${region}.${plain}`))
    })
    for (const found of inputs) for (const price of found) expect(price?.model.startsWith('global.')).toBe(false)
  })
})

describe('what a cache keeps for an hour costs twice the input', () => {
  const claudes = catalogue
    .list()
    .filter(({provider, model}) => /^(?:anthropic|bedrock|vertex-ai)$/.test(provider) && /claude-(?:.*-)?4/.test(model))
  generated('hours of cache', claudes.length)
  test.each(claudes.map(price => [price.provider, price.model, price] as const))(
    '%s %s',
    (_provider, _model, price) => {
      for (const {rates, tiers = []} of price.periods) {
        for (const each of [rates, ...tiers.map(tier => tier.rates)]) {
          const {input, cache_write_1h} = effectiveRates(each)
          expect(cache_write_1h).toBe(2 * input!)
        }
      }
    },
  )
})

describe('sound is charged as sound', () => {
  const talking = catalogue
    .list()
    .filter(({provider, model}) => /^(?:openai|azure-openai|azure-ai)$/.test(provider) && /audio|realtime/.test(model))
  generated('models that talk', talking.length)
  test.each(talking.map(price => [price.provider, price.model, price] as const))(
    '%s %s',
    (_provider, _model, price) => {
      for (const {rates} of price.periods) {
        const {input, output, audio_in, audio_out, audio_cache_read} = effectiveRates(rates)
        expect(audio_in).toBeGreaterThan(2 * input!)
        expect(audio_out).toBeGreaterThan(output!)
        expect(audio_cache_read).toBeDefined()
      }
    },
  )
})
