import {createServer, get, type IncomingMessage} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterEach, expect, test} from 'vitest'
import {ClientReply} from '../../../src/mcp/serve/client-reply.ts'
import {Timers} from '../../support/timers.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(() => Promise.all(closing.splice(0).map(close => close())))

/** A reply over a real connection, with a clock of its own. */
async function opened({may_stream = true} = {}) {
  const timers = new Timers(0)
  const {promise, resolve} = Promise.withResolvers<ClientReply>()
  const server = createServer((_, response) => resolve(new ClientReply(response, {...timers, may_stream, headers: {}})))
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const answered = Promise.withResolvers<IncomingMessage>()
  const request = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, answered.resolve)
  request.on('error', () => undefined)
  closing.push(async () => {
    request.destroy()
    server.closeAllConnections()
    await new Promise(done => server.close(done))
  })
  const reply = await promise
  let text = ''
  void answered.promise.then(response =>
    response.setEncoding('utf8').on('data', chunk => {
      text += chunk
    }),
  )
  return {reply, timers, answered: answered.promise, text: () => text}
}
const pass = (timers: Timers, ms: number) => timers.pass(ms, async () => undefined)

test('63, MC6: a stream has its headers and a first byte at once, and a comment every 15 s of silence', async () => {
  const {reply, timers, answered, text} = await opened()
  reply.open(2_000)
  const {statusCode, headers} = await answered
  expect([statusCode, headers['content-type'], headers['x-accel-buffering']]).toEqual([200, 'text/event-stream', 'no'])
  await expect.poll(text).toBe('retry: 2000\n\n')
  await pass(timers, 14_999)
  expect(text()).toBe('retry: 2000\n\n')
  await pass(timers, 25_001)
  await expect.poll(text).toBe('retry: 2000\n\n: quiet\n\n: quiet\n\n')
  reply.event('{"a":1}')
  await pass(timers, 14_999)
  await expect.poll(text).toMatch(/data: \{"a":1\}\n\n$/)
  await pass(timers, 1)
  await expect.poll(text).toMatch(/data: \{"a":1\}\n\n: quiet\n\n$/)
})

test('63, MC6: a reply that is not ready after 15 s becomes a stream; its answer is the last event', async () => {
  const {reply, timers, answered, text} = await opened()
  await pass(timers, 40_000)
  expect((await answered).headers['content-type']).toBe('text/event-stream')
  await expect.poll(text).toBe(': open\n\n: quiet\n\n')
  reply.end(200, '{"late":true}')
  await expect.poll(text).toBe(': open\n\n: quiet\n\nevent: message\ndata: {"late":true}\n\n')
  expect(timers.waiting).toBe(0)
})

test('a client that takes JSON alone waits, and gets its status', async () => {
  const {reply, timers, answered} = await opened({may_stream: false})
  await pass(timers, 600_000)
  expect(reply.is_stream).toBe(false)
  reply.end(504, '{}')
  expect((await answered).statusCode).toBe(504)
})
