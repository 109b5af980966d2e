import {gzipSync} from 'node:zlib'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'
import {generated, RING} from '../support/ring.ts'

const picture = {type: 'image_generation_call', result: 'A'.repeat(9 << 20)}

let twin: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  twin = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('main', 'openai', twin.url)
})
afterAll(async () => {
  await gateway.close()
  await twin.close()
})

describe('a whole answer of more than 8 MB', () => {
  const vectors = {
    object: 'list',
    data: [{object: 'embedding', embedding: Array.from({length: 500_000}, (_, at) => -1 / (at + 3))}],
  }
  const pictures = {created: 1, data: [{b64_json: 'A'.repeat(9 << 20)}]}
  const usage = {prompt_tokens: 1000, total_tokens: 1000}
  const CASES = [
    [
      'pictures',
      '/images/generations',
      {model: 'gpt-image-1', prompt: 'a cat'},
      {...pictures, usage: {input_tokens: 1000, output_tokens: 100, total_tokens: 1100}},
      {input_uncached_tokens: 1000, image_out_tokens: 100},
    ],
    [
      'vectors',
      '/embeddings',
      {model: 'text-embedding-3-small', input: 'a'},
      {...vectors, model: 'text-embedding-3-small', usage},
      {input_uncached_tokens: 1000},
    ],
    [
      'a response with a picture',
      '/responses',
      {model: 'gpt-4o', input: 'a'},
      {
        ...{id: 'r', object: 'response', status: 'completed', model: 'gpt-4o'},
        output: [picture, {type: 'web_search_call', action: {type: 'search'}}],
        usage: {input_tokens: 1000, output_tokens: 100},
      },
      {input_uncached_tokens: 1000, output_text_tokens: 100, units: {web_search: 1}},
    ],
    [
      'a chat',
      '/chat/completions',
      {model: 'gpt-4o', messages: [{role: 'user', content: 'a'}]},
      {
        model: 'gpt-4o',
        choices: [{index: 0, message: {role: 'assistant', content: 'word '.repeat(2 << 20)}}],
        usage: {prompt_tokens: 1000, completion_tokens: 100},
      },
      {input_uncached_tokens: 1000, output_text_tokens: 100},
    ],
  ] as const

  const ENCODED = CASES.flatMap((each, at) =>
    ['identity', 'gzip'].map((encoding, of) => ({case: [...each, encoding] as const, is_own: (at + of) % 2 === 0})),
  )
  const tried = ENCODED.filter(({is_own}) => is_own || RING !== 'own').map(each => each.case)
  generated('long answers', tried.length)
  test.each(tried)('%s, %s, is charged by what it tells', async (_name, path, body, answer, counted, encoding) => {
    const text = Buffer.from(JSON.stringify(answer))
    const bytes = encoding === 'gzip' ? gzipSync(text, {level: 0}) : text
    twin.answer((_, reply) =>
      reply
        .writeHead(200, {
          'content-type': 'application/json',
          ...(encoding === 'gzip' && {'content-encoding': encoding}),
        })
        .end(bytes),
    )
    const reply = await gateway.call(`/v1${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {'x-gateway-provider': '@main', 'content-type': 'application/json', 'accept-encoding': encoding},
    })
    expect(Buffer.from(await reply.arrayBuffer()).equals(text)).toBe(true)
    const [row] = await gateway.logs()
    expect(row).toMatchObject({usage_source: 'provider', usage: counted})
    expect(Number(row!.cost)).toBeGreaterThan(0)
  })
})
