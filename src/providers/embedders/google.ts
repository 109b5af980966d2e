import {isObject, list, object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import type {EmbeddingPlace, EmbeddingWire} from '../../schema/embeddings.ts'
import {google} from '../auth/google.ts'
import type {Logins} from '../auth/login.ts'
import type {Options} from '../options.ts'
import {count} from './openai.ts'

/** Vectors are compared with each other: neither side is a document that is searched. */
const TASK = 'SEMANTIC_SIMILARITY'
const MODEL = 'gemini-embedding-001'

/** Source: Gemini API reference, models.embedContent. */
export function geminiEmbeddings({url, model = MODEL, api_key = '', dimensions}: EmbeddingPlace): EmbeddingWire {
  const base = (url ?? 'https://generativelanguage.googleapis.com/v1beta').replace(/\/$/, '')
  const headers = {'content-type': 'application/json', 'x-goog-api-key': api_key}
  return {
    provider: 'google',
    model,
    url: base,
    task: TASK,
    request: text => ({
      url: `${base}/models/${uriPart(model)}:embedContent`,
      headers,
      body: JSON.stringify({content: {parts: [{text}]}, taskType: TASK, outputDimensionality: dimensions}),
    }),
    read(answer) {
      const {embedding} = object(answer)
      if (!isObject(embedding) || !Array.isArray(embedding.values)) return undefined
      return {vector: embedding.values, tokens: null, is_truncated: false}
    },
  }
}

/**
 * Source: Vertex AI reference, text embeddings API. The address ends before `/models`; the key is that of a service
 * account (JSON) or a token. Without one the gateway shows its own identity.
 */
export function vertexEmbeddings(
  {url = '', model = MODEL, api_key, dimensions}: EmbeddingPlace,
  logins: Logins,
): EmbeddingWire {
  const base = url.replace(/\/$/, '')
  const address = `${base}/models/${uriPart(model)}:predict`
  return {
    provider: 'vertex-ai',
    model,
    url: base,
    task: TASK,
    async request(text) {
      const body = JSON.stringify({
        instances: [{content: text, task_type: TASK}],
        parameters: {outputDimensionality: dimensions, autoTruncate: false},
      })
      return {
        url: address,
        headers: {'content-type': 'application/json', ...(await authorization(address, api_key, logins))},
        body,
      }
    },
    read(answer) {
      const [first] = list(object(answer).predictions)
      const {values, statistics} = object(object(first).embeddings)
      if (!Array.isArray(values)) return undefined
      const {token_count, truncated} = object(statistics)
      return {vector: values, tokens: count(token_count), is_truncated: truncated === true}
    },
  }
}

async function authorization(address: string, api_key: string | undefined, logins: Logins) {
  if (api_key !== undefined && !api_key.trimStart().startsWith('{')) return {authorization: `Bearer ${api_key}`}
  const {host, pathname} = new URL(address)
  const options: Options =
    api_key === undefined
      ? {vertex_auth_type: 'workload'}
      : {vertex_auth_type: 'serviceAccount', vertex_service_account_json: api_key}
  const headers = await google.authorize(
    {method: 'POST', host, path: pathname, headers: {}, body: null},
    null,
    options,
    logins,
  )
  return {authorization: String(headers.authorization)}
}
