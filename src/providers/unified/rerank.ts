import {isObject, object} from '../../base/json-object.ts'
import {emptyUsage, UNIT, type Usage} from '../../schema/usage.ts'
import {changed, changedEach, changeOf} from '../as-came.ts'
import {count} from '../openai/usage.ts'
import {
  InvalidResponseFault,
  type Json,
  type TranslatedResponse,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {objectIn, others, word} from './read.ts'

/** A document as the client sent it: its text, and its fields where it has some (`rank_fields` chooses among them). */
export interface Document {
  readonly text: string
  readonly raw: unknown
}

/** The documents of a unified rerank: strings, or objects with a text or with the fields to be ranked by. */
export function documentsIn(request: Json): readonly Document[] {
  const {documents, rank_fields} = request
  if (!Array.isArray(documents) || documents.length === 0)
    throw new UnsupportedInputFault('documents', 'expected an array of documents')
  const fields = Array.isArray(rank_fields) ? rank_fields.filter(field => typeof field === 'string') : null
  return documents.map((document: unknown, at) => {
    if (typeof document === 'string') return {text: document, raw: document}
    if (!isObject(document))
      throw new UnsupportedInputFault(`documents[${at}]`, 'expected a string or an object with a text')
    const names = (fields ?? (typeof document.text === 'string' ? ['text'] : Object.keys(document))).filter(name =>
      Object.hasOwn(document, name),
    )
    const [only] = names
    if (names.length === 0)
      throw new UnsupportedInputFault(`documents[${at}]`, 'has none of the fields to be ranked by')
    if (names.length === 1 && typeof document[only!] === 'string')
      return {text: document[only!] as string, raw: document}
    return {text: names.map(name => `${name}: ${plain(document[name])}`).join('\n'), raw: document}
  })
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The query. */
export function queryIn(request: Json): string {
  if (typeof request.query !== 'string' || request.query === '')
    throw new UnsupportedInputFault('query', 'expected a text')
  return request.query
}

/** How many results, under either name. */
export function topIn(request: Json): unknown {
  return request.top_n ?? request.top_k ?? undefined
}

/** Words of rerankers that each vendor gets in its own way, or not at all. */
const RERANK_WORDS: ReadonlySet<string> = new Set(
  `model query documents top_n top_k rank_fields return_documents max_tokens_per_doc max_chunks_per_doc overlap_tokens instruction
  truncation truncate input_type parameters stream user`.split(/\s+/),
)

/** The body that most rerankers take; `top` names the member that bounds the results. */
export function rerankBody(request: Json, context: TranslationContext, top: 'top_n' | 'top_k' = 'top_n'): Json {
  const documents = documentsIn(request).map(({text}) => text)
  return {
    model: context.model,
    query: queryIn(request),
    documents,
    [top]: topIn(request),
    ...others(request, RERANK_WORDS),
  }
}

/** The answer of a reranker that charges by tokens and lists its results under `results` or `data`. */
export function tokenReply(
  response: unknown,
  list: 'results' | 'data',
  context: TranslationContext,
  request: Json,
): TranslatedResponse {
  const reply = objectIn(response)
  const {id, model, usage, [list]: results} = reply
  const used = rerankUsage({tokens: object(usage).total_tokens})
  const ranking = rerankList(context, request, {
    id: word(id),
    model: word(model),
    results: rankedIn(results),
    usage: used,
  })
  return asRanked(reply, ranking, list)
}

/**
 * A reply whose results are the unified ones already, left as it came: documents are added where the client wants them,
 * and what a client must find and is missing. `list` is the member that lists them there.
 */
export function asRanked(
  reply: Json,
  ranking: TranslatedResponse,
  list: 'results' | 'data' = 'results',
): TranslatedResponse {
  const made = ranking.body as Json
  const results = changedEach(reply[list] as readonly unknown[], (result, at) => {
    const {document} = (made.results as readonly Json[])[at]!
    return document === undefined ? result : changed(object(result), {document})
  })
  const whole = {
    object: word(reply.object) ?? made.object,
    model: word(reply.model) ?? made.model,
    usage: isObject(reply.usage) ? reply.usage : made.usage,
    results,
  }
  return {...ranking, body: changeOf(reply, changed(reply, list === 'data' ? {...whole, data: undefined} : whole))}
}

/** A result as its provider says it. */
export interface Ranked {
  readonly index: unknown
  readonly score: unknown
}

/**
 * The unified answer. Documents come back as the client sent them, where it requested them. Throws
 * `InvalidResponseFault`.
 */
export function rerankList(
  context: TranslationContext,
  request: Json,
  ranking: {
    readonly id?: string | null
    readonly model?: string | null
    readonly results: readonly Ranked[]
    readonly usage: Usage | null
  },
): TranslatedResponse {
  const documents = documentsIn(request)
  const model = ranking.model || context.model
  const results = ranking.results.map(({index, score}, at) => {
    const document = typeof index === 'number' ? documents[index] : undefined
    if (!document || typeof score !== 'number')
      throw new InvalidResponseFault(`results[${at}]: expected an index of a document and its score`)
    const given =
      request.return_documents === true ? {document: isObject(document.raw) ? document.raw : {text: document.text}} : {}
    return {index, relevance_score: score, ...given}
  })
  const search_units = ranking.usage?.units.search_units
  const total_tokens = ranking.usage?.input_uncached_tokens
  return {
    body: {
      object: 'list',
      ...(ranking.id ? {id: ranking.id} : {}),
      results,
      model,
      usage: {...(search_units ? {search_units} : {}), ...(total_tokens ? {total_tokens} : {})},
      provider: context.provider,
    },
    usage: ranking.usage,
    model: model || null,
  }
}

/** The usage that a rerank is charged by: searches, or tokens; whichever the provider reported. Null: neither. */
export function rerankUsage(counts: {readonly search_units?: unknown; readonly tokens?: unknown}): Usage | null {
  const units = count(counts.search_units)
  const tokens = count(counts.tokens)
  if (units === null && tokens === null) return null
  const usage = emptyUsage()
  if (units) usage.units[UNIT.search_units] = units
  usage.input_uncached_tokens = tokens ?? 0
  return usage
}

/** Entries of a list of results, each as `{index, score}` from the members named so. */
export function rankedIn(list: unknown, score = 'relevance_score'): readonly Ranked[] {
  if (!Array.isArray(list)) throw new InvalidResponseFault('expected results')
  return list.map(entry => ({index: object(entry).index, score: object(entry)[score]}))
}
