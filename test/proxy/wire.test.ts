import {createHash} from 'node:crypto'
import {request as httpRequest} from 'node:http'
import {brotliCompressSync, gzipSync} from 'node:zlib'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {chatEvents, chatReply, type FakeProvider, fakeProvider, json, openaiLike} from '../support/provider.ts'

let gateway: TestGateway
let provider: FakeProvider

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway()
  await gateway.provider('loop', 'openai', provider.url)
})
beforeEach(() => {
  provider.answer(openaiLike)
  provider.received.length = 0
  provider.sent.length = 0
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const AT_LOOP = {'x-gateway-provider': '@loop'}
const chat = (more = {}) => ({model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}], ...more})

/** A call over a bare socket: the answer's bytes as they came, nothing decoded. */
function raw(
  path: string,
  {
    method = 'POST',
    headers = {},
    body = '',
  }: {method?: string; headers?: Record<string, string>; body?: string | Buffer} = {},
) {
  return new Promise<{status: number; headers: Record<string, string>; body: Buffer; complete: boolean}>(
    (resolve, reject) => {
      const request = httpRequest(
        gateway.url + path,
        {
          method,
          headers: {
            'x-gateway-api-key': WORKSPACE_KEY,
            ...headers,
            ...(body.length ? {'content-length': Buffer.byteLength(body)} : {}),
          },
        },
        response => {
          const parts: Buffer[] = []
          response.on('data', part => parts.push(part))
          response.on('close', () =>
            resolve({
              status: response.statusCode!,
              headers: response.headers as Record<string, string>,
              body: Buffer.concat(parts),
              complete: response.complete,
            }),
          )
          response.on('error', () => undefined)
        },
      )
      request.on('error', reject)
      request.end(body)
    },
  )
}
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const post = (body: object, headers: Record<string, string> = {}) =>
  raw('/v1/chat/completions', {
    headers: {'content-type': 'application/json', ...AT_LOOP, ...headers},
    body: JSON.stringify(body),
  })

describe('bytes', () => {
  test.each([
    ['plain', (bytes: Buffer) => bytes, undefined],
    ['gzip', gzipSync, 'gzip'],
    ['brotli', brotliCompressSync, 'br'],
  ] as const)('of a %s answer are the provider’s own, and its usage is still read', async (_, encode, encoding) => {
    const body = encode(Buffer.from(JSON.stringify(chatReply('gpt-4o-mini'), null, 3)))
    provider.answer((_heard, response) =>
      response
        .writeHead(200, {'content-type': 'application/json', ...(encoding ? {'content-encoding': encoding} : {})})
        .end(body),
    )
    const reply = await post(chat(), {'accept-encoding': 'gzip, br'})
    expect(hash(reply.body)).toBe(hash(body))
    expect(reply.headers['content-encoding']).toBe(encoding)
    expect(provider.received[0]!.headers['accept-encoding']).toBe('gzip, br')
    expect((await gateway.logs())[0]).toMatchObject({total_units: 17})
  })

  test.each([
    ['plain', undefined],
    ['gzip', 'gzip'],
  ])('of a %s stream are the provider’s own, however it is cut', async (_, encoding) => {
    const whole = Buffer.from(`${chatEvents('gpt-4o-mini').join('')}: a comment after the end\n\n`)
    const body = encoding ? gzipSync(whole) : whole
    provider.answer((_heard, response) => {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        ...(encoding ? {'content-encoding': encoding} : {}),
      })
      const cut = (at: number) => {
        if (at >= body.length) return response.end()
        response.write(body.subarray(at, at + 37))
        setImmediate(() => cut(at + 37))
      }
      cut(0)
    })
    const reply = await post(chat({stream: true}), {'accept-encoding': 'gzip'})
    expect(hash(reply.body)).toBe(hash(body))
    expect((await gateway.logs())[0]).toMatchObject({total_units: 17, stream_mode: 1})
  })

  test('of the request are the client’s own, number for number', async () => {
    const body =
      '{ "model":"gpt-4o-mini", "seed": 12345678901234567890, "temperature":1.0, "messages":[{"role":"user","content":"\\u00e9"}] }'
    await raw('/v1/chat/completions', {headers: {'content-type': 'application/json', ...AT_LOOP}, body})
    expect(provider.received[0]!.body.toString()).toBe(body)
    await raw('/v1/chat/completions', {
      headers: {'content-type': 'application/json'},
      body: body.replace('gpt-4o-mini', '@loop/a/b:c'),
    })
    expect(provider.received[1]!.body.toString()).toBe(body.replace('gpt-4o-mini', 'a/b:c'))
  })
})

describe('headers', () => {
  test('of ours are answered under the prefix that was used', async () => {
    const ours = await post(chat(), {'x-gateway-trace-id': 'trace-1'})
    expect(ours.headers).toMatchObject({
      'x-gateway-trace-id': 'trace-1',
      'x-gateway-provider': 'openai',
      'x-gateway-retry-attempt-count': '0',
      'x-gateway-cache-status': 'DISABLED',
      'x-gateway-last-used-option-index': 'config',
    })
    expect(ours.headers['server-timing']).toMatch(
      /^auth;dur=[\d.]+, plan;dur=[\d.]+, connect;dur=[\d.]+, upstream;dur=[\d.]+$/,
    )
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(chat()),
      headers: {
        'content-type': 'application/json',
        'x-portkey-api-key': WORKSPACE_KEY,
        'x-portkey-virtual-key': 'loop',
      },
    })
    expect(response.headers.get('x-portkey-provider')).toBe('openai')
    expect([...response.headers.keys()].filter(name => name.startsWith('x-gateway'))).toEqual([])
  })

  test('of the client do not reach the provider on a unified route, unless forwarded by name', async () => {
    await post(chat(), {
      'x-mine': '1',
      'x-forwarded-id': '2',
      cookie: 'a=b',
      'x-gateway-forward-headers': 'x-forwarded-id, metadata-flavor',
      'metadata-flavor': 'Google',
    })
    const {headers} = provider.received[0]!
    expect(headers['x-forwarded-id']).toBe('2')
    expect([headers['x-mine'], headers.cookie, headers['metadata-flavor'], headers['x-gateway-api-key']]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('of the client reach the provider on pass-through, but for ours and the service key', async () => {
    const response = await fetch(`${gateway.url}/v1/any/thing?x=1&y=%2F`, {
      method: 'PUT',
      body: 'raw bytes',
      headers: {
        authorization: `Bearer ${WORKSPACE_KEY}`,
        'x-gateway-provider': '@loop',
        'x-mine': '1',
        'content-type': 'text/plain',
      },
    })
    expect(response.status).toBe(200)
    const [received] = provider.received
    expect([received!.method, received!.path, received!.body.toString(), received!.headers['x-mine']]).toEqual([
      'PUT',
      '/v1/any/thing?x=1&y=%2F',
      'raw bytes',
      '1',
    ])
    expect(received!.headers.authorization).toBe('Bearer sk-upstream-secret-0123456789')
    expect(Object.keys(received!.headers).filter(name => /^x-(gateway|portkey)/.test(name))).toEqual([])
  })
})

describe('any other path', () => {
  test.each(['POST', 'GET', 'PUT', 'DELETE', 'PATCH'])('is passed through by %s', async method => {
    const reply = await raw('/v1/threads/t1/messages', {
      method,
      headers: {...AT_LOOP, ...(method === 'GET' ? {} : {'content-type': 'application/json'})},
      body: method === 'GET' ? '' : '{"a":1}',
    })
    expect(reply.status).toBe(200)
    expect([provider.received[0]!.method, provider.received[0]!.path]).toEqual([method, '/v1/threads/t1/messages'])
  })

  test('of the same name as one of ours is reached below /proxy', async () => {
    await raw('/v1/proxy/configs?a=b', {method: 'GET', headers: AT_LOOP})
    expect(provider.received[0]!.path).toBe('/v1/configs?a=b')
  })

  test('takes a body of any size without holding it', async () => {
    const body = Buffer.alloc(5 << 20, 7)
    const reply = await raw('/v1/upload', {headers: {...AT_LOOP, 'content-type': 'application/octet-stream'}, body})
    expect(reply.status).toBe(200)
    expect(hash(provider.received[0]!.body)).toBe(hash(body))
  })
})

describe('the four ways to name a provider', () => {
  test('a kind with the client’s own token', async () => {
    const trusting = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
    const reply = await trusting.chat(chat(), {
      'x-gateway-provider': 'openai',
      authorization: 'Bearer sk-of-the-client',
      'x-gateway-custom-host': provider.url,
    })
    expect(reply.status).toBe(200)
    expect(provider.received[0]!.headers.authorization).toBe('Bearer sk-of-the-client')
    const config = {
      provider: 'openai',
      api_key: 'sk-in-config',
      custom_host: provider.url,
      override_params: {model: 'other', temperature: 0},
    }
    await trusting.chat(chat(), {'x-gateway-config': JSON.stringify(config)})
    expect(provider.received[1]!.headers.authorization).toBe('Bearer sk-in-config')
    expect(JSON.parse(provider.received[1]!.body.toString())).toMatchObject({model: 'other', temperature: 0})
    expect(JSON.stringify(await trusting.logs())).not.toContain('sk-in-config')
    expect(trusting.lines.join('')).not.toContain('sk-of-the-client')
    await trusting.close()
  })

  test('a virtual key, a provider slug and a saved config', async () => {
    for (const headers of [{'x-gateway-virtual-key': 'loop'}, {'x-gateway-provider': '@loop'}])
      expect((await post(chat(), {'x-gateway-provider': '', ...headers} as Record<string, string>)).status).toBe(200)
    const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const {data} = await gateway.admin<{data: {slug: string}}>('POST', '/configs', {
      name: 'one',
      workspace_id: workspace!.id,
      config: {provider: '@loop', override_params: {top_p: 0.5}},
    })
    const reply = await gateway.chat(chat(), {'x-gateway-config': data.slug})
    expect(reply.status).toBe(200)
    expect(JSON.parse(provider.received.at(-1)!.body.toString()).top_p).toBe(0.5)
  })
})

describe('what is wrong is said, and logged', () => {
  const refused = async (
    headers: Record<string, string>,
    body: string | object = chat(),
    path = '/v1/chat/completions',
  ) => {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: {'content-type': 'application/json', 'x-gateway-api-key': WORKSPACE_KEY, ...headers},
    })
    return {
      status: response.status,
      body: (await response.json()) as {error: {message: string; type: string}; data?: {errorCode: string}},
    }
  }

  test.each([
    ['an unknown key', {'x-gateway-api-key': 'nope'}, chat(), 401, /not known/],
    ['no provider', {}, chat(), 400, /No provider is named/],
    ['an unknown managed provider', {'x-gateway-provider': '@nobody'}, chat(), 400, /No provider is called @nobody/],
    ['an unknown kind', {'x-gateway-provider': 'opena1'}, chat(), 400, /No provider is called opena1/],
    ['a config that is not JSON', {'x-gateway-config': '{"provider"'}, chat(), 400, /AB01.*not valid JSON/],
    [
      'a config with a bad key',
      {'x-gateway-config': '{"provder":"@loop"}'},
      chat(),
      400,
      /AB01.*config\.provder.*provider/,
    ],
    ['a saved config that is not there', {'x-gateway-config': 'pc-nope-000000'}, chat(), 400, /AB01.*pc-nope/],
    ['a body that is not JSON', AT_LOOP, '{"model":', 400, /not valid JSON/],
    ['a policy key twice', AT_LOOP, '{"model":"a","model":"b","messages":[{}]}', 400, /"model" more than once/],
    ['no messages', AT_LOOP, chat({messages: []}), 400, /messages.*at least 1/],
    [
      'a blocked host',
      {'x-gateway-provider': 'openai', authorization: 'Bearer x', 'x-gateway-custom-host': 'http://169.254.169.254/v1'},
      chat(),
      400,
      /Invalid custom host/,
    ],
    [
      'a private host',
      {'x-gateway-provider': 'openai', authorization: 'Bearer x', 'x-gateway-custom-host': 'http://10.1.2.3/v1'},
      chat(),
      400,
      /Invalid custom host/,
    ],
    ['no credentials', {'x-gateway-provider': 'openai'}, chat(), 400, /needs credentials/],
    ['a bad timeout', {...AT_LOOP, 'x-gateway-request-timeout': '1s'}, chat(), 400, /request-timeout/],
    ...['0', '2147483648', '9999999999', '99999999999'].map(
      timeout =>
        [
          `a timeout of ${timeout} ms`,
          {...AT_LOOP, 'x-gateway-request-timeout': timeout},
          chat(),
          400,
          /request-timeout is not valid: expected whole milliseconds, from 1 to 2147483647\.$/,
        ] as const,
    ),
  ] as [string, Record<string, string>, string | object, number, RegExp][])(
    '%s',
    async (_, headers, body, status, message) => {
      const reply = await refused(headers, body)
      expect([reply.status, reply.body.error.message]).toEqual([status, expect.stringMatching(message)])
      expect(provider.received).toEqual([])
      if (status !== 401) expect((await gateway.logs())[0]).toMatchObject({response_status_code: status, cost: 0})
    },
  )

  test('a missing scope, and an admin key', async () => {
    const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
      name: 'reader',
      workspace_id: workspace!.id,
      scopes: ['logs.list'],
    })
    const reply = await refused({'x-gateway-api-key': key, ...AT_LOOP})
    expect([reply.status, reply.body.data!.errorCode]).toEqual([403, 'AB03'])
    const admin = await refused({'x-gateway-api-key': 'gk-test-admin-key-of-at-least-32-characters', ...AT_LOOP})
    expect(admin.status).toBe(403)
  })

  test('a path with no provider is 400, one outside /v1 404, a wrong method of the administration 405, what comes later 501', async () => {
    const status = async (method: string, path: string) => (await raw(path, {method, headers: {}})).status
    expect([
      await status('GET', '/v1/nope'),
      await status('GET', '/nope'),
      await status('GET', '/v1/chat/completions'),
      await status('PATCH', '/v1/api-keys'),
      await status('POST', '/v1/messages'),
      await status('POST', '/v1/otel/v1/metrics'),
    ]).toEqual([400, 404, 400, 405, 400, 501])
  })

  test('a provider that refuses connections, and one that hangs up', async () => {
    const gone = await fakeProvider()
    await gone.close()
    await gateway.provider('closed', 'openai', gone.url)
    const closed = await refused({'x-gateway-provider': '@closed'})
    expect([closed.status, closed.body.error.type]).toEqual([503, 'connection_error'])
    provider.answer((_, response) => response.destroy())
    expect((await refused(AT_LOOP)).status).toBe(502)
    expect(JSON.stringify(closed.body)).not.toContain('127.0.0.1')
  })

  test('a body over the limit is 413', async () => {
    const small = await startGateway({MAX_JSON_PAYLOAD_SIZE_IN_MB: '1'})
    const response = await small.chat(chat({user: 'x'.repeat(2 << 20)}), {'x-gateway-provider': '@demo'})
    expect(response.status).toBe(413)
    await small.close()
  })

  test('a model that the integration does not allow is 412', async () => {
    await gateway.provider('picky', 'openai', provider.url)
    await gateway.admin('PUT', '/integrations/picky/models', {
      models: [{slug: 'good', enabled: true}],
      allow_all_models: false,
    })
    const reply = await refused({'x-gateway-provider': '@picky'})
    expect([reply.status, reply.body.error.type]).toEqual([412, 'model_not_allowed_error'])
    expect((await refused({'x-gateway-provider': '@picky'}, chat({model: 'good'}))).status).toBe(200)
    await gateway.admin('PUT', '/integrations/picky/models', {
      models: [{slug: 'good', enabled: false}],
      allow_all_models: false,
    })
    expect((await refused({'x-gateway-provider': '@picky'}, chat({model: 'good'}))).status).toBe(412)
  })
})

test('models without a provider are those of the workspace, with one the provider’s', async () => {
  const own = (await (await gateway.call('/v1/models?ai_service=demo')).json()) as {data: {id: string}[]}
  expect(own.data.map(row => row.id)).toEqual(['@demo/echo'])
  const theirs = (await (await gateway.call('/v1/models', {headers: AT_LOOP})).json()) as {data: {id: string}[]}
  expect(theirs.data[0]!.id).toBe('m')
})

test('a key that is deleted stops working at once', async () => {
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const {id, key} = await gateway.admin<{id: string; key: string}>('POST', '/api-keys/workspace/service', {
    name: 'brief',
    workspace_id: workspace!.id,
    scopes: ['completions.write'],
  })
  const status = async () => (await gateway.chat(chat(), {...AT_LOOP, 'x-gateway-api-key': key})).status
  expect(await status()).toBe(200)
  await gateway.admin('DELETE', `/api-keys/${id}`)
  expect(await status()).toBe(401)
})

test('a rate limit of a key lets exactly so many through, however many come at once', async () => {
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
    name: 'slow',
    workspace_id: workspace!.id,
    scopes: ['completions.write'],
    rate_limits: [{type: 'requests', unit: 'rpd', value: 5}],
  })
  const replies = await Promise.all(
    Array.from({length: 20}, () => gateway.chat(chat(), {...AT_LOOP, 'x-gateway-api-key': key})),
  )
  expect(replies.filter(reply => reply.status === 200)).toHaveLength(5)
  const refused = replies.find(reply => reply.status === 429)!
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
})

test('bodies are logged, and not when the client says so', async () => {
  await post(chat())
  const [row] = await gateway.logs()
  const kept = await gateway.admin<{
    request: {body: unknown; headers: Record<string, string>}
    response: {body: {id: string}}
  }>('GET', `/logs/${row!.id}`)
  expect(kept.request.body).toMatchObject({model: 'gpt-4o-mini'})
  expect(kept.response.body.id).toBe('chatcmpl-1')
  expect(JSON.stringify(kept)).not.toContain(WORKSPACE_KEY)
  await post(chat(), {'x-gateway-debug': 'false'})
  const [bare] = await gateway.logs()
  expect(JSON.stringify(await gateway.admin('GET', `/logs/${bare!.id}`))).not.toContain('chatcmpl-1')
})

test('an answer that is not JSON passes unharmed', async () => {
  provider.answer((_, response) => json(response, 'just text', 200, {'content-type': 'text/plain'}))
  expect((await post(chat())).body.toString()).toBe('"just text"')
})
