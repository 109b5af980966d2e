import {brotliCompressSync, gzipSync} from 'node:zlib'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'

/** Failures inside a 200, as clients of each dialect, routing, cache and ledger see them. */
let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  provider = await fakeProvider()
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})
beforeEach(() => {
  provider.received.length = 0
})

const says = (reply: object, status = 200) => {
  provider.answer((_, response) => {
    response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(reply))
  })
}
const choice = {index: 0, finish_reason: 'error', message: {role: 'assistant', content: 'The answer is', refusal: null}}
const usage = {prompt_tokens: 5, completion_tokens: 3, total_tokens: 8}
const of = (choices: object[]) => ({id: 'gen-1', object: 'chat.completion', created: 1, model: 'm', choices, usage})

const FAILURES = {
  'an error in place of choices': [
    {error: {code: 402, message: 'Insufficient credits for this account'}},
    402,
    'Insufficient credits',
  ],
  'an error without a status': [{error: {code: 'arrears', message: 'Your account is in arrears'}}, 502, 'in arrears'],
} as const
const IN_A_CHOICE = [
  of([{...choice, error: {code: 502, message: 'upstream idle timeout'}}]),
  502,
  'idle timeout',
] as const

const RESPONSE = {
  ...{id: 'resp_1', object: 'response', status: 'completed', model: 'm', usage: {input_tokens: 1, output_tokens: 1}},
  output: [{type: 'message', role: 'assistant', content: [{type: 'output_text', text: 'Hello from the provider'}]}],
}

const CLIENTS = {
  chat: ['/v1/chat/completions', {model: 'm', messages: [{role: 'user', content: 'x'}]}],
  messages: ['/v1/messages', {model: 'm', max_tokens: 9, messages: [{role: 'user', content: 'x'}]}],
  responses: ['/v1/responses', {model: 'm', input: 'x'}],
} as const
type Client = keyof typeof CLIENTS

async function ask(client: Client, headers: Record<string, string>, more: object = {}) {
  const [path, body] = CLIENTS[client]
  const response = await gateway.call(path, {
    method: 'POST',
    headers: {'content-type': 'application/json', ...headers},
    body: JSON.stringify({...body, ...more}),
  })
  return {status: response.status, text: await response.text(), headers: response.headers}
}

/** The first has responses of its own, the second is translated to. */
const place = (kind = 'openrouter') => ({provider: kind, api_key: 'k', custom_host: provider.url})
const translated = () => place('moonshot')
const at = (config: object) => ({'x-gateway-config': JSON.stringify(config)})

describe.each<[Client, typeof place]>([
  ['chat', place],
  ['messages', place],
  ['responses', place],
  ['responses', translated],
])('to a client of %s', (client, at_provider) => {
  test.each(Object.entries(FAILURES))('%s has its status and its sentence', async (_, [reply, status, sentence]) => {
    says(reply)
    const answer = await ask(client, at(at_provider()))
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(sentence)
  })

  test.each(Object.entries(FAILURES))('%s makes a fallback act', async (_, [reply]) => {
    provider.answer((_received, response) => {
      const is_first = provider.received.length === 1
      const good = client === 'responses' && at_provider === place ? RESPONSE : chatReply('m')
      response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify(is_first ? reply : good))
    })
    const strategy = {mode: 'fallback', on_status_codes: [402, 502]}
    const answer = await ask(client, at({strategy, targets: [at_provider(), at_provider()]}))
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('Hello from the provider')
    expect(provider.received).toHaveLength(2)
  })
})

describe('an error in the only choice', () => {
  test.each<[Client, typeof place]>([
    ['chat', place],
    ['chat', () => place('mistral-ai')],
    ['messages', place],
    ['responses', translated],
  ])('is a failure to a client of %s', async (client, at_provider) => {
    const [reply, status, sentence] = IN_A_CHOICE
    says(reply)
    const answer = await ask(client, at(at_provider()))
    expect(answer.status).toBe(status)
    const {error} = JSON.parse(answer.text)
    expect(error.message).toContain(sentence)
    expect(answer.text).not.toContain('The answer is')
  })

  test('is a response with the status failed to a client of Responses, with what it used', async () => {
    says(IN_A_CHOICE[0])
    const response = JSON.parse((await ask('responses', at(translated()))).text)
    expect(response).toMatchObject({
      object: 'response',
      status: 'failed',
      error: {code: 'server_error', message: expect.stringContaining('idle timeout')},
      output: [],
      usage: {input_tokens: 5, output_tokens: 3, total_tokens: 8},
    })
  })

  test('makes a fallback act, and is charged what it reports', async () => {
    provider.answer((_received, response) => {
      const reply = provider.received.length === 1 ? IN_A_CHOICE[0] : chatReply('m')
      response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify(reply))
    })
    const strategy = {mode: 'fallback', on_status_codes: [502]}
    const trace = `choice-${Date.now()}`
    const headers = {...at({strategy, targets: [place(), place()]}), 'x-gateway-trace-id': trace}
    const answer = await ask('chat', headers)
    expect([answer.status, provider.received.length]).toEqual([200, 2])
    expect(answer.text).toContain('Hello from the provider')
    const rows = (await gateway.logs()).filter(({trace_id}) => trace_id === trace)
    expect(rows.map(row => [row.response_status_code, row.req_units, row.res_units])).toContainEqual([502, 5, 3])
  })

  test('of an answer that comes in parts has no status: its first bytes have left', async () => {
    const text = JSON.stringify(IN_A_CHOICE[0])
    const at_byte = text.indexOf('"error":{')
    let go = () => {}
    provider.answer((_, response) => {
      response.writeHead(200, {'content-type': 'application/json'}).write(text.slice(0, at_byte))
      go = () => response.end(text.slice(at_byte))
    })
    const reply = await gateway.chat({model: 'm', messages: [{role: 'user', content: 'Hi'}]}, at(place()))
    go()
    expect([reply.status, await reply.json()]).toEqual([200, IN_A_CHOICE[0]])
  })

  test('beside a good choice is left as it came', async () => {
    const reply = of([IN_A_CHOICE[0].choices[0]!, {...choice, index: 1, finish_reason: 'stop'}])
    says(reply)
    const answer = await ask('chat', at(place()))
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, reply])
  })
})

describe.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
] as const)('in an answer that is encoded as %s', (encoding, encoded) => {
  const saysEncoded = (reply: object) =>
    provider.answer((_, response) => {
      response.writeHead(200, {'content-type': 'application/json', 'content-encoding': encoding})
      response.end(encoded(JSON.stringify(reply)))
    })
  const accepting = () => ({...at(place()), 'accept-encoding': encoding})

  test.each([...Object.values(FAILURES), IN_A_CHOICE])('%j is a failure', async (reply, status, sentence) => {
    saysEncoded(reply)
    const answer = await ask('chat', accepting())
    expect([answer.status, answer.text.includes(sentence)]).toEqual([status, true])
    expect(provider.received.at(-1)!.headers['accept-encoding']).toBe(encoding)
  })

  test('an answer stays as it came', async () => {
    saysEncoded(chatReply('m'))
    const answer = await ask('chat', accepting())
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, encoding])
    expect(JSON.parse(answer.text)).toEqual(chatReply('m'))
  })

  test('a failure makes a fallback act', async () => {
    provider.answer((_, response) => {
      const reply = provider.received.length === 1 ? FAILURES['an error in place of choices'][0] : chatReply('m')
      response.writeHead(200, {'content-type': 'application/json', 'content-encoding': encoding})
      response.end(encoded(JSON.stringify(reply)))
    })
    const strategy = {mode: 'fallback', on_status_codes: [402]}
    const answer = await ask('chat', {...at({strategy, targets: [place(), place()]}), 'accept-encoding': encoding})
    expect([answer.status, provider.received.length]).toEqual([200, 2])
    expect(answer.text).toContain('Hello from the provider')
  })
})

test('a stream that begins with an error in its choice makes a fallback act', async () => {
  const chunk = {id: 'gen-1', object: 'chat.completion.chunk', created: 1, model: 'm'}
  const failed = {index: 0, delta: {}, finish_reason: 'error', error: {code: 502, message: 'idle timeout'}}
  const good = {index: 0, delta: {role: 'assistant', content: 'Hello'}, finish_reason: 'stop'}
  provider.answer((_, response) => {
    const choices = [provider.received.length === 1 ? failed : good]
    response.writeHead(200, {'content-type': 'text/event-stream'})
    response.end(`data: ${JSON.stringify({...chunk, choices})}\n\ndata: [DONE]\n\n`)
  })
  const strategy = {mode: 'fallback', on_status_codes: [502]}
  const answer = await ask('chat', at({strategy, targets: [place(), place()]}), {stream: true})
  expect([answer.status, provider.received.length]).toEqual([200, 2])
  expect(answer.text).toContain('Hello')
})

test('an error in a choice of a stream ends it with an error event, and no end of a message', async () => {
  const chunk = {id: 'gen-1', object: 'chat.completion.chunk', created: 1, model: 'm'}
  const chunks = [
    {...chunk, choices: [{index: 0, delta: {role: 'assistant', content: 'The'}, finish_reason: null}]},
    {...chunk, choices: [{index: 0, delta: {}, finish_reason: 'error', error: {code: 502, message: 'idle timeout'}}]},
  ]
  provider.answer((_, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream'})
    response.end(`${chunks.map(each => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`)
  })
  const messages = await ask('messages', at(place()), {stream: true})
  expect(messages.text).toContain('event: error')
  expect(messages.text).toContain('idle timeout')
  expect(messages.text).not.toContain('message_stop')
  const responses = await ask('responses', at(translated()), {stream: true})
  expect(responses.text).toContain('response.failed')
  expect(responses.text).not.toContain('response.completed')
})

test('a failure is not kept in the cache, costs what it reports, and is the row’s status', async () => {
  const cached = {...place(), cache: {mode: 'simple'}}
  says({error: {code: 402, message: 'Insufficient credits'}})
  for (const client of ['chat', 'messages'] as const) {
    provider.received.length = 0
    for (const _ of [1, 2]) expect((await ask(client, at(cached))).status).toBe(402)
    expect(provider.received).toHaveLength(2)
  }
  says(IN_A_CHOICE[0])
  const trace = `failed-${Date.now()}`
  await ask('messages', {...at(place()), 'x-gateway-trace-id': trace})
  const row = (await gateway.logs()).find(({trace_id}) => trace_id === trace)!
  expect(row.response_status_code).toBe(502)
  expect([row.req_units, row.res_units]).toEqual([5, 3])
})

test('the cause that a gateway wraps is in the message, with the code that clients go by', async () => {
  const raw = JSON.stringify({
    type: 'error',
    error: {type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum'},
  })
  says({error: {message: 'Provider returned error', code: 400, metadata: {raw, provider_name: 'Anthropic'}}}, 400)
  const messages = await ask('messages', at(place()))
  expect(messages.status).toBe(400)
  expect(JSON.parse(messages.text).error.message).toContain('prompt is too long: 210000 tokens')
  const responses = await ask('responses', at(translated()))
  expect(JSON.parse(responses.text).error).toMatchObject({code: 'context_length_exceeded'})
})

describe('pictures', () => {
  const google = () => ({provider: 'google', api_key: 'k', custom_host: provider.url})
  const draw = async (config: object, more: object = {}) => {
    const response = await gateway.call('/v1/images/generations', {
      method: 'POST',
      headers: {'content-type': 'application/json', ...at(config)},
      body: JSON.stringify({model: 'gemini-2.5-flash-image', prompt: 'cat', ...more}),
    })
    return {status: response.status, text: await response.text()}
  }
  const counts = {promptTokenCount: 3, totalTokenCount: 3}

  test.each<[string, object, RegExp]>([
    [
      'a blocked prompt',
      {promptFeedback: {blockReason: 'PROHIBITED_CONTENT'}, usageMetadata: counts},
      /PROHIBITED_CONTENT/,
    ],
    ['a withheld picture', {candidates: [{finishReason: 'IMAGE_SAFETY'}], usageMetadata: counts}, /IMAGE_SAFETY/],
    [
      'text in place of one',
      {candidates: [{content: {parts: [{text: 'I cannot draw that person.'}]}, finishReason: 'STOP'}]},
      /cannot draw that person/,
    ],
  ])('%s is the caller’s 400, which is asked for once', async (_, reply, sentence) => {
    says(reply)
    const strategy = {mode: 'fallback', on_status_codes: [500, 502, 503]}
    for (const config of [
      {...google(), retry: {attempts: 1}},
      {strategy, targets: [google(), google()]},
    ]) {
      provider.received.length = 0
      const {status, text} = await draw(config)
      expect(status).toBe(400)
      expect(text).toMatch(sentence)
      expect(JSON.parse(text).error.code).toBe('content_policy_violation')
      expect(provider.received).toHaveLength(1)
    }
  })

  test('a stream of pictures is refused before it is asked for, where the provider has none', async () => {
    const {status, text} = await draw(google(), {stream: true, partial_images: 1})
    expect(status).toBe(400)
    expect(text).toContain('streams no pictures')
    expect(provider.received).toHaveLength(0)
  })

  test('a picture in a chat answer reaches a client of Responses, and is named to one of Messages', async () => {
    says({
      candidates: [
        {
          content: {role: 'model', parts: [{text: 'Here it is.'}, {inlineData: {mimeType: 'image/png', data: 'QUJD'}}]},
          finishReason: 'STOP',
        },
      ],
      usageMetadata: {promptTokenCount: 3, candidatesTokenCount: 1290, totalTokenCount: 1293},
    })
    const responses = JSON.parse((await ask('responses', at(google()), {model: 'gemini-2.5-flash-image'})).text)
    expect(responses.output.map(({type}: {type: string}) => type)).toEqual(['message', 'image_generation_call'])
    expect(responses.output[1]).toMatchObject({status: 'completed', result: 'QUJD'})
    const messages = JSON.parse((await ask('messages', at(google()), {model: 'gemini-2.5-flash-image'})).text)
    expect(messages.content.map(({text}: {text: string}) => text)).toEqual([
      'Here it is.',
      expect.stringContaining('picture'),
    ])
  })
})

test('fewer vectors than texts are no answer', async () => {
  says({
    object: 'list',
    data: [{object: 'embedding', index: 0, embedding: [0.5, -1]}],
    model: 'v',
    usage: {total_tokens: 3},
  })
  const response = await gateway.call('/v1/embeddings', {
    method: 'POST',
    headers: {'content-type': 'application/json', ...at({...place(), provider: 'voyage'})},
    body: JSON.stringify({model: 'voyage-3.5', input: ['alpha', 'beta', 'gamma']}),
  })
  expect(response.status).toBe(502)
  expect(await response.text()).toContain('it has 1 embeddings for 3 texts')
})

test('a call whose id other APIs refuse has one that they take, and leads back', async () => {
  const call = {id: 'functions.Bash:0', type: 'function', function: {name: 'Bash', arguments: '{}'}}
  const message = {role: 'assistant', content: null, tool_calls: [call]}
  says({...chatReply('m'), choices: [{index: 0, message, finish_reason: 'tool_calls'}]})
  const tools = [{name: 'Bash', input_schema: {type: 'object'}}]
  const first = JSON.parse((await ask('messages', at(place()), {tools})).text)
  const [{id}] = first.content
  expect(id).toMatch(/^[\w-]{1,64}$/)
  says(chatReply('m'))
  const result = {role: 'user', content: [{type: 'tool_result', tool_use_id: id, content: 'done'}]}
  const messages = [{role: 'user', content: 'x'}, {role: 'assistant', content: first.content}, result]
  await ask('messages', at(place()), {tools, messages})
  const sent = JSON.parse(provider.received.at(-1)!.body.toString())
  expect(sent.messages[1].tool_calls[0].id).toBe('functions.Bash:0')
  expect(sent.messages[2].tool_call_id).toBe('functions.Bash:0')
})

test('calls without ids and indices are as many as are named behind whole arguments', async () => {
  const chunk = {id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm'}
  const named = (n: number) => ({
    ...chunk,
    choices: [{index: 0, delta: {tool_calls: [{type: 'function', function: {name: 'f', arguments: `{"n":${n}}`}}]}}],
  })
  const chunks = [named(1), named(2), {...chunk, choices: [{index: 0, delta: {}, finish_reason: 'tool_calls'}]}]
  provider.answer((_, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream'})
    response.end(`${chunks.map(each => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`)
  })
  const {text} = await ask('messages', at({...place(), provider: 'llama-cpp'}), {stream: true})
  expect(text.match(/event: content_block_start/g)).toHaveLength(2)
  expect(text).toContain('{\\"n\\":2}')
})

test('the error behind a cut stream of a response has the next number', async () => {
  provider.answer((_, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream'})
    const events = [
      {
        type: 'response.created',
        sequence_number: 0,
        response: {id: 'resp_1', object: 'response', status: 'in_progress'},
      },
      {
        type: 'response.output_text.delta',
        sequence_number: 1,
        item_id: 'm',
        output_index: 0,
        content_index: 0,
        delta: 'a',
      },
    ]
    response.end(events.map(each => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join(''))
  })
  const {text} = await ask('responses', at({...place(), provider: 'openai'}), {stream: true})
  const last = JSON.parse(text.trim().split('\n').at(-1)!.slice('data: '.length))
  expect(last).toMatchObject({type: 'error', sequence_number: 2})
})

test.each<[string, object]>([
  ['anthropic', {content: [{type: 'tool_use', id: 'toolu_1', name: 'f', input: {n: 1}}], stop_reason: 'tool_use'}],
  [
    'mistral-ai',
    {choices: [{index: 0, message: {role: 'assistant', tool_calls: [call()]}, finish_reason: 'tool_calls'}]},
  ],
  ['cohere', {id: 'c', finish_reason: 'TOOL_CALL', message: {role: 'assistant', tool_calls: [call()]}}],
  ['google', {candidates: [{content: {parts: [{functionCall: {name: 'f', args: {n: 1}}}]}, finishReason: 'STOP'}]}],
])('the older words for tools reach %s, and its call comes back in them', async (kind, reply) => {
  says({id: 'm1', type: 'message', role: 'assistant', model: 'm', usage: {input_tokens: 1, output_tokens: 1}, ...reply})
  const functions = [{name: 'f', parameters: {type: 'object', properties: {}}}]
  const answer = await ask('chat', at({...place(), provider: kind}), {functions, max_tokens: 9})
  expect(answer.status).toBe(200)
  const [{message, finish_reason}] = JSON.parse(answer.text).choices
  expect(message.function_call.name).toBe('f')
  expect(JSON.parse(message.function_call.arguments)).toEqual({n: 1})
  expect(finish_reason).toBe('function_call')
  expect(JSON.parse(provider.received.at(-1)!.body.toString()).tools).toHaveLength(1)
})

function call() {
  return {id: 'abcdefghi', type: 'function', function: {name: 'f', arguments: '{"n":1}'}}
}
