import {once} from 'node:events'
import type {ServerResponse} from 'node:http'
import {connect} from 'node:net'
import {afterEach, beforeEach, describe, expect, onTestFinished, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway

beforeEach(async () => {
  provider = await fakeProvider(answerEach)
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('mock', 'openai', provider.url)
})

afterEach(async () => {
  await gateway.close()
  await provider.close()
})

const CONFIG = JSON.stringify({provider: '@mock', cache: {mode: 'simple', max_age: 3600}})
const ask = (content = 'Hello', more: object = {}, headers: Record<string, string> = {}) =>
  gateway.chat(
    {model: 'gpt-4o-mini', messages: [{role: 'user', content}], ...more},
    {'x-gateway-config': CONFIG, ...headers},
  )
const status = (reply: Response) => reply.headers.get('x-gateway-cache-status')

/** Every answer is another one; a stream where one is asked for. */
let answers = 0
function answerEach({body}: {body: Buffer}, response: ServerResponse) {
  const {stream, model} = JSON.parse(body.toString()) as {stream?: boolean; model: string}
  const text = `answer ${++answers}`
  if (!stream) return response.setHeader('content-type', 'application/json').end(JSON.stringify(chatReply(model, text)))
  response.setHeader('content-type', 'text/event-stream')
  const chunk = (delta: object, finish_reason: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{index: 0, delta, finish_reason}]})}\n\n`,
    )
  chunk({role: 'assistant', content: text.slice(0, 3)})
  chunk({content: text.slice(3)})
  chunk({}, 'stop')
  response.end('data: [DONE]\n\n')
}

const contentOf = async (reply: Response) =>
  ((await reply.json()) as {choices: {message: {content: string}}[]}).choices[0]!.message.content
const streamed = async (reply: Response) => {
  const text = await reply.text()
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  return text
    .split('\n\n')
    .filter(event => event.startsWith('data: {'))
    .map(
      event =>
        (JSON.parse(event.slice(6)) as {choices: {delta?: {content?: string}}[]}).choices[0]?.delta?.content ?? '',
    )
    .join('')
}

test('what was asked before is answered from the cache, costs nothing, and is logged so; a refresh asks anew', async () => {
  const first = await ask()
  expect(status(first)).toBe('MISS')
  const said = await contentOf(first)
  const second = await ask()
  expect([status(second), await contentOf(second), second.headers.get('content-type')]).toEqual([
    'HIT',
    said,
    'application/json',
  ])
  const third = await ask('Hello', {}, {'x-gateway-cache-force-refresh': 'true'})
  expect(status(third)).toBe('REFRESH')
  const fresh = await contentOf(third)
  expect(fresh).not.toBe(said)
  expect(await contentOf(await ask())).toBe(fresh)
  expect(provider.received).toHaveLength(2)
  const rows = await gateway.logs()
  expect(rows.map(({cache_status}) => cache_status)).toEqual(['HIT', 'REFRESH', 'HIT', 'MISS'])
  expect(rows.map(({cost}) => Number(cost) > 0)).toEqual([false, true, false, true])
})

test('metadata, the model and every parameter are another answer; a namespace stands for the metadata', async () => {
  const miss = async (...of: Parameters<typeof ask>) => status(await ask(...of))
  expect(await miss()).toBe('MISS')
  expect(await miss('Hello', {}, {'x-gateway-metadata': '{"team":"a"}'})).toBe('MISS')
  expect(await miss('Hello', {temperature: 0.1})).toBe('MISS')
  expect(await miss('Hello', {model: 'gpt-4o'})).toBe('MISS')
  expect(await miss()).toBe('HIT')
  const named = (team: string) =>
    miss('Hello', {}, {'x-gateway-cache-namespace': 'n', 'x-gateway-metadata': `{"team":"${team}"}`})
  expect([await named('a'), await named('b')]).toEqual(['MISS', 'HIT'])
  expect(await miss('Hello', {}, {'x-gateway-debug': 'false'})).toBe('DISABLED')
})

test('a stored answer is told as a stream, and a stream is stored whole', async () => {
  const said = await contentOf(await ask('one'))
  const replayed = await ask('one', {stream: true})
  expect([status(replayed), await streamed(replayed)]).toEqual(['HIT', said])
  const first = await ask('two', {stream: true})
  expect(status(first)).toBe('MISS')
  const text = await streamed(first)
  const whole = await ask('two')
  expect([status(whole), await contentOf(whole)]).toEqual(['HIT', text])
  expect(provider.received).toHaveLength(2)
})

describe('a credential that the caller brings', () => {
  const right = 'sk-right-0123456789'
  const own = (more: object) => ({
    'x-gateway-config': JSON.stringify({cache: {mode: 'simple', max_age: 3600}, ...more}),
  })
  const host = () => ({'x-gateway-custom-host': provider.url})
  const inConfig = (api_key: string) => own({provider: 'openai', custom_host: provider.url, api_key})
  // how a caller brings one, with what else it sends
  const ways: readonly (readonly [string, (key: string) => Record<string, string>])[] = [
    ['as Authorization', key => ({...own({provider: 'openai'}), ...host(), authorization: `Bearer ${key}`})],
    ['as x-api-key', key => ({...own({provider: 'openai'}), ...host(), 'x-api-key': key})],
    ['in its config', key => inConfig(key)],
    [
      'as a header that is forwarded',
      key => ({
        'x-gateway-config': CONFIG,
        'x-gateway-forward-headers': 'authorization',
        authorization: `Bearer ${key}`,
      }),
    ],
    [
      'as a header of the provider',
      key => ({...own({provider: '@mock'}), 'x-gateway-forward-headers': 'x-goog-api-key', 'x-goog-api-key': key}),
    ],
    ['as a cookie', key => ({...own({provider: '@mock', forward_headers: ['cookie']}), cookie: `session=${key}`})],
    [
      'as an option of the provider',
      key => ({
        ...own({provider: 'azure-openai'}),
        ...host(),
        'x-gateway-azure-ad-token': key,
        'x-gateway-azure-deployment-id': 'd',
        'x-gateway-azure-api-version': '2024-10-21',
      }),
    ],
  ]
  /** Lets in who brings the right one, in whatever header. */
  const letsIn = (received: {headers: object; body: Buffer}, response: ServerResponse) => {
    if (JSON.stringify(received.headers).includes(right)) return answerEach(received, response)
    response
      .writeHead(401, {'content-type': 'application/json'})
      .end(JSON.stringify({error: {message: 'wrong key', type: 'invalid_request_error'}}))
  }

  test('parts answers, however it is brought: what another paid for is not given to a wrong one', async () => {
    provider.answer(letsIn)
    for (const [name, way] of ways) {
      for (const namespace of [{}, {'x-gateway-cache-namespace': 'shared'}] as Record<string, string>[]) {
        const asked = async (key: string) => {
          const reply = await ask(`mine, ${name}`, {}, {...way(key), ...namespace})
          return [name, reply.status, status(reply)]
        }
        expect(await asked(right)).toEqual([name, 200, 'MISS'])
        expect(await asked(right)).toEqual([name, 200, 'HIT'])
        expect(await asked('sk-wrong-9876543210')).toEqual([name, 401, 'MISS'])
      }
    }
    expect(JSON.stringify(await gateway.logs())).not.toContain(right)
  })

  test('two that ask the same at once with different ones make a call each', async () => {
    const gate = Promise.withResolvers<void>()
    provider.answer(async (received, response) => {
      await gate.promise
      letsIn(received, response)
    })
    const asked = [right, 'sk-wrong-9876543210', right].map(key => ask('together', {}, inConfig(key)))
    await expect.poll(() => provider.received.length, {timeout: 10_000}).toBe(2)
    gate.resolve()
    expect((await Promise.all(asked)).map(({status}) => status)).toEqual([200, 401, 200])
  })

  test('that of a managed provider is no part of it: all who may use the provider share its answers', async () => {
    const shared = {'x-gateway-config': CONFIG}
    expect(status(await ask('shared', {}, shared))).toBe('MISS')
    expect(status(await ask('shared', {}, {...shared, authorization: 'Bearer sk-is-not-used-0123456789'}))).toBe('HIT')
  })
})

test('a hundred that ask the same at once make one call, also when the first of them leaves', async () => {
  const gate = Promise.withResolvers<void>()
  provider.answer(async (received, response) => {
    await gate.promise
    answerEach(received, response)
  })
  const leaving = new AbortController()
  const first = gateway
    .call('/v1/chat/completions', {
      method: 'POST',
      signal: leaving.signal,
      headers: {'content-type': 'application/json', 'x-gateway-config': CONFIG},
      body: JSON.stringify({model: 'gpt-4o-mini', messages: [{role: 'user', content: 'same'}]}),
    })
    .catch(() => 'left')
  await expect.poll(() => provider.received.length, {timeout: 10_000}).toBe(1)
  const others = Array.from({length: 99}, () => ask('same'))
  // They are served by this very process: after so many turns of its loop all of them are at the cache.
  for (let turn = 0; turn < 3000; turn++) await new Promise(resolve => setImmediate(resolve))
  leaving.abort()
  expect(await first).toBe('left')
  gate.resolve()
  const said = await Promise.all(others.map(async other => contentOf(await other)))
  expect(new Set(said).size).toBe(1)
  expect(provider.received).toHaveLength(1)
})

test('when the first of many leaves and its call then fails, one of those that wait asks again, not each of them', async () => {
  const gate = Promise.withResolvers<void>()
  let calls = 0
  provider.answer(async (received, response) => {
    calls++
    if (calls > 1) return answerEach(received, response)
    await gate.promise
    response.writeHead(500, {'content-type': 'application/json'}).end('{"error":{"message":"no"}}')
  })
  const config = JSON.stringify({
    provider: '@mock',
    cache: {mode: 'simple', max_age: 3600},
    retry: {attempts: 2, on_status_codes: [500]},
  })
  const leaving = new AbortController()
  const asked = {model: 'gpt-4o-mini', messages: [{role: 'user', content: 'retried'}]}
  const first = gateway
    .call('/v1/chat/completions', {
      method: 'POST',
      signal: leaving.signal,
      headers: {'content-type': 'application/json', 'x-gateway-config': config},
      body: JSON.stringify(asked),
    })
    .catch(() => 'left')
  await expect.poll(() => provider.received.length, {timeout: 10_000}).toBe(1)
  const others = Array.from({length: 20}, () => ask('retried', {}, {'x-gateway-config': config}))
  for (let turn = 0; turn < 1000; turn++) await new Promise(resolve => setImmediate(resolve))
  leaving.abort()
  expect(await first).toBe('left')
  for (let turn = 0; turn < 100; turn++) await new Promise(resolve => setImmediate(resolve))
  gate.resolve()
  const said = await Promise.all(others.map(async other => contentOf(await other)))
  expect(new Set(said).size).toBe(1)
  expect(provider.received).toHaveLength(2)
})

test.each([0, 1, 2])(
  'of seven that ask the same at once, %i fail: each time one of those that wait asks again',
  async failing => {
    const gate = Promise.withResolvers<void>()
    let calls = 0
    provider.answer(async (received, response) => {
      const fails = ++calls <= failing
      await gate.promise
      if (!fails) return answerEach(received, response)
      response.writeHead(500, {'content-type': 'application/json'}).end('{"error":{"message":"no"}}')
    })
    const words = `seven, ${failing}`
    const all = Array.from({length: 7}, () => ask(words))
    await expect.poll(() => provider.received.length, {timeout: 10_000}).toBe(1)
    for (let turn = 0; turn < 1000; turn++) await new Promise(resolve => setImmediate(resolve))
    gate.resolve()
    const statuses = (await Promise.all(all)).map(({status}) => status)
    expect(statuses.toSorted()).toEqual([...Array(7 - failing).fill(200), ...Array(failing).fill(500)])
    expect(provider.received).toHaveLength(failing + 1)
  },
)

test('a caller that asks for a stream and then reads nothing holds up nobody who asks the same', async () => {
  const word = 'a word '
  const words = 40_000
  const asked = Promise.withResolvers<void>()
  provider.answer(async (_, response) => {
    response.setHeader('content-type', 'text/event-stream')
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices: [{index: 0, delta, finish_reason}]})}\n\n`
    const many = chunk({content: word}).repeat(100)
    response.write(chunk({role: 'assistant', content: ''}))
    await asked.promise
    for (let n = 0; n < words / 100; n++) if (!response.write(many)) await once(response, 'drain')
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
  })
  const body = JSON.stringify({model: 'gpt-4o-mini', messages: [{role: 'user', content: 'long'}], stream: true})
  const stalled = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  onTestFinished(() => void stalled.destroy())
  stalled.pause()
  stalled.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nx-gateway-api-key: ${WORKSPACE_KEY}\r\nx-gateway-config: ${CONFIG}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  await expect.poll(() => provider.received.length, {timeout: 10_000}).toBe(1)
  const other = ask('long')
  for (let turn = 0; turn < 1000; turn++) await new Promise(resolve => setImmediate(resolve))
  asked.resolve()
  expect(await contentOf(await other)).toBe(word.repeat(words))
  expect(provider.received).toHaveLength(1)
})

test('with debug off nothing is kept of a call, and a form is never answered from the cache', async () => {
  const off = {'x-gateway-debug': 'false'}
  const replies = [await ask('quiet', {}, off), await ask('quiet', {}, off)]
  expect(replies.map(status)).toEqual(['DISABLED', 'DISABLED'])
  const [row] = await gateway.logs()
  const shown = await gateway.admin<{request: object; response: object}>('GET', `/logs/${row!.id}`)
  expect([Object.hasOwn(shown.request, 'body'), Object.hasOwn(shown.response, 'body')]).toEqual([false, false])
  provider.answer((_, response) =>
    response.setHeader('content-type', 'application/json').end('{"created":1,"data":[]}'),
  )
  const edit = () => {
    const form = new FormData()
    form.set('model', 'gpt-image-1')
    form.set('prompt', 'a cat')
    form.set('image', new Blob(['x']), 'cat.png')
    return gateway.call('/v1/images/edits', {method: 'POST', body: form, headers: {'x-gateway-config': CONFIG}})
  }
  expect([status(await edit()), status(await edit())]).toEqual(['DISABLED', 'DISABLED'])
})

test('of a stream that a retry brought all is kept, and nothing of what failed before it', async () => {
  const config = {provider: '@mock', retry: {attempts: 1, on_status_codes: [503]}, cache: {mode: 'simple'}}
  const headers = {'x-gateway-config': JSON.stringify(config)}
  let calls = 0
  provider.answer((request, response) => {
    if (++calls > 1) return answerEach(request, response)
    response.statusCode = 503
    response.setHeader('content-type', 'application/json').end('{"error":{"message":"busy"}}')
  })
  const text = await streamed(await ask('Hello', {stream: true}, headers))
  expect(text).toMatch(/^answer \d+$/)
  const kept = await ask('Hello', {}, headers)
  expect([calls, status(kept), await contentOf(kept)]).toEqual([2, 'HIT', text])
})

test('an error is not kept', async () => {
  provider.answer((_, response) => response.writeHead(500).end('{"error":{"message":"no"}}'))
  expect((await ask()).status).toBe(500)
  provider.answer(answerEach)
  expect(status(await ask())).toBe('MISS')
})
