import {afterAll, afterEach, expect, test} from 'vitest'
import {Egress} from '../../../src/base/egress/pools.ts'
import {SessionLostFault} from '../../../src/mcp/upstream/faults.ts'
import type {McpUpstream} from '../../../src/mcp/upstream/upstream.ts'
import {type LegacyFixture, type LegacyOptions, openLegacy} from '../../support/mcp/legacy-server.ts'
import {ask, Collected, callTool, faultIn, type OpenTest, textIn, UpstreamTests} from '../../support/mcp/upstream.ts'

const ASKED = {elicitation: {}, sampling: {}, roots: {}}
const tests = new UpstreamTests()
const servers: LegacyFixture[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(each => each.close()))
})
afterAll(() => tests.close())

async function started(options: LegacyOptions = {}, more: OpenTest = {}) {
  const server = await openLegacy(options)
  servers.push(server)
  return {server, ...(await tests.open(server.url, {era: 'legacy', ...more}))}
}

/** Answers each question of a call by its kind. */
function answering(upstream: McpUpstream): Collected {
  const answers: Readonly<Record<string, string>> = {
    'elicitation/create': '{"action":"accept","content":{"ok":true}}',
    'sampling/createMessage': '{"role":"assistant","content":{"type":"text","text":"yes"},"model":"m"}',
    'roots/list': '{"roots":[{"uri":"file:///a"}]}',
  }
  return new Collected(({id, method}) => void upstream.answer(id, {result: answers[method]!}))
}

test.each([{}, {json: true}, {sessions: 'stateless'}, {retry_ms: 10}] as const)(
  '14: what needs no question works against the SDK of the legacy revisions %j',
  async options => {
    const {upstream, finding} = await started(options)
    expect(finding).toBeNull()
    expect(upstream.hello).toMatchObject({protocol_version: '2025-11-25', server_info: {name: 'legacy-fixture'}})
    expect((await ask(upstream, 'tools/list')).result!.tools).toHaveLength(11)
    expect(textIn(await callTool(upstream, 'echo', {text: 'hä 𝄞'}))).toBe('hä 𝄞')
    expect((await callTool(upstream, 'fail')).result).toMatchObject({isError: true})
    expect((await ask(upstream, 'prompts/get', {name: 'greet', arguments: {name: 'Ada'}})).result).toMatchObject({
      messages: [{content: {text: 'Greet Ada'}}],
    })
    expect((await ask(upstream, 'resources/read', {uri: 'page://2'})).result).toMatchObject({
      contents: [{text: 'page 2'}],
    })
    const ref = {type: 'ref/resource', uri: 'page://{number}'}
    const argument = {name: 'number', value: ''}
    expect((await ask(upstream, 'completion/complete', {ref, argument})).result).toMatchObject({
      completion: {values: ['1', '2']},
    })
    expect((await ask(upstream, 'logging/setLevel', {level: 'debug'})).result).toEqual({})
    expect((await ask(upstream, 'no/method')).error?.code).toBe(-32601)
  },
)

test('standing streams take no connection from calls', async () => {
  const narrow = new UpstreamTests(new Egress({connections: 1}))
  const server = await openLegacy()
  servers.push(server)
  const open = () => narrow.upstream(server.url, {era: 'legacy', declares: ASKED})
  for (const upstream of [await open(), await open(), await open()])
    expect(textIn(await callTool(upstream, 'echo', {text: 'x'}))).toBe('x')
  await expect.poll(() => server.of('GET')).toHaveLength(3)
  await narrow.close()
})

test('54: a session is begun once, and ends with DELETE; its id and version are in all that follows', async () => {
  const {server, upstream} = await started()
  for (let calls = 0; calls < 20; calls++) await callTool(upstream, 'count')
  expect(server.state.runs('count')).toBe(20)
  expect(server.connections()).toBeLessThanOrEqual(3)
  expect(server.of('initialize')).toHaveLength(1)
  const {id} = upstream.session!
  expect(server.of('tools/call').every(({headers}) => headers['mcp-session-id'] === id)).toBe(true)
  expect(server.of('tools/call')[0]!.headers).toMatchObject({'mcp-protocol-version': '2025-11-25'})
  expect(server.of('GET')).toEqual([])
  await upstream.close()
  expect(server.of('DELETE')).toHaveLength(1)
  expect(server.sessions.size).toBe(0)
  expect((await faultIn(callTool(upstream, 'count'))).name).toBe('AbortError')
})

test.each(['call', 'stream'] as const)('14, 64: questions on the stream of the %s reach their call', async asks_on => {
  const {server, upstream} = await started({asks_on}, {declares: ASKED})
  const sink = answering(upstream)
  expect(textIn(await callTool(upstream, 'ask', {}, {sink}))).toBe('accept {"ok":true}')
  expect(textIn(await callTool(upstream, 'sample', {}, {sink}))).toBe('{"type":"text","text":"yes"}')
  expect(textIn(await callTool(upstream, 'roots', {}, {sink}))).toBe('file:///a')
  expect(sink.questions.map(({method}) => method)).toEqual([
    'elicitation/create',
    'sampling/createMessage',
    'roots/list',
  ])
  expect(server.state.runs('ask')).toBe(1)
  expect(upstream.asks_outside).toBe(asks_on === 'stream')
  const order = server.requests.map(({method, message}) => message?.method ?? method)
  expect(order.slice(0, 4)).toEqual(['initialize', 'notifications/initialized', 'GET', 'tools/call'])
})

test('K2: with two calls in the session a question on its own stream is refused; neither call gets it', async () => {
  const {server, upstream} = await started({asks_on: 'stream'}, {declares: ASKED})
  const [held, asking] = [new Collected(), new Collected()]
  const other = callTool(upstream, 'hold', {}, {sink: held})
  await server.state.whenHeld()
  expect(textIn(await callTool(upstream, 'ask', {}, {sink: asking}))).toBe('decline null')
  expect((await callTool(upstream, 'roots', {}, {sink: asking})).result).toMatchObject({isError: true})
  expect([held.questions, asking.questions]).toEqual([[], []])
  server.state.release()
  await other
})

test('K2: a question while no call runs is refused at once; a ping is answered', async () => {
  const {server, upstream} = await started({}, {declares: ASKED})
  await ask(upstream, 'tools/list')
  const {server: sdk} = [...server.sessions.values()][0]!
  await expect.poll(() => server.of('GET')).toHaveLength(1)
  expect(await sdk.server.ping()).toEqual({})
  const schema = {type: 'object' as const, properties: {}}
  expect(await sdk.server.elicitInput({message: 'x', requestedSchema: schema})).toEqual({action: 'decline'})
  await expect(sdk.server.listRoots()).rejects.toMatchObject({code: -32601})
})

test('a question of a kind that the client did not declare is refused, and its call goes its way', async () => {
  const {upstream} = await started({}, {declares: {elicitation: {}}})
  const sink = new Collected()
  expect((await callTool(upstream, 'roots', {}, {sink})).result).toMatchObject({isError: true})
  expect(sink.questions).toEqual([])
})

test('35, K16: progress has the token of the caller, in order; without one there is none', async () => {
  const {server, upstream} = await started()
  const [one, other, none] = [new Collected(), new Collected(), new Collected()]
  await Promise.all([
    callTool(upstream, 'slow', {steps: 20}, {sink: one, meta: '{"progressToken":"t","a":1}'}),
    callTool(upstream, 'slow', {steps: 10}, {sink: other, meta: '{"progressToken":"t"}'}),
    callTool(upstream, 'slow', {steps: 5}, {sink: none}),
  ])
  expect(one.notifications.map(({params}) => params)).toEqual(
    Array.from({length: 20}, (_, at) => ({progressToken: 't', progress: at + 1, total: 20})),
  )
  expect(other.notifications).toHaveLength(10)
  expect(none.notifications).toEqual([])
  const sent = server.of('tools/call').map(({message}) => message!)
  expect(sent.map(({id, params}) => params!._meta!.progressToken === id)).toEqual([true, true, true])
  expect(sent[0]!.params!._meta!.a).toBe(1)
})

test('28: a cancelled request is cancelled upstream under its id there, and the session goes on', async () => {
  const {server, upstream} = await started()
  const gone = new AbortController()
  const call = callTool(upstream, 'hold', {}, {signal: gone.signal})
  await server.state.whenHeld()
  gone.abort()
  expect((await faultIn(call)).name).toBe('AbortError')
  await expect.poll(() => server.state.cancelled).toBe(1)
  const {id} = server.of('tools/call')[0]!.message!
  expect(server.of('notifications/cancelled')[0]!.message!.params).toMatchObject({requestId: id})
  expect(textIn(await callTool(upstream, 'echo', {text: 'x'}))).toBe('x')
})

test('a request that was cancelled before it left is not sent', async () => {
  const {server, upstream} = await started()
  const fault = await faultIn(callTool(upstream, 'count', {}, {signal: AbortSignal.abort()}))
  expect(fault.name).toBe('AbortError')
  expect(server.of('tools/call')).toEqual([])
})

test('31: a session that is gone is said to be, with the tool not run, and stays so', async () => {
  const {server, upstream} = await started()
  server.forget()
  expect(await faultIn(callTool(upstream, 'count'))).toBeInstanceOf(SessionLostFault)
  expect(upstream.is_lost).toBe(true)
  expect(await faultIn(callTool(upstream, 'count'))).toBeInstanceOf(SessionLostFault)
  expect(server.of('tools/call')).toHaveLength(1)
  expect(server.state.runs('count')).toBe(0)
})

test('59: a session is gone on with by its id, without a handshake', async () => {
  const {server, upstream} = await started()
  const session = upstream.session!
  const {upstream: next, finding} = await tests.open(server.url, {session})
  expect(finding).toBeNull()
  expect(textIn(await callTool(next, 'echo', {text: 'x'}))).toBe('x')
  expect(server.of('initialize')).toHaveLength(1)
  const elsewhere = await tests.upstream(server.url, {session: {...session, url: 'http://127.0.0.1:1/mcp'}})
  expect(elsewhere.url).toBe(server.url)
})

test('32: an upstream that dies in a call is one fault, and the tool is not run again', async () => {
  const {server, upstream} = await started()
  const call = callTool(upstream, 'hold')
  await server.state.whenHeld()
  server.cut()
  expect(await faultIn(call)).toMatchObject({reason: 'upstream_unreachable'})
  expect(server.state.runs('hold')).toBe(1)
})

test('an early end of a stream is followed by GET behind its last event, and the call is sent once', async () => {
  const {server, upstream} = await started({retry_ms: 60})
  const sink = new Collected()
  const begun_ms = performance.now()
  expect(textIn(await callTool(upstream, 'early', {}, {sink}))).toBe('late')
  expect(performance.now() - begun_ms).toBeGreaterThanOrEqual(60)
  expect(sink.notifications.map(({params}) => params!.data)).toEqual(['before', 'after'])
  expect(server.state.runs('early')).toBe(1)
  expect(server.of('GET').map(({headers}) => headers['last-event-id'])).toEqual([expect.stringMatching(/^e\d+$/)])
})

test('listeners get changes and the resources that they subscribed to; subscriptions are counted', async () => {
  const {server, upstream} = await started()
  const [one, other] = [new Collected(), new Collected()]
  const ended: string[] = []
  const sinkOf = (kept: Collected, name: string) => ({
    notification: kept.notification.bind(kept),
    ended: (fault: Error | null) => void ended.push(`${name} ${fault}`),
  })
  const filter = {toolsListChanged: true, resourceSubscriptions: ['note://one', 'note://one']}
  const first = await upstream.listen(filter, sinkOf(one, 'first'))
  const second = await upstream.listen({resourceSubscriptions: ['note://one']}, sinkOf(other, 'second'))
  const all = await upstream.listen('all', sinkOf(new Collected(), 'all'))
  expect(first.agreed).toEqual({toolsListChanged: true, resourceSubscriptions: ['note://one']})
  expect(all.agreed).toEqual({toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true})
  expect(server.of('resources/subscribe')).toHaveLength(1)
  const {server: sdk} = [...server.sessions.values()][0]!
  sdk.sendToolListChanged()
  await sdk.server.sendResourceUpdated({uri: 'note://one'})
  await sdk.server.sendResourceUpdated({uri: 'note://two'})
  await expect.poll(() => one.methods).toEqual(['notifications/tools/list_changed', 'notifications/resources/updated'])
  expect(other.methods).toEqual(['notifications/resources/updated'])
  expect(server.of('GET')).toHaveLength(1)
  first.close()
  expect(server.of('resources/unsubscribe')).toEqual([])
  second.close()
  await expect.poll(() => server.of('resources/unsubscribe')).toHaveLength(1)
  await upstream.close()
  expect(ended).toEqual(['first null', 'second null', 'all null'])
})

test('closing ends what is open, and the session, within a second', async () => {
  const {server, upstream} = await started({}, {declares: ASKED})
  const call = callTool(upstream, 'hold')
  await server.state.whenHeld()
  const fault = faultIn(call)
  const begun_ms = performance.now()
  await upstream.close()
  expect(performance.now() - begun_ms).toBeLessThan(1_000)
  expect(await fault).toMatchObject({reason: 'upstream_unreachable', facts: {deadline: 'drain'}})
  await upstream.close()
  expect(server.of('DELETE')).toHaveLength(1)
})
