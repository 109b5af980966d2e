import {afterAll, beforeAll, expect, test} from 'vitest'
import {eventFrame} from '../providers/bedrock/frames.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

/** Counts of a stream are cumulative: a later smaller one takes nothing back. */
let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  provider = await fakeProvider()
  for (const kind of ['openai', 'anthropic', 'google', 'mistral-ai', 'reka-ai', 'bedrock']) {
    const configurations = {
      custom_host: provider.url,
      ...(kind === 'bedrock' && {aws_auth_type: 'apiKey', aws_region: 'us-east-1'}),
    }
    await gateway.provider(kind, kind, provider.url, {configurations})
  }
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const sse = (data: object | string, event?: string) =>
  `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const chunk = (input: number, output: number, finish_reason: string | null = null) =>
  sse({
    ...{
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{index: 0, delta: {content: 'word '}, finish_reason}],
    },
    usage: {prompt_tokens: input, completion_tokens: output, total_tokens: input + output},
  })
const gemini = (input: number, output: number) =>
  sse({
    candidates: [{index: 0, content: {parts: [{text: 'word '}], role: 'model'}, finishReason: 'STOP'}],
    usageMetadata: {promptTokenCount: input, candidatesTokenCount: output},
  })
const reka = (input: number, output: number, finish_reason: string) =>
  sse({
    id: 'k',
    responses: [{chunk: {content: ''}, finish_reason}],
    usage: {input_tokens: input, output_tokens: output},
  })
const message = (input: number, output: number) => [
  sse({
    type: 'message_start',
    message: {id: 'm', type: 'message', model: 'm', usage: {input_tokens: input, output_tokens: output}},
  }),
  sse({type: 'message_delta', delta: {stop_reason: 'end_turn'}, usage: {input_tokens: 4, output_tokens: 2}}),
  sse({type: 'message_stop'}),
]
const metadata = (inputTokens: number, outputTokens: number) =>
  eventFrame('metadata', {usage: {inputTokens, outputTokens}})

test.each<[string, string, readonly (string | Buffer)[]]>([
  ['openai', 'chat/completions', [chunk(900, 70), chunk(4, 2, 'stop'), sse('[DONE]')]],
  ['mistral-ai', 'chat/completions', [chunk(900, 70), chunk(4, 2, 'stop'), sse('[DONE]')]],
  ['anthropic', 'messages', message(900, 70)],
  ['anthropic', 'chat/completions', message(900, 70)],
  ['google', 'chat/completions', [gemini(900, 70), gemini(4, 2)]],
  ['google', 'proxy/v1beta/models/m:streamGenerateContent?alt=sse', [gemini(900, 70), gemini(4, 2)]],
  ['reka-ai', 'chat/completions', [reka(900, 70, ''), reka(4, 2, 'stop')]],
  [
    'bedrock',
    'chat/completions',
    [eventFrame('messageStop', {stopReason: 'end_turn'}), metadata(900, 70), metadata(4, 2)],
  ],
])('%s, %s', async (kind, path, events) => {
  provider.answer((_, response) => {
    response.writeHead(200, {
      'content-type': kind === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream',
    })
    for (const event of events) response.write(event)
    response.end()
  })
  const body = {model: 'm', max_tokens: 9, stream: true, messages: [{role: 'user', content: 'hi'}]}
  const headers = {'content-type': 'application/json', 'x-gateway-provider': `@${kind}`}
  await (await gateway.call(`/v1/${path}`, {method: 'POST', body: JSON.stringify(body), headers})).text()
  const [row] = await gateway.logs()
  expect([row!.req_units, row!.res_units, row!.usage_source]).toEqual([900, 70, 'provider'])
})
