import {isObject, object, parsed} from '../../base/json-object.ts'
import {cameAs, changed, changeOf, writtenAsCame} from '../as-came.ts'
import {errorBody} from '../chat.ts'
import type {Json, ProviderFault, TranslationContext} from '../translation.ts'

const MAX_WORDS = 2000
/** The depth and the number of values to which a provider's error is searched: it may be made to hurt. */
const MAX_DEPTH = 16
const MAX_VALUES = 500
/** Of a list of what is wrong, and of the way to one. */
const MAX_LISTED = 20
/** A longer body is a page, or made to hurt. */
const MAX_BODY_BYTES = 1024 * 1024

/** The parts of a provider's error; every one may be missing. */
export interface RawError {
  readonly message?: unknown
  readonly type?: unknown
  readonly param?: unknown
  readonly code?: unknown
}

/**
 * The fault of an answer that is not 2xx, whatever its body is: JSON that `find` knows, other JSON, a page, nothing.
 */
export function readFault(
  status: number,
  body: Buffer,
  context: TranslationContext,
  find: (value: Json) => RawError = anyError,
): ProviderFault {
  const text = body.toString('utf8', 0, MAX_BODY_BYTES).trim()
  const json = parsed(text)
  const error = isObject(json) ? find(json) : Array.isArray(json) && isObject(json[0]) ? find(json[0]) : {}
  const bare = json === undefined ? plainText(text) : typeof json === 'string' ? json : ''
  return faultOf(context, error, bare || `the provider answered ${status}`)
}

/**
 * An error of a provider whose errors are nearly OpenAI's, in the envelope of all translated errors: `error` with
 * `message`, `type`, `param` and `code` of `fault`, and `provider`; all else that the provider says stays where it is.
 * Where it says its error flat, that is in `error`.
 */
export function errorAsCame(body: Buffer, fault: ProviderFault, context: TranslationContext): string {
  const text = body.length > MAX_BODY_BYTES ? '' : body.toString()
  const json = parsed(text)
  if (!isObject(json)) return JSON.stringify(errorBody(context, fault))
  cameAs(json, text)
  const {message, type, param, code} = fault
  const {provider} = context
  if (isObject(json.error)) {
    const error = changed(json.error, {message, type, param, code})
    return writtenAsCame(changeOf(json, changed(json, {error, provider})))
  }
  const error = changeOf(json, changed(json, {message, type, param, code, error: undefined}))
  return `{"error":${writtenAsCame(error)},"provider":${JSON.stringify(provider)}}`
}

/** A fault in OpenAI's shape; `otherwise` is the message where the provider gave none. */
export function faultOf(
  {provider}: Pick<TranslationContext, 'provider'>,
  error: RawError,
  otherwise: string,
): ProviderFault {
  const message = (words(error.message) || otherwise).slice(0, MAX_WORDS)
  return {
    message: `${provider} error: ${message}`,
    type: name(error.type),
    param: name(error.param),
    code: name(error.code),
  }
}

/**
 * The shapes that most providers tell errors in: OpenAI's, FastAPI's `detail`, a bare `message`, `error` or `title`.
 */
export function anyError(body: Json): RawError {
  let current = body
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const {error, detail, errors} = current
    if (isObject(error)) return {message: withCause(error), type: error.type, param: error.param, code: error.code}
    if (!Array.isArray(errors) || errors.length === 0)
      return {
        message: current.message ?? detail ?? error ?? current.msg ?? current.title,
        type: current.type,
        param: current.param,
        code: current.code,
      }
    if (!isObject(errors[0])) return {message: errors}
    current = errors[0]
  }
  return {}
}

/**
 * The message of an error with its cause behind it, where the provider is a gateway itself: the message of OpenRouter
 * is "Provider returned error", and `metadata.raw` has the words of the model's provider. Coding clients go by those.
 */
export function withCause({message, detail, metadata}: Json): unknown {
  const outer = message ?? detail
  const {raw} = object(metadata)
  if (typeof raw !== 'string' || (outer !== undefined && typeof outer !== 'string')) return outer
  const cause = causeIn(raw.slice(0, MAX_BODY_BYTES).trim()).slice(0, MAX_WORDS)
  if (cause === '' || outer?.includes(cause)) return outer
  return outer ? `${outer.replace(/[.:\s]+$/, '')}: ${cause}` : cause
}

function causeIn(text: string): string {
  const inner = parsed(text)
  if (!isObject(inner)) return inner === undefined ? plainText(text) : ''
  const {error, message, detail} = inner
  return words(isObject(error) ? (error.message ?? error.detail) : (message ?? detail ?? error))
}

/** The provider's message for people: text, or FastAPI's list of what is wrong where. */
function words(value: unknown): string {
  let values_left = MAX_VALUES
  let length_left = MAX_WORDS
  return wordsOf(value, MAX_DEPTH)

  function wordsOf(value: unknown, levels: number): string {
    if (values_left-- <= 0 || length_left <= 0) return ''
    if (typeof value === 'string') return taken(value)
    if (levels === 0) return ''
    if (Array.isArray(value)) {
      const all: string[] = []
      for (const each of value.slice(0, MAX_LISTED)) {
        const text = wordsOf(each, levels - 1)
        if (text) all.push(text)
      }
      return all.join('; ')
    }
    if (!isObject(value)) return ''
    const {loc, msg, message, detail} = value
    const what = wordsOf(msg, levels - 1)
    return what ? where(loc) + what : wordsOf(message ?? detail, levels - 1)
  }

  function where(loc: unknown): string {
    if (!Array.isArray(loc)) return ''
    const parts = loc.slice(0, MAX_LISTED).filter(part => typeof part === 'string' || typeof part === 'number')
    return `${parts.map(part => taken(String(part))).join('.')}: `
  }

  /** As much of `text` as there is room for. */
  function taken(text: string): string {
    const all = text
      .slice(0, MAX_WORDS * 2)
      .trim()
      .slice(0, length_left)
    length_left -= all.length
    return all
  }
}

function name(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value.slice(0, 255) : null
}

/** Text that is no page of HTML, which would help no reader. */
function plainText(text: string): string {
  return text.startsWith('<') ? '' : text
}
