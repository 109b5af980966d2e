import type {IncomingMessage} from 'node:http'
import {Refusal} from '../../base/errors.ts'
import type {ClientRequest} from '../../base/ingress/request.ts'
import {joined} from '../../base/joined.ts'
import {decodedRequest, requestEncoding} from '../../base/request-encoding.ts'
import {
  type Body,
  isForm,
  isJson,
  isRead,
  LONG_BODY_BYTES,
  readAs,
  readBytes,
  readLongAs,
  streamBody,
} from '../inbound/body.ts'
import {type InboundRequest, messageOf} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import type {Call} from './call.ts'
import type {CallState} from './state.ts'

type Services = Uses<'settings'>

/** Reads a body in a form we know, decoded; one that we do not know is left on the wire. */
export async function readBody(call: Call, state: CallState, services: Services): Promise<Body> {
  const {headers, route} = call.incoming
  const type = headers['content-type'] ?? ''
  if (!hasBody(call.incoming)) {
    if (route.endpoint?.body === 'json') throw new Refusal('body.not_json', {reason: 'it is empty'})
    return {kind: 'none'}
  }
  // Ollama's and Bedrock's own clients send JSON under another type, or none.
  const is_json = call.operation?.operation.body === 'json' && !/^multipart\//i.test(type)
  if (!is_json && !isRead(type, route.endpoint)) return streamBody()
  const limit_mb = services.settings.max_json_payload_size_in_mb
  const encoding = requestEncoding(headers['content-encoding'])
  let bytes = await bytesOf(call.incoming.request, limit_mb, state)
  if (encoding !== null) {
    bytes = await state.wait('reading_body', decodedRequest(bytes, encoding, limit_mb))
    call.request_encoding = encoding
  }
  const read_as = is_json ? 'application/json' : type
  try {
    if (bytes.length > LONG_BODY_BYTES)
      return await state.wait('reading_body', readLongAs(bytes, read_as, route.endpoint))
    return readAs(bytes, read_as, route.endpoint)
  } catch (fault) {
    // An unknown path may take a body that is no JSON, whatever its content type.
    if (call.is_passthrough && !call.operation && fault instanceof Refusal && fault.code === 'body.not_json')
      return {kind: 'other', bytes}
    throw fault
  }
}

function bytesOf(request: ClientRequest, limit_mb: number, state: CallState): Buffer | Promise<Buffer> {
  const read = readBytes(request, limit_mb)
  return read instanceof Promise ? state.wait('reading_body', read) : read
}

export function hasBody({headers}: InboundRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Reads a body that was to pass by, if it may be one that guardrails can read, and is no longer than they read. What
 * was taken of another leaves first.
 */
export async function readPassing(call: Call, {settings}: Uses<'settings'>): Promise<void> {
  const {body, incoming} = call
  if (body.kind !== 'stream' || body.read || body.is_unreadable) return
  const type = incoming.headers['content-type'] ?? ''
  const {max_json_payload_size_in_mb, guardrail_max_body_mb} = settings
  // Of a form no more than its fields is judged, however long its files are.
  const most_bytes = (MULTIPART.test(type) ? max_json_payload_size_in_mb : guardrail_max_body_mb) * 2 ** 20
  const encoding = requestEncoding(incoming.headers['content-encoding'])
  const is_text = isJson(type) || TEXTS.test(type) || encoding !== null
  const came =
    Number(incoming.headers['content-length']) > most_bytes
      ? NOTHING
      : await taken(messageOf(incoming), most_bytes, is_text)
  if (!came.is_whole) {
    body.lead = came.parts
    body.is_unreadable = true
    return
  }
  let bytes = await joined(came.parts)
  if (encoding !== null) {
    bytes = await decodedRequest(bytes, encoding, max_json_payload_size_in_mb)
    call.request_encoding = encoding
  }
  call.body = isJson(type) || isForm(type) ? await readLongAs(bytes, type, undefined) : {kind: 'other', bytes}
  body.read = call.body
}

const MULTIPART = /^multipart\//i
/** Content types whose bodies are texts; of another the first byte tells. */
const TEXTS = /^(?:multipart\/|text\/|application\/(?:x-www-form-urlencoded|xml|yaml|graphql|[^;]*\+xml))/i

interface Taken {
  readonly parts: readonly Buffer[]
  readonly is_whole: boolean
}

const NOTHING: Taken = {parts: [], is_whole: false}

/** Takes a body to its end, unless it is longer, or begins as no JSON does where it is not known to be a text. */
async function taken(request: IncomingMessage, most_bytes: number, is_text: boolean): Promise<Taken> {
  const parts: Buffer[] = []
  let length = 0
  let is_known = is_text
  try {
    for await (const part of request.iterator({destroyOnReturn: false}) as AsyncIterable<Buffer>) {
      parts.push(part)
      length += part.length
      if (length > most_bytes) return {parts, is_whole: false}
      const first = is_known ? null : FIRST_SIGN.exec(part.toString('latin1'))
      if (!first) continue
      // Some providers read JSON whatever content type it has.
      if (!JSON_SIGNS.includes(first[0])) return {parts, is_whole: false}
      is_known = true
    }
  } catch (cause) {
    throw new Refusal('client.gone', {}, {cause})
  }
  return {parts, is_whole: true}
}

/** Behind white space and a byte order mark. */
const FIRST_SIGN = /[^\s\xef\xbb\xbf]/
const JSON_SIGNS = '{["'
