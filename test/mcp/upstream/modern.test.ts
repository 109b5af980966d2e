import {afterAll, beforeAll, expect, test} from 'vitest'
import {EraDisprovedFault} from '../../../src/mcp/upstream/faults.ts'
import type {McpUpstream} from '../../../src/mcp/upstream/upstream.ts'
import {type ModernFixture, openModern} from '../../support/mcp/modern-server.ts'
import {openRaw} from '../../support/mcp/raw-server.ts'
import {ask, Collected, callTool, faultIn, textIn, UpstreamTests} from '../../support/mcp/upstream.ts'

const tests = new UpstreamTests()
let server: ModernFixture
let upstream: McpUpstream
beforeAll(async () => {
  server = await openModern()
  upstream = await tests.upstream(server.url, {declares: {elicitation: {form: {}}, sampling: {}, roots: {}}})
})
afterAll(async () => {
  await tests.close()
  await server.close()
})

test('15: the set works against the SDK of 2026-07-28, with no initialize on the wire', async () => {
  expect(upstream.hello).toMatchObject({
    era: 'modern',
    protocol_version: '2026-07-28',
    server_info: {name: 'modern-fixture'},
    instructions: 'Call echo.',
  })
  expect(upstream.session).toBeNull()
  const tools = (await ask(upstream, 'tools/list')).result!.tools as {name: string}[]
  expect(tools.map(({name}) => name)).toContain('numbers')
  expect(textIn(await callTool(upstream, 'echo', {text: 'hä 𝄞'}))).toBe('hä 𝄞')
  expect((await callTool(upstream, 'numbers')).result).toMatchObject({structuredContent: [1, 2, 3]})
  expect((await ask(upstream, 'prompts/get', {name: 'greet', arguments: {name: 'Ada'}})).result).toMatchObject({
    messages: [{content: {text: 'Greet Ada'}}],
  })
  expect((await ask(upstream, 'resources/read', {uri: 'note://one'})).result).toMatchObject({
    contents: [{text: 'first'}],
  })
  const ref = {type: 'ref/prompt', name: 'greet'}
  expect(
    (await ask(upstream, 'completion/complete', {ref, argument: {name: 'name', value: 'A'}})).result,
  ).toMatchObject({completion: {values: ['Ada', 'Alan']}})
  expect(server.of('initialize')).toEqual([])
})

test('15: a question is a result, and its answer goes with the next request under another id', async () => {
  const first = await callTool(upstream, 'ask')
  expect(first.result).toMatchObject({resultType: 'input_required', inputRequests: {sure: {}}})
  const params = {name: 'ask', arguments: {}, inputResponses: {sure: {action: 'accept', content: {ok: true}}}}
  expect(textIn(await ask(upstream, 'tools/call', params))).toBe('accept {"ok":true}')
  const ids = server.of('tools/call').map(({message}) => message!.id)
  expect(new Set(ids).size).toBe(ids.length)
})

test('21, 22: standard headers are written from the body, those of parameters go as they are handed in', async () => {
  const params = JSON.stringify({name: 'region', arguments: {region: 'köln'}})
  const options = {signal: new AbortController().signal, total_ms: 9_000, idle_ms: 9_000}
  const param_headers = {'mcp-param-region': `=?base64?${Buffer.from('köln').toString('base64')}?=`}
  const answer = await upstream.request({method: 'tools/call', params, param_headers}, new Collected(), options)
  expect(textIn(answer)).toBe('köln')
  const {headers, message} = server.of('tools/call').at(-1)!
  expect(headers).toMatchObject({
    'mcp-method': 'tools/call',
    'mcp-name': 'region',
    'mcp-protocol-version': '2026-07-28',
    'accept-encoding': 'identity',
  })
  expect(message!.params!._meta).toMatchObject({
    'io.modelcontextprotocol/clientInfo': {name: 'test'},
    'io.modelcontextprotocol/clientCapabilities': {elicitation: {form: {}}},
  })
  expect((await callTool(upstream, 'region', {region: 'köln'})).error?.code).toBe(-32020)
})

test('a request may be that of another client, and name a level of logs', async () => {
  const client = {client_info: '{"name":"other","version":"2"}', client_capabilities: '{}'}
  const options = {signal: new AbortController().signal, total_ms: 9_000, idle_ms: 9_000}
  const sink = new Collected()
  const params = JSON.stringify({name: 'log', arguments: {words: 'hi'}, _meta: {traceparent: '00-1-2-01'}})
  const call = (log_level?: 'info') =>
    upstream.request({method: 'tools/call', params, client, ...(log_level && {log_level})}, sink, options)
  await call()
  expect(sink.methods).toEqual([])
  await call('info')
  expect(sink.methods).toEqual(['notifications/message'])
  expect(server.of('tools/call').at(-1)!.message!.params!._meta).toMatchObject({
    traceparent: '00-1-2-01',
    'io.modelcontextprotocol/clientInfo': {name: 'other'},
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/logLevel': 'info',
  })
})

test('35: progress of two callers with one token does not mix, and comes in order with their token', async () => {
  const [one, other] = [new Collected(), new Collected()]
  await Promise.all([
    callTool(upstream, 'slow', {steps: 20}, {sink: one, meta: '{"progressToken": 1e0}'}),
    callTool(upstream, 'slow', {steps: 10}, {sink: other, meta: '{"progressToken": 1e0}'}),
  ])
  expect(one.notifications.map(({params}) => params!.progress)).toEqual(Array.from({length: 20}, (_, at) => at + 1))
  expect(other.notifications.map(({params}) => params!.progress)).toEqual(Array.from({length: 10}, (_, at) => at + 1))
  expect(one.notifications[0]!.text).toContain('"progressToken":1e0')
})

test('K16: a call without a token has one upstream, and its progress is not passed on', async () => {
  const sink = new Collected()
  await callTool(upstream, 'slow', {steps: 3}, {sink})
  const {message} = server.of('tools/call').at(-1)!
  expect(message!.params!._meta!.progressToken).toBe(message!.id)
  expect(sink.notifications).toEqual([])
})

test('28: a cancelled request ends the reply upstream', async () => {
  const gone = new AbortController()
  const call = callTool(upstream, 'hold', {}, {signal: gone.signal})
  await server.state.whenHeld()
  gone.abort()
  expect((await faultIn(call)).name).toBe('AbortError')
  await expect.poll(() => server.state.cancelled).toBe(1)
  expect(server.of('notifications/cancelled')).toEqual([])
  expect(upstream.open_calls).toBe(0)
})

test('unknown methods and tools are answers, as the upstream gives them', async () => {
  expect((await ask(upstream, 'ping')).error?.code).toBe(-32601)
  expect((await callTool(upstream, 'no-such-tool')).error?.code).toBe(-32602)
})

test('38: a standing stream is acknowledged first, brings what it is for, and ends when it is closed', async () => {
  const kept = new Collected()
  const ends: (Error | null)[] = []
  const sink = {
    notification: kept.notification.bind(kept),
    ended: (fault: Error | null) => void ends.push(fault),
  }
  const filter = {toolsListChanged: true, resourceSubscriptions: ['note://one']}
  const listening = await upstream.listen(filter, sink)
  expect(listening.agreed).toEqual(filter)
  server.notify.toolsChanged()
  server.notify.promptsChanged()
  server.notify.resourceUpdated('note://one')
  server.notify.resourceUpdated('note://two')
  await expect.poll(() => kept.methods).toEqual(['notifications/tools/list_changed', 'notifications/resources/updated'])
  listening.close()
  listening.close()
  expect(ends).toEqual([null])
  await expect.poll(() => server.of('subscriptions/listen').at(-1)!.left).toBe(true)
})

test('a filter of all is what the upstream announces', async () => {
  const listening = await upstream.listen('all', {notification: () => undefined, ended: () => undefined})
  expect(listening.agreed).toEqual({toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true})
  listening.close()
})

test('a Hello that is still good needs no request', async () => {
  const before = server.requests.length
  const {upstream: other, finding} = await tests.open(server.url, {era: 'modern', hello: upstream.hello})
  expect(finding).toBeNull()
  expect(server.requests.length).toBe(before)
  expect(textIn(await callTool(other, 'echo', {text: 'x'}))).toBe('x')
})

test.each([
  [400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}'],
  [404, 'not found'],
  [400, '{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}}'],
])('33: a modern upstream that answers %i %s is to be probed again', async (status, body) => {
  const raw = await openRaw({other: answer => answer.status(status, body, 'application/json')})
  const {upstream: other} = await tests.open(raw.url, {era: 'modern', hello: upstream.hello})
  expect(await faultIn(callTool(other, 'echo'))).toBeInstanceOf(EraDisprovedFault)
  expect(raw.of('tools/call')).toHaveLength(1)
  await raw.close()
})

test.each([
  ['event', {}, /ended before the answer/],
  ['silence', {}, /did not answer within/],
])('a stream of %s without an answer is one fault', async kind => {
  const raw = await openRaw({
    other: answer => {
      answer.stream()
      if (kind === 'event') answer.event({jsonrpc: '2.0', method: 'notifications/message', params: {}}, {id: '1'}).end()
    },
  })
  const {upstream: other} = await tests.open(raw.url, {era: 'modern', hello: upstream.hello})
  const fault = await faultIn(callTool(other, 'echo', {}, {idle_ms: 100}))
  expect(fault.reason).toBe(kind === 'event' ? 'upstream_unreachable' : 'upstream_timeout')
  expect(raw.requests).toHaveLength(1)
  await raw.close()
})
