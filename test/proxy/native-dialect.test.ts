import {afterAll, beforeAll, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

/**
 * N7: a provider's own client is in its own dialect: what it sends arrives as it is, and so does what it is answered.
 */
let provider: FakeProvider
let gateway: TestGateway
beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  for (const kind of ['mistral-ai', 'together-ai']) await gateway.provider(kind, kind, provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

/** What reached the provider, and what the client was answered. */
async function exchanged(kind: string, path: string, body: object, type: string, answer: string) {
  provider.received.length = 0
  provider.answer((_, response) => response.writeHead(200, {'content-type': type}).end(answer))
  const headers = {'content-type': 'application/json', 'x-gateway-provider': `@${kind}`}
  const reply = await gateway.call(path, {method: 'POST', headers, body: JSON.stringify(body)})
  return {text: await reply.text(), sent: JSON.parse(provider.received[0]!.body.toString()) as unknown}
}

const usage = {prompt_tokens: 9, total_tokens: 11, completion_tokens: 2, prompt_tokens_details: {cached_tokens: 0}}
const TOOLS = [{type: 'function', function: {name: 'f', parameters: {type: 'object', properties: {}}}}]
const ASKED = {model: 'mistral-small-latest', messages: [{role: 'user', content: 'hi'}], tools: TOOLS}

test('a stream of Mistral keeps the usage of its last chunk, without stream_options', async () => {
  const chunk = (delta: object, more: object) =>
    `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm', choices: [{index: 0, delta, ...more}]})}\n\n`
  const last = {
    ...{id: 'c', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm'},
    choices: [{index: 0, delta: {content: ''}, finish_reason: 'stop'}],
    usage,
  }
  const answer = [
    chunk({role: 'assistant', content: ''}, {finish_reason: null}),
    chunk({content: 'Hi'}, {finish_reason: null}),
    `data: ${JSON.stringify(last)}\n\n`,
    'data: [DONE]\n\n',
  ].join('')
  const {text, sent} = await exchanged(
    'mistral-ai',
    '/v1/chat/completions',
    {...ASKED, stream: true},
    'text/event-stream',
    answer,
  )
  expect(text).toBe(answer)
  expect(sent).toEqual({...ASKED, stream: true})
})

test('a whole answer of Mistral keeps its time, its empty content and its members', async () => {
  const call = {id: 'a1b2c3d4e', type: 'function', function: {name: 'f', arguments: '{}'}, index: 0}
  const message = {role: 'assistant', tool_calls: [call], content: ''}
  const answer = JSON.stringify({
    ...{id: 'c', created: 1_700_000_000, model: 'm', usage, object: 'chat.completion'},
    choices: [{index: 0, finish_reason: 'tool_calls', message}],
  })
  const {text, sent} = await exchanged('mistral-ai', '/v1/chat/completions', ASKED, 'application/json', answer)
  expect(text).toBe(answer)
  expect(sent).toEqual(ASKED)
})

test('a rerank of Together keeps its usage', async () => {
  const body = {model: 'Salesforce/Llama-Rank-V1', query: 'q', documents: ['a', 'b']}
  const results = [{index: 0, relevance_score: 0.5, document: {text: 'a'}}]
  const answer = {
    object: 'rerank',
    id: 'r',
    model: 'Salesforce/Llama-Rank-V1',
    results,
    usage: {prompt_tokens: 7, completion_tokens: 0, total_tokens: 7},
  }
  const {text} = await exchanged('together-ai', '/v1/rerank', body, 'application/json', JSON.stringify(answer))
  expect(JSON.parse(text)).toMatchObject({results: [{index: 0, relevance_score: 0.5}], usage: {prompt_tokens: 7}})
})
