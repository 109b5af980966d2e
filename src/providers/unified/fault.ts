import {isObject, parsed} from '../../base/json-object.ts'
import type {Json, ProviderFault, TranslationContext} from '../translation.ts'

const MAX_WORDS = 2000

/** Where a provider's error says its parts; every one may be missing. */
export interface RawError {
  readonly message?: unknown
  readonly type?: unknown
  readonly param?: unknown
  readonly code?: unknown
}

/** The fault of an answer that is not 2xx, whatever its body is: JSON that `find` knows, other JSON, a page, nothing. */
export function readFault(
  status: number,
  body: Buffer,
  context: TranslationContext,
  find: (value: Json) => RawError = anyError,
): ProviderFault {
  const text = body
    .subarray(0, 64 * 1024)
    .toString('utf8')
    .trim()
  const json = parsed(text)
  const error = isObject(json) ? find(json) : Array.isArray(json) && isObject(json[0]) ? find(json[0]) : {}
  const bare = json === undefined ? plainText(text) : typeof json === 'string' ? json : ''
  return faultOf(context, error, bare || `the provider answered ${status}`)
}

/** A fault in OpenAI's shape; `otherwise` is the message where the provider gave none. */
export function faultOf({provider}: TranslationContext, error: RawError, otherwise: string): ProviderFault {
  const message = (words(error.message) || otherwise).slice(0, MAX_WORDS)
  return {message: `${provider} error: ${message}`, type: name(error.type), param: name(error.param), code: name(error.code)}
}

/** The shapes that most providers tell errors in: OpenAI's, FastAPI's `detail`, a bare `message`, `error` or `title`. */
export function anyError(body: Json): RawError {
  const {error, detail, errors} = body
  if (isObject(error)) return {message: error.message ?? error.detail, type: error.type, param: error.param, code: error.code}
  if (Array.isArray(errors) && errors.length > 0) return isObject(errors[0]) ? anyError(errors[0]) : {message: errors.map(words).join('; ')}
  return {message: body.message ?? detail ?? error ?? body.title, type: body.type, param: body.param, code: body.code}
}

/** What a provider wrote for people: text, or FastAPI's list of what is wrong where. */
function words(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  if (Array.isArray(value)) return value.slice(0, 20).map(words).filter(Boolean).join('; ')
  if (!isObject(value)) return ''
  const {loc, msg, message, detail} = value
  const where = Array.isArray(loc) ? `${loc.filter(part => typeof part === 'string' || typeof part === 'number').join('.')}: ` : ''
  return words(msg) ? where + words(msg) : words(message ?? detail)
}

function name(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value.slice(0, 255) : null
}

/** Text that is no page of HTML, which helps nobody. */
function plainText(text: string): string {
  return text.startsWith('<') ? '' : text
}
