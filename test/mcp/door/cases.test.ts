import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {gzipSync} from 'node:zlib'
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {openLegacy} from '../../support/mcp/legacy-server.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {openRaw, type RawFixture} from '../../support/mcp/raw-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'

/** Cases from faults of others (shared cases MC1 to MC26), by their numbers. */

let mcp: McpGateway
let raw: RawFixture

beforeAll(async () => {
  raw = await openRaw()
  mcp = await McpGateway.open()
  await mcp.server('raw', raw.url)
})
afterAll(async () => {
  await mcp.close()
  await raw.close()
})

/** Scripts of one test; the usual ones come back after it. */
function played(scripts: Parameters<RawFixture['play']>[0]) {
  raw.play(scripts)
  onTestFinished(() => raw.play(Object.fromEntries(Object.keys(scripts).map(name => [name, USUAL[name]]))))
}
const usual = (answer: {result(result: unknown): void}) => answer.result({content: [{type: 'text', text: 'usual'}]})
const USUAL: Parameters<RawFixture['play']>[0] = {
  GET: answer => answer.status(405),
  'server/discover': answer => answer.refuse(400, -32000, 'Bad Request: Server not initialized'),
  answer: answer => answer.status(202),
}

interface Message {
  id?: unknown
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: {code: number; message: string}
}
const INITIALIZE = (capabilities: object = {}) => ({
  ...{jsonrpc: '2.0', id: 0, method: 'initialize'},
  params: {protocolVersion: '2025-11-25', capabilities, clientInfo: {name: 'c', version: '1'}},
})
const callOf = (id: unknown, name: string, args: object = {}) => ({
  ...{jsonrpc: '2.0', id, method: 'tools/call'},
  params: {name, arguments: args},
})

async function begin(slug: string, capabilities: object = {}, of: McpGateway = mcp): Promise<Record<string, string>> {
  const response = await of.post(slug, INITIALIZE(capabilities))
  expect(response.status).toBe(200)
  await response.text()
  const headers = {'mcp-session-id': response.headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25'}
  const noted = await of.post(slug, {jsonrpc: '2.0', method: 'notifications/initialized'}, headers)
  expect(noted.status).toBe(202)
  return headers
}

/** Messages of a reply as they come: JSON, or events. */
async function* messagesOf(response: Response): AsyncGenerator<Message & {event_id?: string}> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    yield JSON.parse(await response.text())
    return
  }
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk as Uint8Array, {stream: true})
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      const data = lines.find(line => line.startsWith('data: '))
      const event_id = lines.find(line => line.startsWith('id: '))?.slice(4)
      if (data) yield {...JSON.parse(data.slice(6)), ...(event_id && {event_id})}
    }
  }
}
async function lastOf(response: Response): Promise<Message> {
  let last: Message = {}
  for await (const message of messagesOf(response)) last = message
  return last
}
const streamOf = (slug: string, headers: Record<string, string>, signal?: AbortSignal, of: McpGateway = mcp) =>
  fetch(of.url(slug), {headers: {...headers, 'x-gateway-api-key': WORKSPACE_KEY, accept: 'text/event-stream'}, signal})

describe('sessions and streams', () => {
  test('MC1: two requests with one id on one session are answered apart, and progress does not cross', async () => {
    const gates = new Map<string, () => void>()
    played({
      'tools/call': (answer, {message}) => {
        const {tag} = message!.params!.arguments as {tag: string}
        const {progressToken} = message!.params!._meta as {progressToken: unknown}
        answer
          .stream()
          .event({jsonrpc: '2.0', method: 'notifications/progress', params: {progressToken, progress: 1, message: tag}})
        gates.set(tag, () => answer.done({content: [{type: 'text', text: tag}]}))
      },
    })
    const headers = await begin('raw')
    const call = async (tag: string) => {
      const body = callOf(1, 'wait', {tag})
      const response = await mcp.post('raw', {...body, params: {...body.params, _meta: {progressToken: 1}}}, headers)
      const seen: string[] = []
      for await (const {id, params, result} of messagesOf(response))
        seen.push(result ? `${id} ${JSON.stringify(result)}` : `${params!.progressToken} ${params!.message}`)
      return seen
    }
    const [one, two] = [call('A'), call('B')]
    await expect.poll(() => gates.size).toBe(2)
    gates.get('B')!()
    gates.get('A')!()
    expect(await one).toEqual(['1 A', expect.stringMatching(/^1 .*"A"/)])
    expect(await two).toEqual(['1 B', expect.stringMatching(/^1 .*"B"/)])
    const ids = raw
      .of('tools/call')
      .slice(-2)
      .map(({message}) => message!.id)
    expect(new Set(ids)).toHaveProperty('size', 2)
  })

  test.each(['drain', 'none'] as const)('MC2: a session goes on after a restart (%s)', async how => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-mcp-'))
    onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
    const legacy = await openLegacy()
    const modern = await openModern()
    onTestFinished(() => legacy.close())
    onTestFinished(() => modern.close())
    let of = await McpGateway.open({}, {folder})
    await of.server('legacy', legacy.url)
    await of.server('modern', modern.url)
    const sessions: Record<string, Record<string, string>> = {}
    for (const slug of ['legacy', 'modern']) sessions[slug] = await begin(slug, {elicitation: {}}, of)
    if (how === 'drain') await of.close()
    else await of.gateway.app.close()
    of = await McpGateway.open({}, {folder})
    onTestFinished(() => of.close())
    const before = legacy.of('initialize').length
    for (const slug of ['legacy', 'modern']) {
      const answer = await lastOf(await of.post(slug, callOf(2, 'echo', {text: slug}), sessions[slug]))
      expect(answer).toMatchObject({id: 2, result: {content: [{text: slug}]}})
      const stranger = await of.key(`stranger-${slug}`)
      const response = await of.post(slug, callOf(3, 'echo', {text: 'x'}), {
        ...sessions[slug],
        'x-gateway-api-key': stranger,
      })
      expect(response.status).toBe(404)
    }
    expect(legacy.of('initialize').length - before).toBeLessThanOrEqual(1)
    expect((await of.post('legacy', callOf(4, 'echo', {text: 'x'}), {'mcp-session-id': 'ms_never'})).status).toBe(404)
  })

  test('MC4: a second GET ends the first, and gets what comes', async () => {
    const legacy = await openLegacy()
    onTestFinished(() => legacy.close())
    await mcp.server('listened', legacy.url)
    const headers = await begin('listened', {elicitation: {}})
    const first = await streamOf('listened', headers)
    const leaving = new AbortController()
    onTestFinished(() => leaving.abort())
    const second = await streamOf('listened', headers, leaving.signal)
    expect([first.status, second.status]).toEqual([200, 200])
    for await (const _ of messagesOf(first)) expect.unreachable('the first stream has no message')
    await expect.poll(() => legacy.of('GET').length).toBeGreaterThan(0)
    for (const {server} of legacy.sessions.values()) await server.sendToolListChanged()
    for await (const {method} of messagesOf(second)) {
      expect(method).toBe('notifications/tools/list_changed')
      break
    }
  })

  test('MC5: a GET is a stream of ours, whatever the upstream has; without a session it is 405', async () => {
    const headers = await begin('raw')
    const leaving = new AbortController()
    const from = raw.of('GET').length
    const response = await streamOf('raw', headers, leaving.signal)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    const {value} = await response.body!.getReader().read()
    expect(new TextDecoder().decode(value)).toMatch(/^retry: \d{4}\n\n/)
    leaving.abort()
    expect(raw.of('GET').length - from).toBeLessThanOrEqual(1)
    const without = await streamOf('raw', {})
    expect([without.status, without.headers.has('www-authenticate')]).toEqual([405, false])
  })

  test('MC8: a question on the stream of the server comes on the POST of a client that holds none', async () => {
    const legacy = await openLegacy({asks_on: 'stream'})
    onTestFinished(() => legacy.close())
    await mcp.server('asking', legacy.url)
    const headers = await begin('asking', {elicitation: {}})
    const response = await mcp.post('asking', callOf(1, 'ask'), headers)
    for await (const message of messagesOf(response)) {
      if (message.method === 'elicitation/create') {
        const answer = {jsonrpc: '2.0', id: message.id, result: {action: 'accept', content: {ok: true}}}
        expect((await mcp.post('asking', answer, headers)).status).toBe(202)
      } else expect(message).toMatchObject({id: 1, result: {content: [{text: 'accept {"ok":true}'}]}})
    }
    expect(legacy.state.runs('ask')).toBe(1)
  })

  test('MC7: the same for a modern client: a round, and its retry', async () => {
    const legacy = await openLegacy({asks_on: 'stream'})
    onTestFinished(() => legacy.close())
    await mcp.server('asking-too', legacy.url)
    const client = await mcp.modern('asking-too')
    const first = await client.callTool({name: 'ask', arguments: {}})
    expect(first).toMatchObject({content: [{text: 'accept {"ok":true}'}]})
    // the upstream is known by now to have its questions outside of calls: each call has a session of its own
    const results = await Promise.all([1, 2].map(() => client.callTool({name: 'ask', arguments: {}})))
    for (const result of results) expect(result).toMatchObject({content: [{text: 'accept {"ok":true}'}]})
    expect(legacy.state.runs('ask')).toBe(3)
  })

  test('K20: a broken stream is resumed by the id of its last event, also before the result', async () => {
    let done = () => {}
    played({
      'tools/call': answer => {
        answer.stream().event({jsonrpc: '2.0', method: 'notifications/message', params: {level: 'error', data: 'one'}})
        done = () => {
          answer.event({jsonrpc: '2.0', method: 'notifications/message', params: {level: 'error', data: 'two'}})
          answer.done({content: [{type: 'text', text: 'late'}]})
        }
      },
    })
    const headers = await begin('raw')
    const leaving = new AbortController()
    const response = await fetch(mcp.url('raw'), {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        ...{'content-type': 'application/json', accept: 'application/json, text/event-stream'},
        ...{...headers, 'x-gateway-api-key': WORKSPACE_KEY},
      },
      body: JSON.stringify(callOf(1, 'wait')),
    })
    let last_id = ''
    for await (const {event_id, params} of messagesOf(response)) {
      expect(params).toMatchObject({data: 'one'})
      last_id = event_id!
      break
    }
    leaving.abort()
    const resumed = await streamOf('raw', {...headers, 'last-event-id': last_id})
    done()
    const seen: Message[] = []
    for await (const message of messagesOf(resumed)) seen.push(message)
    expect(seen).toMatchObject([{params: {data: 'two'}}, {id: 1, result: {content: [{text: 'late'}]}}])
    const end_id = (seen.at(-1) as {event_id: string}).event_id
    expect((await streamOf('raw', {...headers, 'last-event-id': end_id})).status).toBe(204)
    const guess = last_id.replace(/^./, each => (each === 'A' ? 'B' : 'A'))
    expect((await streamOf('raw', {...headers, 'last-event-id': guess})).status).toBe(404)
    const others = await begin('raw')
    expect((await streamOf('raw', {...others, 'last-event-id': last_id})).status).toBe(404)
  })
})

describe('eras, lists, content', () => {
  test.each([[403], [401]])('MC9: a probe that is refused with %s, and a credential that is good', async status => {
    const guarded = await openRaw({'server/discover': answer => answer.status(status)})
    onTestFinished(() => guarded.close())
    const slug = `guarded-${status}`
    await mcp.server(slug, guarded.url, {
      auth_type: 'headers',
      configurations: {custom_headers: {authorization: 'Bearer good'}},
    })
    expect(await lastOf(await mcp.modernCall(slug, 'tools/call', {name: 'usual'}))).toHaveProperty('result')
    // the first sync and the first call may both find out
    const probes = guarded.of('server/discover').length
    expect(probes).toBeLessThanOrEqual(2)
    await lastOf(await mcp.modernCall(slug, 'tools/call', {name: 'usual'}))
    expect(guarded.of('server/discover')).toHaveLength(probes)
    expect(guarded.of('tools/call')[0]!.headers.authorization).toBe('Bearer good')
  })

  test('MC10: cursors that do not move, that are empty, and of another key', async () => {
    const tool = (name: string) => ({name, inputSchema: {type: 'object'}})
    played({
      'tools/list': (answer, {message}) => {
        const {cursor} = message!.params ?? {}
        if (cursor === '') return answer.result({tools: [tool('second')]})
        if (cursor === '8') return answer.result({tools: [tool('same')], nextCursor: '8'})
        return answer.result({tools: [tool('first')], nextCursor: message!.params?.empty ? '' : '8'})
      },
    })
    const list = async (params: object, key = WORKSPACE_KEY) =>
      lastOf(await mcp.post('raw', {jsonrpc: '2.0', id: 1, method: 'tools/list', params}, {'x-gateway-api-key': key}))
    const [first, again] = [await list({}), await list({})]
    const cursor = first.result!.nextCursor
    expect(cursor).toBe(again.result!.nextCursor)
    expect(cursor).not.toBe('8')
    const second = await list({cursor})
    expect(second.result).toMatchObject({tools: [{name: 'same'}]})
    expect(second.result).not.toHaveProperty('nextCursor')
    const empty = await list({empty: true})
    expect(await list({cursor: empty.result!.nextCursor})).toMatchObject({result: {tools: [{name: 'second'}]}})
    const from = raw.of('tools/list').length
    expect(await list({cursor}, await mcp.key('cursors'))).toMatchObject({error: {code: -32602}})
    expect(raw.of('tools/list')).toHaveLength(from)
  })

  const GOOD = '{"name":"good",  "inputSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1.0}}}}'
  test.each([
    '{"name":"x","inputSchema":{"anyOf":[{"type":"object"}]}}',
    '{"name":"x"}',
    '{"name":"x","description":null,"inputSchema":{"type":"object"}}',
    '{"inputSchema":{"type":"object"}}',
    'null',
    '{"name":"good","description":"another","inputSchema":{"type":"object"}}',
  ])('MC11: beside the malformed tool %s its neighbour keeps its bytes', async bad => {
    played({'tools/list': answer => answer.json({})})
    raw.play({
      'tools/list': (answer, {message}) =>
        answer.status(
          200,
          `{"jsonrpc":"2.0","id":${message!.id},"result":{"tools":[${GOOD},${bad}]}}`,
          'application/json',
        ),
    })
    const response = await mcp.post('raw', {jsonrpc: '2.0', id: 1, method: 'tools/list'})
    expect(await response.text()).toBe(`{"jsonrpc":"2.0","id":1,"result":{"tools":[${GOOD}]}}`)
  })

  test('MC12: an extension of metadata alone passes, and shares no session with those that lack it', async () => {
    const extensions = {'io.modelcontextprotocol/ui': {mimeTypes: ['text/html;profile=mcp-app']}}
    const initialized = raw.of('initialize').length
    await mcp.modernCall('raw', 'tools/call', {name: 'usual'}, {capabilities: {extensions}})
    await mcp.modernCall('raw', 'tools/call', {name: 'usual'}, {capabilities: {}})
    const seen = raw
      .of('initialize')
      .slice(initialized)
      .map(({message}) => message!.params!.capabilities)
    expect(seen).toContainEqual({extensions})
    expect(seen).toContainEqual({})
  })

  test('MC25: an upstream that leads from /mcp to /mcp/ is followed once, with its body', async () => {
    const moved = await openRaw()
    onTestFinished(() => moved.close())
    await mcp.server('moved', moved.url)
    moved.play({
      'tools/call': (answer, seen) => {
        if (seen.path.endsWith('/')) return usual(answer)
        answer.headers({location: '/mcp/'}).status(307)
      },
    })
    expect(await lastOf(await mcp.post('moved', callOf(1, 'usual')))).toHaveProperty('result')
    moved.play({'tools/call': answer => answer.headers({location: 'http://127.0.0.1:1/mcp'}).status(307)})
    expect(await lastOf(await mcp.post('moved', callOf(1, 'usual')))).toMatchObject({error: {code: 502}})
  })

  test.each([['gzip'], ['odd']])('MC26: an answer with the encoding %s', async encoding => {
    played({
      'tools/call': (answer, {message}) => {
        const text = JSON.stringify({
          jsonrpc: '2.0',
          id: message!.id,
          result: {content: [{type: 'text', text: 'packed'}]},
        })
        answer.headers({'content-encoding': encoding}).status(200, gzipSync(text), 'application/json')
      },
    })
    const answer = await lastOf(await mcp.post('raw', callOf(1, 'usual')))
    expect(answer).toMatchObject(encoding === 'gzip' ? {result: {content: [{text: 'packed'}]}} : {error: {code: 502}})
    expect(raw.of('tools/call').at(-1)!.headers['accept-encoding']).toBe('identity')
  })
})
