import {isObject, object} from '../../base/json-object.ts'
import {totals, type Usage} from '../../schema/usage.ts'
import {changed, changedEach, changeOf} from '../as-came.ts'
import {readUsage} from '../openai/usage.ts'
import {
  InvalidResponseFault,
  type Json,
  type TranslatedResponse,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {arrayIn, objectIn, word} from './read.ts'

/** The texts to embed. Tokens in place of text are refused: they are OpenAI's own. */
export function textsIn(request: Json): readonly string[] {
  const {input} = request
  const all: unknown = typeof input === 'string' ? [input] : input
  if (!Array.isArray(all) || all.length === 0)
    throw new UnsupportedInputFault('input', 'expected a string or an array of strings')
  return all.map((one: unknown, at) => {
    if (typeof one === 'string') return one
    if (isObject(one) && typeof one.text === 'string') return one.text
    throw new UnsupportedInputFault(`input[${at}]`, 'expected a string')
  })
}

/** Words of OpenAI's embeddings that its near kinds get in their own way, or refuse. */
export const EMBED_WORDS: ReadonlySet<string> = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user'])

/** How vectors are to be written for the client: its SDK asks for `base64` when the caller did not choose. */
export function encodingIn(request: Json): 'float' | 'base64' {
  const {encoding_format: encoding} = request
  if (encoding === undefined || encoding === null || encoding === 'float') return 'float'
  if (encoding === 'base64') return 'base64'
  throw new UnsupportedInputFault('encoding_format', 'expected float or base64')
}

/** The vectors of a list as OpenAI's: entries with an embedding, in the order of their index. */
export function vectorsIn(list: unknown): readonly unknown[] {
  return entriesIn(list).map(({embedding}) => embedding)
}

function entriesIn(list: unknown): readonly Json[] {
  const entries = arrayIn(list, 'data').map(object)
  const place = (at: number, {index}: Json) => (typeof index === 'number' ? index : at)
  return entries
    .map((entry, at) => ({at: place(at, entry), entry}))
    .sort((one, other) => one.at - other.at)
    .map(({entry}) => entry)
}

/** Usage as an answer in OpenAI's shape tells it; null where it does not. */
export function embedUsage(usage: unknown): Usage | null {
  return isObject(usage) ? readUsage(usage, 'embed') : null
}

/**
 * The answer of a provider that lists its embeddings as OpenAI does: as it came, its own members too (Mistral's `id`,
 * which its SDK requires). Vectors are encoded where the client wants it, entries are put in the order of their index,
 * and what a client must find and is missing is added. Throws `InvalidResponseFault`.
 */
export function listedReply(response: unknown, context: TranslationContext, request: Json): TranslatedResponse {
  const reply = objectIn(response)
  const entries = entriesIn(reply.data)
  const encoding = encodingIn(request)
  const usage = embedUsage(reply.usage)
  const model = word(reply.model)
  const vectors = entries.map(({embedding}) => embedding)
  const listed = embeddingList(context, {vectors, usage, model, request}, encoding)
  const body = listed.body as Json
  const made = body.data as readonly Json[]
  const data = changedEach(reply.data as readonly unknown[], (_, at) => {
    const source = entries[at]!
    const {index, object: kind} = source
    const named = changed(source, {
      ...(typeof index === 'number' ? {} : {index: at}),
      ...(word(kind) ? {} : {object: 'embedding'}),
    })
    const written =
      encoding === 'float' || typeof source.embedding === 'string'
        ? named
        : changed(named, {embedding: made[at]!.embedding})
    return written
  })
  const whole = changed(reply, {
    data,
    object: word(reply.object) ?? body.object,
    model: model ?? body.model,
    usage: isObject(reply.usage) ? reply.usage : body.usage,
  })
  return {...listed, body: changeOf(reply, whole)}
}

/**
 * OpenAI's list of embeddings. `vectors` are checked: numbers, or text that the provider encoded. Throws
 * `InvalidResponseFault`.
 */
export function embeddingList(
  context: TranslationContext,
  embeddings: {
    readonly vectors: readonly unknown[]
    readonly usage: Usage | null
    readonly model?: string | null
    readonly request: Json
  },
  encoding: 'float' | 'base64',
): TranslatedResponse {
  if (embeddings.vectors.length === 0) throw new InvalidResponseFault('expected embeddings')
  checkAllThere(embeddings.vectors, embeddings.request)
  const data = embeddings.vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: written(vector, index, encoding),
  }))
  const {prompt_tokens, total_tokens} = totals(embeddings.usage ?? {})
  const model = embeddings.model || context.model
  return {
    body: {object: 'list', data, model, usage: {prompt_tokens, total_tokens}, provider: context.provider},
    usage: embeddings.usage,
    model: model || null,
  }
}

/** A client takes vectors by their place: of fewer it would take one for another text's. */
export function checkAllThere(vectors: readonly unknown[], {input}: Json): void {
  if (input === undefined || input === null) return
  // a list of numbers is one text, in tokens
  const texts = Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1
  if (vectors.length !== texts) throw new InvalidResponseFault(`it has ${vectors.length} embeddings for ${texts} texts`)
}

function written(vector: unknown, at: number, encoding: 'float' | 'base64'): unknown {
  if (typeof vector === 'string' && vector !== '') return vector
  if (!Array.isArray(vector) || vector.length === 0 || vector.some(value => typeof value !== 'number')) {
    throw new InvalidResponseFault(`embedding ${at}: expected numbers`)
  }
  if (encoding === 'float') return vector
  // Little-endian floats of 32 bits, as OpenAI's SDKs read them.
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [place, value] of vector.entries()) bytes.writeFloatLE(value, place * 4)
  return bytes.toString('base64')
}
