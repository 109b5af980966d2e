import {isObject, list, object, parsed} from '../../base/json-object.ts'
import type {Json, ProviderFault, TranslationContext} from '../translation.ts'
import {word} from './read.ts'

/**
 * An error of Google's (google.rpc.Status) in `{error}` or, as streams in JSON tell it, `[{error}]`; null where there
 * is none.
 */
export function errorIn(payload: unknown): Json | null {
  const holder = Array.isArray(payload) ? payload.find(each => isObject(object(each).error)) : payload
  const {error} = object(holder)
  return isObject(error) ? error : null
}

/**
 * `error` in OpenAI's words: the canonical status as type (`INVALID_ARGUMENT`), the reason as code where one is given
 * (`API_KEY_INVALID`).
 */
export function faultOf(error: Json, context: TranslationContext): ProviderFault & {readonly status: number | null} {
  const type = word(error.status)
  const reason = list(error.details)
    .map(detail => word(object(detail).reason))
    .find(each => each !== null)
  const {code} = error
  const is_status = typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599
  return {
    message: `${context.provider} error: ${word(error.message) ?? 'the provider said no more'}`,
    type,
    param: null,
    code: reason ?? type ?? (is_status ? String(code) : null),
    status: is_status ? code : null,
  }
}

/** Reads a non-2xx answer, whatever its body is. */
export function fault(status: number, body: Buffer, context: TranslationContext): ProviderFault {
  const error = errorIn(parsed(body.toString()))
  if (error) {
    const {message, type, param, code} = faultOf(error, context)
    return {message, type, param, code}
  }
  return {
    message: `${context.provider} error: an answer with status ${status} and no error in JSON`,
    type: null,
    param: null,
    code: null,
  }
}
