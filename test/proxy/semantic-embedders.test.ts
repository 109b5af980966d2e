import type {ServerResponse} from 'node:http'
import {describe, expect, onTestFinished, test} from 'vitest'
import {startGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, type Heard} from '../support/provider.ts'

const ASKED = 'What is the capital of France?'
const PARAPHRASE = 'what is the capital of france?'
const VECTOR = [3, 0, 4, 0]

/** A service for embeddings: how it is set up, the request that it takes, and its answer (services.md §1.4). */
interface Service {
  readonly env: (url: string) => Readonly<Record<string, string>>
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: (text: string) => object
  readonly answer: object
  /** The tokens of the row; null where the service counts none. */
  readonly tokens: number | null
}

const SERVICES: Readonly<Record<string, Service>> = {
  openai: {
    env: url => ({SEMANTIC_CACHE_EMBEDDINGS_URL: `${url}/v1/embeddings`}),
    path: '/v1/embeddings',
    headers: {authorization: 'Bearer key-of-the-operator'},
    body: text => ({input: [text], model: 'text-embedding-3-small', dimensions: 4, user: 'Semantic Cache'}),
    answer: {data: [{embedding: VECTOR}], usage: {prompt_tokens: 7}},
    tokens: 7,
  },
  'azure-openai': {
    env: url => ({SEMANTIC_CACHE_EMBEDDINGS_URL: `${url}/openai/deployments/small/embeddings?api-version=2024-10-21`}),
    path: '/openai/deployments/small/embeddings?api-version=2024-10-21',
    headers: {'api-key': 'key-of-the-operator'},
    body: text => ({input: [text], model: 'text-embedding-3-small', dimensions: 4, user: 'Semantic Cache'}),
    answer: {data: [{embedding: VECTOR}], usage: {prompt_tokens: 7}},
    tokens: 7,
  },
  google: {
    env: url => ({SEMANTIC_CACHE_EMBEDDINGS_URL: `${url}/v1beta`}),
    path: '/v1beta/models/gemini-embedding-001:embedContent',
    headers: {'x-goog-api-key': 'key-of-the-operator'},
    body: text => ({content: {parts: [{text}]}, taskType: 'SEMANTIC_SIMILARITY', outputDimensionality: 4}),
    answer: {embedding: {values: VECTOR}},
    tokens: null,
  },
  'vertex-ai': {
    env: url => ({SEMANTIC_CACHE_EMBEDDINGS_URL: `${url}/v1/projects/p/locations/europe-west4/publishers/google`}),
    path: '/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-embedding-001:predict',
    headers: {authorization: 'Bearer key-of-the-operator'},
    body: text => ({
      instances: [{content: text, task_type: 'SEMANTIC_SIMILARITY'}],
      parameters: {outputDimensionality: 4, autoTruncate: false},
    }),
    answer: {predictions: [{embeddings: {values: VECTOR, statistics: {token_count: 7, truncated: false}}}]},
    tokens: 7,
  },
}

/** What leaves an entry of the cache without a vector, whatever the service is. */
const USELESS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  openai: {'no data': {data: []}, 'a text': {data: [{embedding: 'AAAA'}]}},
  'azure-openai': {'an error as 200': {error: {code: '429'}}},
  google: {'no values': {embedding: {}}, 'other dimensions': {embedding: {values: [1, 2]}}},
  'vertex-ai': {
    'a part of the text': {
      predictions: [{embeddings: {values: VECTOR, statistics: {token_count: 2, truncated: true}}}],
    },
    'no prediction': {predictions: []},
  },
}

async function opened(kind: string, {env, answer}: Service) {
  const says = (given: object) => (_: Heard, response: ServerResponse) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(given))
  const embedder = await fakeProvider(says(answer))
  const provider: FakeProvider = await fakeProvider()
  const gateway = await startGateway({
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    SEMANTIC_CACHE_EMBEDDER: kind,
    SEMANTIC_CACHE_EMBEDDING_API_KEY: 'key-of-the-operator',
    SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: '4',
    ...env(new URL(embedder.url).origin),
  })
  onTestFinished(async () => {
    await gateway.close()
    await provider.close()
    await embedder.close()
  })
  await gateway.provider('mock', 'openai', provider.url)
  const ask = async (content: string) => {
    const headers = {'x-gateway-config': JSON.stringify({provider: '@mock', cache: {mode: 'semantic', max_age: 3600}})}
    const reply = await gateway.chat({model: 'gpt-4o-mini', messages: [{role: 'user', content}]}, headers)
    await reply.text()
    await gateway.app.flushed()
    return reply.headers.get('x-gateway-cache-status')
  }
  return {embedder, gateway, ask, answers: (given: object) => embedder.answer(says(given))}
}

describe.each(Object.entries(SERVICES))('%s', (kind, service) => {
  test('takes the request of its own reference, and its vectors find a paraphrase', async () => {
    const {embedder, gateway, ask} = await opened(kind, service)
    expect([await ask(ASKED), await ask(PARAPHRASE)]).toEqual(['SEMANTIC MISS', 'SEMANTIC HIT'])
    expect(embedder.received).toHaveLength(2)
    const [sent] = embedder.received
    expect([sent!.method, sent!.path]).toEqual(['POST', service.path])
    expect(sent!.headers).toMatchObject({'content-type': 'application/json', ...service.headers})
    expect(JSON.parse(sent!.body.toString())).toEqual(service.body(ASKED))
    const [row] = (await gateway.logs()).filter(({endpoint}) => endpoint === 'embed')
    if (service.tokens !== null) expect(row).toMatchObject({req_units: service.tokens})
    else expect(Number(row!.req_units)).toBeGreaterThan(0)
    expect(gateway.lines.join('')).not.toContain('key-of-the-operator')
  })

  test.each(Object.entries(USELESS[kind]!))(
    'an answer with %s is a MISS, and nothing is kept of it',
    async (_, answer) => {
      const {ask, answers} = await opened(kind, service)
      answers(answer)
      expect(await ask(ASKED)).toBe('MISS')
      answers(service.answer)
      expect(await ask(PARAPHRASE)).toBe('SEMANTIC MISS')
    },
  )
})
