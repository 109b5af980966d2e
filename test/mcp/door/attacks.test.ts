import {request} from 'node:http'
import {text} from 'node:stream/consumers'
import {gzipSync} from 'node:zlib'
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {openRaw, RAW_INITIALIZE, type RawFixture} from '../../support/mcp/raw-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'

/** Hostile clients and hostile servers, at the door. */

let mcp: McpGateway
let raw: RawFixture
let modern: Awaited<ReturnType<typeof openModern>>
const clock = {ms: Date.parse('2026-11-02T08:00:00.000Z')}

beforeAll(async () => {
  raw = await openRaw()
  modern = await openModern()
  mcp = await McpGateway.open({}, {now: () => clock.ms})
  await mcp.server('raw', raw.url)
  await mcp.server('modern', modern.url)
})
afterAll(async () => {
  await mcp.close()
  await raw.close()
  await modern.close()
})

interface Answer {
  readonly id: unknown
  readonly result?: Record<string, unknown>
  readonly error?: {readonly code: number; readonly message: string}
}
const answerOf = async (response: Response) => (await response.json()) as Answer
const ENVELOPE =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
const MODERN = {'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo'}
const calls = () => [modern, raw].flatMap(server => server.of('tools/call')).length

describe('a body of which two readers would read different things', () => {
  const call = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${params},${ENVELOPE}}}`
  const args = '"arguments":{"text":"x"}'

  test.each([
    ['two methods', `{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/list","params":{${ENVELOPE}}}`],
    ['two names', call(`"name":"echo","name":"fail",${args}`)],
    ['two names, of which one is escaped', call(`"name":"echo","n\\u0061me":"fail",${args}`)],
    ['two arguments', call(`"name":"echo","arguments":{"text":"x"},"arguments":{"text":"y"}`)],
    ['two members deep in the arguments', call('"name":"echo","arguments":{"text":"x","a":[{"b":1,"b":2}]}')],
    ['two envelopes', call(`"name":"echo",${args},${ENVELOPE}`)],
    ['two ids', `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"echo",${args},${ENVELOPE}}}`],
    ['two params', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"params":{${ENVELOPE}}}`],
  ])('%s: refused, and nothing goes up', async (_, body) => {
    const before = calls()
    for (const slug of ['modern', 'raw'])
      for (const headers of [MODERN, {}]) {
        const response = await mcp.post(slug, body, headers as Record<string, string>)
        expect([response.status, (await answerOf(response)).error!.code]).toEqual([400, -32600])
      }
    expect(calls()).toBe(before)
  })
})

describe('headers that come twice', () => {
  /** One POST with lists of values as several header lines. */
  const sent = (headers: Record<string, string | string[]>, slug = 'modern') =>
    new Promise<{status: number; body: Answer}>((resolve, reject) => {
      const all = {
        ...{'content-type': 'application/json', accept: 'application/json', 'x-gateway-api-key': WORKSPACE_KEY},
        ...{...MODERN, ...headers},
      }
      const posted = request(mcp.url(slug), {method: 'POST', headers: all}, response => {
        text(response).then(body => resolve({status: response.statusCode!, body: JSON.parse(body)}), reject)
      })
      posted.on('error', reject)
      posted.end(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"},${ENVELOPE}}}`,
      )
    })

  test.each([
    ['mcp-name', ['echo', 'fail'], 400, -32020],
    ['mcp-name', ['fail', 'echo'], 400, -32020],
    ['mcp-name', ['echo', 'echo'], 400, -32020],
    ['mcp-method', ['tools/call', 'tools/list'], 400, -32020],
    ['mcp-protocol-version', ['2026-07-28', '2025-11-25'], 400, -32020],
    ['mcp-protocol-version', ['2025-11-25', '2026-07-28'], 400, -32020],
    ['x-gateway-api-key', [WORKSPACE_KEY, 'another'], 401, 401],
    ['origin', ['https://evil.example', 'http://localhost'], 403, 403],
  ])('%s: %j', async (name, values, status, code) => {
    const before = calls()
    const {status: got, body} = await sent({[name]: values})
    expect([got, body.error!.code]).toEqual([status, code])
    expect(calls()).toBe(before)
  })
})

describe('ids, depths and sizes', () => {
  const list = (id: string, params = '') => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"${params}}`

  test.each(['null', '1.5', '1e-1', 'true', '[1]', '{"a":1}', '1e400', `"${'a'.repeat(1_025)}"`])(
    'the id %s is refused',
    async id => {
      const before = calls()
      const response = await mcp.post('raw', list(id, ',"params":{"name":"usual"}').replace('tools/list', 'tools/call'))
      expect([response.status, (await answerOf(response)).error!.code]).toEqual([400, -32600])
      expect(calls()).toBe(before)
    },
  )

  test.each(['9007199254740993', '-0', '123456789012345678901234567890', '"\\u0000"'])(
    'fact 36: the id %s comes back with its bytes',
    async id => {
      const response = await mcp.post('raw', list(id))
      expect(await response.text()).toContain(`"id":${id},`)
    },
  )

  test.each([
    [50, 200],
    [64, 400],
    [100_000, 400],
  ])('arguments nested %i levels deep: %i', async (levels, status) => {
    const args = `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
    const params = `{"name":"usual","arguments":${args}}`
    const response = await mcp.post('raw', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`)
    expect(response.status).toBe(status)
  })

  test.each([
    ['more than 4 MiB', () => list('1', `,"params":{"a":"${'a'.repeat(4 << 20)}"}`), {}, 413],
    ['compressed', () => gzipSync(list('1')), {'content-encoding': 'gzip'}, 415],
    ['of another type', () => list('1'), {'content-type': 'text/plain'}, 415],
    ['of two types', () => list('1'), {'content-type': 'text/plain, application/json'}, 415],
    ['that is no UTF-8', () => Buffer.from([0x22, 0xff, 0x22]), {}, 400],
  ])('a body %s', async (_, body, headers: Record<string, string>, status) => {
    const all = {'content-type': 'application/json', 'x-gateway-api-key': WORKSPACE_KEY, ...headers}
    const got = await new Promise<number>((resolve, reject) => {
      // a connection of its own: one whose body was refused is not good for the next request
      const posted = request(mcp.url('raw'), {method: 'POST', headers: all, agent: false}, response => {
        resolve(response.statusCode!)
        response.resume()
      })
      posted.on('error', reject)
      posted.end(body())
    })
    expect(got).toBe(status)
  })

  test('a batch is no modern request', async () => {
    const response = await mcp.post('modern', [JSON.parse(list('1'))], {...MODERN, 'mcp-method': 'tools/list'})
    expect([response.status, (await answerOf(response)).error!.code]).toEqual([400, -32600])
  })
})

test('fact 27: a state is good for 10 minutes', async () => {
  const ask = (more = {}) =>
    mcp.modernCall('modern', 'tools/call', {name: 'ask', arguments: {}, ...more}).then(answerOf)
  const {result} = await ask()
  const retry = {requestState: result!.requestState, inputResponses: {sure: {action: 'accept', content: {ok: true}}}}
  clock.ms += 600_000 - 1
  expect((await ask(retry)).result).toMatchObject({content: [{text: 'accept {"ok":true}'}]})
  const second = await ask()
  clock.ms += 600_000
  expect((await ask({...retry, requestState: second.result!.requestState})).error!.code).toBe(-32602)
})

describe('a hostile server', () => {
  const played = (scripts: Parameters<RawFixture['play']>[0]) => {
    raw.play(scripts)
    const usual = {'tools/call': undefined, 'tools/list': undefined, DELETE: undefined}
    onTestFinished(() =>
      raw.play({...usual, initialize: answer => answer.headers({'mcp-session-id': 'raw-1'}).result(RAW_INITIALIZE)}),
    )
  }

  test('that sends ids of other sessions, and headers of ours, gives none of them to a client', async () => {
    played({
      'tools/call': answer =>
        answer
          .headers({
            ...{'mcp-session-id': 'ms_stolen', 'set-cookie': 'a=b', 'www-authenticate': 'Bearer realm="evil"'},
            ...{'access-control-allow-origin': '*', location: 'https://evil.example', 'mcp-protocol-version': '1'},
          })
          .result({content: []}),
    })
    const response = await mcp.modernCall('raw', 'tools/call', {name: 'usual'})
    expect(response.status).toBe(200)
    const names = ['mcp-session-id', 'set-cookie', 'www-authenticate', 'access-control-allow-origin', 'location']
    expect(names.filter(name => response.headers.has(name))).toEqual([])
    await mcp.modernCall('raw', 'tools/call', {name: 'usual'})
    const sessions = raw.of('tools/call').slice(-2)
    expect(sessions.map(({headers}) => headers['mcp-session-id'])).toEqual(['raw-1', 'raw-1'])
  })

  test.each(['', 'a b', 'ü', 'a'.repeat(10_000), 'a\tb'])('whose session id is %j', async id => {
    const odd = await openRaw({
      initialize: answer => {
        answer.response.setHeader('mcp-session-id', Buffer.from(id, 'utf8').toString('latin1'))
        answer.result(RAW_INITIALIZE)
      },
    })
    onTestFinished(() => odd.close())
    const slug = `odd-${Buffer.from(id.slice(0, 8)).toString('hex')}-${id.length}`
    await mcp.server(slug, odd.url)
    const {status} = await mcp.modernCall(slug, 'tools/call', {name: 'usual'})
    expect([200, 502]).toContain(status)
  })

  test('that shows other tools in each list is not read in a loop', async () => {
    let at = 0
    const changing = await openRaw({
      'tools/list': answer => answer.result({tools: [{name: `tool-${++at}`, inputSchema: {type: 'object'}}]}),
    })
    onTestFinished(() => changing.close())
    await mcp.server('changing', changing.url)
    for (let n = 0; n < 30; n++)
      expect((await mcp.post('changing', {jsonrpc: '2.0', id: n, method: 'tools/list'})).status).toBe(200)
    expect(changing.of('tools/list').length - 30).toBeLessThanOrEqual(5)
  })

  test.each([
    ['a redirect to another origin', 307, {location: 'http://169.254.169.254/latest'}],
    ['a redirect to a file', 308, {location: 'file:///etc/passwd'}],
    ['a page', 200, {'content-type': 'text/html'}],
    ['404 of its own', 404, {}],
    ['407', 407, {'proxy-authenticate': 'Basic'}],
  ])('that answers %s gives 502, and its words go no further', async (_, status, headers: Record<string, string>) => {
    played({
      'tools/call': answer =>
        answer.headers(headers).status(status, '<b>words</b>', headers['content-type'] ?? 'text/plain'),
    })
    const response = await mcp.post('raw', {
      ...{jsonrpc: '2.0', id: 1, method: 'tools/call'},
      params: {name: 'usual', arguments: {}},
    })
    expect(response.status).toBe(502)
    expect(await response.text()).not.toContain('/etc/passwd')
    for (const name of ['location', 'proxy-authenticate']) expect(response.headers.has(name)).toBe(false)
  })
})
