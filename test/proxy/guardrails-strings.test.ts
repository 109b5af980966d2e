import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {json} from '../support/provider.ts'
import {type RoutingSetup, startRouting} from '../support/routing.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of a body has the body's own shape
type Any = any

const EMAIL = 'ada.lovelace@mail.example'
/** Nothing but the word before it tells that it is a secret. */
const SECRET = 'k9!Zq2#vL7mPx4'
const CARD = '4242 4242 4242 4242'
const ASKED = `Write to ${EMAIL}, the password is ${SECRET}, and charge ${CARD}.`

let routed: RoutingSetup

beforeAll(async () => {
  routed = await startRouting()
})
beforeEach(() => routed.reset())
afterAll(() => routed.close())

/** A client's two turns: what it asks, and what it asks again with the answer and a tool's result in its history. */
interface Agent {
  readonly name: string
  readonly path: string
  readonly provider: 'a' | 'claude'
  first(): Any
  /** The provider's call of a tool with these arguments. */
  calls(args: object): Any
  argumentsOf(answer: Any): Any
  second(answer: Any, result: string): Any
  /** The arguments in the history, as the provider reads them. */
  history(body: Any): Any
}

const TOOL = {
  name: 'send',
  description: 'Sends a letter',
  parameters: {type: 'object', properties: {to: {type: 'string'}}},
}
const parsed = (text: string) => JSON.parse(text) as Any

const AGENTS: readonly Agent[] = [
  {
    name: 'chat',
    path: '/v1/chat/completions',
    provider: 'a',
    first: () => ({
      model: 'm',
      tools: [{type: 'function', function: TOOL}],
      messages: [{role: 'user', content: ASKED}],
    }),
    calls: args => ({
      id: 'c1',
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{id: 't1', type: 'function', function: {name: 'send', arguments: JSON.stringify(args)}}],
          },
        },
      ],
      usage: {prompt_tokens: 1, completion_tokens: 1, total_tokens: 2},
    }),
    argumentsOf: answer => parsed(answer.choices[0].message.tool_calls[0].function.arguments),
    second: (answer, content) => ({
      model: 'm',
      messages: [
        {role: 'user', content: ASKED},
        answer.choices[0].message,
        {role: 'tool', tool_call_id: 't1', content},
      ],
    }),
    history: body => parsed(body.messages[1].tool_calls[0].function.arguments),
  },
  {
    name: 'messages',
    path: '/v1/messages',
    provider: 'claude',
    first: () => ({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      tools: [{name: 'send', input_schema: TOOL.parameters}],
      messages: [{role: 'user', content: ASKED}],
    }),
    calls: input => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{type: 'tool_use', id: 't1', name: 'send', input}],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {input_tokens: 1, output_tokens: 1},
    }),
    argumentsOf: answer => answer.content[0].input,
    second: (answer, content) => ({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      messages: [
        {role: 'user', content: ASKED},
        {role: 'assistant', content: answer.content},
        {role: 'user', content: [{type: 'tool_result', tool_use_id: 't1', content}]},
      ],
    }),
    history: body => body.messages[1].content[0].input,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    provider: 'a',
    first: () => ({model: 'm', tools: [{type: 'function', ...TOOL}], input: ASKED}),
    calls: args => ({
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'm',
      output: [
        {
          type: 'function_call',
          id: 'f1',
          call_id: 't1',
          name: 'send',
          status: 'completed',
          arguments: JSON.stringify(args),
        },
      ],
      usage: {input_tokens: 1, output_tokens: 1, total_tokens: 2},
    }),
    argumentsOf: answer => parsed(answer.output[0].arguments),
    second: (answer, output) => ({
      model: 'm',
      input: [{role: 'user', content: ASKED}, ...answer.output, {type: 'function_call_output', call_id: 't1', output}],
    }),
    history: body => parsed(body.input[1].arguments),
  },
]

const REVERSIBLE = [{'default.pii': {redact: true, reversible: true}}]

describe.each(AGENTS)('an agent on $name', agent => {
  const provider = () => routed[agent.provider]
  const config = () => ({provider: agent.provider === 'a' ? '@a' : '@claude', input_guardrails: REVERSIBLE})
  const received = (at: number) => provider().received[at]!.body.toString()

  test('sends no raw value in its second turn, and the same placeholders as in the first', async () => {
    const args = {to: '<EMAIL_1>', note: ['<SECRET_1> for <CREDIT_CARD_1>'], '<EMAIL_1>': true}
    provider().answer((_heard, response) => json(response, agent.calls(args)))
    const first = await routed.ask(config(), {path: agent.path, body: agent.first()})
    expect(first.status).toBe(200)
    const answer = parsed(first.text)
    expect(agent.argumentsOf(answer)).toEqual({to: EMAIL, note: [`${SECRET} for ${CARD}`], [EMAIL]: true})

    const result = JSON.stringify({sent_to: EMAIL, with: SECRET, charged: CARD})
    await routed.ask(config(), {path: agent.path, body: agent.second(answer, result)})
    expect(provider().received.length).toBe(2)
    for (const raw of [EMAIL, SECRET, CARD])
      expect([raw, received(0).includes(raw), received(1).includes(raw)]).toEqual([raw, false, false])
    expect(agent.history(parsed(received(1)))).toEqual(args)
    expect(received(1)).toContain('<EMAIL_1>, the password is <SECRET_1>, and charge <CREDIT_CARD_1>.')
    expect(received(1)).toContain(
      JSON.stringify(JSON.stringify({sent_to: '<EMAIL_1>', with: '<SECRET_1>', charged: '<CREDIT_CARD_1>'})).slice(
        1,
        -1,
      ),
    )
  })

  test('is denied when a tool call or a description of its request holds personal data', async () => {
    const denies = {...config(), input_guardrails: [{'default.pii': {}, deny: true}]}
    const clean = agent.second(parsed(JSON.stringify(agent.calls({to: 'nobody'}))), 'done')
    const text = JSON.stringify(clean).replaceAll(ASKED, 'hi')
    expect((await routed.ask(denies, {path: agent.path, body: parsed(text)})).status).toBe(200)
    const told = await routed.ask(denies, {path: agent.path, body: parsed(text.replace('nobody', EMAIL))})
    expect([told.status, provider().received.length]).toEqual([446, 1])
    const described = parsed(JSON.stringify(agent.first()).replace(JSON.stringify(ASKED), '"hi"'))
    described.tools[0] = parsed(
      JSON.stringify(described.tools[0]).replace('"type":"string"', `"type":"string","description":"as ${EMAIL}"`),
    )
    expect((await routed.ask(denies, {path: agent.path, body: described})).status).toBe(446)
  })

  test('reads no personal data in the arguments of an answer, whole', async () => {
    const redacts = {...config(), input_guardrails: [], output_guardrails: [{'default.pii': {redact: true}}]}
    provider().answer((_heard, response) => json(response, agent.calls({to: EMAIL, cc: [EMAIL], big: 12, x: 'é "q"'})))
    const told = await routed.ask(redacts, {path: agent.path, body: agent.first()})
    expect(agent.argumentsOf(parsed(told.text))).toEqual({to: '<EMAIL_1>', cc: ['<EMAIL_1>'], big: 12, x: 'é "q"'})
    const denied = await routed.ask(
      {...redacts, output_guardrails: [{'default.contains': {words: [EMAIL], operator: 'none'}, deny: true}]},
      {path: agent.path, body: agent.first()},
    )
    expect([denied.status, denied.text.includes('tool')]).toEqual([446, false])
  })
})

describe('a body that two readers could read as two things', () => {
  const guarded = {provider: '@a', input_guardrails: [{'default.contains': {words: ['x'], operator: 'none'}}]}
  const sent = (body: string, config: object) =>
    routed.gateway.call('/v1/chat/completions', {
      method: 'POST',
      headers: {'content-type': 'application/json', 'x-gateway-config': JSON.stringify(config)},
      body,
    })

  test.each<[string, string]>([
    ['{"model":"m","messages":[{"role":"user","content":"ok","content":"bad"}]}', 'messages[0].content'],
    ['{"model":"m","messages":[{"role":"user","content":"ok"}],"metadata":{"a":"b","\\u0061":"c"}}', 'metadata.a'],
    ['{"model":"m","user":"a","messages":[{"role":"user","content":"ok"}],"user":"b"}', 'user'],
  ])('is refused with the way to its key, and leaves for nobody: %s', async (body, path) => {
    const reply = await sent(body, guarded)
    expect([reply.status, ((await reply.json()) as Any).error.message]).toEqual([
      400,
      expect.stringContaining(` ${path} more than once`),
    ])
    expect(routed.a.received).toEqual([])
    // Where nothing judges it, it is the provider's to say.
    expect((await sent(body, {provider: '@a'})).status).toBe(200)
  })

  test('is refused when it is deeper than guardrails read', async () => {
    const deep = `${'['.repeat(600)}${']'.repeat(600)}`
    const reply = await sent(`{"model":"m","messages":[{"role":"user","content":"ok"}],"x":${deep}}`, guarded)
    expect([reply.status, routed.a.received.length]).toEqual([400, 0])
  })

  test('is refused as no JSON when a key of it is none, and so is an answer', async () => {
    const reply = await sent(
      String.raw`{"model":"m","messages":[{"role":"user","content":"ok"}],"metadata":{"\q":1}}`,
      guarded,
    )
    expect([reply.status, await reply.text(), routed.a.received.length]).toEqual([
      400,
      expect.stringContaining('does not parse'),
      0,
    ])
    routed.a.answer((_heard, response) => {
      response.writeHead(200, {'content-type': 'application/json'})
      response.end(String.raw`{"choices":[{"index":0,"message":{"\q":"x"}}]}`)
    })
    const told = await routed.ask(
      {provider: '@a', output_guardrails: [{'default.contains': {words: ['bad'], operator: 'none'}, deny: true}]},
      {path: '/v1/chat/completions', body: {model: 'm', messages: [{role: 'user', content: 'hi'}]}},
    )
    expect([told.status, told.text]).toEqual([502, expect.stringContaining('not a JSON object')])
  })

  test('is no answer: what a provider names twice is not passed on', async () => {
    routed.a.answer((_heard, response) => {
      response.writeHead(200, {'content-type': 'application/json'})
      response.end('{"choices":[{"index":0,"message":{"role":"assistant","content":"bad","content":"ok"}}]}')
    })
    const told = await routed.ask(
      {provider: '@a', output_guardrails: [{'default.contains': {words: ['bad'], operator: 'none'}, deny: true}]},
      {path: '/v1/chat/completions', body: {model: 'm', messages: [{role: 'user', content: 'hi'}]}},
    )
    expect([told.status, told.text.includes('"bad"')]).toEqual([502, false])
    expect(told.text).toContain('choices[0].message.content')
  })
})
