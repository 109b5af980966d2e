import {setImmediate} from 'node:timers/promises'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'

/** What streams is known by what it is, for labels of providers differ: usage is read whatever the label says. */
let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  provider = await fakeProvider()
  await gateway.provider('oai', 'openai', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const chunk = (more: object) =>
  `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', model: 'gpt-4o', ...more})}\n\n`
const USAGE = {prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500}
const STREAM = [
  chunk({choices: [{index: 0, delta: {content: 'word '}, finish_reason: null}]}),
  chunk({choices: [{index: 0, delta: {}, finish_reason: 'stop'}]}),
  chunk({choices: [], usage: USAGE}),
  'data: [DONE]\n\n',
].join('')

async function ask(label: string | undefined, pieces: readonly string[], path = '/v1/chat/completions') {
  provider.answer(async (_, response) => {
    response.writeHead(200, label === undefined ? {} : {'content-type': label})
    for (const piece of pieces) {
      response.write(piece)
      await setImmediate()
    }
    response.end()
  })
  const reply = await gateway.call(path, {
    method: 'POST',
    body: JSON.stringify({
      model: 'gpt-4o',
      stream: true,
      stream_options: {include_usage: true},
      messages: [{role: 'user', content: 'hi'}],
    }),
    headers: {'content-type': 'application/json', 'x-gateway-provider': '@oai'},
  })
  const text = await reply.text()
  const [row] = await gateway.logs()
  return {
    text,
    type: reply.headers.get('content-type'),
    tokens: [row!.req_units, row!.res_units],
    source: row!.usage_source,
  }
}

const COUNTED = {text: STREAM, tokens: [1000, 500], source: 'provider'}
const LABELS = [
  'text/event-stream',
  'TEXT/EVENT-STREAM',
  'Text/Event-Stream;charset=UTF-8',
  'text/plain',
  'application/octet-stream',
  'application/x-ndjson',
  'application/json',
  undefined,
]

describe.each(['/v1/chat/completions', '/v1/proxy/chat/completions'])('usage of a stream at %s is read', path => {
  test.each(LABELS)('under the label %s', async label => {
    expect(await ask(label, [STREAM], path)).toMatchObject({...COUNTED, type: label ?? null})
  })
})

test.each([1, 2, 3, 4, 5, 6])('its first %i bytes may come alone', async length => {
  expect(await ask('text/plain', [STREAM.slice(0, length), STREAM.slice(length)])).toMatchObject(COUNTED)
})

test.each([
  ['a byte order mark', '\uFEFF'],
  ['blank lines', '\n\n'],
  ['a comment', ': hello\n\n'],
  ['a field of its own', 'retry: 3000\n\n'],
])('%s may come before', async (_, before) => {
  expect(await ask('text/plain', [...before, STREAM])).toMatchObject({
    ...COUNTED,
    text: (before + STREAM).replace('\uFEFF', ''),
  })
})

test.each([
  ['an answer in JSON', JSON.stringify({...chatReply('gpt-4o', 'Hello'), usage: USAGE})],
  [
    'one that begins with white space',
    `${' '.repeat(100)}${JSON.stringify({...chatReply('gpt-4o', 'Hello'), usage: USAGE})}`,
  ],
])('%s is none, and is read whole', async (_, whole) => {
  expect(await ask('text/plain', [...whole.slice(0, 3), whole.slice(3)])).toMatchObject({...COUNTED, text: whole})
})

test('one that ends before it says what it is reaches the client', async () => {
  expect((await ask('text/plain', ['dat'])).text).toBe('dat')
})
