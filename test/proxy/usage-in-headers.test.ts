import {afterAll, beforeAll, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway

const MODEL = 'cohere.embed-english-v3'
const REPLY = {id: 'e1', response_type: 'embeddings_floats', embeddings: [[0.5, 0.25]], texts: ['a']}
const COUNTED = {'x-amzn-bedrock-input-token-count': '1463'}

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  const origin = provider.url.replace(/\/v1$/, '')
  const configurations = {custom_host: origin, aws_region: 'us-east-1', aws_auth_type: 'apiKey'}
  await gateway.provider('bed', 'bedrock', origin, {configurations})
  await gateway.provider('hug', 'huggingface', provider.url)
  await gateway.provider('oai', 'openai', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

async function ask(
  slug: string,
  path: string,
  body: object,
  headers: Record<string, string>,
  reply: object = REPLY,
  guarded = false,
) {
  provider.answer((_, response) => {
    response.writeHead(200, {'content-type': 'application/json', ...headers})
    response.end(JSON.stringify(reply))
  })
  const config: Record<string, string> = guarded
    ? {
        'x-gateway-config': JSON.stringify({
          output_guardrails: [{'default.contains': {operator: 'none', words: ['zz']}}],
        }),
      }
    : {}
  const response = await gateway.call(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {'content-type': 'application/json', 'x-gateway-provider': `@${slug}`, ...config},
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  const [row] = await gateway.logs()
  return {json: JSON.parse(text) as Record<string, unknown>, row: row!}
}

const INVOKE = `/v1/model/${MODEL}/invoke`
const OWN = {texts: ['a'], input_type: 'search_document'}
const UNIFIED = {model: MODEL, input: ['a']}

test.each<[name: string, path: string, body: object, guarded: boolean]>([
  ['by its own path', INVOKE, OWN, false],
  ['by its own path, judged by a guardrail', INVOKE, OWN, true],
  ['translated', '/v1/embeddings', UNIFIED, false],
])(
  'E7: what Bedrock counts of an embedding of Cohere’s in a header alone is charged, %s',
  async (_, path, body, guarded) => {
    const {row} = await ask('bed', path, body, COUNTED, REPLY, guarded)
    expect(row).toMatchObject({ai_model: MODEL, req_units: 1463, res_units: 0, usage_source: 'provider'})
    // $0.10 a million, in cents
    expect(row.cost).toBeCloseTo(0.01463, 8)
  },
)

test('E7: a client of OpenAI’s is told that count as its usage', async () => {
  const {json} = await ask('bed', '/v1/embeddings', UNIFIED, COUNTED)
  expect(json.usage).toEqual({prompt_tokens: 1463, total_tokens: 1463})
})

test('a body that counts wins over headers', async () => {
  const titan = {embedding: [0.5], inputTextTokenCount: 9}
  const {row} = await ask('bed', '/v1/embeddings', {model: 'amazon.titan-embed-text-v2:0', input: 'a'}, COUNTED, titan)
  expect(row).toMatchObject({req_units: 9})
})

test.each<[slug: string, headers: Record<string, string>, units: (number | null)[]]>([
  ['bed', {'x-amzn-bedrock-input-token-count': '7', 'x-amzn-bedrock-output-token-count': '5'}, [7, 5]],
  ['bed', {'x-amzn-bedrock-input-token-count': '7', 'x-amzn-bedrock-cache-read-input-token-count': '30'}, [37, 0]],
  ['bed', {'x-compute-tokens': '7'}, [0, 0]],
  ['bed', {'x-amzn-bedrock-input-token-count': '-7'}, [0, 0]],
  ['bed', {'x-amzn-bedrock-input-token-count': '9'.repeat(15)}, [0, 0]],
  ['hug', {'x-compute-tokens': '7'}, [7, 0]],
  ['hug', {'x-prompt-tokens': '8', 'x-generated-tokens': '3', 'x-compute-tokens': '11'}, [8, 3]],
  ['oai', COUNTED, [0, 0]],
])('headers of %s count for its own kind alone: %o', async (slug, headers, units) => {
  const {row} = await ask(slug, '/v1/proxy/brand/new', {model: 'm', inputs: 'a'}, headers, {ok: true})
  expect([row.req_units, row.res_units]).toEqual(units)
})
