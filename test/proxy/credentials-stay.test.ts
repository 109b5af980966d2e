import {request as httpRequest} from 'node:http'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {ADMIN_KEY, startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json, openaiLike} from '../support/provider.ts'

// What of a client's request leaves for a provider: never a key of the gateway's own, whatever header it stands in, nor
// its cookies.

const OTHER_KEY = `gk-${'Zz9_-aB'.repeat(6)}Q`
const SESSION = `gs-${'Zz9_-aB'.repeat(6)}Q`
/** Not one of ours, though it looks a little like one. */
const FOREIGN = `sk-gk-${'a'.repeat(60)}`

let gateway: TestGateway
let provider: FakeProvider

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('loop', 'openai', provider.url)
})
beforeEach(() => {
  provider.answer(openaiLike)
  provider.received.length = 0
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const BODY = JSON.stringify({model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]})
const WAYS = [
  ['a unified route', 'POST', '/v1/chat/completions'],
  ['pass-through', 'POST', '/v1/some/route'],
  ['/proxy/*', 'POST', '/v1/proxy/chat/completions'],
] as const

/** Sends these headers as they are, the service key where the test puts it. */
function send(
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<{status: number; headers: Record<string, unknown>}> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(gateway.url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(BODY),
        'x-gateway-provider': '@loop',
        ...headers,
      },
    })
    request.on('error', reject)
    request.on('response', response => {
      response.resume()
      response.on('end', () => resolve({status: response.statusCode!, headers: response.headers}))
    })
    request.end(BODY)
  })
}

const left = () => JSON.stringify(provider.received.map(({path, headers}) => [path, headers]))
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe.each(WAYS)('%s', (_, method, path) => {
  const names = [
    'x-portkey-api-key',
    'x-gateway-api-key',
    'X-Tenant',
    'authorization',
    'x-api-key',
    'api-key',
    'openai-beta',
    'accept',
    'user-agent',
    'cookie',
  ]
  test.each(names)('a key of the gateway does not leave in %s, though it is named to be forwarded', async name => {
    for (const key of [WORKSPACE_KEY, ADMIN_KEY, OTHER_KEY, SESSION]) {
      for (const value of [key, `Bearer ${key}`, `Basic ${base64(`user:${key}`)}`, `a=1; token="${key}"; b=2`]) {
        const shown: Record<string, string> =
          name === 'x-gateway-api-key' ? {'x-portkey-api-key': WORKSPACE_KEY} : {'x-gateway-api-key': WORKSPACE_KEY}
        const own = name === 'x-gateway-api-key' ? {} : {[name]: value}
        const prefix = name === 'x-gateway-api-key' ? 'x-portkey' : 'x-gateway'
        await send(method, path, {
          ...shown,
          ...own,
          [`${prefix}-provider`]: '@loop',
          [`${prefix}-forward-headers`]: `${name}, x-portkey-api-key, x-gateway-api-key`,
        })
      }
    }
    expect(provider.received.length).toBeGreaterThan(0)
    for (const key of [WORKSPACE_KEY, ADMIN_KEY, OTHER_KEY, SESSION])
      for (const form of [key, base64(`user:${key}`)]) expect(left()).not.toContain(form)
  })

  test('nor in the query, nor as a credential for the provider', async () => {
    const at = `${path}?a=1&key=${WORKSPACE_KEY}&b=%20&token=${encodeURIComponent(` ${OTHER_KEY}`)}&c=x`
    await send(method, at, {'x-gateway-api-key': WORKSPACE_KEY})
    expect(provider.received[0]!.path).toBe(`${path.replace('/v1/proxy', '/v1')}?a=1&b=%20&c=x`)
    const host = {'x-gateway-provider': 'openai', 'x-gateway-custom-host': provider.url}
    for (const key of [WORKSPACE_KEY, ADMIN_KEY, OTHER_KEY])
      await send(method, path, {'x-gateway-api-key': WORKSPACE_KEY, authorization: `Bearer ${key}`, ...host})
    const config = JSON.stringify({provider: 'openai', custom_host: provider.url, api_key: WORKSPACE_KEY})
    await send(method, path, {'x-gateway-api-key': WORKSPACE_KEY, 'x-gateway-config': config})
    for (const key of [WORKSPACE_KEY, ADMIN_KEY, OTHER_KEY]) expect(left()).not.toContain(key)
  })

  test('what is not ours goes on as it came', async () => {
    const headers = {'x-tenant': FOREIGN, 'x-forward': 'gk-short'}
    await send(method, path, {
      'x-gateway-api-key': WORKSPACE_KEY,
      'x-gateway-forward-headers': 'x-tenant,x-forward',
      ...headers,
    })
    expect(provider.received[0]!.headers).toMatchObject(headers)
    const host = {'x-gateway-provider': 'openai', 'x-gateway-custom-host': provider.url}
    await send(method, `${path}?q=${FOREIGN}`, {
      'x-gateway-api-key': WORKSPACE_KEY,
      authorization: `Bearer ${FOREIGN}`,
      ...host,
    })
    expect(provider.received[1]).toMatchObject({
      path: `${path.replace('/v1/proxy', '/v1')}?q=${FOREIGN}`,
      headers: {authorization: `Bearer ${FOREIGN}`},
    })
  })

  test('cookies leave where they are named to be forwarded, and ours never', async () => {
    const ours = `__Host-gateway_session=${SESSION}; gateway_session=x; __Host-gateway_login-12345678=y; gateway_login-12345678=z`
    const cookie = {cookie: `a=1; ${ours}; b=2`}
    await send(method, path, {'x-gateway-api-key': WORKSPACE_KEY, ...cookie})
    expect(provider.received[0]!.headers.cookie).toBeUndefined()
    await send(method, path, {'x-gateway-api-key': WORKSPACE_KEY, 'x-gateway-forward-headers': 'Cookie', ...cookie})
    expect(provider.received[1]!.headers.cookie).toBe('a=1; b=2')
    const config = JSON.stringify({provider: '@loop', forward_headers: ['cookie']})
    await send(method, path, {'x-gateway-api-key': WORKSPACE_KEY, 'x-gateway-config': config, ...cookie})
    expect(provider.received[2]!.headers.cookie).toBe('a=1; b=2')
    await send(method, path, {'x-gateway-api-key': WORKSPACE_KEY, 'x-gateway-forward-headers': 'cookie', cookie: ours})
    expect(provider.received[3]!.headers.cookie).toBeUndefined()
  })

  test('a provider sets no cookie of ours', async () => {
    provider.answer((_heard, response) =>
      json(response, {}, 200, {'set-cookie': `__Host-gateway_session=${SESSION}; Path=/`}),
    )
    expect((await send(method, path, {'x-gateway-api-key': WORKSPACE_KEY})).headers['set-cookie']).toBeUndefined()
    provider.answer((_heard, response) => json(response, {}, 200, {'set-cookie': '__cf_bm=abc; Path=/'}))
    expect((await send(method, path, {'x-gateway-api-key': WORKSPACE_KEY})).headers['set-cookie']).toEqual([
      '__cf_bm=abc; Path=/',
    ])
  })
})
