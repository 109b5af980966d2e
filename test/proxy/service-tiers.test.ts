import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ENABLE_PROMETHEUS: 'true'})
  await gateway.provider('openai', 'openai', provider.url)
  await gateway.provider('gemini', 'google', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const messages = [{role: 'user', content: 'hi'}]
const choice = {index: 0, message: {role: 'assistant', content: 'Noon.'}, finish_reason: 'stop'}
const usage = {prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100}

async function chat(slug: string, request: object, reply: object, headers: Record<string, string> = {}) {
  provider.answer((_, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    json(response, reply)
  })
  const answer = await gateway.chat({messages, ...request}, {'x-gateway-provider': `@${slug}`})
  expect(answer.status, await answer.text()).toBe(200)
  return (await gateway.logs())[0]!
}

describe('doors 12: a call is charged as it was served', () => {
  const openai = (asked: object, result: object) =>
    chat(
      'openai',
      {model: 'gpt-4o-mini', ...asked},
      {id: 'c', object: 'chat.completion', model: 'gpt-4o-mini', choices: [choice], usage, ...result},
    )

  test.each([
    [{}, {service_tier: 'ultrafast'}, 'ultrafast'],
    [{}, {service_tier: 'scale'}, 'scale'],
    [{}, {service_tier: 'fast'}, 'priority'],
    [{}, {service_tier: 'a "new" word'}, 'a "new" word'],
    [{service_tier: 'ultrafast'}, {}, 'ultrafast'],
    [{service_tier: 'priority'}, {service_tier: 'default'}, null],
    [{service_tier: 'flex'}, {}, null],
    [{service_tier: 'auto'}, {}, null],
    [{}, {}, null],
  ])('asked %j and told %j: standard price, mode_unpriced %s', async (asked, result, mode_unpriced) => {
    expect(await openai(asked, result)).toMatchObject({mode_unpriced, unpriced: false, cost: 0.021})
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    if (mode_unpriced) expect(metrics).toContain(`mode="${mode_unpriced.replaceAll('"', '\\"')}"`)
  })

  test('flex costs half where it is told, whatever was asked', async () => {
    expect(await openai({service_tier: 'auto'}, {service_tier: 'flex'})).toMatchObject({
      mode_unpriced: null,
      cost: 0.0105,
    })
  })
})

describe('doors 15: tiers of Gemini', () => {
  const candidates = [{content: {role: 'model', parts: [{text: 'Noon.'}]}, finishReason: 'STOP', index: 0}]
  const metadata = {promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100}
  const gemini = (asked: object, result: object = {}, headers = {}) =>
    chat(
      'gemini',
      {model: 'gemini-2.5-flash', ...asked},
      {candidates, usageMetadata: {...metadata, ...result}},
      headers,
    )

  test.each([{service_tier: 'flex'}, {serviceTier: 'flex'}])('%j of a chat is sent on', async asked => {
    await gemini(asked)
    expect(JSON.parse(provider.received.at(-1)!.body.toString())).toMatchObject({serviceTier: 'flex'})
  })

  test('words of OpenAI that Gemini does not have are not sent on', async () => {
    const sent = () => JSON.parse(provider.received.at(-1)!.body.toString()) as {serviceTier?: string}
    await gemini({service_tier: 'auto'})
    expect(sent()).not.toHaveProperty('serviceTier')
    await gemini({service_tier: 'default'})
    expect(sent().serviceTier).toBe('standard')
  })

  test('the header, the type of traffic and the tier of the report tell how a call was served', async () => {
    const standard = await gemini({})
    expect(standard.mode_unpriced).toBe(null)
    const half = (standard.cost as number) / 2
    expect(await gemini({service_tier: 'flex'})).toMatchObject({cost: standard.cost, mode_unpriced: null})
    expect(await gemini({}, {}, {'x-gemini-service-tier': 'flex'})).toMatchObject({cost: half, mode_unpriced: null})
    expect(await gemini({}, {}, {'x-gemini-service-tier': 'priority'})).toMatchObject({
      cost: standard.cost,
      mode_unpriced: 'priority',
    })
    expect(await gemini({}, {}, {'x-gemini-service-tier': 'deferred'})).toMatchObject({
      cost: standard.cost,
      mode_unpriced: 'deferred',
    })
    expect(await gemini({}, {trafficType: 'ON_DEMAND_FLEX'})).toMatchObject({cost: half})
    expect(await gemini({}, {serviceTier: 'SERVICE_TIER_PRIORITY'})).toMatchObject({mode_unpriced: 'priority'})
    expect(await gemini({service_tier: 'priority'})).toMatchObject({mode_unpriced: 'priority'})
    expect(await gemini({service_tier: 'priority'}, {trafficType: 'ON_DEMAND'})).toMatchObject({mode_unpriced: null})
  })
})
