import {afterAll, afterEach, expect, test} from 'vitest'
import {SessionLostFault} from '../../../src/mcp/upstream/faults.ts'
import {openSse, type SseFixture, type SseOptions} from '../../support/mcp/sse-server.ts'
import {Collected, callTool, faultIn, type OpenTest, textIn, UpstreamTests} from '../../support/mcp/upstream.ts'
import {Timers} from '../../support/timers.ts'

const tests = new UpstreamTests()
const servers: SseFixture[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(each => each.close()))
})
afterAll(() => tests.close())

async function started(options: SseOptions = {}, more: OpenTest = {}) {
  const server = await openSse(options)
  servers.push(server)
  return {server, upstream: await tests.upstream(server.url, {transport: 'sse', ...more})}
}

test('answers, progress and log messages of the one stream reach their call', async () => {
  const {server, upstream} = await started()
  const [one, other] = [new Collected(), new Collected()]
  const meta = '{"progressToken":"t"}'
  const both = [
    callTool(upstream, 'slow', {text: 'a'}, {sink: one, meta}),
    callTool(upstream, 'slow', {text: 'b'}, {sink: other, meta}),
  ]
  expect((await Promise.all(both)).map(textIn)).toEqual(['a', 'b'])
  for (const {notifications} of [one, other])
    expect(notifications.map(({params}) => params)).toEqual([1, 2, 3].map(progress => ({progressToken: 't', progress})))
  expect(server.of('tools/call')[0]!.headers).toMatchObject({'mcp-protocol-version': '2024-11-05'})
  expect(upstream.session).toBeNull()
})

test('K2: a question belongs to the only call; with two it is refused', async () => {
  const {server, upstream} = await started({}, {declares: {roots: {}}})
  const sink = new Collected(({id}) => void upstream.answer(id, {result: '{"roots":[]}'}))
  const calls = [callTool(upstream, 'hold', {}, {sink})]
  await server.state.whenHeld()
  server.send({jsonrpc: '2.0', id: 'q1', method: 'roots/list'})
  await expect.poll(() => server.requests.some(({message}) => message?.id === 'q1' && message.result)).toBe(true)
  calls.push(callTool(upstream, 'hold', {}, {sink}))
  await server.state.whenHeld(2)
  server.send({jsonrpc: '2.0', id: 'q2', method: 'roots/list'})
  await expect.poll(() => server.requests.find(({message}) => message?.id === 'q2')?.message?.error?.code).toBe(-32601)
  expect(sink.questions).toHaveLength(1)
  expect(upstream.asks_outside).toBe(true)
  server.state.release()
  await Promise.all(calls)
})

test('a log message while one call runs is of that call; with a listener it is for that', async () => {
  const {server, upstream} = await started()
  const [sink, standing] = [new Collected(), new Collected()]
  const call = callTool(upstream, 'hold', {}, {sink})
  await server.state.whenHeld()
  const note = (data: string) => ({jsonrpc: '2.0', method: 'notifications/message', params: {level: 'info', data}})
  server.send(note('one'))
  await expect.poll(() => sink.notifications.map(({params}) => params!.data)).toEqual(['one'])
  await upstream.listen('all', {notification: message => standing.notification(message), ended: () => undefined})
  server.send(note('two'))
  await expect.poll(() => standing.notifications.map(({params}) => params!.data)).toEqual(['two'])
  server.state.release()
  await call
  expect(sink.notifications).toHaveLength(1)
})

test('a cancelled call is cancelled upstream, and the stream goes on', async () => {
  const {server, upstream} = await started()
  const gone = new AbortController()
  const fault = faultIn(callTool(upstream, 'hold', {}, {signal: gone.signal}))
  await server.state.whenHeld()
  gone.abort()
  expect((await fault).name).toBe('AbortError')
  await expect.poll(() => server.of('notifications/cancelled')).toHaveLength(1)
  expect(textIn(await callTool(upstream, 'echo', {text: 'x'}))).toBe('x')
})

test('the end of the stream is the end of the session: one fault each, and no call is sent again', async () => {
  const {server, upstream} = await started()
  const ended: (Error | null)[] = []
  await upstream.listen('all', {notification: () => undefined, ended: fault => void ended.push(fault)})
  const fault = faultIn(callTool(upstream, 'hold'))
  await server.state.whenHeld()
  server.end()
  expect(await fault).toMatchObject({reason: 'upstream_unreachable'})
  expect(upstream.is_lost).toBe(true)
  expect(await faultIn(callTool(upstream, 'hold'))).toBeInstanceOf(SessionLostFault)
  expect(server.of('tools/call')).toHaveLength(1)
  expect(ended).toEqual([expect.any(SessionLostFault)])
})

test.each<[string, NonNullable<SseOptions['endpoint']>]>([
  ['of another host', () => 'http://169.254.169.254/messages'],
  ['of another port', (usual, origin) => origin.replace(/\d+$/, '1') + usual],
  ['of another scheme', (usual, origin) => origin.replace('http:', 'https:') + usual],
  ['with a name and a password', (usual, origin) => origin.replace('//', '//a:b@') + usual],
  ['that is none', () => 'http://'],
])('49: an address for messages %s is refused, and nothing is sent there', async (_, endpoint) => {
  const server = await openSse({endpoint})
  servers.push(server)
  expect(await faultIn(tests.open(server.url, {transport: 'sse'}))).toMatchObject({reason: 'upstream_nonsense'})
  expect(server.requests.map(({method}) => method)).toEqual(['GET'])
  await expect.poll(() => server.requests[0]!.left).toBe(true)
})

test('an address of the same origin may be whole, or relative to the stream', async () => {
  for (const endpoint of [(usual: string, origin: string) => origin + usual, (usual: string) => usual.slice(1)]) {
    const {upstream} = await started({endpoint})
    expect(textIn(await callTool(upstream, 'echo', {text: 'x'}))).toBe('x')
  }
})

test('no address within five seconds is a fault', async () => {
  const server = await openSse({endpoint: () => null})
  servers.push(server)
  const timers = new Timers(0)
  const fault = faultIn(tests.open(server.url, {transport: 'sse', timers}))
  await expect.poll(() => server.requests).toHaveLength(1)
  await timers.pass(5_000, () => new Promise(setImmediate))
  expect(await fault).toMatchObject({reason: 'upstream_nonsense', message: expect.stringMatching(/5000 ms/)})
  await expect.poll(() => server.requests[0]!.left).toBe(true)
})

test('closing ends the stream', async () => {
  const {server, upstream} = await started()
  await upstream.close()
  await expect.poll(() => server.requests[0]!.left).toBe(true)
  expect(server.of('DELETE')).toEqual([])
})
