import {isObject, parsed} from '../../base/json-object.ts'
import type {Context, Fault, Json} from '../translation.ts'

const MOST_WORDS = 2000

/** Where a provider's error says its parts; every one may be missing. */
export interface Said {
  readonly message?: unknown
  readonly type?: unknown
  readonly param?: unknown
  readonly code?: unknown
}

/** The fault of an answer that is not 2xx, whatever its body is: JSON that `find` knows, other JSON, a page, nothing. */
export function readFault(status: number, body: Buffer, context: Context, find: (said: Json) => Said = anyError): Fault {
  const text = body
    .subarray(0, 64 * 1024)
    .toString('utf8')
    .trim()
  const json = parsed(text)
  const said = isObject(json) ? find(json) : Array.isArray(json) && isObject(json[0]) ? find(json[0]) : {}
  const bare = json === undefined ? plainText(text) : typeof json === 'string' ? json : ''
  return faultOf(context, said, bare || `the provider answered ${status}`)
}

/** A fault in OpenAI's words; `otherwise` is said where the provider gave no words of its own. */
export function faultOf({provider}: Context, said: Said, otherwise: string): Fault {
  const message = (words(said.message) || otherwise).slice(0, MOST_WORDS)
  return {message: `${provider} error: ${message}`, type: name(said.type), param: name(said.param), code: name(said.code)}
}

/** The shapes that most providers tell errors in: OpenAI's, FastAPI's `detail`, a bare `message`, `error` or `title`. */
export function anyError(said: Json): Said {
  const {error, detail, errors} = said
  if (isObject(error)) return {message: error.message ?? error.detail, type: error.type, param: error.param, code: error.code}
  if (Array.isArray(errors) && errors.length > 0) return isObject(errors[0]) ? anyError(errors[0]) : {message: errors.map(words).join('; ')}
  return {message: said.message ?? detail ?? error ?? said.title, type: said.type, param: said.param, code: said.code}
}

/** What a provider wrote for people: text, or FastAPI's list of what is wrong where. */
function words(said: unknown): string {
  if (typeof said === 'string') return said.trim()
  if (Array.isArray(said)) return said.slice(0, 20).map(words).filter(Boolean).join('; ')
  if (!isObject(said)) return ''
  const {loc, msg, message, detail} = said
  const where = Array.isArray(loc) ? `${loc.filter(part => typeof part === 'string' || typeof part === 'number').join('.')}: ` : ''
  return words(msg) ? where + words(msg) : words(message ?? detail)
}

function name(said: unknown): string | null {
  if (typeof said === 'number') return String(said)
  return typeof said === 'string' && said !== '' ? said.slice(0, 255) : null
}

/** Text that is no page of HTML, which helps nobody. */
function plainText(text: string): string {
  return text.startsWith('<') ? '' : text
}
