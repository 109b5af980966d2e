import {describe, expect, test} from 'vitest'
import {azureAiRerank} from '../../../src/providers/rerankers/azure-ai.ts'
import {vertexRerank} from '../../../src/providers/rerankers/vertex.ts'
import {InvalidResponseFault, UnsupportedInputFault} from '../../../src/providers/translation.ts'

const context = {
  provider: 'vertex-ai',
  model: 'semantic-ranker-512@latest',
  is_stream: false,
  strict: true,
  options: {vertex_project_id: 'p'},
  call_id: 'c',
  created_s: 1,
}
const asked = {
  model: 'm',
  query: 'What is Google gemini?',
  documents: [
    'The Gemini zodiac symbol often depicts two figures standing side-by-side.',
    {title: 'Gemini', text: 'Gemini is a model.', id: 7},
  ],
  top_n: 2,
  return_documents: true,
}

describe('ranking by Discovery Engine', () => {
  // Vertex AI Search, "Improve search and RAG quality with ranking API", the answer with ignoreRecordDetailsInResponse
  const answered = {
    records: [
      {id: '1', score: 0.97},
      {id: '0', score: 0.18},
    ],
  }

  test('is answered as a unified rerank, the documents as they were sent', () => {
    const {body, usage} = vertexRerank.reply(answered, context, asked)
    expect(body).toEqual({
      object: 'list',
      results: [
        {index: 1, relevance_score: 0.97, document: asked.documents[1]},
        {index: 0, relevance_score: 0.18, document: {text: asked.documents[0]}},
      ],
      model: 'semantic-ranker-512@latest',
      usage: {search_units: 1},
      provider: 'vertex-ai',
    })
    expect(usage!.units).toEqual({search_units: 1})
  })

  test('counts a query for each hundred records', () => {
    const documents = Array.from({length: 101}, (_, at) => `text ${at}`)
    expect(vertexRerank.reply(answered, context, {...asked, documents}).usage!.units).toEqual({search_units: 2})
  })

  test('refuses more records than it takes, and answers that are none', () => {
    expect(() => vertexRerank.request({...asked, documents: Array(201).fill('a')}, context)).toThrow(
      UnsupportedInputFault,
    )
    for (const id of ['2', '-1', 'x', 1]) {
      expect(() => vertexRerank.reply({records: [{id, score: 0.5}]}, context, asked)).toThrow(InvalidResponseFault)
    }
    expect(() => vertexRerank.reply({records: 'none'}, context, asked)).toThrow(InvalidResponseFault)
    expect(vertexRerank.reply({}, context, asked).body).toMatchObject({results: []})
  })
})

test('Cohere’s answer on Azure is a unified one', () => {
  // docs.cohere.com, API v2, rerank
  const said = {
    id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf',
    results: [{index: 1, relevance_score: 0.999071}],
    meta: {api_version: {version: '2', is_experimental: false}, billed_units: {search_units: 1}},
  }
  const {body, usage} = azureAiRerank.endpoints.rerank!.reply(
    said,
    {...context, provider: 'azure-ai', model: 'cohere-rerank-v4.0-fast'},
    asked,
  )
  expect(body).toEqual({
    object: 'list',
    id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf',
    results: [{index: 1, relevance_score: 0.999071, document: asked.documents[1]}],
    meta: said.meta,
    model: 'cohere-rerank-v4.0-fast',
    usage: {search_units: 1},
  })
  expect(usage!.units).toEqual({search_units: 1})
})
