import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway
let key: string

/** One model is allowed at every provider. */
const ALLOWED = 'small'

beforeAll(async () => {
  provider = await fakeProvider((_, response) => json(response, {ok: true}))
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  const origin = provider.url.replace(/\/v1$/, '')
  await gateway.provider('oai', 'openai', provider.url)
  await gateway.provider('ant', 'anthropic', provider.url)
  await gateway.provider('gem', 'google', origin)
  await gateway.provider('bed', 'bedrock', origin, {
    configurations: {custom_host: origin, aws_region: 'us-east-1', aws_auth_type: 'apiKey'},
  })
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const body = {name: 'small', workspace_id: workspace!.id, scopes: ['completions.write'], models: {allow: [ALLOWED]}}
  key = (await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)).key
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})
beforeEach(() => {
  provider.received.length = 0
})

async function ask(slug: string, path: string, body: object, headers: Record<string, string> = {}) {
  const response = await gateway.call(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      'x-gateway-provider': `@${slug}`,
      'x-gateway-api-key': key,
      ...headers,
    },
  })
  await response.text()
  return [response.status, provider.received.length]
}

const REFUSED = [412, 0]
const PASSED = [200, 1]
const messages = [{role: 'user', content: 'hi'}]
const small = {model: ALLOWED, messages, max_tokens: 5}

describe('doors 2: every model that a request names has to be allowed', () => {
  test.each<[string, string, object]>([
    ['ant', '/v1/messages', {...small, fallbacks: [{model: 'large'}]}],
    ['ant', '/v1/messages', {...small, fallbacks: 'default'}],
    ['ant', '/v1/messages', {...small, tools: [{type: 'advisor_20260301', name: 'advisor', model: 'large'}]}],
    ['ant', '/v1/proxy/messages', {...small, fallbacks: [{model: 'large'}]}],
    ['ant', '/v1/messages', {...small, fallb\u0061cks: [{model: 'large'}]}],
    ['oai', '/v1/responses', {model: ALLOWED, input: 'hi', tools: [{type: 'image_generation', model: 'large'}]}],
    ['oai', '/v1/chat/completions', {...small, models: [ALLOWED, 'large']}],
    ['oai', '/v1/proxy/v1/chat/completions', {...small, models: ['large']}],
    ['oai', '/v1/brand/new', {steps: [{agent: {model: 'large'}}], model: ALLOWED}],
    ['oai', '/v1/evals', {data_source: {model: 'large'}}],
  ])('%s %s refuses a second one', async (slug, path, body) => {
    expect(await ask(slug, path, body)).toEqual(REFUSED)
  })

  test('escapes in a name hide nothing', async () => {
    const response = await gateway.call('/v1/messages', {
      method: 'POST',
      body: JSON.stringify({...small, extra: 1}).replace('"extra":1', String.raw`"fallb\u0061cks":[{"model":"large"}]`),
      headers: {'content-type': 'application/json', 'x-gateway-provider': '@ant', 'x-gateway-api-key': key},
    })
    expect([response.status, provider.received.length]).toEqual(REFUSED)
  })

  test('nor do parameters that a config adds', async () => {
    const config = JSON.stringify({provider: '@ant', override_params: {fallbacks: [{model: 'large'}]}})
    expect(await ask('ant', '/v1/messages', small, {'x-gateway-config': config})).toEqual(REFUSED)
  })

  test.each<[string, string, object]>([
    ['ant', '/v1/messages', {...small, fallbacks: [{model: ALLOWED}]}],
    [
      'oai',
      '/v1/chat/completions',
      {
        ...small,
        tools: [{type: 'function', function: {name: 'f', parameters: {properties: {model: {type: 'string'}}}}}],
      },
    ],
    ['oai', '/v1/brand/new', {steps: [{agent: {model: ALLOWED}}]}],
    ['oai', '/v1/vector_stores', {name: 'v'}],
    ['oai', '/v1/threads', {}],
    ['oai', '/v1/chat/completions/chatcmpl-1', {metadata: {}}],
  ])('%s %s passes with allowed ones, and without any where none is executed', async (slug, path, body) => {
    expect(await ask(slug, path, body)).toEqual(PASSED)
  })

  test.each<[string, string, object]>([
    ['oai', '/v1/threads/runs', {assistant_id: 'a'}],
    ['oai', '/v1/brand/new', {input: 'x'}],
  ])('%s %s that executes one it does not name is refused', async (slug, path, body) => {
    expect(await ask(slug, path, body)).toEqual(REFUSED)
  })
})

describe('doors 3: the model of the path is the one that is executed', () => {
  const contents = {contents: [{role: 'user', parts: [{text: 'hi'}]}]}
  test.each<[string, string, object, number[]]>([
    ['gem', '/v1beta/models/large:generateContent', {...contents, model: ALLOWED}, REFUSED],
    ['gem', '/v1beta/models/small:generateContent', {...contents, model: 'large'}, REFUSED],
    ['gem', '/v1beta/models/small:generateContent', contents, PASSED],
    ['gem', '/v1beta/models/l%61rge:generateContent', {...contents, model: ALLOWED}, REFUSED],
    ['gem', '/v1beta/models%2Flarge:generateContent', {...contents, model: ALLOWED}, REFUSED],
    ['gem', '/v1beta//models/large:generateContent', {...contents, model: ALLOWED}, REFUSED],
    ['bed', '/v1/model/large/converse', {messages, model: ALLOWED}, REFUSED],
    ['bed', '/v1/model/small/converse', {messages}, PASSED],
    ['oai', '/v1/deployments/large/chat/completions', small, REFUSED],
    ['oai', '/openai/deployments/large/chat/completions', small, REFUSED],
    ['oai', '/v1/proxy/deployments/small/chat/completions', {messages}, PASSED],
  ])('%s %s', async (slug, path, body, expected) => {
    expect(await ask(slug, path, body)).toEqual(expected)
  })
})
