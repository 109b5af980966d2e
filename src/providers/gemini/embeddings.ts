import {list, object} from '../../base/json-object.ts'
import {emptyUsage, type Usage} from '../../schema/usage.ts'
import {count} from '../openai/usage.ts'
import {
  InvalidResponseFault,
  type Json,
  type Translated,
  type TranslatedResponse,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {checkAllThere} from '../unified/embeddings.ts'
import {type GeminiHost, modelOf} from './endpoint.ts'
import {present, word} from './read.ts'
import {replied} from './reply.ts'
import {readUsage} from './usage.ts'

/** OpenAI embeddings ⇄ `batchEmbedContents` (ai.google.dev/api/embeddings). */
export function studioEmbeddings(place: GeminiHost): Translation {
  return {
    request(request, context): Translated {
      const model = modelOf(request, context)
      const {taskType, title, dimensions} = settings(request)
      const named = {model: `models/${model}`}
      const more = present({taskType, title, outputDimensionality: dimensions})
      const requests = textsOf(request.input).map(text => ({...named, content: {parts: [{text}]}, ...more}))
      return {path: place.path(context, model, 'batchEmbedContents'), body: {requests}}
    },
    reply(response, context, request): TranslatedResponse {
      const reply = replied(response, context)
      const vectors = list(reply.embeddings).map(each => object(each).values)
      return answer(vectors, readUsage(reply.usageMetadata), context, request)
    },
  }
}

/**
 * OpenAI embeddings ⇄ `:predict` (cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api).
 */
export function vertexEmbeddings(place: GeminiHost): Translation {
  return {
    request(request, context): Translated {
      const model = modelOf(request, context)
      const {taskType, title, dimensions} = settings(request)
      const more = present({task_type: taskType, title})
      const instances = textsOf(request.input).map(content => ({content, ...more}))
      const parameters = present({outputDimensionality: dimensions, autoTruncate: request.auto_truncate})
      return {
        path: place.path(context, model, 'predict'),
        body: {instances, ...(Object.keys(parameters).length > 0 ? {parameters} : {})},
      }
    },
    reply(response, context, request): TranslatedResponse {
      const found = list(replied(response, context).predictions).map(each => object(object(each).embeddings))
      const counted = found.map(({statistics}) => count(object(statistics).token_count)).filter(each => each !== null)
      const usage =
        counted.length > 0
          ? {...emptyUsage(), input_uncached_tokens: counted.reduce((sum, each) => sum + each, 0)}
          : null
      return answer(
        found.map(({values}) => values),
        usage,
        context,
        request,
      )
    },
  }
}

function settings(request: Json): {taskType: unknown; title: unknown; dimensions: unknown} {
  return {
    taskType: word(request.task_type) ?? word(request.taskType),
    title: word(request.title),
    dimensions: request.dimensions,
  }
}

function textsOf(input: unknown): readonly string[] {
  const texts = Array.isArray(input) ? input : [input]
  if (texts.length > 0 && texts.every(each => typeof each === 'string' && each !== '')) return texts
  throw new UnsupportedInputFault('input', 'expected a text or a list of texts; Gemini takes no tokens')
}

/** One vector for each text of the request, in order; anything else is no answer. */
function answer(
  vectors: readonly unknown[],
  usage: Usage | null,
  context: TranslationContext,
  request: Json,
): TranslatedResponse {
  checkAllThere(vectors, request)
  const as_base64 = request.encoding_format === 'base64'
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: as_base64 ? packed(numbers(vector)) : numbers(vector),
  }))
  const prompt_tokens = usage?.input_uncached_tokens ?? 0
  return {
    body: {
      object: 'list',
      data,
      model: context.model,
      provider: context.provider,
      // Clients read these without looking; Google does not always count.
      usage: {prompt_tokens, total_tokens: prompt_tokens},
    },
    usage,
    model: null,
  }
}

function numbers(vector: unknown): readonly number[] {
  if (Array.isArray(vector) && vector.length > 0 && vector.every(Number.isFinite)) return vector
  throw new InvalidResponseFault('an embedding is no list of numbers')
}

/** 32-bit floats, little-endian, as OpenAI packs them. */
function packed(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4)
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4)
  return bytes.toString('base64')
}
