import {isObject, list, object} from '../../base/json-object.ts'
import type {EmbeddingAnswer, EmbeddingPlace, EmbeddingWire} from '../../schema/embeddings.ts'

/** Rows of the log at the service that come from the gateway itself. */
const USER = 'Semantic Cache'

/** The embeddings of OpenAI, and of the many servers that speak the same. A local one needs no key. */
export function openaiEmbeddings({
  url,
  model = 'text-embedding-3-small',
  api_key,
  dimensions,
}: EmbeddingPlace): EmbeddingWire {
  const headers: Record<string, string> = api_key === undefined ? {} : {authorization: `Bearer ${api_key}`}
  return wire('openai', url ?? 'https://api.openai.com/v1/embeddings', headers, {model, dimensions})
}

/** The same at a deployment of Azure: its address names the deployment and the version. */
export function azureEmbeddings({
  url = '',
  model = 'text-embedding-3-small',
  api_key = '',
  dimensions,
}: EmbeddingPlace): EmbeddingWire {
  return wire('azure-openai', url, {'api-key': api_key}, {model, dimensions})
}

function wire(
  provider: string,
  url: string,
  credentials: Readonly<Record<string, string>>,
  {model, dimensions}: {readonly model: string; readonly dimensions: number | undefined},
): EmbeddingWire {
  const headers = {'content-type': 'application/json', ...credentials}
  return {
    provider,
    model,
    url,
    task: '',
    request: text => ({url, headers, body: JSON.stringify({input: [text], model, dimensions, user: USER})}),
    read: readEmbeddings,
  }
}

function readEmbeddings(answer: unknown): EmbeddingAnswer | undefined {
  const {data, usage} = object(answer)
  const [first] = list(data)
  if (!isObject(first) || !Array.isArray(first.embedding)) return undefined
  const {prompt_tokens} = object(usage)
  return {vector: first.embedding, tokens: count(prompt_tokens), is_truncated: false}
}

/** A count of tokens; null where it is none. */
export function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
