import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {OPERATIONS} from '../src/admin/registry.ts'
import {ENDPOINTS} from '../src/schema/endpoints.ts'
import {REQUEST_HEADERS} from '../src/schema/headers.ts'
import {ADMIN_KEY, startGateway, type TestGateway, WORKSPACE_KEY} from './support/gateway.ts'
import {dial} from './support/raw.ts'

/** An id of 10 KB and a header that is no UTF-8 are the caller's mistake, and never a fault of ours. */

const ID = 'x'.repeat(10_240)
const CHAT = JSON.stringify({model: 'echo', messages: [{role: 'user', content: 'Hello'}]})
const AT_DEMO = {'x-gateway-provider': '@demo'}
const IN_TIME_MS = 5_000

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

interface Heard {
  readonly status: number
  readonly text: string
  readonly took_ms: number
}

async function hear(path: string, init: RequestInit & {readonly headers?: Record<string, string>}): Promise<Heard> {
  const started = performance.now()
  const reply = await gateway.call(path, init)
  return {status: reply.status, text: await reply.text(), took_ms: performance.now() - started}
}

function isRefused({status, text, took_ms}: Heard) {
  // 501: a later version has it
  const is_theirs = (status >= 400 && status < 500) || status === 501
  expect([status, is_theirs, text.slice(0, 300)]).toEqual([status, true, expect.any(String)])
  expect(text).not.toContain('inside the gateway')
  expect(took_ms).toBeLessThan(IN_TIME_MS)
}

const withBody = (method: string) => (method === 'GET' || method === 'HEAD' || method === 'DELETE' ? {} : {body: '{}'})

describe('an id of 10 KB in a path', () => {
  const operations = OPERATIONS.filter(({path}) => path.includes(':'))
  test.each(operations.map(({method, path, id}) => [id, method, path] as const))('%s', async (_, method, path) => {
    const headers = {'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json'}
    const url = `/v1${path.replace(/:[^/:]+/g, ID)}`
    isRefused(await hear(url, {method, headers, ...withBody(method)}))
  })

  const endpoints = ENDPOINTS.filter(({path, later}) => !later && path.includes(':'))
  test.each(endpoints.map(({method, path}) => [method, path] as const))('%s %s', async (method, path) => {
    const headers = {...AT_DEMO, 'content-type': 'application/json'}
    isRefused(await hear(`/v1${path.replace(/:[A-Za-z_-]+/g, ID)}`, {method, headers, ...withBody(method)}))
  })

  test.each([`/scim/v2/Users/${ID}`, `/scim/v2/Groups/${ID}`, `/v1/auth/login/${ID}`, `/${ID}/mcp`, `/mcp/${ID}`])(
    '%#: other paths',
    async path => {
      isRefused(await hear(path, {headers: {'x-gateway-api-key': WORKSPACE_KEY}}))
    },
  )
})

describe('an id of 10 KB beside a call', () => {
  const post = (headers: Record<string, string>, body = CHAT) =>
    hear('/v1/chat/completions', {method: 'POST', headers: {'content-type': 'application/json', ...headers}, body})

  test.each(['provider', 'virtual-key', 'config', 'api-key'])('%s is refused', async name => {
    for (const value of [ID, `@${ID}`]) isRefused(await post({[`x-gateway-${name}`]: value}))
  })

  test('a model is refused, and a trace is cut', async () => {
    isRefused(await post(AT_DEMO, CHAT.replace('echo', ID)))
    isRefused(await post({}, CHAT.replace('echo', `@${ID}/echo`)))
    const names = ['trace-id', 'span-id', 'parent-span-id', 'span-name']
    const long = Object.fromEntries(names.map(name => [`x-gateway-${name}`, ID]))
    expect(await post({...AT_DEMO, ...long})).toMatchObject({status: 200})
    const rows = await gateway.logs()
    expect(rows.find(({trace_id}) => String(trace_id).startsWith('xxxx'))).toBeDefined()
    for (const {trace_id} of rows) expect(String(trace_id).length).toBeLessThan(1024)
  })
})

/** RFC 3629: bytes that never come, a beginning without its end, an end, a surrogate, two that are too long. */
const NO_UTF_8 = ['\xff\xfe', 'a\xc3', '\xa9z', '\xed\xa0\x80', '\xc0\xaf', '\xf5\x80\x80\x80']

describe('a header that is no UTF-8', () => {
  const names = [
    ...Object.keys(REQUEST_HEADERS).map(name => `x-gateway-${name}`),
    'x-portkey-metadata',
    'authorization',
    'x-api-key',
    'content-type',
    'accept',
    'cookie',
    'traceparent',
    'tracestate',
    'user-agent',
    'anthropic-version',
    'anthropic-beta',
    'x-forwarded-for',
    'idempotency-key',
  ]
  const requests: Record<string, (name: string, value: string) => string> = {
    'a call': (name, value) =>
      [
        'POST /v1/chat/completions HTTP/1.1\r\n',
        head({'content-type': 'application/json', 'content-length': String(CHAT.length), ...AT_DEMO}, name, value),
        `\r\n${CHAT}`,
      ].join(''),
    'a list': (name, value) => `GET /v1/configs HTTP/1.1\r\n${head({}, name, value)}\r\n`,
    'a directory': (name, value) => `GET /scim/v2/Users HTTP/1.1\r\n${head({}, name, value)}\r\n`,
  }

  function head(more: Record<string, string>, name: string, value: string): string {
    const headers = {host: 'here', connection: 'close', 'x-gateway-api-key': WORKSPACE_KEY, ...more, [name]: value}
    return Object.entries(headers)
      .map(each => `${each.join(': ')}\r\n`)
      .join('')
  }

  async function answer(text: string): Promise<string> {
    const client = await dial(Number(new URL(gateway.url).port))
    client.write(text)
    await expect.poll(client.isOver, {timeout: IN_TIME_MS}).toBe(true)
    return client.received()
  }

  test.each(names)('%s', async name => {
    for (const [what, request] of Object.entries(requests))
      for (const value of NO_UTF_8) {
        const received = await answer(request(name, value))
        const status = Number(/^HTTP\/1\.1 (\d+) /.exec(received)?.[1])
        expect([what, Buffer.from(value, 'latin1').toString('hex'), status >= 200 && status < 500, received]).toEqual([
          what,
          expect.any(String),
          true,
          expect.not.stringContaining('inside the gateway'),
        ])
      }
  })

  test('the rows of these calls can be read, and hold whole characters alone', async () => {
    const rows = await gateway.logs()
    expect(rows.length).toBeGreaterThan(names.length)
    expect(JSON.stringify(rows)).not.toMatch(/\\ud[89a-f]/i)
  })
})
