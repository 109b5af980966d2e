import {isObject, object} from '../../base/json-object.ts'
import {emptyUsage, UNIT, type Usage} from '../../schema/usage.ts'
import {count} from '../openai/usage.ts'
import {type Answer, type Context, InvalidResponse, type Json, UnsupportedInput} from '../translation.ts'
import {objectIn, word} from './read.ts'

/** A document as the client sent it: its text, and its fields where it has some (`rank_fields` chooses among them). */
export interface Document {
  readonly text: string
  readonly said: unknown
}

/** The documents of a unified rerank (reference: unified rerank): strings, or objects with a text or with the fields to be ranked by. */
export function documentsIn(asked: Json): readonly Document[] {
  const {documents, rank_fields} = asked
  if (!Array.isArray(documents) || documents.length === 0) throw new UnsupportedInput('documents', 'expected an array of documents')
  const fields = Array.isArray(rank_fields) ? rank_fields.filter(field => typeof field === 'string') : null
  return documents.map((said: unknown, at) => {
    if (typeof said === 'string') return {text: said, said}
    if (!isObject(said)) throw new UnsupportedInput(`documents[${at}]`, 'expected a string or an object with a text')
    const names = (fields ?? (typeof said.text === 'string' ? ['text'] : Object.keys(said))).filter(name => Object.hasOwn(said, name))
    const [only] = names
    if (names.length === 0) throw new UnsupportedInput(`documents[${at}]`, 'has none of the fields to be ranked by')
    if (names.length === 1 && typeof said[only!] === 'string') return {text: said[only!] as string, said}
    return {text: names.map(name => `${name}: ${plain(said[name])}`).join('\n'), said}
  })
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The query. */
export function queryIn(asked: Json): string {
  if (typeof asked.query !== 'string' || asked.query === '') throw new UnsupportedInput('query', 'expected a text')
  return asked.query
}

/** How many results, under either name. */
export function topIn(asked: Json): unknown {
  return asked.top_n ?? asked.top_k ?? undefined
}

/** The body that most rerankers take; `top` names the member that bounds the results. */
export function rerankBody(asked: Json, context: Context, top: 'top_n' | 'top_k' = 'top_n'): Json {
  return {model: context.model, query: queryIn(asked), documents: documentsIn(asked).map(({text}) => text), [top]: topIn(asked)}
}

/** The answer of a reranker that charges by tokens and lists its results under `results` or `data`. */
export function tokenReply(said: unknown, list: 'results' | 'data', context: Context, asked: Json): Answer {
  const {id, model, usage, [list]: results} = objectIn(said)
  const used = rerankUsage({tokens: object(usage).total_tokens})
  return rerankList(context, asked, {id: word(id), model: word(model), results: rankedIn(results), usage: used})
}

/** A result as its provider says it. */
export interface Ranked {
  readonly index: unknown
  readonly score: unknown
}

/** The unified answer. Documents are given back as the client sent them, where it asked for them. Throws `BadReply`. */
export function rerankList(
  context: Context,
  asked: Json,
  said: {readonly id?: string | null; readonly model?: string | null; readonly results: readonly Ranked[]; readonly usage: Usage},
): Answer {
  const documents = documentsIn(asked)
  const model = said.model || context.model
  const results = said.results.map(({index, score}, at) => {
    const document = typeof index === 'number' ? documents[index] : undefined
    if (!document || typeof score !== 'number') throw new InvalidResponse(`results[${at}]: expected an index of a document and its score`)
    const given = asked.return_documents === true ? {document: isObject(document.said) ? document.said : {text: document.text}} : {}
    return {index, relevance_score: score, ...given}
  })
  const {search_units} = said.usage.units
  const {input_uncached_tokens: total_tokens} = said.usage
  return {
    body: {
      object: 'list',
      ...(said.id ? {id: said.id} : {}),
      results,
      model,
      usage: {...(search_units ? {search_units} : {}), ...(total_tokens ? {total_tokens} : {})},
      provider: context.provider,
    },
    usage: said.usage,
    model: model || null,
  }
}

/** What a rerank is charged by: searches, or tokens; whichever the provider told. */
export function rerankUsage(said: {readonly search_units?: unknown; readonly tokens?: unknown}): Usage {
  const usage = emptyUsage()
  const units = count(said.search_units)
  if (units) usage.units[UNIT.search_units] = units
  usage.input_uncached_tokens = count(said.tokens) ?? 0
  return usage
}

/** Entries of a list of results, each as `{index, score}` from the members named so. */
export function rankedIn(list: unknown, score = 'relevance_score'): readonly Ranked[] {
  if (!Array.isArray(list)) throw new InvalidResponse('expected results')
  return list.map(entry => ({index: object(entry).index, score: object(entry)[score]}))
}
