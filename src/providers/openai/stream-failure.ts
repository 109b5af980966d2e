import {isObject, list, object} from '../../base/json-object.ts'
import type {RawObject} from './usage.ts'

/** An error inside a stream. */
export interface StreamFailure {
  readonly type: string
  /** A number is written out. */
  readonly code: string | null
  readonly message: string
}

const LONGEST_MESSAGE = 2000

/** The error in an event: `{"error": ...}`, one in a choice, an event of that name, or a response that failed. */
export function failureIn(json: RawObject, type: string | null): StreamFailure | null {
  const error = json.error ?? (type === 'response.failed' ? object(json.response).error : errorInChoice(json))
  if (isObject(error)) {
    const code = text(error.code)
    return {type: text(error.type) ?? code ?? 'error', code, message: text(error.message) ?? 'no message'}
  }
  if (typeof error === 'string') return {type: 'error', code: null, message: error.slice(0, LONGEST_MESSAGE)}
  if (type !== 'error' && type !== 'response.failed') return null
  const code = text(json.code)
  return {type: code ?? 'error', code, message: text(json.message) ?? 'no message'}
}

/** Source: OpenRouter, "Errors and Debugging": `choices[].error`. */
function errorInChoice({choices}: RawObject): unknown {
  return list(choices)
    .map(choice => object(choice).error)
    .find(isObject)
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== ''
    ? value.slice(0, LONGEST_MESSAGE)
    : typeof value === 'number'
      ? String(value)
      : null
}
