import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

/** A limit that counts is not left by how a client, or a config, spells `stream_options`. */
let gateway: TestGateway
let exact: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  provider = await fakeProvider((received, response) => {
    const {stream, stream_options} = JSON.parse(received.body.toString())
    const asks = stream_options?.include_usage === true
    const chunk = (more: object) =>
      `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', model: 'gpt-4o', ...more, ...(asks && !('usage' in more) && {usage: null})})}\n\n`
    if (!stream) return response.end('{"choices":[]}')
    response.writeHead(200, {'content-type': 'text/event-stream'})
    response.write(chunk({choices: [{index: 0, delta: {content: 'Hi'}, finish_reason: null}]}))
    response.write(chunk({choices: [{index: 0, delta: {}, finish_reason: 'stop'}]}))
    if (asks)
      response.write(chunk({choices: [], usage: {prompt_tokens: 1000, completion_tokens: 3900, total_tokens: 4900}}))
    response.end('data: [DONE]\n\n')
  })
  gateway = await startGateway({STREAM_USAGE: 'metered'})
  exact = await startGateway({STREAM_USAGE: 'exact'})
  for (const each of [gateway, exact]) await each.provider('oai', 'openai', provider.url)
})
afterAll(async () => {
  await Promise.all([gateway.close(), exact.close(), provider.close()])
})

const PLAIN = [
  {
    id: 'c',
    object: 'chat.completion.chunk',
    model: 'gpt-4o',
    choices: [{index: 0, delta: {content: 'Hi'}, finish_reason: null}],
  },
  {id: 'c', object: 'chat.completion.chunk', model: 'gpt-4o', choices: [{index: 0, delta: {}, finish_reason: 'stop'}]},
]
const plain = `${PLAIN.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`

async function ask(at: TestGateway, body: object, config: object = {}) {
  provider.received.length = 0
  const reply = await at.chat(
    {model: 'gpt-4o', messages: [{role: 'user', content: 'hi'}], ...body},
    {'x-gateway-config': JSON.stringify({provider: '@oai', ...config})},
  )
  const text = await reply.text()
  const [row] = await at.logs()
  return {
    text,
    sent: JSON.parse(provider.received[0]!.body.toString()).stream_options,
    tokens: [row!.req_units, row!.res_units],
  }
}

const ASKED = {include_usage: true}
describe('a client that did not ask is charged what the provider counts, and reads the stream it asked for', () => {
  test.each([
    ['nothing', {stream: true}, {}, ASKED],
    ['false', {stream: true, stream_options: {include_usage: false}}, {}, ASKED],
    ['an empty object', {stream: true, stream_options: {}}, {}, ASKED],
    ['null', {stream: true, stream_options: null}, {}, ASKED],
    ['a text', {stream: true, stream_options: 'no'}, {}, ASKED],
    [
      'another member',
      {stream: true, stream_options: {include_obfuscation: false}},
      {},
      {include_obfuscation: false, ...ASKED},
    ],
    ['a config that says no', {stream: true}, {override_params: {stream_options: {include_usage: false}}}, ASKED],
    ['a config that says yes', {stream: true}, {override_params: {stream_options: ASKED}}, ASKED],
    ['a config that makes it a stream', {}, {override_params: {stream: true}}, ASKED],
    [
      'a config that drops the member',
      {stream: true, stream_options: {include_usage: false}},
      {drop_params: ['stream_options']},
      ASKED,
    ],
    [
      'a config that drops a part of it',
      {stream: true, stream_options: {a: {b: 1}, c: 1}},
      {drop_params: ['stream_options.a']},
      {c: 1, ...ASKED},
    ],
  ])('%s', async (_, body, config, sent) => {
    expect(await ask(gateway, body, config)).toEqual({text: plain, sent, tokens: [1000, 3900]})
  })
})

test.each([{}, {override_params: {stream_options: {include_usage: false}}}])(
  'a client that asked is told, whatever a config says: %j',
  async config => {
    const {text, sent, tokens} = await ask(gateway, {stream: true, stream_options: ASKED}, config)
    expect([sent, tokens]).toEqual([ASKED, [1000, 3900]])
    expect(text).toContain('"usage":null')
    expect(text).toContain('"prompt_tokens":1000')
  },
)

test.each([
  [{stream: true}, undefined],
  [{stream: true, stream_options: {include_usage: false}}, {include_usage: false}],
  [{stream: true, stream_options: null}, null],
])('exact: %j leaves as it is', async (body, sent) => {
  expect(await ask(exact, body)).toMatchObject({text: plain, sent})
})
