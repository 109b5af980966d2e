import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('ant', 'anthropic', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const HAIKU = 'claude-haiku-4-5'
const OPUS = 'claude-opus-4-8'
const FABLE = 'claude-fable-5'

type Counts = Record<string, unknown>
interface Reply {
  /** The model that is called; the one that answers is `served`. */
  readonly model: string
  readonly served?: string
  /** Of the top level; its output stands in `output_tokens`. */
  readonly usage: Counts
  /** Blocks beside the text. */
  readonly blocks?: readonly object[]
  readonly end?: object
}
interface Case extends Reply {
  readonly name: string
  /** [input, output], all parts together. */
  readonly tokens: readonly [number, number]
  /** Micro-dollars: tokens times dollars a million. */
  readonly micro_usd: number
  readonly unpriced_units?: readonly string[]
  readonly mode_unpriced?: string
  /** Members that each part of the row has; null: the row has no parts. */
  readonly hops?: readonly object[] | null
}

const used = (input_tokens: number, output_tokens: number, more: Counts = {}): Counts => ({
  input_tokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens,
  ...more,
})
const part = (type: string, model: string | null, input: number, output: number, more: Counts = {}) => ({
  type,
  ...(model === null ? {} : {model}),
  ...used(input, output, more),
})
const handover = (from: string, to: string, category: string | null) => ({
  type: 'fallback',
  from: {model: from},
  to: {model: to},
  trigger: {type: 'refusal', category},
})
const refused = (category: string | null) => ({
  stop_reason: 'refusal',
  stop_details: {type: 'refusal', category, explanation: 'no'},
})
const declined = (category: string | null, more: Partial<Case> = {}): Omit<Case, 'name'> => ({
  model: FABLE,
  served: OPUS,
  usage: used(412, 264, {iterations: [part('message', FABLE, 412, 0), part('fallback_message', OPUS, 412, 264)]}),
  blocks: [handover(FABLE, OPUS, category)],
  tokens: [824, 264],
  micro_usd: 412 * 5 + 264 * 25,
  ...more,
})
const many = Array.from({length: 70}, () => part('message', null, 10, 1))

const CASES: readonly Case[] = [
  {
    name: 'a summary of the context is charged beside the answer',
    model: OPUS,
    usage: used(23_000, 1000, {
      iterations: [part('compaction', null, 180_000, 3500), part('message', null, 23_000, 1000)],
    }),
    tokens: [203_000, 4500],
    micro_usd: 203_000 * 5 + 4500 * 25,
    hops: [
      {type: 'compaction', input_uncached_tokens: 180_000},
      {type: 'message', output_text_tokens: 1000},
    ],
  },
  {
    name: 'one part that repeats the top level is charged once',
    model: OPUS,
    usage: used(45_000, 1234, {iterations: [part('message', null, 45_000, 1234)]}),
    tokens: [45_000, 1234],
    micro_usd: 45_000 * 5 + 1234 * 25,
  },
  {
    name: 'an advisor is charged as its own model',
    model: HAIKU,
    usage: used(412, 531, {
      iterations: [
        part('message', HAIKU, 412, 89),
        part('advisor_message', OPUS, 823, 1612),
        part('message', `${HAIKU}-20251001`, 1348, 442, {cache_read_input_tokens: 412}),
      ],
    }),
    tokens: [412 + 823 + 1348 + 412, 89 + 1612 + 442],
    micro_usd: (412 + 1348) * 1 + 412 * 0.1 + (89 + 442) * 5 + 823 * 5 + 1612 * 25,
    hops: [{model: HAIKU}, {type: 'advisor_message', model: OPUS, output_text_tokens: 1612}, {cache_read_tokens: 412}],
  },
  {
    name: 'each part is priced by its own length',
    model: 'claude-sonnet-4-5',
    usage: used(150_000, 10, {iterations: [part('message', null, 150_000, 10), part('message', null, 150_000, 10)]}),
    tokens: [300_000, 20],
    micro_usd: 300_000 * 3 + 20 * 15,
  },
  {
    name: 'a part above the bound of long prompts has their price, and the others have not',
    model: 'claude-sonnet-4-5',
    usage: used(100, 10, {iterations: [part('compaction', null, 210_000, 10), part('message', null, 100, 10)]}),
    tokens: [210_100, 20],
    micro_usd: 210_000 * 6 + 10 * 22.5 + 100 * 3 + 10 * 15,
  },
  {
    name: 'each part has its own lifetimes of what it wrote to a cache; searches are of the whole call, once',
    model: OPUS,
    usage: used(100, 10, {
      server_tool_use: {web_search_requests: 2},
      iterations: [
        part('message', null, 50, 5, {
          cache_creation_input_tokens: 300,
          cache_creation: {ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200},
          server_tool_use: {web_search_requests: 2},
        }),
        part('message', null, 50, 5, {cache_creation_input_tokens: 40}),
      ],
    }),
    tokens: [440, 10],
    micro_usd: 100 * 5 + 10 * 25 + 140 * 6.25 + 200 * 10 + 2 * 10_000,
  },
  {
    name: 'a part of a kind that nobody knows is charged as an answer, and flagged',
    model: OPUS,
    usage: used(10, 1, {iterations: [part('planner', HAIKU, 100, 20), part('message', null, 10, 1)]}),
    tokens: [110, 21],
    micro_usd: 100 * 1 + 20 * 5 + 10 * 5 + 1 * 25,
    unpriced_units: ['usage.iterations'],
    hops: [{type: 'planner', model: HAIKU}, {}],
  },
  {
    name: 'what was declined before any output is not billed',
    ...declined('cyber'),
    hops: [{model: FABLE, is_billed: false}, {model: OPUS}],
  },
  {name: 'nor where the vendor names no policy', ...declined(null)},
  ...['bio', 'frontier_llm', 'reasoning_extraction'].map(category => ({
    name: `but for ${category} it is`,
    ...declined(category, {micro_usd: 412 * 10 + 412 * 5 + 264 * 25}),
  })),
  {name: 'a policy that nobody knows is flagged', ...declined('new_policy', {unpriced_units: ['refusal_unpriced']})},
  {
    name: 'and so is a refusal that is not shown',
    ...declined('cyber', {blocks: [], unpriced_units: ['refusal_unpriced']}),
  },
  {
    name: 'a model that declined after it wrote is billed for what it wrote',
    ...declined('cyber', {
      usage: used(412, 264, {iterations: [part('message', FABLE, 412, 30), part('fallback_message', OPUS, 412, 264)]}),
      tokens: [824, 294],
      micro_usd: 412 * 10 + 30 * 50 + 412 * 5 + 264 * 25,
    }),
  },
  {
    name: 'turns of a tool before a refusal do not take its policy',
    ...declined('bio', {
      usage: used(1, 1, {
        iterations: [
          part('message', FABLE, 10, 3),
          part('message', FABLE, 20, 0),
          part('fallback_message', OPUS, 30, 4),
        ],
      }),
      tokens: [60, 7],
      micro_usd: 30 * 10 + 3 * 50 + 30 * 5 + 4 * 25,
    }),
  },
  {
    name: 'a chain of refusals, each under its own policy',
    ...declined('cyber', {
      usage: used(1, 1, {
        iterations: [
          part('message', FABLE, 10, 0),
          part('message', 'claude-opus-5', 20, 0),
          part('fallback_message', OPUS, 30, 4),
        ],
      }),
      blocks: [handover(FABLE, 'claude-opus-5', 'cyber'), handover('claude-opus-5', OPUS, 'bio')],
      tokens: [60, 4],
      micro_usd: 20 * 5 + 30 * 5 + 4 * 25,
    }),
  },
  {
    name: 'a message that is a refusal without output costs nothing',
    model: FABLE,
    usage: used(412, 0),
    end: refused('cyber'),
    tokens: [412, 0],
    micro_usd: 0,
    hops: [{is_billed: false, input_uncached_tokens: 412}],
  },
  {
    name: 'unless its policy is billed',
    model: FABLE,
    usage: used(412, 0),
    end: refused('bio'),
    tokens: [412, 0],
    micro_usd: 4120,
    hops: null,
  },
  {
    name: 'an unknown policy of it is flagged',
    model: FABLE,
    usage: used(412, 0),
    end: refused('new_policy'),
    tokens: [412, 0],
    micro_usd: 0,
    unpriced_units: ['refusal_unpriced'],
  },
  {
    name: 'with output it is billed',
    model: FABLE,
    usage: used(412, 7),
    end: refused('cyber'),
    tokens: [412, 7],
    micro_usd: 4120 + 350,
    hops: null,
  },
  {
    name: 'the last of several models refuses too',
    ...declined('cyber', {
      usage: used(412, 0, {iterations: [part('message', FABLE, 412, 0), part('fallback_message', OPUS, 412, 0)]}),
      end: refused('bio'),
      tokens: [824, 0],
      micro_usd: 412 * 5,
    }),
  },
  {
    name: 'a credit that was redeemed is flagged',
    model: OPUS,
    usage: used(100, 10, {fallback_credit: {status: {type: 'redeemed'}}}),
    tokens: [100, 10],
    micro_usd: 750,
    mode_unpriced: 'fallback_credit',
    hops: null,
  },
  {
    name: 'and one that was not applied is not',
    model: OPUS,
    usage: used(100, 10, {fallback_credit: {status: {type: 'not_applied', reason: 'expired'}}}),
    tokens: [100, 10],
    micro_usd: 750,
    hops: null,
  },
  {
    name: 'more than 64 parts are charged to the last token, and flagged',
    model: OPUS,
    usage: used(10, 1, {iterations: many}),
    tokens: [700, 70],
    micro_usd: 700 * 5 + 70 * 25,
    unpriced_units: ['usage.iterations'],
  },
  {
    name: 'parts that cannot be are none, and flagged; the others count',
    model: OPUS,
    usage: used(9, 9, {
      iterations: [
        null,
        7,
        'x',
        [],
        {type: 'message'},
        {type: 'message', input_tokens: -1, output_tokens: 'y'},
        part('message', null, 10, 1),
      ],
    }),
    tokens: [10, 1],
    micro_usd: 75,
    unpriced_units: ['usage.iterations'],
  },
  {
    name: 'where no part can be read the top level counts, flagged',
    model: OPUS,
    usage: used(10, 1, {iterations: [{}]}),
    tokens: [10, 1],
    micro_usd: 75,
    unpriced_units: ['usage.iterations'],
    hops: null,
  },
  ...[[], null, {}, 'x', 3].map(iterations => ({
    name: `${JSON.stringify(iterations)} is no list of parts`,
    model: OPUS,
    usage: used(10, 1, {iterations}),
    tokens: [10, 1] as const,
    micro_usd: 75,
    hops: null,
  })),
  {
    name: 'the model of a part without a price is named',
    model: OPUS,
    usage: used(10, 1, {iterations: [part('message', null, 10, 1), part('advisor_message', '__proto__', 5, 5)]}),
    tokens: [15, 6],
    micro_usd: 75,
    unpriced_units: ['model __proto__'],
  },
]

const whole = ({model, served = model, usage, blocks = [], end = {stop_reason: 'end_turn'}}: Reply) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: served,
  content: [...blocks, {type: 'text', text: 'hi'}],
  stop_sequence: null,
  ...end,
  usage,
})

/** Its counts come in parts: the input first, the output and the list of parts last. */
function streamed(reply: Reply): string {
  const {content, usage, stop_reason, stop_details, ...message} = whole(reply) as Record<string, unknown> & {
    usage: Counts
    content: object[]
  }
  const start = {...message, content: [], stop_reason: null, usage: used(reply.usage.input_tokens as number, 1)}
  const events: Record<string, unknown>[] = [{type: 'message_start', message: start}]
  content.forEach((block, index) => {
    const text = (block as {text?: string}).text
    events.push({
      type: 'content_block_start',
      index,
      content_block: text === undefined ? block : {type: 'text', text: ''},
    })
    if (text !== undefined) events.push({type: 'content_block_delta', index, delta: {type: 'text_delta', text}})
    events.push({type: 'content_block_stop', index})
  })
  events.push(
    {type: 'message_delta', delta: {stop_reason, stop_details, stop_sequence: null}, usage},
    {type: 'message_stop'},
  )
  return events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

const DOORS = {
  messages: {path: '/v1/messages', body: {max_tokens: 9, messages: [{role: 'user', content: 'hi'}]}},
  'the own path': {path: '/v1/proxy/messages', body: {max_tokens: 9, messages: [{role: 'user', content: 'hi'}]}},
  chat: {
    path: '/v1/chat/completions',
    body: {messages: [{role: 'user', content: 'hi'}], stream_options: {include_usage: true}},
  },
} as const

async function call(door: keyof typeof DOORS, stream: boolean, reply: Reply) {
  provider.answer((_, response) => {
    if (!stream) return json(response, whole(reply))
    response.writeHead(200, {'content-type': 'text/event-stream'})
    response.end(streamed(reply))
  })
  const {path, body} = DOORS[door]
  const response = await gateway.call(path, {
    method: 'POST',
    body: JSON.stringify({model: reply.model, ...body, ...(stream ? {stream} : {})}),
    headers: {'content-type': 'application/json', 'x-gateway-provider': '@ant'},
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return {text, row: (await gateway.logs())[0]!}
}

const NANOUSD_A_CENT = 1e7
const ways = (Object.keys(DOORS) as (keyof typeof DOORS)[]).flatMap(door =>
  [false, true].map(stream => [door, stream] as const),
)

describe.each(ways)('doors 13: by %s, streamed: %s', (door, stream) => {
  test.each(CASES.map(each => [each.name, each] as const))('%s', async (_, each) => {
    const {row} = await call(door, stream, each)
    expect([row.req_units, row.res_units]).toEqual(each.tokens)
    expect(Math.round((row.cost as number) * NANOUSD_A_CENT)).toBe(Math.round(each.micro_usd * 1000))
    expect({units: row.unpriced_units, mode: row.mode_unpriced, unpriced: row.unpriced}).toEqual({
      units: each.unpriced_units ?? [],
      mode: each.mode_unpriced ?? null,
      unpriced: each.unpriced_units !== undefined,
    })
    const {hops} = row.usage as {hops?: readonly object[]}
    if (each.hops === null) expect(hops).toBeUndefined()
    else if (each.hops) expect(hops).toMatchObject(each.hops)
    expect(hops?.length ?? 0).toBeLessThanOrEqual(64)
  })
})

test.each([false, true])('doors 13: a client of chat sees the top level, streamed: %s', async stream => {
  const {text} = await call('chat', stream, CASES[0]!)
  const shown = stream
    ? text
        .split('\n')
        .findLast(line => line.includes('"usage"'))!
        .slice(6)
    : text
  expect(JSON.parse(shown).usage).toMatchObject({prompt_tokens: 23_000, completion_tokens: 1000, total_tokens: 24_000})
})

test('doors 13: a part at the call’s own model has the price of the integration’s own', async () => {
  const [advised] = CASES.filter(({name}) => name.includes('advisor'))
  const prices = {
    pay_as_you_go: {request_token: {price: 1}, response_token: {price: 2}, cache_read_input_token: {price: 0}},
  }
  const {data} = await gateway.admin<{data: {id: string; slug: string}[]}>('GET', '/integrations')
  const {id} = data.find(({slug}) => slug.includes('ant'))!
  await gateway.admin('PUT', `/integrations/${id}/models`, {
    models: [{slug: HAIKU, enabled: true, pricing_config: prices}],
  })
  const {row} = await call('messages', false, advised!)
  // cents: the executor by the integration's price, the advisor by the list
  expect(row.cost).toBeCloseTo((412 + 1348) * 1 + (89 + 442) * 2 + (823 * 5 + 1612 * 25) / 1e4, 6)
})

describe('doors 13: under a strict limit, models that Anthropic runs beside the one that is called', () => {
  const advisor = (more: object) => ({tools: [{type: 'advisor_20260301', name: 'advisor', model: OPUS, ...more}]})

  async function send(more: object, credit_limit: number) {
    provider.received.length = 0
    provider.answer((_, response) => json(response, whole({model: HAIKU, usage: used(10, 5)})))
    const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const usage_limits = {type: 'tokens', credit_limit, enforcement: 'strict'}
    const made = {name: 'strict', workspace_id: workspace!.id, scopes: ['completions.write'], usage_limits}
    const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', made)
    const response = await gateway.call('/v1/messages', {
      method: 'POST',
      body: JSON.stringify({model: HAIKU, max_tokens: 100, messages: [{role: 'user', content: 'hi'}], ...more}),
      headers: {'content-type': 'application/json', 'x-gateway-provider': '@ant', 'x-gateway-api-key': key},
    })
    return {status: response.status, text: await response.text()}
  }

  test.each([
    ['an advisor without a bound', advisor({}), 'set max_tokens and max_uses'],
    ['an advisor that may be called for ever', advisor({max_tokens: 2048}), 'set max_tokens and max_uses'],
    ['an advisor that may answer at any length', advisor({max_uses: 1}), 'set max_tokens and max_uses'],
    ['fallbacks of the vendor’s own choice', {fallbacks: 'default'}, 'name its models in a list'],
  ])('%s: refused', async (_, more, words) => {
    const {status, text} = await send(more, 100_000_000)
    expect([status, provider.received.length], text).toEqual([412, 0])
    expect(text).toContain('has no bound')
    expect(text).toContain(words)
  })

  test.each([
    ['an advisor within bounds', advisor({max_tokens: 2048, max_uses: 1}), 2048],
    ['fallbacks that are named', {fallbacks: [{model: OPUS}]}, 200],
  ])('%s: held for', async (_, more, least) => {
    expect((await send({}, 200)).status).toBe(200)
    expect((await send(more, least)).status).toBe(412)
    expect((await send(more, 100_000)).status).toBe(200)
  })
})
