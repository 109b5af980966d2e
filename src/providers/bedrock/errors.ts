import {isObject, parsed} from '../../base/json-object.ts'
import type {ProviderFault, TranslationContext} from '../translation.ts'

const LONGEST_EXCERPT = 300

/**
 * Statuses of the exceptions that a stream or a frame may hold. Source: Bedrock API reference, ConverseStream and
 * InvokeModel, errors.
 */
const STATUS: Readonly<Record<string, number>> = {
  accessDeniedException: 403,
  conflictException: 400,
  internalServerException: 500,
  modelErrorException: 424,
  modelNotReadyException: 429,
  modelStreamErrorException: 424,
  modelTimeoutException: 408,
  resourceNotFoundException: 404,
  serviceQuotaExceededException: 400,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
}

/**
 * Reads a non-2xx answer. AWS writes `{"message"}`, older services `{"Message"}`, and `__type` with or without a
 * namespace before `#` and a link after `:`.
 */
export function fault(status: number, body: Buffer, context: TranslationContext): ProviderFault {
  const text = body.toString('utf8')
  const payload = parsed(text)
  if (!isObject(payload)) {
    const excerpt = /[<\0]/.test(text) ? '' : text.trim().slice(0, LONGEST_EXCERPT)
    return faultOf(context, excerpt || `HTTP ${status} without a reason that can be read`, null)
  }
  const inner = isObject(payload.error) ? payload.error : payload
  return faultOf(
    context,
    messageIn(inner) || messageIn(payload) || `HTTP ${status} without a reason`,
    typeIn(payload.__type),
  )
}

/** Reads an exception inside a stream: its payload, with `__type` as its name. */
export function streamFault(
  name: string,
  data: unknown,
  context: TranslationContext,
): ProviderFault & {readonly status: number | null} {
  const payload = isObject(data) ? data : {}
  const type = typeIn(name)
  const key = type === null ? '' : type[0]!.toLowerCase() + type.slice(1)
  // A model behind an endpoint says its own status.
  const {originalStatusCode: original} = payload
  const is_status = typeof original === 'number' && Number.isInteger(original) && original >= 400 && original <= 599
  const status = is_status ? original : Object.hasOwn(STATUS, key) ? STATUS[key]! : null
  const message =
    messageIn(payload) ||
    (typeof payload.originalMessage === 'string' && payload.originalMessage) ||
    'the stream broke off'
  return {...faultOf(context, message, type), status}
}

/** A stream that is not what Bedrock documents. */
export function brokenStream(context: TranslationContext, reason: string): ProviderFault & {readonly status: number} {
  return {...faultOf(context, `Invalid response received: ${reason}`, 'invalid_response'), status: 502}
}

/** True of the name of an event that is an exception. */
export function isException(name: string | null, data: unknown): name is string {
  return name !== null && (/(Exception|Error)$/.test(name) || (isObject(data) && typeof data.__type === 'string'))
}

function faultOf(context: TranslationContext, message: string, type: string | null): ProviderFault {
  return {message: `${context.provider} error: ${message}`, type, param: null, code: null}
}

function messageIn(payload: Readonly<Record<string, unknown>>): string {
  for (const member of [payload.message, payload.Message]) {
    if (typeof member === 'string' && member !== '') return member
  }
  return ''
}

function typeIn(type: unknown): string | null {
  if (typeof type !== 'string') return null
  const name = type.slice(type.indexOf('#') + 1).split(':', 1)[0]!
  return /^\w{1,100}$/.test(name) ? name : null
}
