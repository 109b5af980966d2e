import {afterAll, beforeAll, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'

/** A provider that tells a usage that cannot be is taken for one that tells none. */
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

const TEXT = 'Vienna lies on the Danube.'
const REPLIES = {
  openai: {...chatReply('m', TEXT), usage: {prompt_tokens: 7, completion_tokens: 7, total_tokens: 7}},
  'mistral-ai': {...chatReply('m', TEXT), usage: {prompt_tokens: 7, completion_tokens: 7, total_tokens: 7}},
  anthropic: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{type: 'text', text: TEXT}],
    stop_reason: 'end_turn',
    usage: {input_tokens: 7, output_tokens: 7},
  },
  cohere: {
    id: 'c',
    finish_reason: 'COMPLETE',
    message: {role: 'assistant', content: [{type: 'text', text: TEXT}]},
    usage: {billed_units: {input_tokens: 7, output_tokens: 7}, tokens: {input_tokens: 7, output_tokens: 7}},
  },
  google: {
    candidates: [{content: {role: 'model', parts: [{text: TEXT}]}, finishReason: 'STOP', index: 0}],
    usageMetadata: {promptTokenCount: 7, candidatesTokenCount: 7, totalTokenCount: 7},
  },
}

const HALVES = {
  openai: 'completion_tokens',
  'mistral-ai': 'completion_tokens',
  anthropic: 'output_tokens',
  cohere: 'output_tokens',
  google: 'candidatesTokenCount',
}

test.each(Object.keys(REPLIES) as (keyof typeof REPLIES)[])(
  '%s: a report of which one half cannot be is not believed',
  async kind => {
    for (const number of ['-5', '9223372036854775808', '"12"']) {
      const body = JSON.stringify(REPLIES[kind]).replaceAll(`"${HALVES[kind]}":7`, `"${HALVES[kind]}":${number}`)
      provider.answer((_heard, response) => response.writeHead(200, {'content-type': 'application/json'}).end(body))
      const place = {'x-gateway-provider': kind, 'x-gateway-custom-host': provider.url, authorization: 'Bearer sk-1'}
      await (
        await gateway.chat({model: 'm', max_tokens: 50, messages: [{role: 'user', content: 'Where is Vienna?'}]}, place)
      ).text()
      const [row] = await gateway.logs()
      expect([row!.usage_source, Number(row!.res_units) > 4, Number(row!.res_units) < 20], number).toEqual([
        'estimated',
        true,
        true,
      ])
    }
  },
)

test.each(Object.keys(REPLIES) as (keyof typeof REPLIES)[])('%s: the usage is estimated', async kind => {
  for (const number of ['-5', '1e999', '123456789012345678901234567890', '"12"', '{"a":1}']) {
    const body = JSON.stringify(REPLIES[kind]).replaceAll(/(tokens|TokenCount)":7/g, `$1":${number}`)
    provider.answer((_heard, response) => response.writeHead(200, {'content-type': 'application/json'}).end(body))
    const place = {'x-gateway-provider': kind, 'x-gateway-custom-host': provider.url, authorization: 'Bearer sk-1'}
    const answer = await gateway.chat(
      {model: 'm', max_tokens: 50, messages: [{role: 'user', content: 'Where is Vienna?'}]},
      place,
    )
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(TEXT)])
    const [row] = await gateway.logs()
    const counts = row!.usage as Record<string, number>
    expect(
      {source: row!.usage_source, is_counted: counts.input_uncached_tokens! > 0 && counts.output_text_tokens! > 0},
      number,
    ).toEqual({
      source: 'estimated',
      is_counted: true,
    })
  }
})
