import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {ENDPOINTS as ROUTES} from '../../src/schema/endpoints.ts'
import {ODD, STREAMS, WHOLE} from '../support/as-came/replies.ts'
import {type AsCameRow, rows, type Told} from '../support/as-came/rows.ts'
import {awsMessage} from '../support/aws-message.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

let gateway: TestGateway
let provider: FakeProvider
const slugs = new Map<string, string>()
const {raw, unknown, needless} = rows()

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  for (const {kind, settings} of raw) {
    const name = JSON.stringify([kind, settings])
    if (slugs.has(name)) continue
    const slug = `k${slugs.size}`
    slugs.set(name, slug)
    const host = provider.url.replace('/v1', '')
    await gateway.provider(slug, kind, host, {configurations: {...settings, custom_host: host}})
  }
}, 120_000)
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const MESSAGES = [{role: 'user', content: 'Hello'}]
/** What is sent to each endpoint; `strict` requests OpenAI's members alone. */
const REQUESTS: Readonly<Record<Told, Readonly<Record<string, unknown>>>> = {
  chatComplete: {messages: MESSAGES, user: 'tenant'},
  complete: {prompt: 'Hello'},
  embed: {input: ['a', 'b']},
  createModelResponse: {input: 'Hello'},
  messages: {messages: MESSAGES, max_tokens: 9},
  messagesCountTokens: {messages: MESSAGES},
  rerank: {query: 'a', documents: ['a', 'b']},
  imageGenerate: {prompt: 'a'},
  createTranscription: {},
  moderate: {input: 'a'},
}

async function called(
  {kind, model, endpoint, settings}: AsCameRow,
  more: object = {},
  headers: Record<string, string> = {},
) {
  const {path} = ROUTES.find(({name}) => name === endpoint)!
  const asked = {model, ...REQUESTS[endpoint], ...more}
  const slug = `@${slugs.get(JSON.stringify([kind, settings]))}`
  if (endpoint === 'createTranscription') {
    const body = new FormData()
    body.append('model', model)
    body.append('file', new Blob(['RIFF']), 'a.wav')
    return gateway.call(`/v1${path}`, {method: 'POST', body, headers: {'x-gateway-provider': slug, ...headers}})
  }
  return gateway.call(`/v1${path}`, {
    method: 'POST',
    body: JSON.stringify(asked),
    headers: {'content-type': 'application/json', 'x-gateway-provider': slug, ...headers},
  })
}

/** Events as the provider writes them; Bedrock wraps each in a frame. */
function streamOf(events: readonly string[], kind: string): Buffer {
  const parted = events.map(event => /^(?:([\w.]+) )?(.*)$/s.exec(event)!.slice(1) as [string | undefined, string])
  if (kind === 'bedrock') {
    return Buffer.concat(
      parted.map(([, data]) => awsMessage('chunk', {bytes: Buffer.from(data).toString('base64'), p: 'ab'})),
    )
  }
  return Buffer.from(parted.map(([name, data]) => `${name ? `event: ${name}\n` : ''}data: ${data}\n\n`).join(''))
}

interface Change {
  /** What is changed and why. */
  readonly name: string
  readonly kind: string
  readonly model?: string
  readonly strict?: boolean
  readonly endpoint?: Told
  readonly request?: object
  /** What the provider says in place of what stands in the reply. */
  readonly from: readonly [string, string]
  /** What the client gets in place of that. */
  readonly to: readonly [string, string]
  readonly and?: readonly [string, string]
}

const NOTHING = ['"id"', '"id"'] as const
const THOUGHT =
  '"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]},{"type":"text","text":"Hello"}]'

/** All that near kinds change of a whole reply. */
const CHANGES: readonly Change[] = [
  {
    kind: 'mistral-ai',
    name: 'content in pieces is text',
    from: ['"content":"Hello"', THOUGHT],
    to: [THOUGHT, '"content":"Hello"'],
  },
  {
    kind: 'mistral-ai',
    name: 'thinking is `content_blocks` where strict is off',
    strict: false,
    from: ['"content":"Hello"', THOUGHT],
    to: [THOUGHT, '"content":"Hello"'],
    and: [
      '"type":"function"} ]}',
      '"type":"function"} ],"content_blocks":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Hello"}]}',
    ],
  },
  {
    kind: 'mistral-ai',
    name: 'finish reasons are OpenAI’s',
    from: ['"finish_reason":"tool_calls"', '"finish_reason":"model_length"'],
    to: ['"model_length"', '"length"'],
  },
  {
    kind: 'mistral-ai',
    name: 'finish reasons are its own where strict is off',
    strict: false,
    from: ['"finish_reason":"tool_calls"', '"finish_reason":"model_length"'],
    to: NOTHING,
  },
  {
    kind: 'predibase',
    model: 'base:adapter',
    name: 'finish reasons are OpenAI’s',
    from: ['"finish_reason":"tool_calls"', '"finish_reason":"eos_token"'],
    to: ['"eos_token"', '"stop"'],
  },
  {
    kind: 'mistral-ai',
    name: 'arguments are text',
    from: [String.raw`"{\"city\": \"\u004fslo\"}"`, '{"city":"Oslo"}'],
    to: ['"arguments":{"city":"Oslo"}', String.raw`"arguments":"{\"city\":\"Oslo\"}"`],
  },
  {
    kind: 'mistral-ai',
    name: 'calls have a type',
    from: [',"id":"abcdefghi","type":"function"', ',"id":"abcdefghi"'],
    to: [',"id":"abcdefghi"', ',"id":"abcdefghi","type":"function"'],
  },
  {
    kind: 'mistral-ai',
    name: 'thinking beside the content is left out',
    from: ['"content":"Hello"', '"reasoning_content":"Hm","content":"Hello"'],
    to: ['"reasoning_content":"Hm",', ''],
  },
  {
    kind: 'ai21',
    name: 'what a client must find is added',
    from: ['"model":"m",\t', ''],
    to: ['}}\n', '},"model":"m"}\n'],
  },
  {
    kind: 'mistral-ai',
    endpoint: 'embed',
    name: 'vectors are base64 where the client wants it',
    request: {encoding_format: 'base64'},
    from: NOTHING,
    to: ['[1.0,2,3]', '"AACAPwAAAEAAAEBA"'],
    and: ['[0.10,1e-1,-0.0]', '"zczMPc3MzD0AAACA"'],
  },
  {
    kind: 'jina',
    endpoint: 'rerank',
    name: 'documents are the client’s own',
    request: {return_documents: true},
    from: ['"results":[{"index":1,', '"results":[{"index":1,'],
    to: ['"relevance_score":0.90}', '"relevance_score":0.90,"document":{"text":"b"}}'],
    and: ['"relevance_score":1e-1}', '"relevance_score":1e-1,"document":{"text":"a"}}'],
  },
]

/** All that near kinds change of a chunk. */
const CHUNK_CHANGES: readonly Change[] = [
  {
    kind: 'mistral-ai',
    name: 'the first has a role',
    from: ['"role":"assistant",', ''],
    to: [`${ODD},"content":""}`, `${ODD},"content":"","role":"assistant"}`],
  },
  {
    kind: 'mistral-ai',
    name: 'content in pieces is text',
    from: ['"content":"lo"', '"content":[{"type":"text","text":"lo"}]'],
    to: ['"content":[{"type":"text","text":"lo"}]', '"content":"lo"'],
  },
  {
    kind: 'mistral-ai',
    name: 'finish reasons are OpenAI’s',
    from: ['"finish_reason":"tool_calls"', '"finish_reason":"error"'],
    to: ['"error"', '"stop"'],
  },
  {
    kind: 'mistral-ai',
    name: 'an id is told once',
    from: [`{${ODD},"index":0,"function":{"arguments"`, `{${ODD},"id":"null","index":0,"function":{"arguments"`],
    to: ['"id":"null",', ''],
  },
]

const OWN_ERROR = `{"type":"error",${ODD},"error":{"type":"invalid_request_error",${ODD},"message":"No."},"request_id":"r"}`

const ERRORS: readonly {name: string; kind: string; model?: string; endpoint?: Told; from: string; to: string}[] = [
  {
    kind: 'groq',
    name: 'in OpenAI’s words',
    from: `{"error":{"message":"No.",${ODD}},${ODD}}`,
    to: `{"error":{"message":"No.",${ODD}},${ODD}}`,
  },
  {
    kind: 'mistral-ai',
    name: 'flat',
    from: `{"object":"error",${ODD},"message":"No.","type":"invalid","code":3000}`,
    to: `{"error":{"object":"error",${ODD},"message":"mistral-ai error: No.","type":"invalid","code":"3000","param":null},"provider":"mistral-ai"}`,
  },
  {
    kind: 'mistral-ai',
    name: 'a list of what is wrong',
    from: `{"detail":[{"loc":["body","n"],"msg":"No.",${ODD}}]}`,
    to: `{"error":{"detail":[{"loc":["body","n"],"msg":"No.",${ODD}}],"message":"mistral-ai error: body.n: No.","type":null,"param":null,"code":null},"provider":"mistral-ai"}`,
  },
  {
    kind: 'predibase',
    model: 'base:adapter',
    name: 'under error',
    from: `{ "error" : {${ODD},"message":"No.","type":"t","param":null,"code":null} , ${ODD} }`,
    to: `{ "error" : {${ODD},"message":"predibase error: No.","type":"t","param":null,"code":null} , ${ODD},"provider":"predibase" }`,
  },
  {
    kind: 'jina',
    endpoint: 'embed',
    name: 'a page',
    from: '<html>',
    to: '{"error":{"message":"jina error: the provider answered 422","type":null,"param":null,"code":null},"provider":"jina"}',
  },
  {
    kind: 'vertex-ai',
    model: 'anthropic.claude',
    endpoint: 'messages',
    name: 'in Anthropic’s words',
    from: OWN_ERROR,
    to: OWN_ERROR,
  },
]

/** Jamba's documentation lists what it takes, and what it refuses is all else. */
const KEEPS_TO_ITS_WORDS: ReadonlySet<string> = new Set(['ai21 chatComplete'])

const STREAM_TYPE = {bedrock: 'application/vnd.amazon.eventstream'} as Record<string, string>
const nameOf = ({kind, model}: AsCameRow) => (model === 'm' ? kind : `${kind} ${model}`)

describe('fact 10: a reply in the dialect of the client is returned as it came', () => {
  test('each kind is in the table, and the table names nothing else', () => {
    expect({unknown, needless}).toEqual({unknown: [], needless: []})
    expect(raw.length).toBeGreaterThan(250)
  })

  for (const endpoint of Object.keys(WHOLE) as Told[]) {
    const of = raw.filter(row => row.endpoint === endpoint)
    test.each(of)(`${endpoint} of $kind $model, whole`, async row => {
      provider.answer((_heard, response) =>
        response.writeHead(200, {'content-type': 'application/json'}).end(WHOLE[endpoint]),
      )
      for (const strict of ['true', 'false']) {
        const reply = await called(row, {}, {'x-gateway-strict-open-ai-compliance': strict})
        expect({status: reply.status, text: await reply.text()}, nameOf(row)).toEqual({
          status: 200,
          text: WHOLE[endpoint],
        })
      }
    })
    const events = STREAMS[endpoint]
    if (!events) continue
    test.each(of)(`${endpoint} of $kind $model, streamed`, async row => {
      const type = STREAM_TYPE[row.kind] ?? 'text/event-stream'
      provider.answer((_heard, response) =>
        response.writeHead(200, {'content-type': type}).end(streamOf(events, row.kind)),
      )
      for (const strict of ['true', 'false']) {
        const reply = await called(row, {stream: true}, {'x-gateway-strict-open-ai-compliance': strict})
        expect({status: reply.status, text: await reply.text()}, nameOf(row)).toEqual({
          status: 200,
          text: streamOf(events, '').toString(),
        })
      }
    })
  }

  test.each(CHANGES)(
    '$kind changes one thing alone: $name',
    async ({kind, model = 'm', strict = true, endpoint = 'chatComplete', request = {}, from, to, and = NOTHING}) => {
      const row = raw.find(
        each => each.kind === kind && each.endpoint === endpoint && (model === 'm' || each.model === model),
      )!
      const given = replaced(WHOLE[endpoint], from)
      provider.answer((_heard, response) => response.writeHead(200, {'content-type': 'application/json'}).end(given))
      const reply = await called(row, request, {'x-gateway-strict-open-ai-compliance': String(strict)})
      expect(await reply.text()).toBe(replaced(replaced(given, to), and))
    },
  )

  test.each(CHUNK_CHANGES)(
    '$kind changes one thing of a stream alone: $name',
    async ({kind, strict = true, from, to}) => {
      const row = raw.find(each => each.kind === kind && each.endpoint === 'chatComplete')!
      const events = STREAMS.chatComplete!.map(event => replaced(event, from, false))
      provider.answer((_heard, response) =>
        response.writeHead(200, {'content-type': 'text/event-stream'}).end(streamOf(events, '')),
      )
      const reply = await called(row, {stream: true}, {'x-gateway-strict-open-ai-compliance': String(strict)})
      expect(await reply.text()).toBe(
        streamOf(
          events.map(event => replaced(event, to, false)),
          '',
        ).toString(),
      )
    },
  )

  test.each(ERRORS)(
    'an error keeps what $kind says beside: $name',
    async ({kind, model = 'm', endpoint = 'chatComplete', from, to}) => {
      const row = raw.find(
        each => each.kind === kind && each.endpoint === endpoint && (model === 'm' || each.model === model),
      )!
      provider.answer((_heard, response) => response.writeHead(422, {'content-type': 'application/json'}).end(from))
      const reply = await called(row)
      expect({status: reply.status, text: await reply.text()}).toEqual({status: 422, text: to})
    },
  )

  test.each(
    raw.filter(
      ({kind, endpoint}) => endpoint !== 'createTranscription' && !KEEPS_TO_ITS_WORDS.has(`${kind} ${endpoint}`),
    ),
  )('a request of $endpoint to $kind $model keeps members that are not known', async row => {
    provider.received.length = 0
    provider.answer((_heard, response) =>
      response.writeHead(200, {'content-type': 'application/json'}).end(WHOLE[row.endpoint]),
    )
    const zz_odd = {one: 1, list: [1.5, null, 'é'], deep: {a: {}}}
    for (const strict of ['true', 'false']) await called(row, {zz_odd}, {'x-gateway-strict-open-ai-compliance': strict})
    expect(provider.received.map(({body}) => JSON.parse(body.toString()).zz_odd)).toEqual([zz_odd, zz_odd])
  })

  test('data over several lines are one event, line by line', async () => {
    const event = STREAMS.chatComplete![1]!.replace(', "object"', ',\n"object"').replace('"choices":', '"choices":\n ')
    const lines = (text: string) => `data: ${text.replaceAll('\n', '\ndata: ')}\n\n`
    const all = `${[event, STREAMS.chatComplete![5]!].map(lines).join('')}data: [DONE]\n\n`
    provider.answer((_heard, response) => response.writeHead(200, {'content-type': 'text/event-stream'}).end(all))
    const role = all.replace('{"content":"H\\u0065l"', '{"content":"H\\u0065l"')
    const reply = await called(raw.find(({kind, endpoint}) => kind === 'mistral-ai' && endpoint === 'chatComplete')!, {
      stream: true,
    })
    expect(await reply.text()).toBe(role.replace(`"H\\u0065l",${ODD}`, `"H\\u0065l",${ODD},"role":"assistant"`))
  })
})

function replaced(text: string, [from, to]: readonly [string, string], must = true): string {
  if (must) expect(text).toContain(from)
  return text.replace(from, () => to)
}
