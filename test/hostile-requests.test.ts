import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {route} from '../src/proxy/inbound/routes.ts'
import {ENDPOINTS} from '../src/schema/endpoints.ts'
import {startGateway, type TestGateway, WORKSPACE_KEY} from './support/gateway.ts'
import {dial} from './support/raw.ts'

const CHAT = JSON.stringify({model: 'echo', messages: [{role: 'user', content: 'Hello'}]})
const KEY = `x-gateway-api-key: ${WORKSPACE_KEY}\r\nx-gateway-provider: @demo\r\n`
const ID = /^x-gateway-trace-id: \S{8,}\r$/im
const REQUEST_ID = /^x-request-id: (\S+)\r$/im

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

async function answer(text: string): Promise<string> {
  const client = await dial(Number(new URL(gateway.url).port))
  client.write(text)
  for (let waited = 0; !client.isOver() && waited < 5000; waited += 10)
    await new Promise(resolve => setTimeout(resolve, 10))
  return client.received()
}

const request = (line: string, headers = '', body = '') =>
  `${line} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${headers}${body && `Content-Length: ${body.length}\r\n`}\r\n${body}`

const JSON_TYPE = 'Content-Type: application/json\r\n'
const statusOf = (received: string) => Number(received.slice(9, 12))

describe('content types that are none', () => {
  const types = ['a/b/c', '', 'xxx', ';', 'application/json, text/html', '\u00e4/\u00f6', 'a'.repeat(5000)]
  const paths = [
    '/v1/proxy/some/path',
    '/v1/prompts/p/completions',
    '/v1/chat/completions',
    '/v1/some/path',
    '/v1beta/models/m:generateContent',
    '/v1/configs',
  ]
  test.each(paths)('%s: who calls is asked first, and none is a fault of ours', async path => {
    for (const type of types) {
      const [nobody, known] = await Promise.all(
        ['', KEY].map(key => answer(request(`POST ${path}`, `${key}Content-Type: ${type}\r\n`, CHAT))),
      )
      expect([path, type, statusOf(nobody!), ID.test(nobody!)]).toEqual([path, type, 401, true])
      expect([path, type, statusOf(known!) < 500, ID.test(known!)]).toEqual([path, type, true, true])
    }
  })
})

describe('what is refused has our envelope and an id', () => {
  const cases: Record<string, readonly [text: string, status: number, says: RegExp]> = {
    'a method that is served nowhere': [request('QUERY /v1/chat/completions', KEY), 405, /^allow: POST\r$/im],
    'a method that is served nowhere, without a key': [request('QUERY /v1/chat/completions'), 405, /^allow: POST\r$/im],
    'a method that is served nowhere, at a path of a provider': [
      request('QUERY /v1/some/path', KEY),
      405,
      /^allow: POST, GET, PUT, DELETE, PATCH, HEAD, OPTIONS\r$/im,
    ],
    'another method of the administration': [
      request('PATCH /v1/configs', KEY + JSON_TYPE, '{}'),
      405,
      /^allow: (?=.*GET)(?=.*POST).*\r$/im,
    ],
    'a head that is too large': [request('GET /v1/models', `x: ${'a'.repeat(70_000)}\r\n`), 431, /64 KB/],
    'no HTTP': ['NONSENSE\r\n\r\n', 400, /HTTP\/1\.1/],
    'HTTP/2 without an upgrade': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, /HTTP\/1\.1/],
    'an unknown path': [request('GET /nothing'), 404, /Nothing is served at \/nothing/],
    'a path of the administration that cannot be decoded': [request('GET /configs/%ff'), 400, /\/configs\/%ff/],
  }
  test.each(Object.entries(cases))('%s', async (_, [text, status, says]) => {
    const received = await answer(text)
    const [head = '', body = ''] = received.split('\r\n\r\n')
    expect([statusOf(received), ID.test(`${head}\r`), received]).toEqual([status, true, expect.stringMatching(says)])
    expect(head).toMatch(new RegExp(`^x-gateway-trace-id: ${REQUEST_ID.exec(`${head}\r`)?.[1]}\r?$`, 'im'))
    const {message, error} = JSON.parse(body) as {message?: string; error?: {message: string}}
    expect(message ?? error!.message).toMatch(/\.$/)
  })
})

test('a URI that is valid though it is no UTF-8 reaches the provider', async () => {
  const received = await answer(request('GET /v1/proxy/%ff', KEY))
  expect([statusOf(received), ID.test(received)]).toEqual([404, true])
  expect(received).not.toContain('valid url component')
})

describe('a refusal at a path of a vendor is in the words of that vendor', () => {
  const MESSAGE = expect.stringMatching(/^No API key was sent/)
  const cases: Record<string, readonly [body: object, header?: string]> = {
    '/v1beta/models/m:generateContent': [{error: {code: 401, message: MESSAGE, status: 'UNAUTHENTICATED'}}],
    '/v1/models/m:streamGenerateContent': [{error: {code: 401, message: MESSAGE, status: 'UNAUTHENTICATED'}}],
    '/api/chat': [{error: MESSAGE}],
    '/v1/proxy/api/generate': [{error: MESSAGE}],
    '/v2/chat': [{message: MESSAGE}],
    '/v2/rerank/': [{message: MESSAGE}],
    '/v1/model/anthropic.claude/converse': [{message: MESSAGE}, 'x-amzn-errortype: AccessDeniedException'],
    '/v1/model/arn:aws:bedrock:us-east-1::x/invoke': [{message: MESSAGE}, 'x-amzn-errortype: AccessDeniedException'],
    '/v1/messages': [{type: 'error', error: {type: 'authentication_error', message: MESSAGE}}, 'request-id: '],
  }
  test.each(Object.entries(cases))('%s', async (path, [body, header = 'content-type']) => {
    const received = await answer(request(`POST ${path}`, JSON_TYPE, CHAT))
    const [head = '', text = ''] = received.split('\r\n\r\n')
    expect([statusOf(received), head.toLowerCase()]).toEqual([401, expect.stringContaining(header.toLowerCase())])
    expect(JSON.parse(text)).toEqual(body)
  })
})

test.each(['/v1/chat/completions', '/v1/embeddings', '/v1/models/org/name'])(
  'the client of Hugging Face reads one text at %s',
  async path => {
    const client = `${JSON_TYPE}User-Agent: @huggingface/inference/4.13.0 Node.js/24\r\n`
    const [, body = ''] = (await answer(request(`POST ${path}`, client, CHAT))).split('\r\n\r\n')
    expect(JSON.parse(body)).toEqual({error: expect.stringMatching(/^No API key was sent/)})
  },
)

test('a path of a vendor’s client that is served nowhere, and a method: in its words', async () => {
  const errorOf = async (line: string) => {
    const [, body = ''] = (await answer(request(line))).split('\r\n\r\n')
    return (JSON.parse(body) as {error: unknown}).error
  }
  expect(await errorOf('POST /api/pull')).toBe('Nothing is served at /api/pull. Calls go to /v1/...')
  expect(await errorOf('QUERY /api/chat')).toMatch(/^QUERY is not served at/)
})

describe('request lines', () => {
  const forms = {
    absolute: 'POST http://other.example/v1/chat/completions',
    'absolute, in capitals, with a name': 'POST HTTP://me@other.example:80/v1/chat/completions',
    'with the slash of a base doubled': 'POST /v1//chat/completions',
    'with a slash at the end': 'POST /v1/chat/completions/',
    'with the base said twice': 'POST /v1/v1/chat/completions',
  }
  test.each(Object.entries(forms))('%s: served', async (_, line) => {
    const received = await answer(request(line, KEY + JSON_TYPE, CHAT))
    expect([statusOf(received), received.includes('"chat.completion"')]).toEqual([200, true])
  })

  test('absolute, at the root', async () => {
    expect(statusOf(await answer(request('GET http://other.example/livez')))).toBe(200)
    expect(statusOf(await answer(request('GET http://other.example')))).toBe(404)
  })

  test.each(['GET /livez', 'POST /v1/chat/completions', 'GET http://other.example/livez', 'GET /v1/realtime?model=m'])(
    '%s with two Host headers: refused',
    async line => {
      const body = line.startsWith('POST') ? CHAT : ''
      const upgrade = line.includes('realtime') ? 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' : ''
      const received = await answer(request(line, `${KEY}${JSON_TYPE}hOST: other.example\r\n${upgrade}`, body))
      expect([statusOf(received), received.includes('more than one Host header')]).toEqual([400, true])
    },
  )

  test('the host of an absolute line is the host', async () => {
    const received = await answer(request('GET http://other.example/v1/openapi.json'))
    expect(statusOf(received)).toBe(200)
  })

  test.each(ENDPOINTS.filter(({later}) => !later))(
    '$method $path: the same endpoint with a slash behind it, or two before it',
    ({method, path, name}) => {
      const real = path.replace(/:[A-Za-z_-]+/g, 'x').replace('*', 'x/y')
      for (const written of [real, `${real}/`, `${real}//`, `/${real}`, `//${real}/`])
        expect([written, route(method, `/v1${written}`, () => []).endpoint?.name]).toEqual([written, name])
    },
  )
})

describe('a slash behind a route, or two before it, opens nothing', () => {
  const WORDS = 'a forbidden word'
  const BODY = {
    model: 'echo',
    max_tokens: 5,
    voice: 'alloy',
    messages: [{role: 'user', content: WORDS}],
    prompt: WORDS,
    input: WORDS,
    query: WORDS,
    documents: [WORDS],
    document: {type: 'document_url', document_url: `data:text/plain,${WORDS}`},
  }
  const DENY = {
    provider: '@demo',
    input_guardrails: [{'default.contains': {words: ['forbidden'], operator: 'none'}, deny: true}],
  }
  const NAMES = [
    'chatComplete',
    'complete',
    'embed',
    'messages',
    'createModelResponse',
    'rerank',
    'imageGenerate',
    'createSpeech',
    'moderate',
  ]
  const routes = ENDPOINTS.filter(({name}) => NAMES.includes(name))
  const written = (path: string) => [path, `${path}/`, `/${path}`, `//${path}//`]
  let listed = ''
  let limited = ''
  beforeAll(async () => {
    const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const keyWith = async (fields: object) => {
      const body = {name: 'bound', workspace_id: workspace!.id, scopes: ['completions.write'], ...fields}
      return (await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)).key
    }
    listed = await keyWith({models: {deny: ['echo']}})
    limited = await keyWith({rate_limits: [{type: 'requests', unit: 'rpm', value: 0}]})
  })

  test.each(routes)('$path', async ({path}) => {
    const config = {'x-gateway-config': JSON.stringify(DENY)}
    for (const at of written(path)) {
      const post = async (key: string, more: Record<string, string> = {'x-gateway-provider': '@demo'}) => {
        const headers = {'x-gateway-api-key': key, 'content-type': 'application/json', ...more}
        const reply = await fetch(`${gateway.url}/v1${at}`, {method: 'POST', headers, body: JSON.stringify(BODY)})
        await reply.arrayBuffer()
        return reply.status
      }
      const seen = [await post(listed), await post(limited), await post(WORKSPACE_KEY, config)]
      expect([at, ...seen]).toEqual([at, 412, 429, 446])
    }
  })
})

describe('a header of ours that has no effect as it was sent', () => {
  const cases: Record<string, readonly [name: string, value: string, expected: string]> = {
    'metadata that is no JSON': ['metadata', 'team=a', 'one JSON object'],
    'metadata that is a list': ['metadata', '["a"]', 'one JSON object'],
    'a refresh that is neither': ['cache-force-refresh', 'maybe', 'true or false'],
    'a switch that is empty': ['debug', '1', 'true or false'],
  }
  test.each(Object.entries(cases))('%s: named in the answer and in the row', async (_, [name, value, expected]) => {
    const says = `x-gateway-${name} has no effect: expected ${expected}`
    const headers = {'x-gateway-api-key': WORKSPACE_KEY, 'x-gateway-provider': '@demo', [`x-gateway-${name}`]: value}
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {...headers, 'content-type': 'application/json'},
      body: CHAT,
    })
    expect([reply.status, reply.headers.get('x-gateway-config-warning')]).toEqual([200, says])
    const id = reply.headers.get('x-gateway-trace-id')
    const rows = await gateway.logs()
    expect(rows.find(row => row.trace_id === id)?.warning).toBe(says)
  })

  test('one that has its effect is not named', async () => {
    const received = await answer(
      request(
        'POST /v1/chat/completions',
        `${KEY}${JSON_TYPE}x-gateway-metadata: {"team":"a"}\r\nx-gateway-cache-force-refresh: TRUE\r\n`,
        CHAT,
      ),
    )
    expect([statusOf(received), received.includes('config-warning')]).toEqual([200, false])
  })
})
