import {isObject, parsedObject} from '../../base/json-object.ts'
import {linesOf} from '../../base/lines.ts'
import {ENDPOINTS, type EndpointName} from '../../schema/endpoints.ts'
import type {OperationInput} from '../operation.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../translation.ts'

/** A row may hold pictures. */
export const MAX_ROW_BYTES = 32 << 20
const PIECE_BYTES = 64 << 10

/** A row of OpenAI's batch input: its request, in no provider's dialect. */
export interface BatchRow {
  readonly custom_id: string
  readonly endpoint: EndpointName
  readonly model: string
  /** Without `model` and `stream`. */
  readonly body: Json
}

/**
 * `body` of the row in the provider's format for its endpoint and model; OpenAI's own, with the model in it, for
 * providers that take that.
 */
export function wordsOfRow({endpoint, model, body}: BatchRow, {words, allow, context}: OperationInput): Json {
  allow(model)
  const translation = words(endpoint, model)
  if (!translation) return model === '' ? body : {model, ...body}
  const translated = translation.request(body, {...context, model, is_row: true}).body
  if (!isObject(translated))
    throw new UnsupportedInputFault('url', 'rows of this endpoint cannot be written for the provider')
  const {stream, ...rest} = translated
  return stream === false ? rest : translated
}

/**
 * An answer of the provider's in OpenAI's words, as the row of a batch's output; one that is not what it documents is a
 * row with an error.
 */
export function answeredRow(
  {custom_id, endpoint, model, number}: {custom_id: string; endpoint: EndpointName; model: string; number: number},
  response: unknown,
  {words, context}: OperationInput,
): Json {
  try {
    const translation = words(endpoint, model)
    const {body} = translation
      ? translation.reply(response, {...context, model, call_id: `${context.call_id}-${number}`, is_row: true}, {})
      : {body: response}
    return outputRow(number, custom_id, {
      response: {status_code: 200, request_id: `${context.call_id}-${number}`, body},
    })
  } catch (fault) {
    if (!(fault instanceof InvalidResponseFault) && !(fault instanceof UnsupportedInputFault)) throw fault
    return failedRow(number, custom_id, {
      code: 'bad_reply',
      message: `Invalid response received from ${context.provider}: ${fault.message}`,
    })
  }
}

export function failedRow(
  number: number,
  custom_id: string,
  error: {readonly code: string | null; readonly message: string},
): Json {
  return outputRow(number, custom_id, {error})
}

function outputRow(
  number: number,
  custom_id: string,
  {response = null, error = null}: {response?: Json | null; error?: Json | null},
): Json {
  return {id: `batch_req_${number}`, custom_id, response, error}
}

/** The row of OpenAI's batch input that an object is; null when it is a row in another format. */
export function batchRowIn(row: Json, {context, file_headers}: OperationInput): BatchRow | null {
  if (!isObject(row.body) || (row.url === undefined && row.method === undefined && file_headers.rows === undefined))
    return null
  const {custom_id, url} = row
  if (typeof custom_id !== 'string' || custom_id === '')
    throw new UnsupportedInputFault('custom_id', 'expected a string')
  const {model, stream: _stream, stream_options: _options, ...body} = row.body
  if (model !== undefined && typeof model !== 'string')
    throw new UnsupportedInputFault('body.model', 'expected a string')
  return {custom_id, endpoint: endpointOf(url ?? file_headers.rows), model: context.model || bare(model ?? ''), body}
}

/** The endpoint that OpenAI's batches name by its path. */
export function endpointOf(url: unknown, field = 'url'): EndpointName {
  const path = typeof url === 'string' ? url.replace(/^\/v1(?=\/)/, '') : null
  const found = ENDPOINTS.find(each => each.method === 'POST' && each.path === path)
  if (found && OF_BATCHES.has(found.name)) return found.name
  throw new UnsupportedInputFault(field, 'expected /v1/chat/completions, /v1/completions or /v1/embeddings')
}

const OF_BATCHES: ReadonlySet<EndpointName> = new Set(['chatComplete', 'complete', 'embed'])
export const PATHS = {
  chatComplete: '/v1/chat/completions',
  complete: '/v1/completions',
  embed: '/v1/embeddings',
} as const

/** Each row of a file of JSON lines, as `change` returns it: null leaves a row out. An error names its line. */
export async function* changedRows(
  source: AsyncIterable<Uint8Array>,
  change: (row: Json, number: number) => Json | null,
): AsyncGenerator<Buffer> {
  let open: Buffer[] = []
  let open_bytes = 0
  for await (const {bytes, number} of linesOf(source, MAX_ROW_BYTES)) {
    const row = atLine(number, () => {
      const changed = change(objectOf(bytes), number)
      return changed === null ? null : Buffer.from(`${JSON.stringify(changed)}\n`)
    })
    if (row === null) continue
    open.push(row)
    open_bytes += row.length
    if (open_bytes < PIECE_BYTES) continue
    yield Buffer.concat(open)
    open = []
    open_bytes = 0
  }
  if (open.length > 0) yield Buffer.concat(open)
}

function objectOf(bytes: Buffer): Json {
  const parsed = parsedObject(bytes.toString())
  if (!parsed) throw new UnsupportedInputFault('row', 'expected a JSON object')
  return parsed
}

function atLine<Made>(number: number, make: () => Made): Made {
  try {
    return make()
  } catch (fault) {
    if (fault instanceof UnsupportedInputFault) throw new UnsupportedInputFault(`line ${number}`, fault.message)
    if (fault instanceof RangeError) throw new UnsupportedInputFault(`line ${number}`, 'it is nested too deep')
    throw fault
  }
}

function bare(model: string): string {
  return model.replace(/^@[^/]*\//, '')
}
