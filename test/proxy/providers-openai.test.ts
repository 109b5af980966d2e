import OpenAI from 'openai'
import type {ResponseInput} from 'openai/resources/responses/responses'
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {CALLED, CUT_SHORT, type Said, SUMMED, startTwins, TEXT, THOUGHT, TWINS, type Twin} from '../support/dialects.ts'
import {type LogRow, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'

let gateway: TestGateway
let twins: readonly Twin[]
let close: () => Promise<void>
beforeAll(async () => {
  const started = await startTwins()
  gateway = started.gateway
  twins = started.twins
  close = started.close
})
afterAll(() => close())
afterEach(() => {
  expect(twins.flatMap(twin => twin.forget())).toEqual([])
})

const HELLO = [
  {role: 'system' as const, content: 'Be brief.'},
  {role: 'user' as const, content: 'Which river runs through Vienna?'},
]
const PARAMETERS = {
  type: 'object',
  properties: {city: {type: 'string'}, days: {type: 'integer'}},
  required: ['city'],
  additionalProperties: false,
}
const TOOLS = [
  {type: 'function' as const, function: {name: 'weather', description: 'Weather of a city', parameters: PARAMETERS}},
]
const RESPONSE_TOOLS = [
  {type: 'function' as const, name: 'weather', description: 'Weather of a city', parameters: PARAMETERS, strict: false},
]
const RESULTS = [
  ['D681PevKs', '4 degrees'],
  ['x9Zk2LmQ7', '19 degrees'],
] as const
const client = (kind: string) =>
  new OpenAI({
    apiKey: WORKSPACE_KEY,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 0,
    defaultHeaders: {'x-gateway-provider': `@${kind}`},
  })
const usage = ({input_tokens, output_tokens}: Said) => ({
  prompt_tokens: input_tokens,
  completion_tokens: output_tokens,
  total_tokens: input_tokens + output_tokens,
})
const ours = CALLED.calls.map(({id, name, arguments: given}) => ({id, name, arguments: given}))
/** What a twin must have understood of a second turn with both results. */
const ANSWERED = [
  {role: 'user', text: 'Weather?', thought: '', calls: [], results: []},
  {role: 'assistant', text: CALLED.text, thought: '', calls: ours, results: []},
  {role: 'user', text: '', thought: '', calls: [], results: RESULTS},
]
/** Without what the SDK's helpers add of their own. */
const sentBack = <T>(said: T): T =>
  JSON.parse(JSON.stringify(said, (name, value) => (/^parsed/.test(name) ? undefined : value)))
const counted = ({ai_model, req_units, res_units, total_units, cost, cost_currency}: LogRow) => ({
  ai_model,
  req_units,
  res_units,
  total_units,
  cost,
  cost_currency,
})

describe.each(TWINS.map(({kind}, at) => [kind, at] as const))('%s by the OpenAI SDK', (kind, at) => {
  const twin = () => twins[at]!

  describe('chat', () => {
    const asked = () => ({model: twin().model, messages: HELLO, max_tokens: 100})

    test('whole and streamed are one answer, at one price', async () => {
      const plain = await client(kind).chat.completions.create(asked())
      const stream = client(kind).chat.completions.stream({...asked(), stream_options: {include_usage: true}})
      const deltas: string[] = []
      stream.on('content', delta => deltas.push(delta))
      const streamed = await stream.finalChatCompletion()
      for (const {choices, usage: response, model} of [plain, streamed]) {
        expect(model).toContain(twin().model)
        expect(choices).toHaveLength(1)
        expect(choices[0]).toMatchObject({finish_reason: 'stop', message: {role: 'assistant', content: TEXT.text}})
        expect(choices[0]!.message.tool_calls ?? []).toEqual([])
        expect(response).toMatchObject(usage(TEXT))
      }
      expect(deltas.length).toBeGreaterThan(1)
      expect(deltas.join('')).toBe(TEXT.text)
      const turns = [{role: 'user', text: 'Which river runs through Vienna?', thought: '', calls: [], results: []}]
      const understood = {system: 'Be brief.', turns, tools: [], thinks: false, max_tokens: 100}
      expect(twin().understood).toEqual([understood, understood])
      const [second, first] = await gateway.logs()
      expect(counted(second!)).toEqual(counted(first!))
      expect(first).toMatchObject({
        req_units: 31,
        res_units: 7,
        total_units: 38,
        is_success: true,
        response_status_code: 200,
      })
      expect(second!.stream_mode).toBe(1)
      expect(first!.cost).toBeGreaterThan(0)
    })

    test('usage that was not asked for is counted and not told', async () => {
      const chunks = []
      for await (const chunk of await client(kind).chat.completions.create({...asked(), stream: true}))
        chunks.push(chunk)
      // beside choices it stays as its provider sent it
      expect(chunks.filter(({usage, choices}) => usage && choices.length === 0 && kind !== 'cerebras')).toEqual([])
      expect(chunks.filter(({choices}) => choices[0]?.finish_reason)).toHaveLength(1)
      expect((await gateway.logs())[0]).toMatchObject({req_units: 31, res_units: 7})
    })

    test('tools are called in parallel, and their results sent back', async () => {
      const first = {...asked(), messages: [{role: 'user' as const, content: 'Weather?'}], tools: TOOLS}
      const plain = await client(kind).chat.completions.create(first)
      const streamed = await client(kind)
        .chat.completions.stream({...first, stream_options: {include_usage: true}})
        .finalChatCompletion()
      for (const {choices, usage: response} of [plain, streamed]) {
        const {message, finish_reason} = choices[0]!
        expect(finish_reason).toBe('tool_calls')
        expect(message.content).toBe(CALLED.text)
        const calls = message.tool_calls!.map(call => {
          if (call.type !== 'function') throw new Error(call.type)
          return {id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) as unknown}
        })
        expect(calls).toEqual(ours)
        expect(response).toMatchObject(usage(CALLED))
        const messages = [
          ...first.messages,
          sentBack(message),
          ...RESULTS.map(([tool_call_id, content]) => ({role: 'tool' as const, tool_call_id, content})),
        ]
        const last = await client(kind).chat.completions.create({...first, messages})
        expect(last.choices[0]).toMatchObject({finish_reason: 'stop', message: {content: SUMMED.text}})
        expect(twin().understood.at(-1)).toMatchObject({turns: ANSWERED, tools: ['weather']})
      }
      const rows = (await gateway.logs()).filter(row => row.req_units === CALLED.input_tokens).slice(0, 2)
      expect(counted(rows[1]!)).toEqual(counted(rows[0]!))
    })

    test('an answer that is cut short says so', async () => {
      const short = {...asked(), max_tokens: 2}
      const {choices} = await client(kind).chat.completions.create(short)
      expect(choices[0]).toMatchObject({finish_reason: 'length', message: {content: CUT_SHORT.text}})
      const reasons = []
      for await (const chunk of await client(kind).chat.completions.create({...short, stream: true}))
        reasons.push(...chunk.choices.flatMap(({finish_reason}) => finish_reason ?? []))
      expect(reasons).toEqual(['length'])
    })
  })

  describe('responses', () => {
    const asked = () => ({
      model: twin().model,
      instructions: 'Be brief.',
      input: 'Which river runs through Vienna?',
      max_output_tokens: 100,
    })

    test('whole and streamed are one answer, at one price', async () => {
      const plain = await client(kind).responses.create(asked())
      const stream = client(kind).responses.stream(asked())
      const deltas: string[] = []
      stream.on('response.output_text.delta', ({delta}) => deltas.push(delta))
      const streamed = await stream.finalResponse()
      for (const {status, output_text, usage: response, error} of [plain, streamed]) {
        expect({status, output_text, error}).toEqual({status: 'completed', output_text: TEXT.text, error: null})
        expect(response).toMatchObject({input_tokens: 31, output_tokens: 7, total_tokens: 38})
      }
      expect(deltas.join('')).toBe(TEXT.text)
      const turns = [{role: 'user', text: 'Which river runs through Vienna?', thought: '', calls: [], results: []}]
      const understood = {system: 'Be brief.', turns, tools: [], thinks: false, max_tokens: 100}
      expect(twin().understood).toEqual([understood, understood])
      const [second, first] = await gateway.logs()
      expect(counted(second!)).toEqual(counted(first!))
      expect(first).toMatchObject({req_units: 31, res_units: 7, is_success: true})
      expect(first!.cost).toBeGreaterThan(0)
    })

    test('tools are called in parallel, and their results sent back', async () => {
      const input: ResponseInput = [{role: 'user', content: 'Weather?'}]
      const first = {model: twin().model, input, tools: RESPONSE_TOOLS}
      const plain = await client(kind).responses.create(first)
      const streamed = await client(kind).responses.stream(first).finalResponse()
      for (const {output} of [plain, streamed]) {
        const calls = output.flatMap(item =>
          item.type === 'function_call'
            ? [{id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) as unknown}]
            : [],
        )
        expect(calls).toEqual(ours)
        const results = RESULTS.map(([call_id, said]) => ({
          type: 'function_call_output' as const,
          call_id,
          output: said,
        }))
        const last = await client(kind).responses.create({
          ...first,
          input: [...input, ...sentBack(output as ResponseInput), ...results],
        })
        expect(last.output_text).toBe(SUMMED.text)
        expect(twin().understood.at(-1)).toMatchObject({turns: ANSWERED, tools: ['weather']})
      }
    })

    test('an answer that is cut short says so', async () => {
      const short = {...asked(), max_output_tokens: 16}
      twin().play({stream: twin().events(CUT_SHORT)})
      const {status, incomplete_details, output_text} = await client(kind).responses.stream(short).finalResponse()
      twin().play(null)
      expect({status, incomplete_details, output_text}).toEqual({
        status: 'incomplete',
        incomplete_details: {reason: 'max_output_tokens'},
        output_text: CUT_SHORT.text,
      })
    })
  })
})

describe.each(TWINS.flatMap((twin, at) => (twin.thinks ? [[twin.kind, at] as const] : [])))('%s thinks', (kind, at) => {
  const twin = () => twins[at]!

  test('for a Responses client: a summary, and back again with its signature', async () => {
    const input: ResponseInput = [{role: 'user', content: 'Is 91 prime?'}]
    const first = {model: twin().model, input, reasoning: {effort: 'low' as const, summary: 'auto' as const}}
    for (const ask of [client(kind).responses.create(first), client(kind).responses.stream(first).finalResponse()]) {
      const {output, output_text} = await ask
      expect(output_text).toBe(THOUGHT.text)
      const [thought] = output
      if (thought?.type !== 'reasoning') throw new Error(`the first item is ${thought?.type}`)
      expect(thought.summary.map(({text}) => text).join('')).toBe(THOUGHT.thought)
      await client(kind).responses.create({
        ...first,
        input: [...input, ...sentBack(output as ResponseInput), {role: 'user', content: 'Sure?'}],
      })
      // Thoughts that nobody signed are not sent back; Gemini's signature goes without the text of the thought.
      const thought_back = kind === 'google' || twin().signature === null ? '' : THOUGHT.thought
      expect(twin().understood.at(-1)!.turns[1]).toMatchObject({text: THOUGHT.text, thought: thought_back})
      if (kind === 'google')
        expect(twin().received.at(-1)!.body.toString()).toContain(`"thoughtSignature":"${twin().signature}"`)
    }
  })

  test('for a chat client that takes more than OpenAI’s members', async () => {
    const asked = {
      model: twin().model,
      messages: [{role: 'user' as const, content: 'Is 91 prime?'}],
      reasoning_effort: 'low' as const,
      max_completion_tokens: 4096,
    }
    const headers = {'x-gateway-strict-open-ai-compliance': 'false'}
    const {choices} = await client(kind).chat.completions.create(asked, {headers})
    const message = choices[0]!.message as (typeof choices)[0]['message'] & {
      content_blocks?: readonly {type: string; thinking?: string; text?: string}[]
    }
    expect(message.content).toBe(THOUGHT.text)
    expect(message.content_blocks!.find(({type}) => type === 'thinking')).toMatchObject({thinking: THOUGHT.thought})
    await client(kind).chat.completions.create(
      {...asked, messages: [...asked.messages, sentBack(message), {role: 'user', content: 'Sure?'}]},
      {headers},
    )
    if (kind !== 'google')
      expect(twin().understood.at(-1)!.turns[1]).toMatchObject({text: THOUGHT.text, thought: THOUGHT.thought})
    else expect(twin().received.at(-1)!.body.toString()).toContain(`"thoughtSignature":"${twin().signature}"`)
  })
})
