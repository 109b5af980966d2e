import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {openRaw, RAW_INITIALIZE, type RawAnswer, type RawFixture} from '../../support/mcp/raw-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'

/** Sessions and standing streams of clients at the door. */

let mcp: McpGateway
let raw: RawFixture
let modern: Awaited<ReturnType<typeof openModern>>
let other: string
let sessions_up = 0
/** Resources of the upstream, by its session. */
const made = new Map<string, string>()

beforeAll(async () => {
  raw = await openRaw({
    initialize: answer =>
      answer.headers({'mcp-session-id': `up-${++sessions_up}`}).result({
        ...{protocolVersion: '2025-11-25', serverInfo: {name: 'raw', version: '0'}},
        capabilities: {tools: {listChanged: true}, resources: {}},
      }),
    'tools/list': answer => answer.result({tools: [{name: 'make', inputSchema: {type: 'object'}}]}),
    'tools/call': (answer, {headers, message}) => {
      const {text} = message!.params!.arguments as {text: string}
      made.set(headers['mcp-session-id']!, text)
      answer.result({content: [{type: 'text', text: 'made'}]})
    },
    'resources/read': (answer, {headers}) => {
      const text = made.get(headers['mcp-session-id'] ?? '')
      if (text === undefined) return answer.refuse(200, -32602, 'Resource not found')
      answer.result({contents: [{uri: 'made://it', text}]})
    },
  })
  modern = await openModern()
  mcp = await McpGateway.open()
  await mcp.server('raw', raw.url)
  await mcp.server('modern', modern.url)
  other = await mcp.key('other')
})
afterAll(async () => {
  await mcp.close()
  await raw.close()
  await modern.close()
})

const INITIALIZE = {
  ...{jsonrpc: '2.0', id: 0, method: 'initialize'},
  params: {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'c', version: '1'}},
}
interface Answer {
  readonly id: unknown
  readonly result?: object
  readonly error?: {readonly code: number}
}
async function begin(slug: string, key = WORKSPACE_KEY, headers: Record<string, string> = {}) {
  const response = await mcp.post(slug, INITIALIZE, {'x-gateway-api-key': key, ...headers})
  const body = (await response.json()) as Answer
  expect([response.status, body.id]).toEqual([200, 0])
  const session = {'mcp-session-id': response.headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25'}
  return {...session, 'x-gateway-api-key': key}
}
const ask = async (slug: string, method: string, headers: Record<string, string>, params: object = {}, id = 'a') => {
  const response = await mcp.post(slug, {jsonrpc: '2.0', id, method, params}, headers)
  return {status: response.status, body: (await response.json()) as Answer}
}
const streamOf = (slug: string, headers: Record<string, string>, signal: AbortSignal) =>
  fetch(mcp.url(slug), {headers: {...headers, accept: 'text/event-stream'}, signal})
const listen = (slug: string, signal: AbortSignal) =>
  fetch(mcp.url(slug), {
    ...{method: 'POST', signal},
    headers: {
      ...{'content-type': 'application/json', accept: 'application/json, text/event-stream'},
      ...{'x-gateway-api-key': WORKSPACE_KEY, 'mcp-protocol-version': '2026-07-28'},
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      ...{jsonrpc: '2.0', id: 9, method: 'subscriptions/listen'},
      params: {
        notifications: {toolsListChanged: true},
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  })

function leaving(): AbortController {
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  return controller
}

describe.each(['raw', 'modern'])('MC3, fact 60: initialize at %s with a session header', slug => {
  test('is a new session, whatever it names, and other sessions go on', async () => {
    const [own, foreign] = [await begin(slug), await begin(slug, other)]
    const from = raw.of('initialize').length
    for (const [at, named] of ['ms_gone', foreign['mcp-session-id'], own['mcp-session-id']].entries()) {
      const again = await begin(slug, WORKSPACE_KEY, {'mcp-session-id': named})
      expect(again['mcp-session-id']).toMatch(/^ms_/)
      expect([own, foreign].map(each => each['mcp-session-id'])).not.toContain(again['mcp-session-id'])
      expect((await ask(slug, 'tools/list', again)).body.result).toBeDefined()
      if (slug === 'raw') {
        const up = raw.of('initialize').slice(from)
        expect(up).toHaveLength(at + 1)
        expect(up.at(-1)!.headers).not.toHaveProperty('mcp-session-id')
      }
    }
    expect((await ask(slug, 'tools/list', foreign)).status).toBe(200)
  })

  test.each(['tools/list', 'ping', 'tools/call', 'resources/read'])('%s of an unknown session is 404', async method => {
    const {status, body} = await ask(slug, method, {'mcp-session-id': 'ms_gone'}, {name: 'make', uri: 'made://it'}, 'x')
    expect([status, body.id, body.error!.code]).toEqual([404, 'x', 404])
    const foreign = await begin(slug, other)
    const taken = await ask(slug, method, {...foreign, 'x-gateway-api-key': WORKSPACE_KEY}, {}, 'x')
    expect([taken.status, taken.body]).toEqual([404, body])
  })
})

describe('fact 30: what one makes in a session of the upstream', () => {
  const MAKE = {name: 'make', arguments: {text: 'of A'}}
  const READ = {uri: 'made://it'}
  type Client = (key: string) => Promise<(method: string, params: Record<string, unknown>) => Promise<Answer>>
  const CLIENTS: Record<string, Client> = {
    legacy: async key => {
      const headers = await begin('raw', key)
      return async (method, params) => (await ask('raw', method, headers, params)).body
    },
    'session-less': async key => async (method, params) =>
      (await ask('raw', method, {'x-gateway-api-key': key}, params)).body,
    modern: async key => async (method, params) =>
      (await (await mcp.modernCall('raw', method, params, {key})).json()) as Answer,
  }
  const pairs = Object.keys(CLIENTS).flatMap(one => Object.keys(CLIENTS).map(two => [one, two] as const))

  test.each(pairs)('by a %s client is not read by another key with a %s client', async (one, two) => {
    const [maker, reader] = [await CLIENTS[one]!(await mcp.key('A')), await CLIENTS[two]!(await mcp.key('B'))]
    expect((await maker('tools/call', MAKE)).result).toMatchObject({content: [{text: 'made'}]})
    expect(await reader('resources/read', READ)).toMatchObject({error: {code: -32602}})
    if (one !== 'session-less') expect((await maker('resources/read', READ)).result).toMatchObject({contents: [READ]})
  })
})

describe('MC6, fact 63: the first byte does not wait for the upstream', () => {
  test.each(['GET', 'listen'])('%s at an upstream that never answers', async way => {
    raw.play({GET: () => undefined})
    onTestFinished(() => raw.play({GET: answer => answer.status(405)}))
    const {signal} = leaving()
    const headers = await begin('raw')
    const response = await (way === 'GET' ? streamOf('raw', headers, signal) : listen('raw', signal))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    const {value} = await response.body!.getReader().read()
    expect(new TextDecoder().decode(value)).toMatch(/^(?:: open|retry: \d+)\n\n/)
  })
})

describe('MC16, fact 72: a storm of list_changed', () => {
  const NOTICE = {jsonrpc: '2.0', method: 'notifications/tools/list_changed'}

  test.each(['GET', 'listen'])('wakes the client of a %s at most once a second, also after the last', async way => {
    const {promise, resolve} = Promise.withResolvers<RawAnswer>()
    const storming = await openRaw({
      initialize: (answer, {message}) => {
        const {name} = message!.params!.clientInfo as {name: string}
        answer.headers({'mcp-session-id': `of-${name}`}).result(RAW_INITIALIZE)
      },
      'tools/list': answer => answer.result({tools: []}),
      // the gateway's own reading of the server has a session too
      GET: (answer, {headers}) =>
        /^of-(?:c|unknown)$/.test(headers['mcp-session-id'] ?? '') ? resolve(answer.stream()) : answer.status(405),
    })
    onTestFinished(() => storming.close())
    const slug = `storm-${way.toLowerCase()}`
    await mcp.server(slug, storming.url)
    const {signal} = leaving()
    const headers = await begin(slug)
    const response = await (way === 'GET' ? streamOf(slug, headers, signal) : listen(slug, signal))
    let text = ''
    void (async () => {
      const decoder = new TextDecoder()
      for await (const chunk of response.body!) text += decoder.decode(chunk as Uint8Array, {stream: true})
    })().catch(() => undefined)
    const notices = () => text.split('tools/list_changed').length - 1
    const up = await promise
    if (way === 'listen') await expect.poll(() => text).toContain('acknowledged')
    const lists = storming.of('tools/list').length
    for (let n = 0; n < 500; n++) up.event(NOTICE)
    await expect.poll(notices, {timeout: 5_000}).toBe(2)
    if (way === 'GET') {
      up.event({...NOTICE, method: 'notifications/prompts/list_changed'})
      await expect.poll(() => text).toContain('prompts/list_changed')
    }
    expect(notices()).toBe(2)
    expect(storming.of('tools/list').length - lists).toBeLessThanOrEqual(2)
    up.end()
  })
})
