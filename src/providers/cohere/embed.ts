import {isObject, object} from '../../base/json-object.ts'
import {emptyUsage} from '../../schema/usage.ts'
import {count} from '../openai/usage.ts'
import {type Context, type Json, type Translated, type Translation, UnsupportedInput} from '../translation.ts'
import {embeddingList, textsIn} from '../unified/embeddings.ts'
import {arrayIn, objectIn, pick} from '../unified/read.ts'

const TYPES = new Set(['float', 'int8', 'uint8', 'binary', 'ubinary', 'base64'])

/** Embeddings. Source: docs.cohere.com, API v2, embed. */
export const embed: Translation = {request, reply}

function request(asked: Json, context: Context): Translated {
  const images = imagesIn(asked)
  const {input_type: said} = asked
  return {
    path: '/v2/embed',
    body: {
      model: context.model,
      // Required there, unknown to OpenAI's clients: what is kept to be searched is the plain case.
      input_type: said ?? (images ? 'image' : 'search_document'),
      ...(images ? {images} : {texts: textsIn(asked)}),
      embedding_types: [theirs(typeIn(asked))],
      ...pick(asked, 'dimensions>output_dimension output_dimension truncate max_tokens'),
    },
  }
}

function reply(said: unknown, context: Context, asked: Json) {
  const {embeddings, meta} = objectIn(said)
  const type = typeIn(asked)
  const vectors = isObject(embeddings) ? embeddings[theirs(type)] : embeddings
  const billed = object(object(meta).billed_units)
  const usage = emptyUsage()
  usage.input_uncached_tokens = count(billed.input_tokens) ?? 0
  usage.image_in_tokens = count(billed.image_tokens) ?? 0
  const pictures = count(billed.images)
  if (pictures) usage.units.images = pictures
  return embeddingList(context, {vectors: arrayIn(vectors, 'embeddings'), usage}, type === 'base64' ? 'base64' : 'float')
}

/** One kind of vector, for OpenAI's answer has room for one. */
function typeIn(asked: Json): string {
  const {embedding_types: several, encoding_format: one} = asked
  const said: unknown = Array.isArray(several) ? (several.length === 1 ? several[0] : null) : (one ?? 'float')
  if (typeof said === 'string' && TYPES.has(said)) return said
  throw new UnsupportedInput(Array.isArray(several) ? 'embedding_types' : 'encoding_format', `expected one of ${[...TYPES].join(', ')}`)
}

/** Base64 is made here: OpenAI's means floats of 32 bits. */
function theirs(type: string): string {
  return type === 'base64' ? 'float' : type
}

/** Pictures among the inputs (`{image: {url | base64}}` or a data URI under `image`); undefined when there are none. Never with texts. */
function imagesIn({input}: Json): readonly string[] | undefined {
  const all = Array.isArray(input) ? input : [input]
  const images = all.flatMap(one => {
    const image = object(one).image
    const url = typeof image === 'string' ? image : (object(image).url ?? object(image).base64)
    return typeof url === 'string' ? [url] : []
  })
  if (images.length === 0) return undefined
  if (images.length < all.length) throw new UnsupportedInput('input', 'the provider embeds texts or images; expected all of one kind')
  return images
}
