import {encode as o200k} from 'gpt-tokenizer/encoding/o200k_base'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {promptTokens} from '../../src/providers/media/prompt.ts'
import {countJson} from '../../src/providers/tokens/count.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, type Heard, json} from '../support/provider.ts'

/** USD a token of `gpt-4o-mini` (OpenAI, pricing): 0.15 and 0.60 a million. */
const INPUT_USD = 0.15e-6
const OUTPUT_USD = 0.6e-6
const NANO = 1e-9

let provider: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('main', 'openai', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

/** Streams `words` words of a token each, and says what they used unless `usage` is false. */
function streams(words: number, {usage = true, prompt = 10} = {}) {
  let aborted = 0
  provider.answer((_: Heard, response) => {
    response.on('close', () => {
      if (!response.writableFinished) aborted++
    })
    response.writeHead(200, {'content-type': 'text/event-stream'})
    const event = (choices: unknown[], more = {}) =>
      `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices, ...more})}\n\n`
    let said = 0
    const more = () => {
      for (let n = 0; n < 20 && said < words; n++, said++)
        response.write(event([{index: 0, delta: {content: ' word'}, finish_reason: null}]))
      if (response.destroyed) return
      if (said < words) return void setImmediate(more)
      response.write(event([{index: 0, delta: {}, finish_reason: 'stop'}]))
      if (usage)
        response.write(
          event([], {usage: {prompt_tokens: prompt, completion_tokens: words, total_tokens: prompt + words}}),
        )
      response.end('data: [DONE]\n\n')
    }
    more()
  })
  return () => aborted
}

interface Key {
  readonly id: string
  readonly headers: Record<string, string>
}

async function keyWith(limits: object): Promise<Key> {
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const body = {name: 'strict', workspace_id: workspace!.id, scopes: ['completions.write'], ...limits}
  const {id, key} = await gateway.admin<{id: string; key: string}>('POST', '/api-keys/workspace/service', body)
  return {id, headers: {'x-gateway-api-key': key, 'x-gateway-provider': '@main'}}
}

const dollars = (credit_limit: number) => ({usage_limits: {type: 'cost', credit_limit, enforcement: 'strict'}})
const tokens = (credit_limit: number) => ({usage_limits: {type: 'tokens', credit_limit, enforcement: 'strict'}})
const ask = (more = {}) => ({model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}], ...more})
/** What OpenAI counts of `hi` in a message. */
const USED_PROMPT = o200k('hi').length + 7
const promptOf = (body: object) => promptTokens(Buffer.from(JSON.stringify(body)), 'openai', 'gpt-4o-mini').text

beforeEach(() => {
  provider.received.length = 0
})

describe('a prompt under a strict limit', () => {
  const say = (content: unknown, model = 'gpt-4o') => ({model, max_tokens: 10, messages: [{role: 'user', content}]})
  const picture = {type: 'image_url', image_url: {url: 'https://example.com/a.png'}}

  test.each([
    ['of text that is not ASCII', say('界'.repeat(200), 'own-model'), 650],
    ['of such text, escaped', say('界'.repeat(200), 'own-model'), 650],
    ['of a picture that is only named', say([{type: 'text', text: 'What is it?'}, picture]), 1540],
  ])('%s is held for at no less than it may come to', async (name, body, held) => {
    provider.answer((_: Heard, response) =>
      json(response, {model: 'gpt-4o', choices: [], usage: {prompt_tokens: 1, completion_tokens: 1}}),
    )
    const written = JSON.stringify(body)
    const sent = name.includes('escaped') ? written.replaceAll('界', '\\u754c') : written
    const send = (headers: Record<string, string>) =>
      gateway.call('/v1/chat/completions', {
        method: 'POST',
        body: sent,
        headers: {'content-type': 'application/json', ...headers},
      })
    expect((await send((await keyWith(tokens(held - 60))).headers)).status).toBe(412)
    expect((await send((await keyWith(tokens(held + 60))).headers)).status).toBe(200)
  })
})

describe('a stream under a strict limit', () => {
  test('is cut off when what comes next cannot be held: the provider is told, the client reads why, and what came is settled', async () => {
    const aborted = streams(2000)
    const body = ask({stream: true})
    const prompt = promptOf(body)
    const {headers} = await keyWith(tokens(prompt + 400))
    const reply = await gateway.chat(body, headers)
    expect(reply.status).toBe(200)
    const text = await reply.text()
    const events = text.split('\n\n').filter(Boolean)
    const last = JSON.parse(events.at(-1)!.slice('data: '.length)) as {error: {type: string; message: string}}
    expect(last.error.type).toBe('api_key_exhaust_error')
    expect(last.error.message).toContain('is strict')
    expect(text).not.toContain('[DONE]')
    const words = events.length - 1
    expect(words).toBeGreaterThan(256)
    expect(words + USED_PROMPT).toBeLessThanOrEqual(prompt + 400)
    await expect.poll(aborted).toBe(1)
    const [row] = await gateway.logs()
    expect(row).toMatchObject({usage_source: 'partial'})
    expect((await gateway.chat(ask({max_tokens: 300}), headers)).status).toBe(412)
  })

  test('passes whole where it fits, byte for byte, and counts what the provider said', async () => {
    streams(700)
    const {headers} = await keyWith(tokens(1500))
    const body = ask({stream: true, stream_options: {include_usage: true}})
    expect((await (await gateway.chat(body, headers)).text()).match(/" word"/g)).toHaveLength(700)
    // 1500 - 710 are left
    streams(2000)
    const cut = await (await gateway.chat(body, headers)).text()
    const words = cut.match(/" word"/g)!.length
    expect(words + USED_PROMPT).toBeLessThanOrEqual(790)
    expect(words).toBeGreaterThan(790 - 256)
  })

  test('that ends within what is held is not cut for what its report of usage adds', async () => {
    streams(20, {prompt: 500})
    const {headers} = await keyWith(tokens(400))
    expect(await (await gateway.chat(ask({stream: true, max_tokens: 30}), headers)).text()).toContain('[DONE]')
    expect((await gateway.chat(ask({stream: true}), headers)).status).toBe(412)
  })

  test('of a model that thinks unseen holds its longest answer from the start', async () => {
    streams(5)
    const of = (max_completion_tokens: number) => ({...ask({stream: true, max_completion_tokens}), model: 'o3-mini'})
    const {headers} = await keyWith(tokens(1000))
    expect((await gateway.chat(of(2000), headers)).status).toBe(412)
    expect((await gateway.chat(of(900), headers)).status).toBe(200)
  })
})

describe('what a request can cost is held, and what has no bound is refused', () => {
  const answer = (usage: object, body: object = {}) =>
    provider.answer((_, response) =>
      json(response, {id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [], usage, ...body}),
    )
  const send = async (path: string, body: object, limits: object, more = {}) => {
    const {headers} = await keyWith(limits)
    const reply = await gateway.call(path, {
      method: 'POST',
      headers: {...headers, 'content-type': 'application/json', ...more},
      body: JSON.stringify(body),
    })
    return {status: reply.status, text: await reply.text()}
  }
  const native = {'x-gateway-native-responses': 'true'}
  const search = (more = {}) => ({
    model: 'gpt-4o-mini',
    input: 'hi',
    max_output_tokens: 100,
    tools: [{type: 'web_search'}],
    ...more,
  })

  test.each([
    ['previous_response_id', {previous_response_id: 'resp_1', input: 'hi'}, '"previous_response_id"'],
    ['a conversation', {conversation: 'conv_1', input: 'hi'}, '"conversation"'],
    ['a stored prompt', {prompt: {id: 'pmpt_1'}}, '"prompt"'],
    ['a reference to an item', {input: [{type: 'item_reference', id: 'msg_1'}]}, '"item_reference"'],
    [
      'a tool of a server that nobody knows',
      {input: 'hi', tools: [{type: 'mcp', server_url: 'https://x.example'}]},
      'the tool mcp',
    ],
    ['a search without a bound', search(), 'set max_uses or max_tool_calls'],
  ])(
    '%s is refused in a sentence that says what to do, and passes under a limit that is not strict',
    async (_, more, words) => {
      answer({input_tokens: 100_000, output_tokens: 5})
      const body = {model: 'gpt-4o-mini', max_output_tokens: 100, ...more}
      const {status, text} = await send('/v1/responses', body, tokens(1_000_000), native)
      expect([status, JSON.parse(text).error.type]).toEqual([412, 'usage_unbounded_error'])
      expect(JSON.parse(text).error.message).toContain(words)
      expect(provider.received).toHaveLength(0)
      const loose = {usage_limits: {type: 'tokens', credit_limit: 1_000_000}}
      expect((await send('/v1/responses', body, loose, native)).status).toBe(200)
    },
  )

  test.each([
    ['web_search_options', {model: 'gpt-4o-search-preview', web_search_options: {}}, 'the model gpt-4o-search-preview'],
    [
      'web_search_options of another model',
      {model: 'sonar', web_search_options: {search_context_size: 'low'}},
      '"web_search_options"',
    ],
    ['a model of search', {model: 'gpt-5-search-api'}, 'the model gpt-5-search-api'],
    ['a compound system', {model: 'groq/compound'}, 'the model groq/compound'],
    ['a small compound system', {model: 'compound-beta-mini'}, 'the model compound-beta-mini'],
    ['a model that is online', {model: 'openai/gpt-4o:online'}, 'the model openai/gpt-4o:online'],
    [
      'such a model among others',
      {models: ['openai/gpt-4o', 'openai/gpt-oss-20b:free:online']},
      'gpt-oss-20b:free:online',
    ],
  ])('chat that searches by itself is refused: %s', async (_, more, words) => {
    answer({prompt_tokens: 100_000, completion_tokens: 5})
    const {status, text} = await send('/v1/chat/completions', ask({max_tokens: 10, ...more}), tokens(1_000_000))
    expect([status, JSON.parse(text).error.type]).toEqual([412, 'usage_unbounded_error'])
    expect(JSON.parse(text).error.message).toContain(words)
    expect(provider.received).toHaveLength(0)
  })

  test.each(['my-compound', 'compounds', 'gpt-4o:onlineish', 'research-1'])('the model %s does not', async model => {
    answer({prompt_tokens: 10, completion_tokens: 5})
    expect((await send('/v1/chat/completions', ask({max_tokens: 10, model}), tokens(1_000_000))).status).toBe(200)
  })

  test('what a bounded search brings in is held for in each round', async () => {
    answer({input_tokens: 100, output_tokens: 5})
    const body = search({max_tool_calls: 2})
    expect((await send('/v1/responses', body, tokens(250_000), native)).status).toBe(412)
    expect((await send('/v1/responses', body, tokens(270_000), native)).status).toBe(200)
  })

  test('sound is held at its own price, whole and streamed', async () => {
    answer({prompt_tokens: 10, completion_tokens: 5})
    const spoken = {
      ...ask({max_tokens: 1000}),
      model: 'gpt-4o-audio-preview',
      modalities: ['text', 'audio'],
      audio: {voice: 'alloy'},
    }
    // 80 USD a million tokens of sound (OpenAI, pricing)
    for (const stream of [false, true])
      expect((await send('/v1/chat/completions', {...spoken, stream}, dollars(0.079))).status).toBe(412)
    expect((await send('/v1/chat/completions', spoken, dollars(0.085))).status).toBe(200)
    const written = {...spoken, modalities: ['text'], audio: undefined}
    expect((await send('/v1/chat/completions', written, dollars(0.02))).status).toBe(200)
  })

  test('each of several prompts may have the longest answer', async () => {
    answer({prompt_tokens: 10, completion_tokens: 5})
    const body = (prompt: unknown) => ({model: 'gpt-3.5-turbo-instruct', max_tokens: 100, prompt})
    const texts = Array.from({length: 20}, () => 'hi')
    expect((await send('/v1/completions', body(texts), tokens(2000))).status).toBe(412)
    expect((await send('/v1/completions', body(texts), tokens(2200))).status).toBe(200)
    expect((await send('/v1/completions', body([1, 2, 3]), tokens(200))).status).toBe(200)
    expect((await send('/v1/completions', body([[1, 2], [3]]), tokens(200))).status).toBe(412)
  })

  test('a recording is as long as the lowest rate makes it, a WAVE as its head says', async () => {
    answer({type: 'duration', seconds: 60}, {text: 'hi', duration: 60})
    const send = async (file: Buffer, limit: number) => {
      const form = new FormData()
      form.set('model', 'whisper-1')
      form.set('file', new Blob([new Uint8Array(file)]), 'a.opus')
      return (
        await gateway.call('/v1/audio/transcriptions', {
          method: 'POST',
          headers: (await keyWith(dollars(limit))).headers,
          body: form,
        })
      ).status
    }
    // 0.006 USD a minute (OpenAI, pricing); 4 kbit/s
    expect(await send(Buffer.alloc(30_000), 0.0059)).toBe(412)
    expect(await send(Buffer.alloc(30_000), 0.0065)).toBe(200)
    const head = Buffer.alloc(36)
    head.write('RIFF....WAVEfmt ', 'latin1')
    for (const [at, value] of [
      [20, 1],
      [22, 1],
      [34, 16],
    ] as const)
      head.writeUInt16LE(value, at)
    head.writeUInt32LE(16_000, 24)
    expect(await send(Buffer.concat([head, Buffer.alloc(32_000 * 10)]), 0.002)).toBe(200)
  })

  test('a prompt that is written to a cache is held at what that costs', async () => {
    await gateway.provider('claude', 'anthropic', provider.url)
    answer(
      {input_tokens: 10, output_tokens: 5},
      {type: 'message', content: [], stop_reason: 'end_turn', role: 'assistant'},
    )
    const text = 'and the other words of this text are all '.repeat(250)
    const cached = (ttl: string) => ({
      model: 'claude-sonnet-4-5',
      max_tokens: 10,
      system: [{type: 'text', text, cache_control: {type: 'ephemeral', ttl}}],
      messages: [{role: 'user', content: 'hi'}],
    })
    const held = promptTokens(Buffer.from(JSON.stringify(cached('1h'))), 'anthropic', 'claude-sonnet-4-5').text
    const at = (rate: number) => dollars(Number(((held * rate + 10 * 15) * 1e-6).toFixed(6)))
    const to = {'x-gateway-provider': '@claude'}
    // 3 USD a million tokens, 3.75 and 6 to write them (Anthropic, pricing)
    expect((await send('/v1/messages', cached('1h'), at(5.9), to)).status).toBe(412)
    expect((await send('/v1/messages', cached('1h'), at(6.1), to)).status).toBe(200)
    expect((await send('/v1/messages', cached('5m'), at(3.7), to)).status).toBe(412)
    expect((await send('/v1/messages', cached('5m'), at(3.85), to)).status).toBe(200)
  })

  test('a stream of a model that nobody knows holds its longest answer', async () => {
    streams(5)
    const body = (model: string) => ({...ask({stream: true, max_completion_tokens: 4000}), model})
    expect((await send('/v1/chat/completions', body('my-thinker'), tokens(2000))).status).toBe(412)
    expect((await send('/v1/chat/completions', body('gpt-4o-mini'), tokens(2000))).status).toBe(200)
  })

  test.each([
    ['in its content', 'content', '汉'.repeat(100)],
    ['in its refusal', 'refusal', '汉'.repeat(100)],
    ['of hex', 'content', 'f3a91c07e5b8d264'.repeat(10)],
  ])('a stream of dense text %s is cut before its tokens pass the limit', async (_, name, text) => {
    provider.answer((_, response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'})
      let said = 0
      const more = () => {
        if (response.destroyed) return
        if (said++ === 100) return void response.end('data: [DONE]\n\n')
        response.write(
          `data: ${JSON.stringify({id: 'c', model: 'gpt-4o-mini', choices: [{index: 0, delta: {[name]: text}}]})}\n\n`,
        )
        setImmediate(more)
      }
      more()
    })
    const cut = await send('/v1/chat/completions', ask({stream: true, max_tokens: 16_000}), tokens(3000))
    expect(cut.status).toBe(200)
    const passed = cut.text.split(JSON.stringify(text)).length - 1
    expect(passed).toBeGreaterThan(2)
    expect(passed * o200k(text).length).toBeLessThanOrEqual(3000)
    expect(cut.text).toContain('is strict')
  })
})

describe('an answer in one piece under a strict limit', () => {
  test('holds what max_tokens says, else the longest answer of the model; in as many choices as were asked for', async () => {
    provider.answer((_, response) =>
      json(response, {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'gpt-4o-mini',
        choices: [],
        usage: {prompt_tokens: 10, completion_tokens: 5, total_tokens: 15},
      }),
    )
    const {headers} = await keyWith(tokens(2000))
    expect((await gateway.chat(ask({max_tokens: 1900}), headers)).status).toBe(200)
    expect((await gateway.chat(ask({max_tokens: 900, n: 2}), headers)).status).toBe(200)
    for (const more of [{max_tokens: 1990}, {max_tokens: 990, n: 2}, {}]) {
      const refused = await gateway.chat(ask(more), headers)
      expect(refused.status).toBe(412)
      const {error} = (await refused.json()) as {error: {type: string; code: string}}
      expect([error.type, error.code]).toEqual(['api_key_exhaust_error', '04'])
    }
    // gpt-4o-mini answers with 16384 tokens at most (OpenAI, models)
    const roomy = await keyWith(tokens(17_000))
    expect((await gateway.chat(ask(), roomy.headers)).status).toBe(200)
  })

  test('counts cost: what is held is priced, and what was not used is given back', async () => {
    const body = ask({max_tokens: 1000})
    // its bound does not fit, its tokens do
    const prompt = await countJson(Buffer.from(JSON.stringify(body)), 'o200k_base')
    const held = prompt * INPUT_USD + 1000 * OUTPUT_USD
    const {headers} = await keyWith(dollars(Number((held + 2 * NANO).toFixed(9))))
    const cost = 10 * INPUT_USD + 5 * OUTPUT_USD
    expect((await gateway.chat(body, headers)).status).toBe(200)
    expect((await gateway.chat(body, headers)).status).toBe(412)
    const less = ask({max_tokens: 1000 - Math.ceil(cost / OUTPUT_USD) - 1})
    expect((await gateway.chat(less, headers)).status).toBe(200)
  })

  test('of a model without a price is refused by a limit of cost, in words that say so, and not by one of tokens', async () => {
    const body = {...ask({max_tokens: 10}), model: 'nobody-knows-me'}
    const refused = await gateway.chat(body, (await keyWith(dollars(10))).headers)
    expect(refused.status).toBe(412)
    const {error} = (await refused.json()) as {error: {type: string; message: string}}
    expect(error.type).toBe('model_not_priced_error')
    expect(error.message).toContain('The model nobody-knows-me of openai has no price')
    expect((await gateway.chat(body, (await keyWith(tokens(1000))).headers)).status).toBe(200)
  })

  test('lets another target be asked that fits', async () => {
    const {headers} = await keyWith(tokens(3000))
    const config = {
      strategy: {mode: 'fallback'},
      targets: [
        {provider: '@main', override_params: {max_tokens: 5000}},
        {provider: '@main', override_params: {max_tokens: 50}},
      ],
    }
    const {'x-gateway-provider': _, ...key} = headers
    const reply = await gateway.chat(ask(), {...key, 'x-gateway-config': JSON.stringify(config)})
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[1]')
  })
})

test('every route holds: embeddings their input, speech its characters, pass-through what it may come to; reading costs nothing', async () => {
  const {headers} = await keyWith(dollars(1e-9))
  const send = async (path: string, body?: object) =>
    (
      await gateway.call(path, {
        method: body ? 'POST' : 'GET',
        headers: {...headers, ...(body && {'content-type': 'application/json'})},
        ...(body && {body: JSON.stringify(body)}),
      })
    ).status
  expect(await send('/v1/embeddings', {model: 'text-embedding-3-small', input: 'a'.repeat(500)})).toBe(412)
  expect(await send('/v1/audio/speech', {model: 'tts-1', input: 'a long text', voice: 'alloy'})).toBe(412)
  expect(await send('/v1/images/generations', {model: 'dall-e-3', prompt: 'a fox'})).toBe(412)
  expect(await send('/v1/proxy/chat/completions', ask())).toBe(412)
  expect(await send('/v1/proxy/files')).toBe(200)
  expect(provider.received.map(({path}) => path)).toEqual(['/v1/files'])
})

test('a call whose provider cannot be reached gives all of it back', async () => {
  const gone = await fakeProvider()
  await gone.close()
  await gateway.provider('nowhere', 'openai', gone.url)
  const {headers} = await keyWith(tokens(500))
  for (let n = 0; n < 3; n++)
    expect((await gateway.chat(ask({max_tokens: 400}), {...headers, 'x-gateway-provider': '@nowhere'})).status).toBe(
      503,
    )
})
