import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('coh', 'cohere', provider.url.replace(/\/v1$/, ''))
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const BILLED = {input_tokens: 17, output_tokens: 318}
const HELD = {input_tokens: 215, output_tokens: 320}
const BOTH = {billed_units: BILLED, tokens: HELD}
const MODEL = 'command-a-03-2025'

type Counted = Record<string, number>
interface Client {
  readonly path: string
  readonly body: object
  /** The usage that the client sees, as [input, output]. */
  readonly usage: (json: Record<string, Counted>) => number[]
}

const prompt = {messages: [{role: 'user', content: 'hi'}]}
const openai = ({usage}: Record<string, Counted>) => [usage!.prompt_tokens!, usage!.completion_tokens!]
const others = ({usage}: Record<string, Counted>) => [usage!.input_tokens!, usage!.output_tokens!]
const CLIENTS: Readonly<Record<string, Client>> = {
  chat: {path: '/chat/completions', body: {...prompt, stream_options: {include_usage: true}}, usage: openai},
  messages: {path: '/messages', body: {...prompt, max_tokens: 400}, usage: others},
  responses: {path: '/responses', body: {input: 'hi', store: false}, usage: others},
}

const whole = (usage: object) => ({
  id: 'c',
  message: {role: 'assistant', content: [{type: 'text', text: 'hi'}]},
  finish_reason: 'COMPLETE',
  usage,
})
const streamed = (usage: object) =>
  [
    {type: 'message-start', id: 'c', delta: {message: {role: 'assistant'}}},
    {type: 'content-delta', index: 0, delta: {message: {content: {text: 'hi'}}}},
    {type: 'message-end', delta: {finish_reason: 'COMPLETE', usage}},
  ]
    .map(each => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`)
    .join('')

async function ask({path, body}: Client, stream: boolean, usage: object) {
  provider.answer((_, response) => {
    if (!stream) return json(response, whole(usage))
    response.writeHead(200, {'content-type': 'text/event-stream'})
    response.end(streamed(usage))
  })
  const response = await gateway.call(`/v1${path}`, {
    method: 'POST',
    body: JSON.stringify({model: MODEL, ...body, ...(stream ? {stream} : {})}),
    headers: {'content-type': 'application/json', 'x-gateway-provider': '@coh'},
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  const [row] = await gateway.logs()
  return {text, charged: [row!.req_units, row!.res_units]}
}

/** The last usage in the events of a stream, wherever the client's dialect puts it. */
function lastUsage(text: string): Record<string, Counted> {
  const events = text
    .split('\n')
    .filter(line => line.startsWith('data: {'))
    .map(line => JSON.parse(line.slice(6)) as Record<string, Record<string, Counted>>)
  return {
    usage: events.map(each => (each.usage ?? each.response?.usage) as Counted | undefined).findLast(each => each)!,
  }
}

describe('E10: the ledger charges what Cohere bills, and a client sees what fills the context', () => {
  const cases = Object.entries(CLIENTS).flatMap(([name, client]) =>
    [false, true].map(stream => [name, stream, client] as const),
  )
  test.each(cases)('a client of %s, streamed: %s', async (_, stream, client) => {
    const {text, charged} = await ask(client, stream, BOTH)
    expect(charged).toEqual([17, 318])
    expect(client.usage(stream ? lastUsage(text) : JSON.parse(text))).toEqual([215, 320])
  })

  test.each<[name: string, usage: object, charged: number[]]>([
    ['what is billed stands in for what the model read', {billed_units: BILLED}, [17, 318]],
    ['and the other way round', {tokens: HELD}, [215, 320]],
    [
      'a count that cannot be is none',
      {billed_units: {input_tokens: -1, output_tokens: 'x'}, tokens: HELD},
      [215, 320],
    ],
  ])('where only one is there, %s', async (_, usage, counts) => {
    for (const stream of [false, true]) {
      const {text, charged} = await ask(CLIENTS.chat!, stream, usage)
      expect(charged).toEqual(counts)
      expect(openai(stream ? lastUsage(text) : JSON.parse(text))).toEqual(counts)
    }
  })
})
