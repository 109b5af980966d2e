import {once} from 'node:events'
import {request as httpRequest, type ServerResponse} from 'node:http'
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {chatEvents, type FakeProvider, fakeProvider, openaiLike} from '../support/provider.ts'

let gateway: TestGateway
let provider: FakeProvider

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({UPSTREAM_IDLE_TIMEOUT_MS: '300'})
  await gateway.provider('loop', 'openai', provider.url)
})
beforeEach(() => {
  provider.answer(openaiLike)
  provider.received.length = 0
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const asked = (more = {}) => ({model: 'gpt-4o-mini', stream: true, messages: [{role: 'user', content: 'hi'}], ...more})
const AT_LOOP = {'x-gateway-provider': '@loop'}
const events = chatEvents('gpt-4o-mini')

/** Answers with the head of a stream, and hands the rest to the test. */
function held(): Promise<ServerResponse> {
  return new Promise(resolve => {
    provider.answer((_, response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'})
      response.flushHeaders()
      resolve(response)
    })
  })
}

function open(body: object, headers: Record<string, string> = AT_LOOP) {
  const request = httpRequest(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {'x-gateway-api-key': WORKSPACE_KEY, 'content-type': 'application/json', ...headers},
  })
  request.on('error', () => undefined)
  request.end(JSON.stringify(body))
  return request
}

test('each event reaches the client when the provider says it', async () => {
  const upstream = held()
  const request = open(asked())
  const [response] = await once(request, 'response')
  const provided = await upstream
  for (const event of events.slice(0, -1)) {
    provided.write(event)
    const [chunk] = await once(response, 'data')
    expect(String(chunk)).toBe(event)
  }
  const ended = once(response, 'end')
  const said = once(response, 'data')
  provided.end(events.at(-1))
  expect(String(await said)).toBe('data: [DONE]\n\n')
  await ended
})

test('a client that leaves ends the call at the provider, and what it used is charged as partial', async () => {
  const upstream = held()
  const request = open(asked())
  const [response] = await once(request, 'response')
  const provided = await upstream
  provided.write(events.slice(0, 3).join(''))
  await once(response, 'data')
  const closed = once(provided, 'close')
  request.destroy()
  await closed
  await expect.poll(async () => (await gateway.logs())[0]).toMatchObject({stream_mode: 1, ai_model: 'gpt-4o-mini'})
  const [row] = await gateway.logs()
  expect(row!.total_units).toBeGreaterThan(0)
})

test('a provider that dies in the middle is told of in the stream, on a boundary of its events', async () => {
  const upstream = held()
  const request = open(asked())
  const [response] = await once(request, 'response')
  const provided = await upstream
  provided.write(`${events[0]}data: {"half":`)
  await once(response, 'data')
  provided.destroy()
  let text = ''
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await once(response, 'end')
  const last = text.split('\n\n').filter(Boolean).at(-1)!
  expect(JSON.parse(last.replace(/^data: /, ''))).toMatchObject({error: {type: 'connection_error'}})
  expect(text).not.toContain('[DONE]')
})

test('a stream of a length that its provider does not keep has its end all the same', async () => {
  provider.answer((_, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream', 'content-length': '5000'})
    response.write(events[0])
  })
  const text = await (await gateway.chat(asked(), AT_LOOP)).text()
  expect(text).toContain('"type":"timeout_error"')
})

test('a silence inside an answer longer than the limit ends it', async () => {
  const upstream = held()
  const request = open(asked())
  const [response] = await once(request, 'response')
  ;(await upstream).write(events[0])
  let text = ''
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await once(response, 'end')
  expect(text).toContain('"type":"timeout_error"')
})

test('a request timeout ends an attempt with 408, also before the first event of a stream', async () => {
  provider.answer(() => undefined)
  const reply = await gateway.chat({...asked(), stream: false}, {...AT_LOOP, 'x-gateway-request-timeout': '50'})
  expect([reply.status, ((await reply.json()) as {error: {type: string}}).error.type]).toEqual([408, 'timeout_error'])
  expect((await gateway.logs())[0]).toMatchObject({response_status_code: 408, unanswered: true, res_units: 0})
})

test('metered: usage is asked for, counted, and taken out of what the client sees', async () => {
  const metering = await startGateway({STREAM_USAGE: 'metered'})
  await metering.provider('loop', 'openai', provider.url)
  const text = await (await metering.chat(asked(), AT_LOOP)).text()
  expect(JSON.parse(provider.received[0]!.body.toString()).stream_options).toEqual({include_usage: true})
  expect(text).toBe(events.filter(event => !event.includes('"usage"')).join(''))
  expect((await metering.logs())[0]).toMatchObject({total_units: 17})
  const own = await (await metering.chat(asked({stream_options: {include_usage: true}}), AT_LOOP)).text()
  expect(own).toBe(events.join(''))
  await metering.close()
})

test('exact: without usage from the provider it is estimated, and said so', async () => {
  const text = await (await gateway.chat(asked(), AT_LOOP)).text()
  expect(text).toBe(chatEvents('gpt-4o-mini', {usage: false}).join(''))
  const [row] = await gateway.logs()
  expect(row!.total_units).toBeGreaterThan(0)
})

test('a slow client slows the provider down instead of filling memory', async () => {
  const upstream = held()
  const request = open(asked())
  const [response] = await once(request, 'response')
  response.pause()
  const provided = await upstream
  const block = `data: ${JSON.stringify({choices: [{index: 0, delta: {content: 'x'.repeat(60_000)}}]})}\n\n`
  let written = 0
  while (provided.write(block) && written < 2000) written++
  for (let stalled = false; !stalled && written < 2000; ) {
    stalled = !(await Promise.race([
      once(provided, 'drain').then(() => true),
      new Promise<boolean>(resolve => setTimeout(resolve, 250, false)),
    ]))
    while (!stalled && provided.write(block) && written < 2000) written++
    written++
  }
  expect(written).toBeLessThan(2000)
  response.resume()
  provided.end(events.at(-1))
  await once(response, 'end')
})

test('the demo provider echoes, streamed and not, at no cost', async () => {
  const whole = (await (
    await gateway.chat({...asked(), stream: false, model: 'echo'}, {'x-gateway-provider': '@demo'})
  ).json()) as {
    choices: {message: {content: string}}[]
  }
  expect(whole.choices[0]!.message.content).toContain('hi')
  const text = await (await gateway.chat({...asked(), model: 'echo'}, {'x-gateway-provider': '@demo'})).text()
  expect(text).toMatch(/data: \[DONE\]\n\n$/)
  expect((await gateway.logs())[0]).toMatchObject({cost: 0, ai_org: 'demo'})
})

test('a drain waits for streams under way and settles them', async () => {
  const closing = await startGateway()
  await closing.provider('loop', 'openai', provider.url)
  const upstream = held()
  const reply = await closing.chat(asked(), AT_LOOP)
  const provided = await upstream
  provided.write(events[0])
  const drained = closing.app.drain()
  provided.end(events.slice(1).join(''))
  expect(await reply.text()).toBe(events.join(''))
  await drained
  await closing.close()
})
