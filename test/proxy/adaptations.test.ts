import {afterAll, beforeAll, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {STRICT, strictAnswer} from '../support/strict/index.ts'

let provider: FakeProvider
let gateway: TestGateway
const strict = STRICT.find(({name}) => name === 'anthropic')!
const REPLY = {
  ...{id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_reason: 'end_turn'},
  content: [{type: 'text', text: 'Yes.'}],
  usage: {input_tokens: 3, output_tokens: 2},
}

beforeAll(async () => {
  provider = await fakeProvider(strictAnswer(strict, (_, response) => json(response, REPLY)))
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('claude', 'anthropic', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const ask = (more: object, headers: Record<string, string> = {}) =>
  gateway.call('/v1/chat/completions', {
    method: 'POST',
    headers: {'content-type': 'application/json', 'x-gateway-provider': '@claude', ...headers},
    body: JSON.stringify({model: 'claude-sonnet-4-5', messages: [{role: 'user', content: 'Hi'}], ...more}),
  })

test('what a provider gets otherwise than it was said is in the answer’s header and in the log', async () => {
  const trace_id = 'adapted'
  const reply = await ask({stop: ['\n', 'END']}, {'x-gateway-trace-id': trace_id})
  expect([reply.status, reply.headers.get('x-gateway-adaptations')]).toEqual([200, 'dropped stop[0]: blank'])
  await gateway.app.flushed()
  const {data} = await gateway.admin<{data: {id: string}[]}>('GET', `/logs?trace_id=${trace_id}`)
  expect(JSON.stringify(await gateway.admin('GET', `/logs/${data[0]!.id}`))).toContain('dropped stop[0]: blank')
})

test('a request that goes as it was said has no such header', async () => {
  const reply = await ask({stop: ['END']})
  expect([reply.status, reply.headers.get('x-gateway-adaptations')]).toEqual([200, null])
})

test('what cannot be adapted is refused with its field, and nothing is sent', async () => {
  const before = provider.received.length
  const parameters = {type: 'object', properties: {'a b': {type: 'string'}}}
  const reply = await ask({stop: ['\n'], tools: [{type: 'function', function: {name: 'f', parameters}}]})
  expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('tools[0].function.parameters')])
  // Nothing left, so that nothing left otherwise.
  expect(reply.headers.get('x-gateway-adaptations')).toBeNull()
  expect(provider.received.length).toBe(before)
})
