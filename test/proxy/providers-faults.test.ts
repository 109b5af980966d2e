import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {type Script, startTwins, TEXT, TWINS, type Twin} from '../support/dialects.ts'
import {type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'

let gateway: TestGateway
let twins: readonly Twin[]
let close: () => Promise<void>
beforeAll(async () => {
  const started = await startTwins()
  gateway = started.gateway
  twins = started.twins
  close = started.close
})
afterAll(() => close())
afterEach(() => {
  for (const twin of twins) twin.play(null)
  expect(twins.flatMap(twin => twin.forget())).toEqual([])
})

const messages = [{role: 'user' as const, content: 'Which river runs through Vienna?'}]
const failureOf = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => {
      throw new Error('nothing failed')
    },
    (fault: unknown) => fault,
  )
const openai = (kind: string) =>
  new OpenAI({
    apiKey: WORKSPACE_KEY,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 0,
    defaultHeaders: {'x-gateway-provider': `@${kind}`},
  })
const anthropic = (kind: string) =>
  new Anthropic({
    apiKey: WORKSPACE_KEY,
    baseURL: gateway.url,
    maxRetries: 0,
    defaultHeaders: {'x-gateway-provider': `@${kind}`},
  })

describe.each(TWINS.map(({kind}, at) => [kind, at] as const))('%s', (kind, at) => {
  const twin = () => twins[at]!
  const chat = (more: object = {}) =>
    openai(kind).chat.completions.create({model: twin().model, messages, max_tokens: 100, ...more})
  const respond = () => openai(kind).responses.create({model: twin().model, input: 'Vienna?', max_output_tokens: 100})
  const message = () => anthropic(kind).messages.create({model: twin().model, max_tokens: 100, messages})
  /** Without what stands in between: bytes as they come. */
  const raw = async (path: string, body: object) => {
    const headers = {'content-type': 'application/json', 'x-gateway-provider': `@${kind}`}
    const reply = await gateway.call(path, {
      method: 'POST',
      body: JSON.stringify({model: twin().model, ...body}),
      headers,
    })
    return {status: reply.status, type: reply.headers.get('content-type'), text: await reply.text()}
  }

  test.each([
    [400, OpenAI.BadRequestError, Anthropic.BadRequestError, 'invalid_request_error'],
    [403, OpenAI.PermissionDeniedError, Anthropic.PermissionDeniedError, 'permission_error'],
    [404, OpenAI.NotFoundError, Anthropic.NotFoundError, 'not_found_error'],
    [429, OpenAI.RateLimitError, Anthropic.RateLimitError, 'rate_limit_error'],
    [500, OpenAI.InternalServerError, Anthropic.InternalServerError, 'api_error'],
  ] as const)('an error of status %i is each SDK’s own', async (status, openai_class, anthropic_class, type) => {
    twin().play({status, message: 'Not this time.', headers: {'retry-after': '7'}})
    for (const ask of [() => chat(), () => chat({stream: true}), respond]) {
      const error = (await failureOf(ask())) as InstanceType<typeof OpenAI.APIError>
      expect(error).toBeInstanceOf(openai_class)
      expect(error).toMatchObject({status, message: expect.stringContaining('Not this time.')})
      expect(error.headers!.get('retry-after')).toBe('7')
    }
    const error = await failureOf(message())
    expect(error).toBeInstanceOf(anthropic_class)
    expect(error).toMatchObject({status, type, message: expect.stringContaining('Not this time.')})
  })

  const truncated = () => JSON.stringify(twin().plain(TEXT)).slice(0, -20)
  /** Google's error names its status in the body. */
  const statusOf = (name: string) => (name === 'an error body' && kind === 'google' ? 429 : 502)
  const MALFORMED: readonly (readonly [name: string, script: () => Script])[] = [
    ['an HTML page', () => ({bytes: '<html><body>Sign in</body></html>', type: 'text/html'})],
    ['truncated JSON', () => ({bytes: truncated()})],
    ['an error body', () => ({bytes: JSON.stringify(twin().error(429, 'Too much.'))})],
    ['nothing', () => ({bytes: ''})],
    ['null', () => ({bytes: 'null'})],
    ['a list', () => ({bytes: '[]'})],
  ]
  /** OpenAI's and Anthropic's own words pass as they are: there is nothing to translate and nothing to read. */
  const is_translated = kind !== 'cerebras'

  describe.each(MALFORMED)('that answers 200 with %s', (name, script) => {
    test.runIf(is_translated)('fails a chat by an error that names it', async () => {
      twin().play(script())
      const {status, type, text} = await raw('/v1/chat/completions', {messages, max_tokens: 100})
      expect(status).toBe(statusOf(name))
      expect(type).toMatch(/^application\/json/)
      expect(text).not.toContain('..')
      expect(JSON.parse(text)).toMatchObject({
        error: {message: expect.stringContaining(kind), type: expect.any(String)},
      })
      expect((await gateway.logs())[0]).toMatchObject({is_success: false})
    })

    test('fails a response by an error that names it', async () => {
      twin().play(script())
      const {status, text} = await raw('/v1/responses', {input: 'Vienna?'})
      expect(status).toBe(statusOf(name))
      expect(JSON.parse(text)).toMatchObject({error: {message: expect.stringContaining(kind)}})
    })

    test.runIf(kind !== 'anthropic')('fails a message by an error that names it', async () => {
      twin().play(script())
      const {status, text} = await raw('/v1/messages', {messages, max_tokens: 100})
      expect(status).toBe(statusOf(name))
      expect(JSON.parse(text)).toMatchObject({
        type: 'error',
        error: {type: expect.any(String), message: expect.stringContaining(kind)},
      })
    })

    test.runIf(is_translated)('fails a stream in which it stands', async () => {
      twin().play(script())
      const {status, text} = await raw('/v1/chat/completions', {messages, stream: true, max_tokens: 100})
      expect(text).toContain('"error"')
      expect(text).toContain(kind)
      expect(text).not.toContain('[DONE]')
      expect([200, 429, 502]).toContain(status)
      expect((await gateway.logs())[0]).toMatchObject({is_success: false})
    })
  })

  describe.each([true, false])('that breaks off its stream (cleanly: %s)', is_clean => {
    const cuts = () => twin().events(TEXT).length
    test('ends a chat in an error in its band', async () => {
      for (const events of [1, 2, 3]) {
        if (events >= cuts()) continue
        twin().play({events, is_clean})
        const {text} = await raw('/v1/chat/completions', {messages, stream: true, max_tokens: 100})
        expect(text).not.toContain('[DONE]')
        expect(text).toContain('"error"')
        const error = await failureOf(
          openai(kind).chat.completions.stream({model: twin().model, messages, max_tokens: 100}).finalChatCompletion(),
        )
        expect(error).toBeInstanceOf(OpenAI.APIError)
      }
    })

    test('ends a message in an error in its band', async () => {
      for (const events of [1, 2, 3]) {
        if (events >= cuts()) continue
        twin().play({events, is_clean})
        const error = await failureOf(
          anthropic(kind).messages.stream({model: twin().model, max_tokens: 100, messages}).finalMessage(),
        )
        expect(error).toBeInstanceOf(Anthropic.AnthropicError)
        if (kind !== 'anthropic') expect(error).toBeInstanceOf(Anthropic.APIError)
      }
    })

    test('ends a response in an error in its band', async () => {
      twin().play({events: 1, is_clean})
      const error = await failureOf(
        openai(kind).responses.stream({model: twin().model, input: 'Vienna?'}).finalResponse(),
      )
      expect(error).toBeInstanceOf(OpenAI.OpenAIError)
    })
  })
})

describe('a stream that begins with an overload', () => {
  const overload = () => ({
    stream: [Buffer.from(`event: error\ndata: ${JSON.stringify(twins[0]!.error(529, 'Overloaded'))}\n\n`)],
  })
  const config = () => ({
    strategy: {mode: 'fallback'},
    targets: [
      {provider: '@anthropic', override_params: {model: twins[0]!.model}},
      {provider: '@google', override_params: {model: twins[1]!.model}},
    ],
  })
  const headers = () => ({'x-gateway-config': JSON.stringify(config())})

  test('falls back to another dialect, and the chat client hears of one answer', async () => {
    twins[0]!.play(overload())
    const client = new OpenAI({
      apiKey: WORKSPACE_KEY,
      baseURL: `${gateway.url}/v1`,
      maxRetries: 0,
      defaultHeaders: headers(),
    })
    const chunks = []
    for await (const chunk of await client.chat.completions.create({
      model: 'any',
      messages,
      max_tokens: 100,
      stream: true,
      stream_options: {include_usage: true},
    }))
      chunks.push(chunk)
    expect(chunks.map(({choices}) => choices[0]?.delta.content ?? '').join('')).toBe(TEXT.text)
    expect(new Set(chunks.map(({id}) => id)).size).toBe(1)
    expect(new Set(chunks.map(({model}) => model))).toEqual(new Set([twins[1]!.model]))
    expect(chunks.at(-1)!.usage).toMatchObject({prompt_tokens: 31, completion_tokens: 7})
    expect([twins[0]!.received.length, twins[1]!.received.length]).toEqual([1, 1])
    const [last, first] = await gateway.logs()
    expect(last).toMatchObject({is_success: true, ai_model: twins[1]!.model})
    expect(first).toMatchObject({is_success: false, ai_model: twins[0]!.model})
  })

  test('falls back for the Anthropic SDK', async () => {
    twins[0]!.play(overload())
    const client = new Anthropic({
      apiKey: WORKSPACE_KEY,
      baseURL: gateway.url,
      maxRetries: 0,
      defaultHeaders: headers(),
    })
    const {content, stop_reason, usage} = await client.messages
      .stream({model: 'any', max_tokens: 100, messages})
      .finalMessage()
    expect(content).toMatchObject([{type: 'text', text: TEXT.text}])
    expect(stop_reason).toBe('end_turn')
    expect(usage).toMatchObject({input_tokens: 31, output_tokens: 7})
    expect([twins[0]!.received.length, twins[1]!.received.length]).toEqual([1, 1])
  })

  test('is told with its own status where nothing else is left', async () => {
    twins[0]!.play(overload())
    const error = await failureOf(
      openai('anthropic')
        .chat.completions.stream({model: twins[0]!.model, messages, max_tokens: 100})
        .finalChatCompletion(),
    )
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({message: expect.stringContaining('Overloaded')})
  })
})
