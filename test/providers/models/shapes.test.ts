import {describe, expect, test} from 'vitest'
import {
  anthropicList,
  geminiList,
  type ModelEntry,
  modelList,
  ollamaTags,
  oneModel,
  openaiList,
  shapeFor,
} from '../../../src/providers/models/shapes.ts'

const BARE: ModelEntry = {id: '@main/m', kind: 'openai'}
const WHOLE: ModelEntry = {
  id: '@main/gpt',
  kind: 'openai',
  created: 1_700_000_000,
  owned_by: 'system',
  name: 'GPT',
  context_length: 128_000,
  max_output_tokens: 16_384,
  pricing: {prompt: '0.0000025'},
  more: {
    permission: [],
    description: 'A model',
    supported_generation_methods: ['embedContent'],
    capabilities: {batch: {supported: true}},
  },
}
const query = (text = '') => new URLSearchParams(text)
const many = Array.from({length: 5}, (_, at): ModelEntry => ({id: `m${at}`, kind: 'demo'}))

describe('fact 25: a model is told', () => {
  test('in OpenAI’s shape with what is known, and never null', () => {
    expect(openaiList([BARE, WHOLE], {total: 2})).toEqual({
      object: 'list',
      total: 2,
      data: [
        {id: '@main/m', object: 'model', created: 0, owned_by: 'openai'},
        {
          ...WHOLE.more,
          id: '@main/gpt',
          object: 'model',
          created: 1_700_000_000,
          owned_by: 'system',
          context_length: 128_000,
          max_output_tokens: 16_384,
          pricing: {prompt: '0.0000025'},
        },
      ],
    })
  })

  test('in Anthropic’s shape, an unknown release as the epoch', () => {
    expect(anthropicList([BARE, WHOLE], query())).toEqual({
      data: [
        {type: 'model', id: '@main/m', display_name: '@main/m', created_at: '1970-01-01T00:00:00Z'},
        {
          type: 'model',
          id: '@main/gpt',
          display_name: 'GPT',
          created_at: '2023-11-14T22:13:20Z',
          max_input_tokens: 128_000,
          max_tokens: 16_384,
          capabilities: {batch: {supported: true}},
        },
      ],
      has_more: false,
      first_id: '@main/m',
      last_id: '@main/gpt',
    })
  })

  test('in Gemini’s shape, with the methods that its clients look for', () => {
    expect(geminiList([BARE, WHOLE], query())).toEqual({
      models: [
        {
          name: 'models/@main/m',
          version: '',
          displayName: '@main/m',
          supportedGenerationMethods: ['generateContent', 'countTokens'],
        },
        {
          name: 'models/@main/gpt',
          version: '',
          displayName: 'GPT',
          description: 'A model',
          inputTokenLimit: 128_000,
          outputTokenLimit: 16_384,
          supportedGenerationMethods: ['embedContent'],
        },
      ],
    })
  })

  test('in Ollama’s shape, with every member that its clients read', () => {
    expect(ollamaTags([WHOLE])).toEqual({
      models: [
        {
          name: '@main/gpt',
          model: '@main/gpt',
          modified_at: '2023-11-14T22:13:20.000Z',
          size: 0,
          digest: '',
          details: {parent_model: '', format: '', family: '', families: [], parameter_size: '', quantization_level: ''},
        },
      ],
    })
  })

  test.each(['openai', 'anthropic', 'gemini', 'ollama'] as const)('alone as in the list of %s', shape => {
    const list = modelList(shape, [WHOLE], query(), {}) as {data?: unknown[]; models?: unknown[]}
    expect((list.data ?? list.models)![0]).toEqual(oneModel(shape, WHOLE))
    expect(JSON.stringify(modelList(shape, [BARE], query(), {}))).not.toMatch(/:null/)
  })
})

test('Anthropic’s pages go both ways', () => {
  const page = (text: string) => {
    const {data, has_more} = anthropicList(many, query(text)) as {data: {id: string}[]; has_more: boolean}
    return [data.map(({id}) => id).join(), has_more]
  }
  expect(page('limit=2')).toEqual(['m0,m1', true])
  expect(page('limit=2&after_id=m1')).toEqual(['m2,m3', true])
  expect(page('limit=2&after_id=m3')).toEqual(['m4', false])
  expect(page('limit=2&before_id=m3')).toEqual(['m1,m2', true])
  expect(page('limit=9&before_id=m1')).toEqual(['m0', false])
  expect(page('limit=none&after_id=nobody')).toEqual(['m0,m1,m2,m3,m4', false])
  expect(anthropicList([], query())).toEqual({data: [], has_more: false, first_id: null, last_id: null})
})

test('Gemini’s pages follow their token to the end', () => {
  const seen: string[] = []
  let token: string | undefined = ''
  while (token !== undefined) {
    const page = geminiList(many, query(`pageSize=2&pageToken=${token}`)) as {
      models: {name: string}[]
      nextPageToken?: string
    }
    seen.push(...page.models.map(({name}) => name))
    token = page.nextPageToken
  }
  expect(seen).toEqual(many.map(({id}) => `models/${id}`))
})

test('who says Anthropic’s version reads Anthropic’s shape', () => {
  expect([shapeFor({}), shapeFor({'anthropic-version': '2023-06-01'})]).toEqual(['openai', 'anthropic'])
})
