import {object} from '../../base/json-object.ts'
import {vertexPublisher} from '../base-urls/vertex.ts'
import {word} from '../gemini/read.ts'
import {answeredRow, type BatchRow, failedRow, wordsOfRow} from '../jobs/rows.ts'
import type {OperationInput} from '../operation.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'

/** A label's value (Vertex AI, "Add labels to API calls"). */
const PLAIN = /^[a-z0-9_-]{1,63}$/
const LABEL = 'gateway-custom-id'
const LABEL_HEX = 'gateway-custom-id-hex-'
const HEX_LENGTH = 62
const MAX_PIECES = 16

/**
 * A row of a batch: Claude's carries its id (Vertex AI, "Batch predictions with Claude"); Gemini's has no place for one
 * but the labels of the request, which come back with it; open models take OpenAI's rows as they are.
 */
export function batchInput(row: BatchRow, input: OperationInput): Json {
  const {custom_id, endpoint, model} = row
  if (endpoint !== 'chatComplete')
    throw new UnsupportedInputFault('url', 'Vertex AI runs batches of /v1/chat/completions alone here')
  const request = wordsOfRow(row, input)
  const publisher = vertexPublisher(model)?.publisher
  if (publisher === 'anthropic') return {custom_id, request}
  if (publisher !== undefined) return {custom_id, method: 'POST', url: '/v1/chat/completions', body: request}
  return {request: {...request, labels: {...object(request.labels), ...labelsOf(custom_id)}}}
}

/** `{status, request, response}`; `status` is empty where the model answered. */
export function batchOutput(row: Json, number: number, model: string, input: OperationInput): Json {
  const {custom_id, request, response, status, error} = row
  const id = word(custom_id) ?? idIn(object(object(request).labels))
  const failure = word(status) ?? word(object(error).message)
  if (failure !== null && object(response).candidates === undefined && object(response).content === undefined)
    return failedRow(number, id, {code: null, message: `${input.context.provider} error: ${failure}`})
  const publisher = vertexPublisher(model)?.publisher
  // Open models answer in OpenAI's words, some as a whole row.
  const reply = publisher !== undefined && publisher !== 'anthropic' ? (object(response).body ?? response) : response
  return answeredRow({custom_id: id, endpoint: 'chatComplete', model, number}, reply, input)
}

/**
 * A row of tuning data (Vertex AI, "Prepare supervised fine-tuning data"): Gemini's contents; open models take OpenAI's
 * messages.
 */
export function tuneInput(row: Json, input: OperationInput): Json {
  const model = input.context.model || 'gemini'
  const words = input.words('chatComplete', model)
  if (!words) return row
  const {systemInstruction, contents, tools} = words.request(row, {...input.context, model}).body as Json
  return {...(systemInstruction ? {systemInstruction} : {}), contents, ...(tools ? {tools} : {})}
}

export function labelsOf(custom_id: string): Record<string, string> {
  if (PLAIN.test(custom_id)) return {[LABEL]: custom_id}
  const hex = Buffer.from(custom_id).toString('hex')
  const pieces = hex.match(new RegExp(`.{1,${HEX_LENGTH}}`, 'g')) ?? []
  if (pieces.length > MAX_PIECES)
    throw new UnsupportedInputFault('custom_id', `expected ${(MAX_PIECES * HEX_LENGTH) / 2} bytes at most`)
  return Object.fromEntries(pieces.map((piece, at) => [`${LABEL_HEX}${at}`, piece]))
}

export function idIn(labels: Json): string {
  const plain = word(labels[LABEL])
  if (plain !== null) return plain
  const pieces: string[] = []
  for (let at = 0; at < MAX_PIECES; at++) {
    const piece = word(labels[`${LABEL_HEX}${at}`])
    if (piece === null) break
    pieces.push(piece)
  }
  return Buffer.from(pieces.join(''), 'hex').toString('utf8')
}
