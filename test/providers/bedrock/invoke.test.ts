import {describe, expect, test} from 'vitest'
import {bedrock} from '../../../src/providers/bedrock/index.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../../../src/providers/translation.ts'
import {contextOf, counted} from './fixtures.ts'

const embed = bedrock.endpoints.embed!
const imageGenerate = bedrock.endpoints.imageGenerate!
const rerank = bedrock.endpoints.rerank!

const TITAN_1 = 'amazon.titan-embed-text-v1'
const TITAN_2 = 'amazon.titan-embed-text-v2:0'
const TITAN_IMAGE = 'amazon.titan-embed-image-v1'
const COHERE = 'cohere.embed-multilingual-v3'
const PNG = 'data:image/png;base64,AAAA'

describe('embeddings', () => {
  test.each<[string, Json, Json]>([
    [TITAN_1, {input: 'a', dimensions: 256}, {inputText: 'a'}],
    [TITAN_2, {input: ['a'], dimensions: 256, normalize: false}, {inputText: 'a', dimensions: 256, normalize: false}],
    [
      TITAN_IMAGE,
      {input: {text: 'a', image: {base64: 'AAAA'}}, dimensions: 384},
      {inputText: 'a', inputImage: 'AAAA', embeddingConfig: {outputEmbeddingLength: 384}},
    ],
    [TITAN_IMAGE, {input: [{image: {url: PNG}}]}, {inputImage: 'AAAA'}],
    [TITAN_IMAGE, {input: 'a'}, {inputText: 'a'}],
    [COHERE, {input: ['a', 'b']}, {texts: ['a', 'b'], input_type: 'search_document'}],
    [
      COHERE,
      {input: 'a', input_type: 'search_query', truncate: 'END', encoding_format: 'int8'},
      {texts: ['a'], input_type: 'search_query', truncate: 'END', embedding_types: ['int8']},
    ],
    [
      'us.cohere.embed-v4:0',
      {input: [{image: {url: PNG}}], dimensions: 512},
      {images: [PNG], input_type: 'image', output_dimension: 512},
    ],
  ])('%s is asked for %j', (model, asked, body) => {
    const path = `/model/${encodeURIComponent(model)}/invoke`
    expect(embed.request(asked, contextOf({model}))).toEqual({method: 'POST', path, body})
  })

  test.each<[string, Json, Json, readonly unknown[], Json | null]>([
    [TITAN_1, {}, {embedding: [0.5, 1], inputTextTokenCount: 7}, [[0.5, 1]], {input_uncached_tokens: 7}],
    [
      TITAN_2,
      {},
      {embeddingsByType: {float: [0.5, 1]}, inputTextTokenCount: 7},
      [[0.5, 1]],
      {input_uncached_tokens: 7},
    ],
    [
      COHERE,
      {},
      {id: 'a', response_type: 'embeddings_floats', embeddings: [[1], [2]], texts: ['a', 'b']},
      [[1], [2]],
      null,
    ],
    [COHERE, {}, {id: 'a', response_type: 'embeddings_by_type', embeddings: {int8: [[1], [-2]]}}, [[1], [-2]], null],
    [
      TITAN_1,
      {encoding_format: 'base64'},
      {embedding: [0.5, 1], inputTextTokenCount: 7},
      ['AAAAPwAAgD8='],
      {input_uncached_tokens: 7},
    ],
  ])('%s asked with %j answers %j', (model, asked, reply, vectors, usage) => {
    const answer = embed.reply(reply, contextOf({model}), asked)
    expect(answer.body).toMatchObject({
      object: 'list',
      model,
      provider: 'bedrock',
      data: vectors.map((embedding, index) => ({object: 'embedding', index, embedding})),
    })
    expect(counted(answer.usage)).toEqual(usage)
    expect((answer.body as Json).usage).toEqual(usage ? {prompt_tokens: 7, total_tokens: 7} : undefined)
  })

  test.each<[string, unknown]>([
    [TITAN_1, null],
    [TITAN_1, {message: 'no'}],
    [TITAN_1, {embedding: []}],
    [TITAN_1, {embedding: [1, 'a']}],
    [COHERE, {embeddings: {}}],
    [COHERE, {embeddings: [[1], null]}],
    [COHERE, {embeddings: 'x'}],
  ])('%s: an answer of %j is refused', (model, reply) => {
    expect(() => embed.reply(reply, contextOf({model}), {})).toThrow(InvalidResponseFault)
  })

  test.each<[string, Json]>([
    [TITAN_1, {input: ['a', 'b']}],
    [TITAN_1, {input: []}],
    [TITAN_1, {input: [1, 2, 3]}],
    [TITAN_1, {}],
    [TITAN_1, {input: {image: {base64: 'AAAA'}}}],
    [TITAN_IMAGE, {input: {image: {url: 'https://pictures.example/a.png'}}}],
    [TITAN_IMAGE, {input: {}}],
    [COHERE, {input: ['a', {image: {url: PNG}}]}],
    ['anthropic.claude-3-haiku-20240307-v1:0', {input: 'a'}],
    ['arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/abc', {input: 'a'}],
  ])('%s cannot be asked for %j', (model, asked) => {
    expect(() => embed.request(asked, contextOf({model}))).toThrow(UnsupportedInputFault)
  })
})

describe('pictures', () => {
  test.each<[string, Json, Json]>([
    [
      'amazon.titan-image-generator-v2:0',
      {prompt: 'a cat', n: 2, size: '1024x512', quality: 'hd', seed: 3, negative_prompt: 'dogs'},
      {
        taskType: 'TEXT_IMAGE',
        textToImageParams: {text: 'a cat', negativeText: 'dogs'},
        imageGenerationConfig: {numberOfImages: 2, width: 1024, height: 512, quality: 'premium', seed: 3},
      },
    ],
    [
      'amazon.nova-canvas-v1:0',
      {prompt: 'a cat', size: 'auto'},
      {taskType: 'TEXT_IMAGE', textToImageParams: {text: 'a cat'}},
    ],
    [
      'stability.stable-diffusion-xl-v1',
      {prompt: 'a cat', n: 1, size: '512x512', steps: 30, style: 'anime', negative_prompt: 'dogs'},
      {
        text_prompts: [
          {text: 'a cat', weight: 1},
          {text: 'dogs', weight: -1},
        ],
        width: 512,
        height: 512,
        steps: 30,
        style_preset: 'anime',
      },
    ],
    [
      'us.stability.stable-image-ultra-v1:1',
      {prompt: 'a cat', size: '1920x1080', response_format: 'b64_json'},
      {prompt: 'a cat', aspect_ratio: '16:9'},
    ],
    [
      'stability.sd3-5-large-v1:0',
      {prompt: 'a cat', aspect_ratio: '21:9', output_format: 'png'},
      {prompt: 'a cat', aspect_ratio: '21:9', output_format: 'png'},
    ],
  ])('%s is asked for %j', (model, asked, body) => {
    expect(imageGenerate.request(asked, contextOf({model}))).toEqual({
      method: 'POST',
      path: `/model/${encodeURIComponent(model)}/invoke`,
      body,
    })
  })

  test.each<[string, Json, readonly string[]]>([
    ['of Amazon', {images: ['AA==', 'BB=='], error: null}, ['AA==', 'BB==']],
    ['of Stable Image', {seeds: [1], finish_reasons: [null], images: ['AA==']}, ['AA==']],
    [
      'of Stable Diffusion',
      {result: 'success', artifacts: [{seed: 1, base64: 'AA==', finishReason: 'SUCCESS'}]},
      ['AA=='],
    ],
  ])('an answer %s', (_, reply, pictures) => {
    const {body, usage} = imageGenerate.reply(reply, contextOf(), {quality: 'hd', size: '1024x1024'})
    expect(body).toEqual({created: 1_700_000_000, data: pictures.map(b64_json => ({b64_json})), provider: 'bedrock'})
    expect(usage!.units).toEqual({'image:hd:1024x1024': pictures.length})
  })

  test.each<[string, unknown]>([
    ['nothing', null],
    ['no pictures', {}],
    ['an empty list', {images: []}],
    ['pictures that are none', {images: [4]}],
    ['an error', {images: [], error: 'All images were blocked.'}],
    ['a filter', {images: [''], finish_reasons: ['Filter reason: prompt']}],
    ['a filtered artifact', {artifacts: [{base64: 'AA==', finishReason: 'CONTENT_FILTERED'}]}],
    ['an artifact of null', {artifacts: [null]}],
  ])('an answer with %s is refused', (_, reply) => {
    expect(() => imageGenerate.reply(reply, contextOf(), {})).toThrow(InvalidResponseFault)
  })

  test.each<[string, Json]>([
    ['amazon.titan-image-generator-v1', {}],
    ['amazon.titan-image-generator-v1', {prompt: 'a', size: 'large'}],
    ['amazon.titan-image-generator-v1', {prompt: 'a', size: '0x5'}],
    ['amazon.titan-image-generator-v1', {prompt: 'a', response_format: 'url'}],
    ['stability.stable-diffusion-xl-v1', {prompt: 'a', n: 2}],
    ['stability.sd3-large-v1:0', {prompt: 'a', size: '1000x300'}],
    ['meta.llama3-8b-instruct-v1:0', {prompt: 'a'}],
  ])('%s cannot be asked for %j', (model, asked) => {
    expect(() => imageGenerate.request(asked, contextOf({model}))).toThrow(UnsupportedInputFault)
  })
})

describe('reranking', () => {
  const ARN = 'arn:aws:bedrock:us-west-2::foundation-model/cohere.rerank-v3-5:0'
  const asked = {
    query: 'rivers',
    documents: ['Danube', {text: 'Vltava'}, {title: 'Elbe', text: 'a river'}],
    top_n: 2,
    max_tokens_per_doc: 64,
  }

  test.each([
    [ARN, {}],
    ['cohere.rerank-v3-5:0', {aws_region: 'us-west-2'}],
  ])('%s is asked by its whole name', (model, options) => {
    expect(rerank.request(asked, contextOf({model, options}))).toEqual({
      method: 'POST',
      path: '/rerank',
      body: {
        queries: [{type: 'TEXT', textQuery: {text: 'rivers'}}],
        sources: [
          {type: 'INLINE', inlineDocumentSource: {type: 'TEXT', textDocument: {text: 'Danube'}}},
          {type: 'INLINE', inlineDocumentSource: {type: 'TEXT', textDocument: {text: 'Vltava'}}},
          {type: 'INLINE', inlineDocumentSource: {type: 'JSON', jsonDocument: {title: 'Elbe', text: 'a river'}}},
        ],
        rerankingConfiguration: {
          type: 'BEDROCK_RERANKING_MODEL',
          bedrockRerankingConfiguration: {
            modelConfiguration: {modelArn: ARN, additionalModelRequestFields: {max_tokens_per_doc: 64}},
            numberOfResults: 2,
          },
        },
      },
    })
  })

  test('a model of a government region is named in its partition', () => {
    const {body} = rerank.request(
      asked,
      contextOf({model: 'amazon.rerank-v1:0', options: {aws_region: 'us-gov-west-1'}}),
    )
    expect(JSON.stringify(body)).toContain(
      '"arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/amazon.rerank-v1:0"',
    )
  })

  test('results come with their documents when they are wanted, and a query is counted by the hundred documents', () => {
    const reply = {
      results: [
        {index: 1, relevanceScore: 0.9},
        {index: 0, relevanceScore: 0.2},
      ],
    }
    const {body, usage} = rerank.reply(reply, contextOf({model: ARN}), {...asked, return_documents: true})
    expect(body).toEqual({
      object: 'list',
      results: [
        {index: 1, relevance_score: 0.9, document: {text: 'Vltava'}},
        {index: 0, relevance_score: 0.2, document: {text: 'Danube'}},
      ],
      model: ARN,
      usage: {search_units: 1},
      provider: 'bedrock',
    })
    expect(usage!.units).toEqual({search_units: 1})
    const many = Array.from({length: 101}, () => 'x')
    expect(rerank.reply({results: []}, contextOf(), {query: 'a', documents: many}).usage!.units).toEqual({
      search_units: 2,
    })
  })

  test.each<unknown>([
    null,
    {},
    {results: [null]},
    {results: [{index: -1, relevanceScore: 1}]},
    {results: [{index: 0}]},
    {results: [{index: 0, relevanceScore: 'x'}]},
  ])('an answer of %j is refused', reply => {
    expect(() => rerank.reply(reply, contextOf(), asked)).toThrow(InvalidResponseFault)
  })

  test.each<[string, Json]>([
    [ARN, {documents: []}],
    [ARN, {query: 'a'}],
    [ARN, {query: 'a', documents: [5]}],
    ['cohere.rerank-v3-5:0', asked],
    ['arn:aws:s3:::bucket', asked],
  ])('%s cannot be asked for %j', (model, body) => {
    expect(() => rerank.request(body, contextOf({model}))).toThrow(UnsupportedInputFault)
  })
})
