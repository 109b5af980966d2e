import {isObject, object} from '../../base/json-object.ts'
import {emptyUsage, type Usage} from '../../schema/usage.ts'
import {count} from '../openai/usage.ts'
import {
  type Json,
  type Translated,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {embeddingList, textsIn} from '../unified/embeddings.ts'
import {arrayIn, objectIn, pick} from '../unified/read.ts'

const TYPES = new Set(['float', 'int8', 'uint8', 'binary', 'ubinary', 'base64'])

/** Embeddings. Source: docs.cohere.com, API v2, embed. */
export const embed: Translation = {request, reply}

function request(body: Json, context: TranslationContext): Translated {
  const images = imagesIn(body)
  const {input_type: given_type} = body
  return {
    path: '/v2/embed',
    body: {
      model: context.model,
      // Required there, unknown to OpenAI's clients: what is kept to be searched is the plain case.
      input_type: given_type ?? (images ? 'image' : 'search_document'),
      ...(images ? {images} : {texts: textsIn(body)}),
      embedding_types: [theirs(typeIn(body))],
      ...pick(body, 'dimensions>output_dimension output_dimension truncate max_tokens'),
    },
  }
}

function reply(response: unknown, context: TranslationContext, body: Json) {
  const {embeddings, meta} = objectIn(response)
  const type = typeIn(body)
  const vectors = isObject(embeddings) ? embeddings[theirs(type)] : embeddings
  const billed = object(object(meta).billed_units)
  return embeddingList(
    context,
    {vectors: arrayIn(vectors, 'embeddings'), usage: billedFor(billed), request: body},
    type === 'base64' ? 'base64' : 'float',
  )
}

function billedFor(billed: Json): Usage | null {
  const tokens = count(billed.input_tokens)
  const image_tokens = count(billed.image_tokens)
  const pictures = count(billed.images)
  if (tokens === null && image_tokens === null && pictures === null) return null
  const usage = emptyUsage()
  usage.input_uncached_tokens = tokens ?? 0
  usage.image_in_tokens = image_tokens ?? 0
  if (pictures) usage.units.images = pictures
  return usage
}

/** One kind of vector, for OpenAI's answer has room for one. */
function typeIn(body: Json): string {
  const {embedding_types: several, encoding_format: one} = body
  const type: unknown = Array.isArray(several) ? (several.length === 1 ? several[0] : null) : (one ?? 'float')
  if (typeof type === 'string' && TYPES.has(type)) return type
  throw new UnsupportedInputFault(
    Array.isArray(several) ? 'embedding_types' : 'encoding_format',
    `expected one of ${[...TYPES].join(', ')}`,
  )
}

/** Base64 is made here: OpenAI's means floats of 32 bits. */
function theirs(type: string): string {
  return type === 'base64' ? 'float' : type
}

/**
 * Pictures among the inputs (`{image: {url | base64}}` or a data URI under `image`); undefined when there are none.
 * Never with texts.
 */
function imagesIn({input}: Json): readonly string[] | undefined {
  const all = Array.isArray(input) ? input : [input]
  const images = all.flatMap(one => {
    const image = object(one).image
    const url = typeof image === 'string' ? image : (object(image).url ?? object(image).base64)
    return typeof url === 'string' ? [url] : []
  })
  if (images.length === 0) return undefined
  if (images.length < all.length)
    throw new UnsupportedInputFault('input', 'the provider embeds texts or images; expected all of one kind')
  return images
}
