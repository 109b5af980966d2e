import {Client} from '@modelcontextprotocol/client'
import {describe, expect, test} from 'vitest'
import {
  answersOfRetry,
  inputRequestText,
  inputRequiredText,
  inputResponseText,
  type Question,
  type QuestionMethod,
  questionOfRequest,
  questionsOfResult,
  questionsOfUrlError,
  refusalOf,
  requestParamsText,
  takesQuestion,
  urlErrorData,
} from '../../../src/mcp/content/questions.ts'
import {type RpcAnswer, type RpcRequest, readMessage} from '../../../src/mcp/wire/messages.ts'
import {modernClient} from '../../support/mcp-clients.ts'

const FORM = '{"message":"Who?", "requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}},"n":1.0}'
const URL_PARAMS = '{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"theirs","n":1.0}'
const request = (method: string, params?: string) =>
  readMessage(`{"jsonrpc":"2.0","id":5,"method":"${method}"${params ? `,"params":${params}` : ''}}`) as RpcRequest
const answer = (member: string) => readMessage(`{"jsonrpc":"2.0","id":5,${member}}`) as RpcAnswer
const form: Question = {method: 'elicitation/create', params: FORM, is_url: false}
const url: Question = {method: 'elicitation/create', params: URL_PARAMS, is_url: true}

describe('questions of a legacy server', () => {
  test('each becomes an entry of inputRequests with the bytes of its params', () => {
    const made = (method: string, params?: string) => inputRequestText(questionOfRequest(request(method, params))!)
    expect(made('elicitation/create', FORM)).toBe(`{"method":"elicitation/create","params":${FORM}}`)
    expect(made('roots/list')).toBe('{"method":"roots/list"}')
    expect(made('sampling/createMessage', '{"messages":[ ],"maxTokens":1e2}')).toBe(
      '{"method":"sampling/createMessage","params":{"messages":[ ],"maxTokens":1e2}}',
    )
    expect(made('elicitation/create', URL_PARAMS)).toBe(
      '{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://a.example/","n":1.0}}',
    )
    for (const method of ['ping', 'tools/call', 'constructor']) expect(questionOfRequest(request(method))).toBeNull()
  })

  test('17: SDK v2 answers what is made of it', async () => {
    const asking = inputRequiredText(new Map([['q1', inputRequestText(form)]]), 'sealed', '{"name":"s","version":"1"}')
    const sent: unknown[] = []
    const client = new Client(
      {name: 'c', version: '1'},
      {versionNegotiation: {mode: {pin: '2026-07-28'}}, capabilities: {elicitation: {}}},
    )
    client.setRequestHandler('elicitation/create', async asked => {
      sent.push(asked.params)
      return {action: 'accept', content: {name: 'Ada'}}
    })
    const results = [asking, '{"resultType":"complete","content":[{"type":"text","text":"Ada"}]}']
    const calls: {params: Record<string, unknown>}[] = []
    const discover =
      '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},' +
      '"ttlMs":0,"cacheScope":"private"}'
    const transport = {
      onmessage: undefined as ((message: unknown) => void) | undefined,
      async start() {},
      async close() {},
      async send(message: {id: number; method: string; params: Record<string, unknown>}) {
        if (message.method === 'tools/call') calls.push(message)
        const result = message.method === 'tools/call' ? results.shift()! : discover
        queueMicrotask(() => this.onmessage?.({jsonrpc: '2.0', id: message.id, result: JSON.parse(result)}))
      },
    }
    await client.connect(transport as never)
    expect(await client.callTool({name: 'ask'})).toMatchObject({content: [{text: 'Ada'}]})
    expect(sent).toMatchObject([{message: 'Who?'}])
    const {params} = calls[1]!
    expect(params.requestState).toBe('sealed')
    const answers = answersOfRetry(params as never, JSON.stringify(params), new Map([['q1', 'elicitation/create']]))!
    expect(JSON.parse(answers.get('q1')!)).toMatchObject({action: 'accept', content: {name: 'Ada'}})
  })

  test('a result with state alone has no questions', async () => {
    expect(inputRequiredText(new Map(), 'a"b', null)).toBe('{"resultType":"input_required","requestState":"a\\"b"}')
    expect(await modernClient({})).toBeDefined()
  })

  const questions = new Map<string, QuestionMethod>([
    ['a', 'elicitation/create'],
    ['b', 'roots/list'],
    ['c', 'sampling/createMessage'],
  ])
  test.each([
    ['{}', []],
    ['{"inputResponses":{}}', []],
    ['{"inputResponses":{"a":{"action":"decline" ,"n":1.0},"z":5}}', [['a', '{"action":"decline" ,"n":1.0}']]],
    ['{"inputResponses":{"b":{"roots":[]}}}', [['b', '{"roots":[]}']]],
    [
      '{"inputResponses":{"c":{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}}}',
      [['c', '{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}']],
    ],
  ])('answers in %s', (text, expected) => {
    expect([...answersOfRetry(JSON.parse(text), text, questions)!]).toEqual(expected)
  })

  test.each([
    '{"inputResponses":5}',
    '{"inputResponses":[]}',
    '{"inputResponses":{"a":{"action":"maybe"}}}',
    '{"inputResponses":{"a":null}}',
    '{"inputResponses":{"a":{"result":{"action":"accept"}}}}',
    '{"inputResponses":{"b":{"roots":{}}}}',
    '{"inputResponses":{"c":{"role":"assistant","content":{}}}}',
    '{"inputResponses":{"c":{"role":"assistant","model":"m","content":"x"}}}',
  ])('%s has no answer of that kind', text => {
    expect(answersOfRetry(JSON.parse(text), text, questions)).toBeNull()
  })

  test('a question that the client does not take is refused', () => {
    expect(refusalOf('elicitation/create')).toEqual({result: '{"action":"decline"}'})
    for (const method of ['sampling/createMessage', 'roots/list', 'x'])
      expect(JSON.parse((refusalOf(method) as {error: string}).error)).toMatchObject({code: -32601})
  })

  test('the error -32042 becomes questions without ids', () => {
    const data = `{"elicitations":[ ${URL_PARAMS} ,{"mode":"url","message":"n","url":"https://b.example/"}]}`
    const found = questionsOfUrlError(answer(`"error":{"code":-32042,"message":"m","data":${data}}`))!
    expect([...found.keys()]).toEqual(['elicitation-1', 'elicitation-2'])
    expect([...found.values()].map(inputRequestText).join()).not.toContain('elicitationId')
    for (const bad of ['{}', '{"elicitations":[]}', '{"elicitations":[{"mode":"form"}]}', '{"elicitations":5}', '5'])
      expect(questionsOfUrlError(answer(`"error":{"code":-32042,"message":"m","data":${bad}}`))).toBeNull()
    expect(questionsOfUrlError(answer('"error":{"code":-32042,"message":"m"}'))).toBeNull()
  })
})

describe('questions of a modern server', () => {
  test('16: each becomes the params of a request with the bytes that came', () => {
    const asking = `"a":{"params":${FORM},"method":"elicitation/create"}`
    const text = `{"inputRequests":{ "b":{"method":"roots/list"},${asking}},"requestState":"s"}`
    const found = questionsOfResult(JSON.parse(text), text)!
    expect([...found]).toEqual([
      ['b', {method: 'roots/list', params: undefined, is_url: false}],
      ['a', form],
    ])
    expect(requestParamsText(form, 'id')).toBe(FORM)
    expect(questionsOfResult({requestState: 's'}, '{"requestState":"s"}')!.size).toBe(0)
  })

  test('an address gets an id of ours', () => {
    const params = '{"mode":"url","message":"m","url":"https://a.example/"}'
    const made = requestParamsText({...url, params}, 'ours')!
    expect(made).toBe(`${params.slice(0, -1)},"elicitationId":"ours"}`)
    expect(JSON.parse(urlErrorData([url, url], at => `id-${at}`)).elicitations).toMatchObject([
      {elicitationId: 'id-0'},
      {elicitationId: 'id-1'},
    ])
  })

  test.each([
    '{"inputRequests":5}',
    '{"inputRequests":{"a":null}}',
    '{"inputRequests":{"a":{"method":"tools/call"}}}',
    '{"inputRequests":{"a":{"method":"constructor"}}}',
    '{"inputRequests":{"a":{"method":"roots/list","params":[]}}}',
  ])('%s has no questions', text => {
    expect(questionsOfResult(JSON.parse(text), text)).toBeNull()
  })

  test('an answer of a legacy client becomes an entry of inputResponses', () => {
    const result = '{ "action":"accept","content":{"n":1.0} }'
    expect(inputResponseText('elicitation/create', answer(`"result":${result}`))).toBe(result)
    const error = answer('"error":{"code":-32603,"message":"closed"}')
    expect(inputResponseText('elicitation/create', error)).toBe('{"action":"cancel"}')
    expect(inputResponseText('roots/list', error)).toBeNull()
    expect(inputResponseText('sampling/createMessage', error)).toBeNull()
  })
})

describe('questions that a client takes', () => {
  const roots: Question = {method: 'roots/list', params: undefined, is_url: false}
  const sampling: Question = {method: 'sampling/createMessage', params: '{}', is_url: false}
  test.each([
    ['{}', []],
    ['{"elicitation":{}}', [form]],
    ['{"elicitation":{"form":{}}}', [form]],
    ['{"elicitation":{"url":{}}}', [url]],
    ['{"elicitation":{"form":{},"url":{}}}', [form, url]],
    ['{"elicitation":null,"sampling":true,"roots":[]}', []],
    ['{"roots":{"listChanged":true}}', [roots]],
    ['{"sampling":{}}', [sampling]],
  ])('%s', (text, taken) => {
    const capabilities = JSON.parse(text)
    expect([form, url, roots, sampling].filter(each => takesQuestion(capabilities, each))).toEqual(taken)
  })
})
