import {expect, test} from 'vitest'
import {knowsOwnModels, modelListerOf} from '../../../src/providers/models/index.ts'
import {type ProviderRequest, UpstreamFault, type UpstreamReply} from '../../../src/providers/operation.ts'
import {DEMO, find, list} from '../../../src/providers/registry.ts'
import {InvalidResponseFault} from '../../../src/providers/translation.ts'

const context = {
  provider: 'x',
  model: '',
  is_stream: false,
  strict: true,
  options: {vertex_project_id: 'p'},
  call_id: 'c',
  created_s: 1,
}

/** Asks a kind for its list; `answers` by a part of the path and query. */
async function listed(slug: string, answers: Readonly<Record<string, unknown>>, query = '') {
  const asked: ProviderRequest[] = []
  const ask = async (request: ProviderRequest) => {
    asked.push(request)
    const place = request.path + (request.query ? `?${request.query}` : '')
    const found = Object.entries(answers).findLast(([part]) => place.includes(part))
    if (!found) throw new UpstreamFault(403, Buffer.from('no'))
    return {
      status: 200,
      headers: {},
      bytes: async () => Buffer.from(JSON.stringify(found[1])),
    } as unknown as UpstreamReply
  }
  const models = await modelListerOf(find(slug)!)!({query: new URLSearchParams(query), context}, {ask})
  return {models, asked, ids: models.map(({id}) => id)}
}

test('OpenAI’s list goes by with the client’s query, one row a name', async () => {
  const data = [
    {id: 'a', object: 'model', created: 5, owned_by: 'system', parent: null},
    {id: 'a'},
    {},
    7,
    {id: 'x'.repeat(1025)},
  ]
  const {models, asked} = await listed('openai', {'/models': {object: 'list', data}}, 'category=x')
  expect(models).toEqual([
    expect.objectContaining({
      id: 'a',
      created: 5,
      owned_by: 'system',
      more: {id: 'a', object: 'model', created: 5, owned_by: 'system'},
    }),
  ])
  expect(asked).toEqual([{method: 'GET', path: '/models', endpoint: 'listModels', query: 'category=x'}])
})

test.each<[string, object, object]>([
  ['groq', {context_window: 131_072, max_completion_tokens: 8192}, {context_length: 131_072, max_output_tokens: 8192}],
  ['vllm', {max_model_len: 4096}, {context_length: 4096}],
  [
    'openrouter',
    {context_length: 9, top_provider: {max_completion_tokens: 4}},
    {context_length: 9, max_output_tokens: 4},
  ],
  ['mistral-ai', {max_context_length: 32_768}, {context_length: 32_768}],
  ['llama-cpp', {meta: {n_ctx: 2048}}, {context_length: 2048}],
  [
    'openai',
    {context_length: -1, max_tokens: '1e999', created: 'never'},
    {context_length: undefined, max_output_tokens: undefined, created: undefined},
  ],
])('the limits that %s tells are known', async (slug, said, known) => {
  const {models} = await listed(slug, {'/models': {data: [{id: 'm', ...said}]}})
  expect(models[0]).toMatchObject(known)
})

test('I9: Together’s bare list is one', async () => {
  const {models} = await listed('together-ai', {
    '/models': [{id: 'meta/x', organization: 'Meta', context_length: 8, display_name: 'X'}],
  })
  expect(models).toMatchObject([{id: 'meta/x', owned_by: 'Meta', context_length: 8, name: 'X'}])
})

test('I9: Google’s is, page after page', async () => {
  const {models, asked} = await listed('google', {
    '/v1beta/models?pageSize=1000': {
      models: [{name: 'models/gemini', inputTokenLimit: 5, outputTokenLimit: 6, displayName: 'G'}],
      nextPageToken: 't',
    },
    'pageToken=t': {models: [{name: 'models/other', supportedGenerationMethods: ['embedContent']}]},
  })
  expect(models).toMatchObject([
    {id: 'gemini', owned_by: 'google', name: 'G', context_length: 5, max_output_tokens: 6},
    {id: 'other', more: {supported_generation_methods: ['embedContent']}},
  ])
  expect(asked).toHaveLength(2)
})

test('I9: Vertex’s is by the names that calls have; a partner that tells nothing is left out', async () => {
  const row = (name: string) => ({name})
  const {ids} = await listed('vertex-ai', {
    'publishers/google/': {publisherModels: [row('publishers/google/models/gemini-2.5-pro')]},
    'publishers/anthropic/': {publisherModels: [row('publishers/anthropic/models/claude-x@1')]},
    'publishers/meta/': {},
  })
  expect(ids).toEqual(['gemini-2.5-pro', 'anthropic.claude-x@1'])
  await expect(listed('vertex-ai', {})).rejects.toThrow(UpstreamFault)
})

test('I9: Bedrock’s has the models and their profiles, as far as they may be seen', async () => {
  const models = {
    modelSummaries: [{modelId: 'amazon.nova', modelName: 'Nova', providerName: 'Amazon', inputModalities: ['TEXT']}],
  }
  const profiles = {
    inferenceProfileSummaries: [{inferenceProfileId: 'us.amazon.nova', inferenceProfileName: 'US Nova'}],
  }
  expect((await listed('bedrock', {'/foundation-models': models, '/inference-profiles': profiles})).ids).toEqual([
    'amazon.nova',
    'us.amazon.nova',
  ])
  expect((await listed('bedrock', {'/foundation-models': models})).models).toEqual([
    {id: 'amazon.nova', owned_by: 'Amazon', name: 'Nova', more: {input_modalities: ['TEXT']}},
  ])
})

test('I9: Cohere’s is', async () => {
  const {models} = await listed('cohere', {
    '/v1/models': {models: [{name: 'command', context_length: 7, endpoints: ['chat']}]},
  })
  expect(models).toEqual([{id: 'command', owned_by: 'cohere', context_length: 7, more: {endpoints: ['chat']}}])
})

test('Anthropic’s is, page after page', async () => {
  const {models} = await listed('anthropic', {
    'limit=1000': {
      data: [{type: 'model', id: 'a', display_name: 'A', created_at: '2025-01-01T00:00:00Z'}],
      has_more: true,
      last_id: 'a',
    },
    'after_id=a': {data: [{type: 'model', id: 'b', max_input_tokens: 9, max_tokens: 3}], has_more: false, last_id: 'b'},
  })
  expect(models).toMatchObject([
    {id: 'a', name: 'A', created: 1_735_689_600, owned_by: 'anthropic'},
    {id: 'b', context_length: 9, max_output_tokens: 3},
  ])
})

test('what is no list is a broken reply, and one without an end is cut', async () => {
  await expect(listed('openai', {'/models': {error: 'x'}})).rejects.toThrow(InvalidResponseFault)
  const {asked} = await listed('google', {'': {models: [], nextPageToken: 'on'}})
  expect(asked.length).toBeLessThanOrEqual(20)
})

test('only a host knows the models of an engine, and those behind an own host of openai', () => {
  const ours = list().filter(provider => knowsOwnModels(provider, 'http://10.0.0.5:8000/v1'))
  expect(ours.map(({slug}) => slug)).toEqual(
    expect.arrayContaining(['vllm', 'ollama', 'llama-cpp', 'lm-studio', 'openai', 'passthrough']),
  )
  expect(ours.map(({slug}) => slug)).not.toContain('anthropic')
  expect(knowsOwnModels(find('openai')!, null)).toBe(false)
  expect(modelListerOf(find(DEMO)!)).toBeNull()
})
