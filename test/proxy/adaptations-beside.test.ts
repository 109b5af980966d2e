import {toFile} from 'openai'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {asLines, openaiAt} from '../support/files.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {newTrace} from '../support/routing.ts'
import {refusals, STRICT, strictAnswer} from '../support/strict/index.ts'

// Adaptations beside each other feature of a call: the provider refuses nothing, and header and row name what was
// adapted for the target that answered, and that alone.

let provider: FakeProvider
let failing: FakeProvider
let gateway: TestGateway
const strict = STRICT.find(({name}) => name === 'anthropic')!
const MODEL = 'claude-sonnet-4-5'
const REPLY = {
  ...{id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, stop_reason: 'end_turn'},
  content: [{type: 'text', text: 'Yes.'}],
  usage: {input_tokens: 3, output_tokens: 2},
}
const EVENTS = [
  {type: 'message_start', message: {...REPLY, content: []}},
  {type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}},
  {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: 'Yes.'}},
  {type: 'content_block_stop', index: 0},
  {type: 'message_delta', delta: {stop_reason: 'end_turn'}, usage: {output_tokens: 2}},
  {type: 'message_stop'},
]
/** Statuses of the next answers; 200 behind them. */
let statuses: number[] = []

beforeAll(async () => {
  provider = await fakeProvider(
    strictAnswer(strict, ({body}, response) => {
      const status = statuses.shift() ?? 200
      if (status !== 200) return json(response, {type: 'error', error: {type: 'api_error', message: 'Down.'}}, status)
      if (JSON.parse(body.toString()).stream !== true) return json(response, REPLY)
      response.writeHead(200, {'content-type': 'text/event-stream'})
      response.end(EVENTS.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
    }),
  )
  failing = await fakeProvider((_, response) => json(response, {error: {message: 'Down.'}}, 500))
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('claude', 'anthropic', provider.url)
  await gateway.provider('cohere', 'cohere', failing.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
  await failing.close()
})
beforeEach(() => {
  provider.received.length = 0
  statuses = []
})

const tool = (name: string, parameters: object = {type: 'object', properties: {}}) => ({
  type: 'function',
  function: {name, parameters},
})
const call = (id: string) => ({id, type: 'function', function: {name: 'read', arguments: '{}'}})
const user = (content: string) => ({role: 'user', content})

/** Chat requests that Claude would refuse, and the adaptations that keep that from it. */
const KINDS: Readonly<
  Record<string, readonly [body: {messages?: object[]; [member: string]: unknown}, reports: string]>
> = {
  'a blank stop sequence': [{stop: ['\n', 'END']}, 'dropped stop[0]: blank'],
  'a name of a function': [
    {tools: [tool('files.read')]},
    'converted tools[0].function.name: characters and length that the provider takes',
  ],
  'alternatives at the top of parameters': [
    {tools: [tool('read', {anyOf: [{properties: {a: {type: 'string'}}}]})]},
    'converted tools[0].function.parameters: no anyOf at its top',
  ],
  'a late result': [
    {
      tools: [tool('read')],
      messages: [
        user('Read both.'),
        {role: 'assistant', content: null, tool_calls: [call('a'), call('b')]},
        {role: 'tool', tool_call_id: 'a', content: 'one'},
        user('And?'),
        {role: 'tool', tool_call_id: 'b', content: 'two'},
      ],
    },
    'converted messages[4]: the result follows its call',
  ],
}
type Kind = keyof typeof KINDS

interface Asked {
  readonly headers?: Record<string, string>
  readonly path?: string
  readonly body: object
}

/** The header of the answer, and the warning of the row of the target that answered. */
async function ask({headers = {}, path = '/v1/chat/completions', body}: Asked) {
  const trace_id = newTrace()
  const response = await gateway.call(path, {
    method: 'POST',
    headers: {'content-type': 'application/json', 'x-gateway-trace-id': trace_id, ...headers},
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const rows = (await gateway.logs()).filter(row => row.trace_id === trace_id)
  const whole = await Promise.all(rows.map(({id}) => gateway.admin('GET', `/logs/${String(id)}`)))
  return {status: response.status, text, header: response.headers.get('x-gateway-adaptations'), rows: whole}
}

const request = (kind: Kind, more: object = {}) => ({
  model: MODEL,
  messages: [user('Hi')],
  ...KINDS[kind]![0],
  ...more,
})
const at = (config: object) => ({'x-gateway-config': JSON.stringify(config)})
const CLAUDE = {provider: '@claude'}

/** Features of a call, by what is asked. Each of them calls Claude. */
const FEATURES: Readonly<Record<string, (kind: Kind) => Asked | Promise<Asked>>> = {
  'a stream': kind => ({headers: at(CLAUDE), body: request(kind, {stream: true})}),
  'a retry': kind => {
    statuses = [500]
    return {headers: at({...CLAUDE, retry: {attempts: 1, on_status_codes: [500]}}), body: request(kind)}
  },
  'a fallback from another dialect, which adapts otherwise': kind => {
    const targets = [{provider: '@cohere', override_params: {model: 'command-a-03-2025'}}, CLAUDE]
    const strategy = {mode: 'fallback'}
    return {headers: at({strategy, targets}), body: request(kind, {top_p: 1})}
  },
  'parameters of the config': kind => {
    const {model, ...params} = request(kind)
    return {headers: at({...CLAUDE, override_params: params}), body: {model, messages: [user('Another')]}}
  },
  'a guardrail that changes the request': kind => {
    const input_guardrails = [{'default.regexReplace': {rule: '/secret/g', redactText: '[gone]'}, id: 'changes'}]
    const {messages, ...rest} = request(kind)
    const [first, ...others] = messages as {content?: string}[]
    const body = {...rest, messages: [{...first, content: `${first!.content} secret`}, ...others]}
    return {headers: at({...CLAUDE, input_guardrails}), body}
  },
  'a template': async kind => {
    const {data: workspaces} = await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')
    const {data} = await gateway.admin<{data: {id: string}[]}>('GET', `/collections?workspace_id=${workspaces[0]!.id}`)
    const {messages, stop, tools} = request(kind) as ReturnType<typeof request> & {stop?: unknown; tools?: unknown}
    const saved = {
      ...{name: 'Saved', collection_id: data[0]!.id, virtual_key: 'claude', model: MODEL},
      string: JSON.stringify(messages),
      parameters: {max_tokens: 9, ...(stop ? {stop} : {})},
      ...(tools ? {tools} : {}),
    }
    const {slug} = await gateway.admin<{slug: string}>('POST', '/prompts', saved)
    return {path: `/v1/prompts/${slug}/completions`, body: {variables: {}}}
  },
}

describe.each(Object.keys(KINDS) as Kind[])('%s', kind => {
  const [, report] = KINDS[kind]!

  test.each(Object.entries(FEATURES))('beside %s', async (_, made) => {
    const answer = await ask(await made(kind))
    expect([answer.status, answer.header]).toEqual([200, expect.stringContaining(report)])
    expect(answer.header).not.toContain('top_p')
    const rows = answer.rows.filter(row => JSON.stringify(row).includes(report))
    expect(rows).not.toEqual([])
    expect(refusals(strict, JSON.parse(provider.received.at(-1)!.body.toString()), MODEL)).toEqual([])
  })

  test('beside the cache: a hit says it, too', async () => {
    const headers = at({...CLAUDE, cache: {mode: 'simple'}})
    const seen = []
    for (const _ of [1, 2]) seen.push(await ask({headers, body: request(kind, {user: kind})}))
    expect(seen.map(({status, header}) => [status, header])).toEqual([
      [200, report],
      [200, report],
    ])
    expect(provider.received).toHaveLength(1)
  })

  test('in a row of a file for batches: the answer and its row name the line', async () => {
    const row = (custom_id: string, body: object) => ({custom_id, method: 'POST', url: '/v1/chat/completions', body})
    const rows = [row('plain', {model: MODEL, max_tokens: 9, messages: [user('Hi')]}), row('odd', request(kind))]
    const {data, response} = await openaiAt(gateway, '@claude')
      .files.create({file: await toFile(asLines(rows), 'rows.jsonl'), purpose: 'batch'})
      .withResponse()
    expect(response.headers.get('x-gateway-adaptations')).toBe(`line 2: ${report}`)
    expect(data.purpose).toBe('batch')
    const [newest] = await gateway.logs()
    expect(JSON.stringify(await gateway.admin('GET', `/logs/${String(newest!.id)}`))).toContain(`line 2: ${report}`)
  })
})

test('a row of a file that is refused names line and field, and nothing of the file is kept', async () => {
  const row = {custom_id: 'a', method: 'POST', url: '/v1/chat/completions'}
  const good = {...row, body: {model: MODEL, max_tokens: 9, messages: [user('Hi')]}}
  const parameters = {type: 'object', properties: {'a b': {type: 'string'}}}
  const bad = {...row, custom_id: 'b', body: {...good.body, tools: [tool('f', parameters)]}}
  const openai = openaiAt(gateway, '@claude')
  const file = await toFile(asLines([good, bad]), 'rows.jsonl')
  const fault = await openai.files.create({file, purpose: 'batch'}).catch((error: unknown) => error)
  expect(fault).toMatchObject({status: 400, message: expect.stringMatching(/line 2.*tools\[0\]\.function\.parameters/)})
})

test('a count of tokens is of what would leave for an answer', async () => {
  const counting = await fakeProvider((_, response) => json(response, {totalTokens: 7}))
  try {
    const config = {provider: 'google', api_key: 'k', custom_host: counting.url}
    const tools = [{name: 'read file', input_schema: {type: 'object', properties: {a: {type: 'string'}}}}]
    const body = {model: 'gemini-2.5-flash', messages: [user('Hi')], tools}
    const {status, text, header} = await ask({path: '/v1/messages/count_tokens', headers: at(config), body})
    expect([status, JSON.parse(text)]).toEqual([200, {input_tokens: 7}])
    expect(header).toContain('converted tools[0].function.name')
    expect(counting.received[0]!.body.toString()).toContain('"name":"read_x20_file"')
  } finally {
    await counting.close()
  }
})

test('two requests that come to the same body have answers of their own', async () => {
  const headers = at({...CLAUDE, cache: {mode: 'simple'}})
  const base = {model: MODEL, max_output_tokens: 9, input: 'Same?'}
  for (const run of ['1', '2']) {
    const {text} = await ask({path: '/v1/responses', headers, body: {...base, metadata: {run}}})
    expect(JSON.parse(text).metadata).toEqual({run})
  }
  const tools = {model: MODEL, max_tokens: 9, messages: [user('Call it.')], tools: [tool('read')]}
  const functions = {model: MODEL, max_tokens: 9, messages: [user('Call it.')], functions: [tool('read').function]}
  provider.received.length = 0
  for (const body of [tools, functions, tools, functions]) await ask({headers, body})
  expect(provider.received).toHaveLength(2)
})

test('more adaptations than a row has room for are said to be more', async () => {
  const {header, rows} = await ask({
    headers: at(CLAUDE),
    body: request('a blank stop sequence', {stop: Array(40).fill('\n')}),
  })
  expect(header).toMatch(/^dropped stop\[0\]: blank; dropped stop\[1\]/)
  expect(JSON.stringify(rows)).toMatch(/dropped stop\[31\]: blank; and more"/)
})
