import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  provider = await fakeProvider((received, response) => {
    const headers = {'content-type': 'application/json', allow: 'POST, OPTIONS', 'content-length': '11'}
    response
      .writeHead(received.path.includes('/gone?') ? 404 : 200, headers)
      .end(received.method === 'HEAD' ? undefined : '{"a": 1.00}')
  })
  gateway = await startGateway({
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    ENABLE_CORS: 'true',
    CORS_ALLOWED_ORIGINS: 'https://page.example',
  })
  await gateway.provider('open', 'openai', provider.url)
  await gateway.provider('claude', 'anthropic', provider.url)
  await gateway.provider('mistral', 'mistral-ai', provider.url)
}, 60_000)
beforeEach(() => {
  provider.received.length = 0
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const PATHS = [
  '/chat/completions',
  '/messages',
  '/embeddings',
  '/models',
  '/files/file-1',
  '/proxy/anything',
  '/not/known',
  '/files/gone',
]

describe('fact 6: official operations are never 405', () => {
  for (const slug of ['@open', '@claude', '@mistral']) {
    for (const method of ['HEAD', 'OPTIONS']) {
      test.each(PATHS)(`${method} %s at ${slug} is the provider's`, async path => {
        const reply = await gateway.call(`/v1${path}?a=b%20c`, {method, headers: {'x-gateway-provider': slug}})
        expect(reply.status).toBe(path.endsWith('/gone') ? 404 : 200)
        expect(reply.headers.get('allow')).toBe('POST, OPTIONS')
        expect(await reply.text()).toBe(method === 'HEAD' ? '' : '{"a": 1.00}')
        expect(provider.received.map(({method, path}) => [method, path])).toEqual([
          [method, `/v1${path.replace('/proxy', '')}?a=b%20c`],
        ])
        const [row] = await gateway.logs()
        expect(row).toMatchObject({request_method: method, cost: 0, usage_source: 'none'})
      })
    }
  }

  test('a page asks before it calls: that is answered here, for the origins of the settings', async () => {
    const preflight = (origin: string) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'OPTIONS',
        headers: {origin, 'access-control-request-method': 'POST'},
      })
    const [allowed, other] = [await preflight('https://page.example'), await preflight('https://other.example')]
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, 'https://page.example'])
    expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([204, null])
    expect(provider.received).toEqual([])
  })

  test('a provider’s own answer to OPTIONS reaches a page of an allowed origin', async () => {
    const headers = {'x-gateway-provider': '@open', origin: 'https://page.example'}
    const reply = await gateway.call('/v1/chat/completions', {method: 'OPTIONS', headers})
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, 'https://page.example'])
  })

  test.each(['HEAD', 'OPTIONS'])('%s without a key is 401, and nothing leaves', async method => {
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {method, headers: {'x-gateway-provider': '@open'}})
    expect(reply.status).toBe(401)
    expect(provider.received).toEqual([])
  })

  test('paths of the administration and routes of our own are 405 with a foreign method', async () => {
    const status = async (method: string, path: string) => (await gateway.call(path, {method})).status
    expect([
      await status('OPTIONS', '/v1/api-keys'),
      await status('PATCH', '/v1/api-keys'),
      await status('OPTIONS', '/v1/prompts/p/completions'),
      await status('HEAD', '/v1/prompts/p/completions'),
      await status('TRACE', '/v1/chat/completions').catch(() => 405),
    ]).toEqual([405, 405, 405, 405, 405])
  })
})
