import {isObject, object} from '../../base/json-object.ts'
import {emptyUsage, type Usage} from '../../schema/usage.ts'
import {usageIn} from '../chat.ts'
import {count} from '../openai/usage.ts'
import {
  InvalidResponseFault,
  type Json,
  type TranslatedResponse,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {checkAllThere} from '../unified/embeddings.ts'
import {defined, member, numberAt, textAt} from './ask.ts'
import {readDataUri} from './media.ts'
import {foundationModel, modelPath} from './model.ts'

/** One thing to be embedded. */
interface Input {
  readonly text?: string
  /** Base64, without a type. */
  readonly image?: string
  /** As it stood, for models that want the type. */
  readonly image_uri?: string
}

const COHERE_TYPES = new Set(['int8', 'uint8', 'binary', 'ubinary'])

/**
 * Embeddings of Titan (v1, v2, multimodal) and Cohere by InvokeModel. Source: Bedrock user guide, the models' own
 * pages.
 */
export const embed: Translation = {
  request(request, context) {
    const inputs = inputsOf(request)
    const path = modelPath(context, 'invoke')
    const id = foundationModel(context.model) ?? ''
    if (id.startsWith('cohere.embed')) return {method: 'POST', path, body: cohereBody(request, inputs)}
    if (!id.startsWith('amazon.titan-embed')) {
      throw new UnsupportedInputFault(
        'model',
        'expected an embedding model of Amazon Titan or Cohere, by its id or an ARN that holds it',
      )
    }
    const [input] = inputs
    if (input === undefined || inputs.length > 1)
      throw new UnsupportedInputFault('input', 'Titan embeds one input a call')
    return {
      method: 'POST',
      path,
      body: id.startsWith('amazon.titan-embed-image') ? multimodalBody(request, input) : titanBody(request, input, id),
    }
  },
  reply(reply, context, request, header_usage = null) {
    if (!isObject(reply)) throw new InvalidResponseFault('expected a JSON object')
    const is_cohere = foundationModel(context.model)?.startsWith('cohere.') === true
    const vectors = is_cohere ? cohereVectors(reply.embeddings) : [titanVector(reply)]
    checkAllThere(vectors, request)
    const tokens = is_cohere ? null : count(reply.inputTextTokenCount)
    const usage = tokens === null ? header_usage : {...emptyUsage(), input_uncached_tokens: tokens}
    return answer(vectors, usage, context, request.encoding_format === 'base64')
  },
}

function titanBody(request: Json, input: Input, id: string): Json {
  if (input.text === undefined || input.image !== undefined)
    throw new UnsupportedInputFault('input', 'this model embeds text alone')
  if (!id.startsWith('amazon.titan-embed-text-v2')) return {inputText: input.text}
  return defined({
    inputText: input.text,
    dimensions: numberAt(request, ['dimensions']),
    normalize: member(request, 'normalize')?.value,
  })
}

function multimodalBody(request: Json, {text, image}: Input): Json {
  const dimensions = numberAt(request, ['dimensions'])
  return defined({
    inputText: text,
    inputImage: image,
    embeddingConfig: dimensions === undefined ? undefined : {outputEmbeddingLength: dimensions},
  })
}

function cohereBody(request: Json, inputs: readonly Input[]): Json {
  const format = textAt(request, 'encoding_format') ?? ''
  const is_image = inputs.some(({image}) => image !== undefined)
  if (is_image && inputs.some(({text, image_uri}) => text !== undefined || image_uri === undefined)) {
    throw new UnsupportedInputFault('input', 'Cohere embeds texts, or images as data: URIs, not both in one call')
  }
  return defined({
    ...(is_image ? {images: inputs.map(({image_uri}) => image_uri)} : {texts: inputs.map(({text}) => text)}),
    input_type: textAt(request, 'input_type') ?? (is_image ? 'image' : 'search_document'),
    truncate: textAt(request, 'truncate'),
    embedding_types: COHERE_TYPES.has(format) ? [format] : undefined,
    output_dimension: numberAt(request, ['dimensions']),
  })
}

/**
 * `input`: a text, texts, or objects `{text?, image?: {base64 | url}}`. Token numbers have no meaning to another
 * tokenizer.
 */
function inputsOf(request: Json): readonly Input[] {
  const list: readonly unknown[] = Array.isArray(request.input) ? request.input : [request.input]
  if (list.length === 0) throw new UnsupportedInputFault('input', 'expected at least one text')
  return list.map((input, at) => {
    const field = Array.isArray(request.input) ? `input[${at}]` : 'input'
    if (typeof input === 'string') return {text: input}
    if (!isObject(input))
      throw new UnsupportedInputFault(field, 'expected a text; token numbers are not understood by Amazon Bedrock')
    const text = typeof input.text === 'string' && input.text !== '' ? {text: input.text} : {}
    const {base64, url} = object(input.image)
    const uri = typeof base64 === 'string' ? base64 : url
    if (typeof uri !== 'string') {
      if (text.text === undefined) throw new UnsupportedInputFault(field, 'expected text, or an image in base64')
      return text
    }
    if (!uri.startsWith('data:') && uri === base64) return {...text, image: uri}
    return {...text, image: readDataUri(uri, `${field}.image`).base64, image_uri: uri}
  })
}

function titanVector(reply: Json): unknown {
  return reply.embedding ?? object(reply.embeddingsByType).float
}

/** Bare vectors, or vectors by type, of which one was requested. */
function cohereVectors(embeddings: unknown): readonly unknown[] {
  if (Array.isArray(embeddings)) return embeddings
  const [first] = Object.values(object(embeddings))
  return Array.isArray(first) ? first : []
}

function answer(
  vectors: readonly unknown[],
  usage: Usage | null,
  context: TranslationContext,
  as_base64: boolean,
): TranslatedResponse {
  if (vectors.length === 0) throw new InvalidResponseFault('expected embeddings')
  const data = vectors.map((vector, index) => {
    if (!Array.isArray(vector) || vector.length === 0 || !vector.every(each => typeof each === 'number')) {
      throw new InvalidResponseFault('expected an embedding of numbers')
    }
    return {object: 'embedding', index, embedding: as_base64 ? packed(vector) : vector}
  })
  const reported_usage = usage ? usageIn(usage) : null
  const body = {
    object: 'list',
    data,
    model: context.model,
    provider: context.provider,
    ...(reported_usage
      ? {usage: {prompt_tokens: reported_usage.prompt_tokens, total_tokens: reported_usage.total_tokens}}
      : {}),
  }
  return {body, usage, model: null}
}

/** A vector as OpenAI packs it: little-endian 32-bit floats in base64. */
function packed(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4)
  for (const [at, each] of vector.entries()) bytes.writeFloatLE(each, at * 4)
  return bytes.toString('base64')
}
