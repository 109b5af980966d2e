import type {Json} from '../translation.ts'
import type {ListedModel} from './listed.ts'

/** A model in a client's list, by the name that the client calls it by. */
export interface ModelEntry extends ListedModel {
  /** The kind of provider that has it. */
  readonly kind: string
  /** US dollars for one token or unit, as texts. */
  readonly pricing?: Readonly<Record<string, string>> | undefined
}

/** The clients that read a list. */
export type ModelShape = 'openai' | 'anthropic' | 'gemini' | 'ollama'

/** In whose words a client reads lists, by headers in lower case: Anthropic's clients say their version. */
export function shapeFor(headers: Readonly<Record<string, unknown>>): ModelShape {
  return headers['anthropic-version'] === undefined ? 'openai' : 'anthropic'
}

/** True for shapes whose lists have pages, with query parameters of their own. */
export function hasOwnPages(shape: ModelShape): boolean {
  return shape !== 'openai'
}

/** A list in a client's shape; `query` pages it where the shape has pages, `more` are members beside it. */
export function modelList(shape: ModelShape, entries: readonly ModelEntry[], query: URLSearchParams, more: Json): Json {
  switch (shape) {
    case 'openai':
      return openaiList(entries, more)
    case 'anthropic':
      return anthropicList(entries, query, more)
    case 'gemini':
      return geminiList(entries, query, more)
    case 'ollama':
      return ollamaTags(entries, more)
  }
}

/** One model in a client's shape. */
export function oneModel(shape: ModelShape, entry: ModelEntry): Json {
  switch (shape) {
    case 'openai':
      return openaiModel(entry)
    case 'anthropic':
      return anthropicModel(entry)
    case 'gemini':
      return geminiModel(entry)
    case 'ollama':
      return ollamaModel(entry)
  }
}

/**
 * OpenAI's shape of one model (OpenAI API reference, the model object), with what more is known: what is not is absent.
 */
export function openaiModel({
  id,
  kind,
  created,
  owned_by,
  context_length,
  max_output_tokens,
  pricing,
  more,
}: ModelEntry): Json {
  return {
    ...more,
    id,
    object: 'model',
    created: created ?? 0,
    owned_by: owned_by ?? kind,
    ...(context_length !== undefined && {context_length}),
    ...(max_output_tokens !== undefined && {max_output_tokens}),
    ...(pricing && {pricing}),
  }
}

export function openaiList(entries: readonly ModelEntry[], more: Json = {}): Json {
  return {object: 'list', ...more, data: entries.map(openaiModel)}
}

/** Anthropic's shape of one model; an unknown release is the epoch (platform.claude.com/docs, Models). */
export function anthropicModel({id, name, created, context_length, max_output_tokens, more}: ModelEntry): Json {
  const {capabilities} = more ?? {}
  return {
    type: 'model',
    id,
    display_name: name ?? id,
    created_at: new Date((created ?? 0) * 1000).toISOString().replace('.000Z', 'Z'),
    ...(context_length !== undefined && {max_input_tokens: context_length}),
    ...(max_output_tokens !== undefined && {max_tokens: max_output_tokens}),
    ...(capabilities !== undefined && {capabilities}),
  }
}

const ANTHROPIC_USUAL = 20
const MOST = 1000

/** A page of Anthropic's list: `limit` models behind `after_id`, or before `before_id`. */
export function anthropicList(entries: readonly ModelEntry[], query: URLSearchParams, more: Json = {}): Json {
  const limit = countIn(query, 'limit', ANTHROPIC_USUAL)
  const [after, before] = [placeOf(entries, query.get('after_id')), placeOf(entries, query.get('before_id'))]
  const from = before === -1 ? after + 1 : Math.max(before - limit, 0)
  const to = before === -1 ? from + limit : before
  const data = entries.slice(from, to)
  const has_more = before === -1 ? to < entries.length : from > 0
  return {
    data: data.map(anthropicModel),
    has_more,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    ...more,
  }
}

/** A page of Gemini's list (ai.google.dev/api/models). The token of a page is where it begins. */
export function geminiList(entries: readonly ModelEntry[], query: URLSearchParams, more: Json = {}): Json {
  const size = countIn(query, 'pageSize', 50)
  const from = countIn(query, 'pageToken', 0, entries.length)
  const to = from + size
  return {
    models: entries.slice(from, to).map(geminiModel),
    ...(to < entries.length && {nextPageToken: String(to)}),
    ...more,
  }
}

/** Gemini's shape of one model. Every client of that shape looks for the methods. */
export function geminiModel({id, name, context_length, max_output_tokens, more}: ModelEntry): Json {
  const {description, supported_generation_methods: methods} = more ?? {}
  return {
    name: `models/${id}`,
    version: '',
    displayName: name ?? id,
    ...(typeof description === 'string' && {description}),
    ...(context_length !== undefined && {inputTokenLimit: context_length}),
    ...(max_output_tokens !== undefined && {outputTokenLimit: max_output_tokens}),
    supportedGenerationMethods: Array.isArray(methods) ? methods : ['generateContent', 'countTokens'],
  }
}

/** Ollama's list (Ollama API, `GET /api/tags`); its clients need every member, so that what is unknown is empty. */
export function ollamaTags(entries: readonly ModelEntry[], more: Json = {}): Json {
  return {models: entries.map(ollamaModel), ...more}
}

export function ollamaModel({id, created}: ModelEntry): Json {
  const details = {parent_model: '', format: '', family: '', families: [], parameter_size: '', quantization_level: ''}
  return {name: id, model: id, modified_at: new Date((created ?? 0) * 1000).toISOString(), size: 0, digest: '', details}
}

/** The index of an id; -1 when none is named or it is not there. */
function placeOf(entries: readonly ModelEntry[], id: string | null): number {
  return id === null ? -1 : entries.findIndex(entry => entry.id === id)
}

function countIn(query: URLSearchParams, name: string, usual: number, most = MOST): number {
  const value = query.get(name)
  return value !== null && /^\d{1,9}$/.test(value) ? Math.min(Number(value), most) : usual
}
