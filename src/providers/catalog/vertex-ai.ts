import {isObject} from '../../base/json-object.ts'
import {placed} from '../anthropic/endpoint.ts'
import {anthropicOn} from '../anthropic/index.ts'
import {google} from '../auth/google.ts'
import {
  vertexModel,
  vertexParent,
  vertexPlace,
  vertexProxyPath,
  vertexPublisher,
  withProject,
} from '../base-urls/vertex.ts'
import {geminiOnVertex} from '../gemini/index.ts'
import {mistral} from '../mistral/index.ts'
import {vertexModels} from '../models/listers.ts'
import {count} from '../openai/usage.ts'
import type {Options} from '../options.ts'
import type {Provider} from '../provider.ts'
import {vertexRerank} from '../rerankers/vertex.ts'
import {
  type Dialect,
  InvalidResponseFault,
  type Json,
  type Translation,
  type TranslationContext,
} from '../translation.ts'
import {vertexOperations} from '../vertex/file-operations.ts'
import {type More, nativeRow} from './row.ts'

const SLUG = 'vertex-ai'
const NAME = 'Google Vertex AI'
/** Tell Google what kind of throughput a call is for. */
const hands_on = ['x-vertex-ai-llm-request-type', 'x-vertex-ai-llm-shared-request-type']
const shared: More = {
  baseUrlOf: vertexPlace,
  base_url_template: 'https://{vertex_region}-aiplatform.googleapis.com',
  login: google,
  pathOf: vertexProxyPath,
  hands_on,
  operations: vertexOperations,
  models: vertexModels,
}

const claude = nativeRow(SLUG, NAME, null, {
  ...shared,
  translations: withCount(
    anthropicOn('vertex', context => published(context, context.is_stream ? 'streamRawPredict' : 'rawPredict')),
    {
      // The model that counts is named in the path, the one that is counted for in the body (Vertex AI, Claude, count
      // tokens).
      request(request, context) {
        const {body, headers = {}} = placed(request, request, {...context, is_stream: false}, 'vertex')
        const path = `${vertexParent(context.options)}/publishers/anthropic/models/count-tokens:rawPredict`
        return {path, headers, body: {...(body as Json), model: nameIn(context.model)}}
      },
      reply(response) {
        if (!isObject(response) || count(response.input_tokens) === null)
          throw new InvalidResponseFault('expected input_tokens')
        return {body: response, usage: null, model: null}
      },
    },
  ),
})

/** Mistral's words at Google's path, chat and fill-in-the-middle alike. */
const mistralModels = nativeRow(SLUG, NAME, null, {
  ...shared,
  translations: mapped(mistral, ['chatComplete', 'complete'], translation => ({
    ...translation,
    request(request, context) {
      const named = {...context, model: nameIn(context.model)}
      return {
        ...translation.request(request, named),
        path: published(context, context.is_stream ? 'streamRawPredict' : 'rawPredict'),
      }
    },
  })),
})

/**
 * Models of other publishers, and those deployed to an endpoint of one's own, speak OpenAI's chat (Vertex AI, "Call
 * open models by API").
 */
const open: Provider = {
  ...nativeRow(SLUG, NAME, null, shared),
  dialect: 'openai',
  endpoints: ['chatComplete'],
  stream_usage: true,
  pathOf(reach, options) {
    if (reach.endpoint !== 'chatComplete') return vertexProxyPath(reach)
    const {publisher, name} = vertexPublisher(reach.model)!
    const is_own = publisher === 'endpoints'
    const endpoint = is_own ? vertexModel(name) : 'openapi'
    return `${vertexParent(options, is_own ? 'v1' : 'v1beta1')}/endpoints/${endpoint}/chat/completions${reach.query}`
  },
  modelIn(model) {
    const {publisher, name} = vertexPublisher(model)!
    return publisher === 'endpoints' ? '' : `${publisher}/${name}`
  },
}

/** Vertex AI: Gemini, and by the publisher that a model's name begins with the models of others. */
export const vertexAi: Provider = nativeRow(SLUG, NAME, null, {
  ...shared,
  translations: mapped(
    withRerank(geminiOnVertex()),
    ['chatComplete', 'embed', 'imageGenerate', 'messagesCountTokens', 'rerank'],
    ({request, ...translation}) => ({
      ...translation,
      request: (body, context) => request(body, {...context, options: withProject(context.options as Options)}),
    }),
  ),
  variant: model => {
    const publisher = vertexPublisher(model)?.publisher
    if (publisher === undefined) return undefined
    if (publisher === 'anthropic') return claude
    return publisher === 'mistralai' ? mistralModels : open
  },
})

function published({model, options}: TranslationContext, action: string): string {
  const {publisher, name} = vertexPublisher(model) ?? {publisher: 'google', name: model}
  return `${vertexParent(options)}/publishers/${publisher}/models/${vertexModel(name)}:${action}`
}

function withCount(dialect: Dialect, messagesCountTokens: Translation): Dialect {
  return {...dialect, endpoints: {...dialect.endpoints, messagesCountTokens}}
}

function withRerank(dialect: Dialect): Dialect {
  return {...dialect, endpoints: {...dialect.endpoints, rerank: vertexRerank}}
}

function nameIn(model: string): string {
  return vertexPublisher(model)?.name ?? model
}

function mapped(
  dialect: Dialect,
  names: readonly (keyof Dialect['endpoints'])[],
  change: (translation: Translation) => Translation,
): Dialect {
  const endpoints = names.flatMap(name => {
    const translation = dialect.endpoints[name]
    return translation ? [[name, change(translation)] as const] : []
  })
  return {...dialect, endpoints: Object.fromEntries(endpoints)}
}
