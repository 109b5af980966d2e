import {keyFaultOf} from '../../base/json-keys.ts'
import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import {parseJson} from '../../base/json-object.ts'
import {elementsOf, placeOf} from '../../base/json-text.ts'
import {McpFault, printable} from './faults.ts'

/** JSON-RPC 2.0 as MCP uses it: ids are strings or integers, `params` and `result` are objects. */

export type RpcId = string | number

interface RpcBase {
  /** The message as it came: what is not changed is sent as these bytes. */
  readonly text: string
  readonly value: JsonObject
}

export interface RpcRequest extends RpcBase {
  readonly kind: 'request'
  readonly id: RpcId
  /** The id as its own JSON text: `1.0` and numbers beyond 2^53 return as they came. */
  readonly id_text: string
  readonly method: string
  readonly params: JsonObject | undefined
}

export interface RpcNotification extends RpcBase {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonObject | undefined
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: JsonObject[string]
}

export interface RpcAnswer extends RpcBase {
  readonly kind: 'answer'
  /** Null of an error to a request that was not legible. */
  readonly id: RpcId | null
  readonly id_text: string
  /** Exactly one of the two. */
  readonly result: JsonObject | undefined
  readonly error: RpcError | undefined
}

export type RpcMessage = RpcRequest | RpcNotification | RpcAnswer

/** Deeper messages are refused. */
export const MAX_MESSAGE_DEPTH = 64
/** An id and the name of a method have at most so many characters: both are kept and written often. */
const MAX_ID_LENGTH = 1_024
const MAX_METHOD_LENGTH = 256

/** Reads one message. Throws an `McpFault`: `parse_error` for no JSON, `request_invalid` for what is no JSON-RPC. */
export function readMessage(text: string): RpcMessage {
  const value = readJson(text)
  if (Array.isArray(value)) throw invalid('a batch is not accepted here')
  return messageOf(text, value)
}

/** Reads the body of a POST: one message, or the list of them that a batch is. Throws as `readMessage` does. */
export function readBody(text: string): RpcMessage | readonly RpcMessage[] {
  const value = readJson(text)
  if (!Array.isArray(value)) return messageOf(text, value)
  if (value.length === 0) throw invalid('the batch is empty')
  const places = elementsOf(text)
  return value.map((each, at) => messageOf(text.slice(places[at]!.start, places[at]!.end), each))
}

/** The text of `params` as it came; undefined where there are none. */
export function paramsText(message: RpcRequest | RpcNotification): string | undefined {
  return message.params && textOf(message.text, 'params')
}

/** The text of `result` as it came; undefined of an error. */
export function resultText(message: RpcAnswer): string | undefined {
  return message.result && textOf(message.text, 'result')
}

/** The text of `error` as it came; undefined of a result. */
export function errorMemberText(message: RpcAnswer): string | undefined {
  return message.error && textOf(message.text, 'error')
}

/** A request of which all parts are JSON texts but the name of its method. */
export function requestText(id_text: string, method: string, params: string | undefined): string {
  const rest = params === undefined ? '' : `,"params":${params}`
  return `{"jsonrpc":"2.0","id":${id_text},"method":${JSON.stringify(method)}${rest}}`
}

export function notificationText(method: string, params: string | undefined): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`
}

/** An answer: the JSON text of its result, or of its error object. */
export function answerText(id_text: string, answer: {readonly result: string} | {readonly error: string}): string {
  const [key, text] = 'result' in answer ? ['result', answer.result] : ['error', answer.error]
  return `{"jsonrpc":"2.0","id":${id_text},"${key}":${text}}`
}

/** The text of a message that has an id with another id; all else keeps its bytes. */
export function withId(text: string, id_text: string): string {
  const place = placeOf(text, 'id')
  return place ? text.slice(0, place.start) + id_text + text.slice(place.end) : text
}

/** The text of a member that is there. */
function textOf(text: string, key: string): string {
  const {start, end} = placeOf(text, key)!
  return text.slice(start, end)
}

function readJson(text: string): unknown {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new McpFault('parse_error', {reason: printable(cause.message)}, {cause})
    throw cause
  }
  const fault = keyFaultOf(text, value, MAX_MESSAGE_DEPTH)
  if (fault?.kind === 'repeated') throw invalid(`${printable(fault.path)} comes more than once`)
  if (fault) throw invalid(`it is nested deeper than ${MAX_MESSAGE_DEPTH} levels`)
  return value
}

function messageOf(text: string, value: unknown): RpcMessage {
  if (!isObject(value)) throw invalid('a message is an object')
  const id = own(value, 'id')
  const has_id = Object.hasOwn(value, 'id')
  const is_id =
    (typeof id === 'string' && id.length <= MAX_ID_LENGTH) || (typeof id === 'number' && Number.isInteger(id))
  const id_text = is_id ? textOf(text, 'id') : null
  const wrong = (reason: string) => invalid(reason, id_text !== null && id_text.length <= MAX_ID_TEXT ? id_text : null)
  if (own(value, 'jsonrpc') !== '2.0') throw wrong('jsonrpc has to be "2.0"')
  if (id_text !== null && id_text.length > MAX_ID_TEXT) throw wrong(`id has more than ${MAX_ID_LENGTH} characters`)
  if (!Object.hasOwn(value, 'method')) return answerOf(text, value, id, id_text, wrong)
  const method = own(value, 'method')
  if (typeof method !== 'string' || method === '') throw wrong('method has to be the name of a method')
  if (method.length > MAX_METHOD_LENGTH) throw wrong(`method has more than ${MAX_METHOD_LENGTH} characters`)
  if (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))
    throw wrong('a message with a method has no result and no error')
  const params = own(value, 'params')
  if (params !== undefined && !isObject(params)) throw wrong('params has to be an object')
  if (!has_id) return {kind: 'notification', text, value, method, params}
  if (id_text === null) throw wrong(`id has to be an integer, or a string of at most ${MAX_ID_LENGTH} characters`)
  return {kind: 'request', text, value, id: id as RpcId, id_text, method, params}
}

/** Each character of an id may be written as `\u0000`; a number has no reason to be longer. */
const MAX_ID_TEXT = 6 * MAX_ID_LENGTH + 2

function answerOf(
  text: string,
  value: JsonObject,
  id: JsonObject[string] | undefined,
  id_text: string | null,
  wrong: (reason: string) => McpFault,
): RpcAnswer {
  const result = own(value, 'result')
  const error = own(value, 'error')
  if ((result === undefined) === (error === undefined))
    throw wrong('a message has a method, or one of result and error')
  if (result !== undefined && !isObject(result)) throw wrong('result has to be an object')
  if (error !== undefined && !isError(error))
    throw wrong('error has to be an object with an integer code and a message')
  if (id_text === null && (result !== undefined || (id !== undefined && id !== null)))
    throw wrong(`id has to be an integer, or a string of at most ${MAX_ID_LENGTH} characters`)
  const known = id_text === null ? {id: null, id_text: 'null'} : {id: id as RpcId, id_text}
  return {kind: 'answer', text, value, ...known, result, error: error as unknown as RpcError | undefined}
}

function isError(error: unknown): boolean {
  const code = own(error, 'code')
  return (
    isObject(error) && typeof code === 'number' && Number.isInteger(code) && typeof own(error, 'message') === 'string'
  )
}

function invalid(reason: string, id_text: string | null = null): McpFault {
  return new McpFault('request_invalid', {reason}, {id_text})
}
