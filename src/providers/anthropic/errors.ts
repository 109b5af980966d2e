import {isObject, object, parsed} from '../../base/json-object.ts'
import type {ProviderFault, TranslationContext} from '../translation.ts'

/**
 * Statuses by Anthropic's error types (platform.claude.com/docs, errors), for errors inside a stream, which have no
 * status.
 */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}
/**
 * The same errors as Bedrock's event streams name them (Bedrock API reference, InvokeModelWithResponseStream, errors).
 */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  validationexception: 'invalid_request_error',
  accessdeniedexception: 'permission_error',
  throttlingexception: 'rate_limit_error',
  modelstreamerrorexception: 'api_error',
  internalserverexception: 'api_error',
  modeltimeoutexception: 'timeout_error',
  serviceunavailableexception: 'overloaded_error',
}
const LONGEST_MESSAGE = 2000

/** The fault that a non-2xx answer tells: Anthropic's, Google's or AWS's shape, and a sentence of ours for all else. */
export function faultIn(status: number, body: Buffer, context: TranslationContext): ProviderFault {
  const payload = object(parsed(body.toString()))
  const error = object(payload.error)
  const message = text(error.message) ?? text(payload.message) ?? text(payload.Message) ?? text(payload.error)
  return {
    message: `${context.provider} error: ${message ?? `status ${status}, without an error that can be read`}`,
    type: text(error.type) ?? typeOf(status),
    param: null,
    code: text(error.status),
  }
}

/** An error inside a stream. `named`: Bedrock's name of the exception, when it is one. */
export function failureIn(
  payload: unknown,
  context: TranslationContext,
  named: string | null = null,
): ProviderFault & {readonly status: number | null} {
  const error = isObject(payload) && isObject(payload.error) ? payload.error : object(payload)
  const exception = named?.toLowerCase() ?? ''
  const type = Object.hasOwn(EXCEPTIONS, exception) ? EXCEPTIONS[exception]! : (text(error.type) ?? 'api_error')
  const message = text(error.message) ?? text(payload) ?? named ?? 'the stream ended with an error that says nothing'
  return {
    message: `${context.provider} error: ${message}`,
    type,
    param: null,
    code: null,
    status: Object.hasOwn(STATUSES, type) ? STATUSES[type]! : null,
  }
}

function typeOf(status: number): string {
  const known = Object.entries(STATUSES).find(([, each]) => each === status)
  return known ? known[0] : status >= 500 ? 'api_error' : 'invalid_request_error'
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_MESSAGE) : null
}
