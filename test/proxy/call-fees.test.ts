import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('openai', 'openai', provider.url)
  const deployment = (name: string) => ({
    azure_deployment_name: name,
    azure_api_version: '2024-10-21',
    azure_model_slug: name,
  })
  await gateway.provider('azure', 'azure-openai', provider.url, {
    configurations: {
      custom_host: provider.url.replace(/\/v1$/, '/openai'),
      azure_auth_mode: 'default',
      azure_resource_name: 'r',
      azure_deployment_config: [{...deployment('model-router'), is_default: true}, deployment('gpt-4o')],
    },
  })
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const messages = [{role: 'user', content: 'hi'}]
const usage = {prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100}
const annotations = ['a', 'b'].map(name => ({type: 'url_citation', url_citation: {url: `https://${name}.example`}}))

async function chat(slug: string, model: string, answered: string, stream = false) {
  provider.answer((_, response) => {
    const event = (more: object) =>
      `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', model: answered, ...more})}\n\n`
    const choice = {index: 0, finish_reason: 'stop'}
    if (!stream)
      return json(response, {
        id: 'c',
        object: 'chat.completion',
        model: answered,
        usage,
        choices: [{...choice, message: {role: 'assistant', content: 'Noon.', annotations}}],
      })
    response.setHeader('content-type', 'text/event-stream')
    response.end(
      `${event({choices: [{...choice, delta: {content: 'Noon.', annotations}}]})}${event({choices: [], usage})}data: [DONE]\n\n`,
    )
  })
  const answer = await gateway.chat({messages, model, stream}, {'x-gateway-provider': `@${slug}`})
  expect(answer.status, await answer.text()).toBe(200)
  return (await gateway.logs())[0]!
}

const price = (provider_kind: string, model: string, pricing_config: object) =>
  gateway.admin('PUT', `/model-configs/pricing/${provider_kind}/${model}`, {pricing_config})

describe('a model that searches in every call', () => {
  test.each([false, true])('is charged one search, however many citations; streamed: %s', async stream => {
    expect(await chat('openai', 'gpt-4o-search-preview', 'gpt-4o-search-preview-2025-03-11', stream)).toMatchObject({
      unpriced: true,
      unpriced_units: ['web_search'],
      cost: 0.35,
    })
  })

  test('at the rate that the operator gives it', async () => {
    await price('openai', 'gpt-4o-search-preview', {
      pay_as_you_go: {
        request_token: {price: 0.00025},
        response_token: {price: 0.001},
        additional_units: {web_search: {price: 2.5}},
      },
    })
    expect(await chat('openai', 'gpt-4o-search-preview', 'gpt-4o-search-preview-2025-03-11')).toMatchObject({
      unpriced: false,
      unpriced_units: [],
      cost: 2.85,
    })
  })

  test('and no other', async () => {
    expect(await chat('openai', 'gpt-4o', 'gpt-4o-2024-08-06')).toMatchObject({unpriced: false, cost: 0.35})
  })
})

describe('a router of models', () => {
  test('costs what the model that it chose costs; its fee is flagged where nobody knows it, and added where the operator says it', async () => {
    const routed = () => chat('azure', 'model-router', 'gpt-4o-2024-08-06')
    expect(await routed()).toMatchObject({unpriced: true, unpriced_units: ['routing_units'], cost: 0.35})
    await price('azure-openai', 'model-router', {pay_as_you_go: {additional_units: {routing_units: {price: 0.000014}}}})
    // 1,000 tokens at 0.14 USD/M more
    expect(await routed()).toMatchObject({unpriced: false, unpriced_units: [], cost: 0.364})
    expect(await chat('azure', 'gpt-4o', 'gpt-4o-2024-08-06')).toMatchObject({unpriced: false, cost: 0.35})
  })
})
