import Anthropic from '@anthropic-ai/sdk'
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {bedrockMessagesWords} from '../support/dialects/bedrock-messages.ts'
import {CALLED, CUT_SHORT, SUMMED, startTwins, TEXT, THOUGHT, TWINS, type Twin} from '../support/dialects.ts'
import {type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'

let gateway: TestGateway
let twins: readonly Twin[]
let close: () => Promise<void>
beforeAll(async () => {
  // Claude on Bedrock has Messages itself.
  const started = await startTwins(
    {},
    TWINS.map(words => (words.kind === 'bedrock' ? bedrockMessagesWords : words)),
  )
  gateway = started.gateway
  twins = started.twins
  close = started.close
})
afterAll(() => close())
afterEach(() => {
  expect(twins.flatMap(twin => twin.forget())).toEqual([])
})

/** Those that count tokens themselves. */
const COUNTING: ReadonlySet<string> = new Set(['anthropic', 'google', 'bedrock'])
const client = (kind: string) =>
  new Anthropic({
    apiKey: WORKSPACE_KEY,
    baseURL: gateway.url,
    maxRetries: 0,
    defaultHeaders: {'x-gateway-provider': `@${kind}`},
  })
const TOOLS: Anthropic.Tool[] = [
  {
    name: 'weather',
    description: 'Weather of a city',
    input_schema: {type: 'object', properties: {city: {type: 'string'}, days: {type: 'integer'}}, required: ['city']},
  },
]
const calls = CALLED.calls.map(({id, name, arguments: input}) => ({type: 'tool_use', id, name, input}))
const results = [
  ['D681PevKs', '4 degrees'],
  ['x9Zk2LmQ7', '19 degrees'],
] as const

describe.each(TWINS.map(({kind}, at) => [kind, at] as const))('%s by the Anthropic SDK', (kind, at) => {
  const twin = () => twins[at]!
  const asked = () => ({
    model: twin().model,
    max_tokens: 100,
    system: 'Be brief.',
    messages: [{role: 'user' as const, content: 'Which river runs through Vienna?'}],
  })

  test('whole and streamed are one answer, at one price', async () => {
    const plain = await client(kind).messages.create(asked())
    const stream = client(kind).messages.stream(asked())
    const deltas: string[] = []
    stream.on('text', delta => deltas.push(delta))
    const streamed = await stream.finalMessage()
    for (const message of [plain, streamed]) {
      expect(message).toMatchObject({type: 'message', role: 'assistant', stop_reason: 'end_turn', stop_sequence: null})
      expect(message.content).toMatchObject([{type: 'text', text: TEXT.text}])
      expect(message.usage).toMatchObject({input_tokens: 31, output_tokens: 7})
    }
    expect(deltas.length).toBeGreaterThan(1)
    const turns = [{role: 'user', text: 'Which river runs through Vienna?', thought: '', calls: [], results: []}]
    const understood = {system: 'Be brief.', turns, tools: [], thinks: false, max_tokens: 100}
    expect(twin().understood).toEqual([understood, understood])
    const [second, first] = await gateway.logs()
    for (const row of [first!, second!])
      expect(row).toMatchObject({req_units: 31, res_units: 7, total_units: 38, is_success: true})
    expect(first!.cost).toBeGreaterThan(0)
    expect(second!.cost).toBe(first!.cost)
  })

  test('tools are called in parallel, and their results sent back', async () => {
    const first = {...asked(), messages: [{role: 'user' as const, content: 'Weather?'}], tools: TOOLS}
    for (const message of [
      await client(kind).messages.create(first),
      await client(kind).messages.stream(first).finalMessage(),
    ]) {
      expect(message.stop_reason).toBe('tool_use')
      expect(message.content).toMatchObject([{type: 'text', text: CALLED.text}, ...calls])
      expect(message.usage).toMatchObject({input_tokens: 410, output_tokens: 88})
      const response = results.map(([tool_use_id, content]) => ({type: 'tool_result' as const, tool_use_id, content}))
      const last = await client(kind).messages.create({
        ...first,
        messages: [...first.messages, {role: 'assistant', content: message.content}, {role: 'user', content: response}],
      })
      expect(last.content).toMatchObject([{type: 'text', text: SUMMED.text}])
      expect(twin().understood.at(-1)!.turns).toEqual([
        {role: 'user', text: 'Weather?', thought: '', calls: [], results: []},
        {role: 'assistant', text: CALLED.text, thought: '', calls: CALLED.calls, results: []},
        {role: 'user', text: '', thought: '', calls: [], results},
      ])
    }
  })

  test('an answer that is cut short says so', async () => {
    const short = {...asked(), max_tokens: 2}
    for (const {stop_reason, content} of [
      await client(kind).messages.create(short),
      await client(kind).messages.stream(short).finalMessage(),
    ]) {
      expect(stop_reason).toBe('max_tokens')
      expect(content).toMatchObject([{type: 'text', text: CUT_SHORT.text}])
    }
  })

  test.skipIf(!TWINS[at]!.thinks)('thoughts are told, and go back as they came', async () => {
    const first = {
      ...asked(),
      max_tokens: 4096,
      messages: [{role: 'user' as const, content: 'Is 91 prime?'}],
      thinking: {type: 'adaptive' as const},
      // The wish that other providers are told too.
      output_config: {effort: 'low' as const},
    }
    for (const {content} of [
      await client(kind).messages.create(first),
      await client(kind).messages.stream(first).finalMessage(),
    ]) {
      const [thought] = content
      expect(thought).toMatchObject({type: 'thinking', thinking: THOUGHT.thought})
      if (kind !== 'google' && twin().signature) expect(thought).toMatchObject({signature: twin().signature})
      expect(content.map(block => (block.type === 'text' ? block.text : '')).join('')).toBe(THOUGHT.text)
      await client(kind).messages.create({
        ...first,
        messages: [...first.messages, {role: 'assistant', content}, {role: 'user', content: 'Sure?'}],
      })
      const {turns} = twin().understood.at(-1)!
      // Thoughts that nobody signed are not sent back; Gemini's signature goes without the text of the thought.
      const thought_back = kind === 'google' || twin().signature === null ? '' : THOUGHT.thought
      expect(turns[1]).toMatchObject({role: 'assistant', text: THOUGHT.text, thought: thought_back})
      if (kind === 'google')
        expect(twin().received.at(-1)!.body.toString()).toContain(`"thoughtSignature":"${twin().signature}"`)
    }
  })

  test.skipIf(COUNTING.has(kind))('tokens are counted here', async () => {
    const {input_tokens} = await client(kind).messages.countTokens({
      model: twin().model,
      messages: asked().messages,
      tools: TOOLS,
    })
    const more = await client(kind).messages.countTokens({
      model: twin().model,
      messages: asked().messages,
      tools: TOOLS,
      system: 'Long. '.repeat(100),
    })
    expect(input_tokens).toBeGreaterThan(10)
    expect(more.input_tokens).toBeGreaterThan(input_tokens + 100)
    expect(twin().received).toEqual([])
  })
})

test('Anthropic itself counts its tokens', async () => {
  const {kind, model} = twins[0]!
  twins[0]!.count(23)
  expect(await client(kind).messages.countTokens({model, messages: [{role: 'user', content: 'Hi'}]})).toMatchObject({
    input_tokens: 23,
  })
  const {method, path, headers, body} = twins[0]!.received.at(-1)!
  expect([method, path, headers['x-api-key']]).toEqual([
    'POST',
    '/v1/messages/count_tokens',
    'sk-upstream-secret-0123456789',
  ])
  expect(JSON.parse(body.toString())).toEqual({model, messages: [{role: 'user', content: 'Hi'}]})
})

test.each([
  ['google', /^\/v1beta\/models\/[\w.-]+:countTokens$/],
  ['bedrock', /^\/model\/anthropic\.[\w.-]+(%3A\d)?\/count-tokens$/],
] as const)(
  '%s counts its tokens itself, at no cost, and tells its errors in Anthropic’s words',
  async (kind, path) => {
    const twin = twins.find(each => each.kind === kind)!
    const asked = {
      model: twin.model,
      system: 'Be brief.',
      messages: [{role: 'user' as const, content: 'Hi'}],
      tools: TOOLS,
    }
    twin.count(57)
    expect(await client(kind).messages.countTokens(asked)).toEqual({input_tokens: 57})
    expect(twin.received.at(-1)).toMatchObject({method: 'POST', path: expect.stringMatching(path)})
    expect((await gateway.logs())[0]).toMatchObject({cost: 0, total_units: 0, is_success: true})
    const bad = await client(kind)
      .messages.countTokens({...asked, messages: [{role: 'user', content: [{type: 'nonsense'} as never]}]})
      .catch(fault => fault)
    if (kind === 'google')
      expect(bad).toMatchObject({status: 400, error: {type: 'error', error: {type: 'invalid_request_error'}}})
  },
)
