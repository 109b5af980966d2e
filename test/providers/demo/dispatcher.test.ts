import {Readable} from 'node:stream'
import type {Dispatcher} from 'undici'
import {expect, test} from 'vitest'
import {EchoDispatcher} from '../../../src/providers/demo/dispatcher.ts'
import {demo} from '../../../src/providers/demo/index.ts'
import {observeStream} from '../../../src/providers/openai/observe.ts'
import type {EndpointName} from '../../../src/schema/endpoints.ts'

const ORIGIN = 'https://demo.invalid'
const dispatcher = () => new EchoDispatcher(() => ({id: 'one', created: 1_700_000_000}))

async function post(path: string, body: unknown) {
  const reply = await dispatcher().request({origin: ORIGIN, path, method: 'POST', body: JSON.stringify(body)})
  return {status: reply.statusCode, headers: reply.headers, text: await reply.body.text()}
}

async function postJson(path: string, body: unknown) {
  const reply = await post(path, body)
  expect(reply.headers['content-length']).toBe(String(Buffer.byteLength(reply.text)))
  return {status: reply.status, body: JSON.parse(reply.text)}
}

const messages = [
  {role: 'system', content: 'Be kind.'},
  {role: 'user', content: [{type: 'text', text: 'Grüß'}, {type: 'image_url'}, {type: 'text', text: 'Gott'}]},
  {role: 'assistant', content: null},
]

test('a chat is answered with what the user said last, and says that it is an echo', async () => {
  const {status, body} = await postJson('/v1/chat/completions?x=1', {model: 'anything', messages})
  expect(status).toBe(200)
  expect(body).toMatchObject({id: 'chatcmpl-one', object: 'chat.completion', created: 1_700_000_000, model: 'anything'})
  const {message, finish_reason} = body.choices[0]
  expect({...message, finish_reason}).toEqual({
    role: 'assistant',
    content: 'This is an echo, no model was asked. You said: Grüß  Gott',
    refusal: null,
    finish_reason: 'stop',
  })
  const {prompt_tokens, completion_tokens, total_tokens} = body.usage
  expect(prompt_tokens).toBeGreaterThan(0)
  expect(total_tokens).toBe(prompt_tokens + completion_tokens)
})

test.each<[EndpointName, string, object]>([
  ['chatComplete', '/chat/completions', {messages, stream_options: {include_usage: true}}],
  ['complete', '/completions', {prompt: 'one two three', stream_options: {include_usage: true}}],
  ['createModelResponse', '/v1/responses', {input: [{role: 'user', content: [{type: 'input_text', text: 'one two'}]}]}],
])('%s streams the same answer as it gives whole', async (endpoint, path, asked) => {
  const whole = (await postJson(path, asked)).body
  const {headers, text} = await post(path, {...asked, stream: true})
  expect(headers['content-type']).toMatch(/^text\/event-stream/)
  const observer = observeStream(endpoint)
  observer.take(Buffer.from(text))
  expect(observer).toMatchObject({finished: true, failed: null, model: 'echo', first_event: 'event'})
  const {prompt_tokens, input_tokens, completion_tokens, output_tokens} = whole.usage
  expect(observer.usage).toMatchObject({
    input_uncached_tokens: prompt_tokens ?? input_tokens,
    output_text_tokens: completion_tokens ?? output_tokens,
  })
  const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json!))
  const parts = events.map(
    event => (event.choices ? (event.choices[0]?.delta?.content ?? event.choices[0]?.text) : event.delta) ?? '',
  )
  const said = whole.choices
    ? (whole.choices[0].message?.content ?? whole.choices[0].text)
    : whole.output[0].content[0].text
  expect(parts.join('')).toBe(said)
  expect(parts.filter(Boolean).length).toBeGreaterThan(3)
})

test('a stream says its usage only when it is asked to', async () => {
  const {text} = await post('/chat/completions', {messages, stream: true})
  expect(text).not.toContain('usage')
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})

test('vectors are the same for the same text, as long as asked, of length 1', async () => {
  const vectors = async (asked: object) =>
    (await postJson('/embeddings', asked)).body.data.map(({embedding}: {embedding: unknown}) => embedding)
  const [one, other, again] = await vectors({input: ['a', 'b', 'a'], dimensions: 20})
  expect(one).toHaveLength(20)
  expect(again).toEqual(one)
  expect(other).not.toEqual(one)
  expect(Math.hypot(...one)).toBeCloseTo(1, 5)
  const [packed] = await vectors({input: 'a', dimensions: 20, encoding_format: 'base64'})
  const bytes = Buffer.from(packed, 'base64')
  expect(one.map((_: number, at: number) => bytes.readFloatLE(at * 4))).toEqual(one)
  expect(await vectors({input: [1, 2, 3]})).toHaveLength(1)
  expect(await vectors({input: [[1], [2]]})).toHaveLength(2)
})

test('its one model is listed', async () => {
  const reply = await dispatcher().request({origin: ORIGIN, path: '/models', method: 'GET'})
  expect(await reply.body.json()).toMatchObject({object: 'list', data: [{id: 'echo', object: 'model'}]})
})

test.each([
  ['/v1/images/generations', {}, 404, null],
  ['/v1/constructor', {}, 404, null],
  ['/v1/chat/completions', [], 400, null],
  ['/v1/chat/completions', {messages: []}, 400, 'messages'],
  ['/v1/embeddings', {}, 400, 'input'],
  ['/v1/embeddings', {input: 'x', dimensions: 0.5}, 400, 'dimensions'],
])('%s with %j is refused in the shape of OpenAI', async (path, asked, status, param) => {
  const reply = await postJson(path, asked)
  expect(reply.status).toBe(status)
  expect(reply.body.error).toMatchObject({type: 'invalid_request_error', param, message: expect.any(String)})
})

test('a body may come as bytes, as text, as a stream, and not be endless', async () => {
  const text = JSON.stringify({prompt: 'né'})
  const halves = [Buffer.from(text).subarray(0, 13), Buffer.from(text).subarray(13)]
  for (const body of [text, Buffer.from(text), Readable.from(halves)]) {
    const reply = await dispatcher().request({origin: ORIGIN, path: '/completions', method: 'POST', body})
    expect((await reply.body.json()) as object).toMatchObject({
      choices: [{text: expect.stringContaining('You said: né')}],
    })
  }
  const endless = Readable.from(Array.from({length: 20}, () => Buffer.alloc(1024 * 1024)))
  const reply = await dispatcher().request({origin: ORIGIN, path: '/completions', method: 'POST', body: endless})
  expect(reply.statusCode).toBe(413)
  await reply.body.dump()
})

/** Dispatches a streamed chat and records what the handler is told; `act` sees each event and all so far. */
function recorded(
  echo: EchoDispatcher,
  act: (event: string, controller: Dispatcher.DispatchController, told: readonly string[]) => void,
): Promise<{told: string[]; error: Error | null}> {
  const told: string[] = []
  return new Promise(resolve => {
    const note = (event: string, controller: Dispatcher.DispatchController) => {
      told.push(event)
      act(event, controller, told)
    }
    const options = {path: '/chat/completions', method: 'POST', body: JSON.stringify({messages, stream: true})} as const
    echo.dispatch(options, {
      onRequestStart: controller => note('start', controller),
      onResponseStart: controller => note('head', controller),
      onResponseData: controller => note('data', controller),
      onResponseEnd: controller => {
        note('end', controller)
        resolve({told, error: null})
      },
      onResponseError: (controller, error) => {
        note('error', controller)
        turns(3).then(() => resolve({told, error}))
      },
    })
  })
}

async function turns(count: number) {
  for (let turn = 0; turn < count; turn++) await new Promise(resolve => setImmediate(resolve))
}

test.each(['start', 'head', 'data'])('an abort at %s is told once, and nothing after it', async at => {
  const reason = new Error('the client left')
  const {told, error} = await recorded(dispatcher(), (event, controller) => {
    if (event === at) controller.abort(reason)
  })
  expect(error).toBe(reason)
  expect(told).toEqual([...['start', 'head', 'data'].slice(0, ['start', 'head', 'data'].indexOf(at) + 1), 'error'])
})

test('nothing is told while it is paused, and the rest after', async () => {
  let while_paused: string[] | undefined
  const {told} = await recorded(dispatcher(), (event, controller, so_far) => {
    if (event !== 'data' || while_paused) return
    while_paused = []
    controller.pause()
    turns(5).then(() => {
      while_paused = [...so_far]
      controller.resume()
    })
  })
  expect(while_paused).toEqual(['start', 'head', 'data'])
  expect(told.length).toBeGreaterThan(5)
  expect(told.at(-1)).toBe('end')
})

test('a handler that throws is told its own error', async () => {
  const fault = new Error('cannot take it')
  const {error} = await recorded(dispatcher(), event => {
    if (event === 'head') throw fault
  })
  expect(error).toBe(fault)
})

test('a destroyed dispatcher aborts what is under way and takes no more', async () => {
  const echo = dispatcher()
  const {error} = await recorded(echo, event => {
    if (event === 'head') void echo.destroy()
  })
  expect(error?.name).toBe('ClientDestroyedError')
  await expect(echo.request({origin: ORIGIN, path: '/models', method: 'GET'})).rejects.toThrow()
})

test('the provider answers with one dispatcher', () => {
  expect(demo.transport!()).toBe(demo.transport!())
})
