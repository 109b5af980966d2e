import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {type LegacyFixture, openLegacy} from '../../support/mcp/legacy-server.ts'
import {type ModernFixture, openModern} from '../../support/mcp/modern-server.ts'
import {openRaw, type RawFixture} from '../../support/mcp/raw-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'

let mcp: McpGateway
let legacy: LegacyFixture
let modern: ModernFixture
let raw: RawFixture
let narrow: string
let other: string

beforeAll(async () => {
  legacy = await openLegacy()
  modern = await openModern()
  raw = await openRaw()
  mcp = await McpGateway.open()
  await mcp.server('legacy', legacy.url)
  await mcp.server('modern', modern.url)
  await mcp.server('raw', raw.url)
  narrow = await mcp.key('narrow', {scopes: ['completions.write']})
  other = await mcp.key('other')
})
afterAll(async () => {
  await mcp.close()
  await Promise.all([legacy, modern, raw].map(each => each.close()))
})

interface RpcBody {
  id: unknown
  result?: Record<string, unknown>
  error?: {code: number; message: string; data?: Record<string, unknown>}
}
/** The message of a reply of either form: the last one of a stream. */
async function bodyOf(response: Response): Promise<RpcBody> {
  const text = await response.text()
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return JSON.parse(text)
  return JSON.parse(
    text
      .split('\n')
      .findLast(line => line.startsWith('data: '))!
      .slice(6),
  )
}
const LIST = {jsonrpc: '2.0', id: 1, method: 'tools/list'}
const callOf = (name: string, args: object = {}) => ({
  ...{jsonrpc: '2.0', id: 1, method: 'tools/call'},
  params: {name, arguments: args},
})

describe('who may', () => {
  test('fact 1: without a credential a server and none answer alike, and name their metadata', async () => {
    for (const slug of ['modern', 'invented']) {
      const response = await mcp.post(slug, LIST, {'x-gateway-api-key': ''})
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toMatch(
        new RegExp(
          `^Bearer realm="gateway", resource_metadata="http://[^"]+/oauth-protected-resource/${slug}/mcp", ` +
            'scope="[^"]+"$',
        ),
      )
      expect(await bodyOf(response)).toMatchObject({id: null, error: {code: 401}})
    }
  })

  test.each([
    ['an unknown key', 'gk-no-such-key-0123456789abcdef0123456789', 401],
    ['a key without mcp.invoke', () => narrow, 403],
  ] as const)('facts 4 and 5: %s', async (_, key, status) => {
    const response = await mcp.post('modern', LIST, {'x-gateway-api-key': typeof key === 'string' ? key : key()})
    expect(response.status).toBe(status)
    expect(response.headers.has('www-authenticate')).toBe(status === 401)
    expect(await bodyOf(response)).toMatchObject({error: {code: status}})
  })

  test('fact 4: a server of another workspace is as unknown as one that is not there', async () => {
    const {id} = await mcp.gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'Elsewhere'})
    const key = await mcp.key('elsewhere', {workspace_id: id})
    const [there, not_there] = await Promise.all(
      ['modern', 'invented'].map(slug => mcp.post(slug, LIST, {'x-gateway-api-key': key})),
    )
    expect([there!.status, not_there!.status]).toEqual([404, 404])
    expect(await bodyOf(there!)).toEqual(await bodyOf(not_there!))
  })

  test('a credential in the address is refused, and the key may come as Bearer', async () => {
    const url = `${mcp.url('modern')}?api_key=${WORKSPACE_KEY}`
    expect((await fetch(url, {method: 'POST', body: '{}'})).status).toBe(400)
    const response = await mcp.post('modern', LIST, {'x-gateway-api-key': '', authorization: `Bearer ${WORKSPACE_KEY}`})
    expect(response.status).toBe(200)
  })

  test.each([
    ['https://evil.example', 403],
    ['null', 403],
  ])('fact 48: a page of the origin %s is refused', async (origin, status) => {
    expect((await mcp.post('modern', LIST, {origin})).status).toBe(status)
  })

  test('fact 81: both forms of the address, with a slash and without', async () => {
    const workspace = await mcp.workspace()
    for (const path of ['modern/mcp', 'modern/mcp/', `${workspace.slug}/modern/mcp`, `${workspace.slug}/modern/mcp/`]) {
      const response = await fetch(`${mcp.gateway.url}/${path}`, {
        method: 'POST',
        headers: {'content-type': 'application/json', 'x-gateway-api-key': WORKSPACE_KEY},
        body: JSON.stringify(LIST),
      })
      expect([path, response.status]).toEqual([path, 200])
    }
  })
})

describe('the body decides', () => {
  test.each([
    ['another name', {'mcp-name': 'add'}],
    ['another method', {'mcp-method': 'tools/list'}],
    ['another version', {'mcp-protocol-version': '2025-11-25'}],
    ['no name', {'mcp-name': undefined}],
    ['no method', {'mcp-method': undefined}],
  ])('fact 19: %s in the headers is -32020, and nothing goes up', async (_, headers) => {
    const before = modern.state.runs('echo')
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
    const response = await postWithout(Object.keys(headers), given as Record<string, string>)
    expect(response.status).toBe(400)
    expect(await bodyOf(response)).toMatchObject({id: 1, error: {code: -32020}})
    expect(modern.state.runs('echo')).toBe(before)
  })

  async function postWithout(left_out: readonly string[], headers: Record<string, string>): Promise<Response> {
    const all: Record<string, string> = {
      ...{'x-gateway-api-key': WORKSPACE_KEY, 'content-type': 'application/json', accept: 'application/json'},
      ...{'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo'},
    }
    for (const name of left_out) delete all[name]
    const body = {
      ...callOf('echo', {text: 'x'}),
      params: {
        ...callOf('echo', {text: 'x'}).params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }
    return fetch(mcp.url('modern'), {method: 'POST', headers: {...all, ...headers}, body: JSON.stringify(body)})
  }

  test('fact 20: versions, methods, keys of the envelope', async () => {
    const version = await mcp.modernCall(
      'modern',
      'tools/list',
      {},
      {
        meta: {'io.modelcontextprotocol/protocolVersion': '2027-01-01'},
        headers: {'mcp-protocol-version': '2027-01-01'},
      },
    )
    expect([version.status, (await bodyOf(version)).error]).toMatchObject([
      400,
      {code: -32022, data: {requested: '2027-01-01', supported: expect.arrayContaining(['2026-07-28', '2025-11-25'])}},
    ])
    const unknown = await mcp.modernCall('modern', 'ping', {})
    expect([unknown.status, (await bodyOf(unknown)).error!.code]).toEqual([404, -32601])
    const lacking = await mcp.modernCall(
      'modern',
      'tools/list',
      {},
      {
        meta: {'io.modelcontextprotocol/clientCapabilities': undefined},
      },
    )
    expect([lacking.status, (await bodyOf(lacking)).error!.code]).toEqual([400, -32602])
    for (const method of ['GET', 'DELETE']) {
      const headers = {'mcp-protocol-version': '2026-07-28', 'x-gateway-api-key': WORKSPACE_KEY}
      expect((await fetch(mcp.url('modern'), {method, headers})).status).toBe(405)
    }
  })

  test.each([
    ['no JSON', '{', 400, -32700],
    ['no message', '{"id":1}', 400, -32600],
    [
      'a batch of a revision without',
      '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
      400,
      -32600,
      {'mcp-protocol-version': '2025-11-25'},
    ],
    ['a batch that is too deep', `[${'['.repeat(80)}${']'.repeat(80)}]`, 400, -32600],
  ] as const)('%s is refused', async (_, body, status, code, headers: Record<string, string> = {}) => {
    const response = await mcp.post('modern', body, headers)
    expect([response.status, (await bodyOf(response)).error!.code]).toEqual([status, code])
  })

  test('a batch is answered where the revision has batches', async () => {
    const batch = [
      {jsonrpc: '2.0', id: 'a', method: 'ping'},
      {jsonrpc: '2.0', method: 'notifications/x'},
      {...LIST, id: 2},
    ]
    const response = await mcp.post('legacy', batch, {'mcp-protocol-version': '2025-03-26'})
    const answers = (await response.json()) as {id: unknown}[]
    expect(answers.map(({id}) => id)).toEqual(['a', 2])
  })

  test.each([0, -7, 'text', '', 9_007_199_254_740_991])('fact 36: the id %j comes back as it is', async id => {
    for (const slug of ['legacy', 'modern']) {
      expect((await bodyOf(await mcp.modernCall(slug, 'tools/list', {}, {id}))).id).toBe(id)
      expect((await bodyOf(await mcp.post(slug, {...LIST, id}))).id).toBe(id)
    }
  })

  test('facts 21 and 22: Mcp-Param headers are written from the body, for clients of both eras', async () => {
    const headersUp = () => modern.requests.findLast(({message}) => message?.method === 'tools/call')!.headers
    const encoded = `=?base64?${Buffer.from('köln').toString('base64')}?=`
    await mcp.post('modern', callOf('region', {region: 'köln'}), {'mcp-param-region': 'berlin', 'mcp-name': 'x'})
    expect(headersUp()).toMatchObject({'mcp-param-region': encoded, 'mcp-name': 'region'})
    const call = (headers: Record<string, string>) =>
      mcp.modernCall('modern', 'tools/call', {name: 'region', arguments: {region: 'köln'}}, {headers})
    expect((await bodyOf(await call({'mcp-param-region': encoded}))).result).toMatchObject({content: [{text: 'köln'}]})
    const before = modern.requests.length
    for (const headers of [{}, {'mcp-param-region': 'berlin'}] as Record<string, string>[]) {
      const response = await call(headers)
      expect([response.status, (await bodyOf(response)).error!.code]).toEqual([400, -32020])
    }
    expect(modern.requests.length).toBe(before)
  })
})

describe('lists and switches', () => {
  test('fact 23: lists of a legacy upstream have the members of the era of the client', async () => {
    const for_modern = (await bodyOf(await mcp.modernCall('legacy', 'tools/list', {}))).result!
    expect(for_modern).toMatchObject({resultType: 'complete', ttlMs: expect.any(Number), cacheScope: 'private'})
    const for_legacy = (await bodyOf(await mcp.post('legacy', LIST))).result!
    for (const member of ['resultType', 'ttlMs', 'cacheScope']) expect(for_legacy).not.toHaveProperty(member)
  })

  test('fact 25: three lists at once have the order of the upstream', async () => {
    const lists = await Promise.all(
      [1, 2, 3].map(async () => (await bodyOf(await mcp.post('modern', LIST))).result!.tools),
    )
    const names = lists.map(tools => (tools as {name: string}[]).map(({name}) => name))
    expect(new Set(names.map(each => each.join()))).toHaveProperty('size', 1)
    expect(names[0]!.slice(0, 3)).toEqual(['echo', 'add', 'count'])
  })

  test('fact 56: a tool with an array for its output is listed to legacy clients, and called by them', async () => {
    const client = await mcp.legacy('modern')
    const {tools} = await client.listTools()
    expect(tools.map(({name}) => name)).toContain('numbers')
    expect(await client.callTool({name: 'numbers'})).toMatchObject({structuredContent: {result: [1, 2, 3]}})
    const result = (await bodyOf(await mcp.modernCall('modern', 'tools/call', {name: 'numbers'}))).result
    expect(result).toMatchObject({structuredContent: [1, 2, 3]})
  })
})

describe('questions', () => {
  const ask = (more = {}) => mcp.modernCall('legacy', 'tools/call', {name: 'ask', arguments: {}}, more)
  interface Required {
    inputRequests: Record<string, unknown>
    requestState: string
  }
  const required = async (response: Response) => (await bodyOf(response)).result as unknown as Required
  const retry = (state: string, responses: unknown, params: object = {}, more = {}) =>
    mcp.modernCall(
      'legacy',
      'tools/call',
      {name: 'ask', arguments: {}, requestState: state, inputResponses: responses, ...params},
      more,
    )
  const answered = ({inputRequests}: Required) =>
    Object.fromEntries(Object.keys(inputRequests).map(key => [key, {action: 'accept', content: {ok: true}}]))

  test('fact 17: a legacy upstream runs the tool once, while a modern client answers in a second request', async () => {
    const before = legacy.state.runs('ask')
    const first = await required(await ask())
    expect(Object.values(first.inputRequests)).toMatchObject([{method: 'elicitation/create'}])
    const last = await bodyOf(await retry(first.requestState, answered(first), {}, {id: 'second'}))
    expect(last).toMatchObject({
      id: 'second',
      result: {content: [{text: 'accept {"ok":true}'}], resultType: 'complete'},
    })
    expect(legacy.state.runs('ask')).toBe(before + 1)
  })

  test('fact 27: a state is good for its principal, its request and its round alone', async () => {
    const first = await required(await ask())
    const state = first.requestState
    const flipped = state.slice(0, 60) + (state[60] === 'A' ? 'B' : 'A') + state.slice(61)
    const attempts: readonly (() => Promise<Response>)[] = [
      () => retry(state, answered(first), {}, {key: other}),
      () => retry(state, answered(first), {name: 'roots'}),
      () => retry(state, answered(first), {arguments: {a: 1}}),
      () => retry(flipped, answered(first)),
      () => retry('garbage', answered(first)),
      () => retry('', answered(first)),
    ]
    for (const attempt of attempts) {
      const response = await attempt()
      expect([response.status, (await bodyOf(response)).error]).toMatchObject([200, {code: -32602}])
    }
    expect(await bodyOf(await retry(state, answered(first)))).toMatchObject({
      result: {content: [{text: 'accept {"ok":true}'}]},
    })
    expect(await bodyOf(await retry(state, answered(first)))).toMatchObject({error: {code: -32602}})
  })

  test('a missing answer is a further round of the same question', async () => {
    const first = await required(await ask())
    const second = await required(await retry(first.requestState, {}))
    expect(Object.keys(second.inputRequests)).toEqual(Object.keys(first.inputRequests))
    expect(await bodyOf(await retry(second.requestState, answered(second)))).toMatchObject({
      result: {content: [{text: 'accept {"ok":true}'}]},
    })
  })

  test('a client that declared nothing is not asked: the upstream hears that the person declined', async () => {
    const response = await ask({capabilities: {}})
    expect((await bodyOf(response)).result).toMatchObject({content: [{text: expect.stringContaining('decline')}]})
  })

  test('fact 16: a modern upstream sees two calls with different ids', async () => {
    const from = modern.requests.length
    const client = await mcp.legacy('modern')
    await client.callTool({name: 'ask', arguments: {}})
    const calls = modern.requests.slice(from).filter(({message}) => message?.method === 'tools/call')
    expect(new Set(calls.map(({message}) => message!.id))).toHaveProperty('size', 2)
  })

  test('fact 16: the state of a modern upstream is wrapped, also for another principal', async () => {
    const call = (params: object, key = WORKSPACE_KEY) =>
      mcp.modernCall('modern', 'tools/call', {name: 'ask', arguments: {}, ...params}, {key})
    const first = await required(await call({}))
    const given = {requestState: first.requestState, inputResponses: {sure: {action: 'accept', content: {ok: true}}}}
    expect((await bodyOf(await call(given, other))).error).toMatchObject({code: -32602})
    expect((await bodyOf(await call(given))).result).toMatchObject({content: [{text: 'accept {"ok":true}'}]})
  })
})

describe('sessions', () => {
  const INITIALIZE = {
    ...{jsonrpc: '2.0', id: 0, method: 'initialize'},
    params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {name: 'raw', version: '1'}},
  }
  const begin = async (slug = 'legacy', headers = {}) => {
    const response = await mcp.post(slug, INITIALIZE, headers)
    return {id: response.headers.get('mcp-session-id')!, body: await bodyOf(response)}
  }

  test('facts 29 and 60: a session is of its key and its server, and has an id of ours', async () => {
    const {id, body} = await begin()
    expect(id).toMatch(/^ms_[\w-]{22}$/)
    expect(body).toMatchObject({id: 0, result: {protocolVersion: '2025-06-18'}})
    expect([...legacy.sessions.keys()]).not.toContain(id)
    const list = (slug: string, more: Record<string, string> = {}) =>
      mcp.post(slug, LIST, {'mcp-session-id': id, ...more})
    expect((await list('legacy')).status).toBe(200)
    expect((await list('legacy', {'x-gateway-api-key': other})).status).toBe(404)
    expect((await list('modern')).status).toBe(404)
    const again = await begin('legacy', {'mcp-session-id': 'ms_dead'})
    expect(again.id).not.toBe(id)
    const headers = {'mcp-session-id': id, 'x-gateway-api-key': WORKSPACE_KEY}
    expect((await fetch(mcp.url('legacy'), {method: 'DELETE', headers})).status).toBe(204)
    expect((await list('legacy')).status).toBe(404)
  })

  test('fact 54: a hundred calls of one session make one initialize', async () => {
    const {id} = await begin('raw')
    const from = raw.requests.length
    for (let at = 0; at < 100; at++) await mcp.post('raw', callOf('usual'), {'mcp-session-id': id})
    const methods = raw.requests.slice(from).map(({message}) => message?.method)
    expect(methods.filter(method => method === 'tools/call')).toHaveLength(100)
    expect(methods).not.toContain('initialize')
  })

  test.each([404, 400])(
    'fact 31: a session that the upstream forgot (%s) is begun again, and the tool runs once',
    async status => {
      const {id} = await begin('raw')
      let is_lost = true
      raw.play({
        'tools/call': answer => {
          if (!is_lost) return answer.result({content: [{type: 'text', text: 'once'}]})
          is_lost = false
          return answer.refuse(status, -32000, 'Bad Request: No valid session ID provided')
        },
      })
      const from = raw.requests.length
      const response = await mcp.post('raw', callOf('usual'), {'mcp-session-id': id})
      expect(await bodyOf(response)).toMatchObject({result: {content: [{text: 'once'}]}})
      expect(raw.requests.slice(from).filter(({message}) => message?.method === 'initialize')).toHaveLength(1)
      raw.play({'tools/call': undefined})
    },
  )

  test('fact 32: a connection that breaks in a call is one error, and the tool is not called again', async () => {
    raw.play({'tools/call': answer => answer.stream().cut()})
    const from = raw.requests.length
    const response = await mcp.modernCall('raw', 'tools/call', {name: 'usual'})
    expect((await bodyOf(response)).error!.code).toBe(502)
    expect(raw.requests.slice(from).filter(({message}) => message?.method === 'tools/call')).toHaveLength(1)
    raw.play({'tools/call': undefined})
  })

  test('fact 34: 401 of an upstream is no 401 of ours', async () => {
    raw.play({'tools/call': answer => answer.status(401)})
    const response = await mcp.modernCall('raw', 'tools/call', {name: 'usual'})
    expect(response.status).toBe(502)
    expect(response.headers.has('www-authenticate')).toBe(false)
    raw.play({'tools/call': undefined})
  })

  test('fact 58: two requests with one id on one session are answered each by its own POST', async () => {
    const {id} = await begin()
    const call = (word: string) => mcp.post('legacy', callOf('echo', {text: word}), {'mcp-session-id': id})
    const bodies = await Promise.all(['one', 'two'].map(async word => JSON.stringify(await bodyOf(await call(word)))))
    expect(bodies[0]).toContain('one')
    expect(bodies[1]).toContain('two')
  })
})

describe('cancelling', () => {
  beforeEach(() => legacy.state.release())

  test.each(['legacy', 'modern'] as const)(
    'fact 28: a modern client that leaves cancels at an upstream of the %s era',
    async slug => {
      const {state} = slug === 'legacy' ? legacy : modern
      const before = state.cancelled
      const leaving = new AbortController()
      const body = {
        ...callOf('hold'),
        params: {
          ...callOf('hold').params,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }
      const sent = fetch(mcp.url(slug), {
        method: 'POST',
        signal: leaving.signal,
        headers: {
          ...{
            'x-gateway-api-key': WORKSPACE_KEY,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
          ...{'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'hold'},
        },
        body: JSON.stringify(body),
      }).catch(() => undefined)
      await state.whenHeld()
      leaving.abort()
      await sent
      await expect.poll(() => state.cancelled).toBe(before + 1)
    },
  )

  test('a legacy client cancels by its notification', async () => {
    const before = legacy.state.cancelled
    const client = await mcp.legacy('legacy')
    const leaving = new AbortController()
    const call = client
      .callTool({name: 'hold', arguments: {}}, undefined, {signal: leaving.signal})
      .catch(() => undefined)
    await legacy.state.whenHeld()
    leaving.abort()
    await call
    await expect.poll(() => legacy.state.cancelled).toBe(before + 1)
  })
})

describe('what is kept', () => {
  test('fact 39: each logical request is one row, with its method, its tool and its rounds', async () => {
    const key = await mcp.key('rows')
    await mcp.modernCall('modern', 'tools/list', {}, {key})
    await mcp.modernCall('modern', 'tools/call', {name: 'echo', arguments: {text: 'x'}}, {key})
    await mcp.modernCall('modern', 'tools/call', {name: 'fail'}, {key})
    await mcp.modernCall(
      'modern',
      'tools/call',
      {name: 'echo', arguments: {text: 'x'}},
      {key, headers: {'mcp-name': 'no'}},
    )
    const first = await bodyOf(await mcp.modernCall('legacy', 'tools/call', {name: 'ask', arguments: {}}, {key}))
    expect(first).toHaveProperty('result')
    const {inputRequests, requestState} = first.result as {inputRequests: object; requestState: string}
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map(name => [name, {action: 'decline'}]))
    await mcp.modernCall('legacy', 'tools/call', {name: 'ask', arguments: {}, requestState, inputResponses}, {key})
    const rows = (await mcp.gateway.logs()).filter(({api_key_name}) => api_key_name === 'rows')
    const view = rows.map(row => [row.endpoint, row.ai_org, row.ai_model, row.is_success, row.response_status_code])
    expect(view.toReversed()).toEqual([
      ['tools/list', 'mcp', 'modern', true, 200],
      ['tools/call', 'mcp', 'modern/echo', true, 200],
      ['tools/call', 'mcp', 'modern/fail', false, 200],
      ['tools/call', 'mcp', 'modern/echo', false, 400],
      ['tools/call', 'mcp', 'legacy/ask', true, 200],
    ])
  })
})

test('fact 55: MCP_ENABLED=OFF serves none of it, and its administration stays', async () => {
  const off = await McpGateway.open({MCP_ENABLED: 'OFF'})
  try {
    await off.server('modern', modern.url)
    expect((await off.post('modern', LIST)).status).toBe(404)
  } finally {
    await off.close()
  }
})
