import {createHash} from 'node:crypto'
import {isObject, object, parsedObject} from '../../base/json-object.ts'
import {estimateTokens} from '../openai/reply.ts'
import type {RawObject} from '../openai/usage.ts'

/** The answer to a call: one JSON body, or the events of a stream (each whole, with its blank line). */
export type Echo =
  | {readonly status: number; readonly json: unknown}
  | {readonly status: 200; readonly events: readonly string[]}

export interface EchoRequest {
  readonly method: string
  /** Without a query; a leading `/v1` does not matter. */
  readonly path: string
  readonly body: Buffer
}

/** The values that make two answers differ. */
export interface Moment {
  readonly id: string
  /** Seconds since the epoch. */
  readonly created: number
}

export const ECHO_MODEL = 'echo'
const MAX_PIECES = 24
const MAX_INPUTS = 2048
const DIMENSIONS = 16
const MAX_DIMENSIONS = 4096

/** Answers in OpenAI's shapes with the last message, and calls itself an echo. */
export function echo({method, path, body}: EchoRequest, moment: Moment): Echo {
  const route = `${method} ${path.replace(/^\/v1(?=\/)/, '')}`
  if (route === 'GET /models') return {status: 200, json: {object: 'list', data: [modelCard(moment)]}}
  const answer = Object.hasOwn(ROUTES, route) ? ROUTES[route]! : null
  if (!answer) return refusal(404, `The demo provider does not serve ${route}.`, null)
  const request = parsedObject(body.toString('utf8'))
  if (!request) return refusal(400, 'The body is not a JSON object.', null)
  return answer(request, moment)
}

/** An error in OpenAI's shape. */
export function refusal(status: number, message: string, param: string | null): Echo {
  return {status, json: {error: {message, type: 'invalid_request_error', param, code: null}}}
}

const ROUTES: Readonly<Record<string, (request: RawObject, moment: Moment) => Echo>> = {
  'POST /chat/completions': chat,
  'POST /completions': complete,
  'POST /responses': respond,
  'POST /embeddings': embed,
}

function chat(request: RawObject, {id, created}: Moment): Echo {
  const {messages} = request
  if (!Array.isArray(messages) || messages.length === 0)
    return refusal(400, 'messages: expected at least one message.', 'messages')
  const texts = messages.map(message => textOf(object(message).content))
  const last = messages.findLastIndex(message => object(message).role === 'user')
  const text = echoOf(texts.at(last) ?? '')
  const head = {id: `chatcmpl-${id}`, created, model: modelOf(request)}
  const usage = usageOf(texts, text)
  if (request.stream !== true) {
    const message = {role: 'assistant', content: text, refusal: null}
    const choices = [{index: 0, message, logprobs: null, finish_reason: 'stop'}]
    return {status: 200, json: {...head, object: 'chat.completion', choices, usage}}
  }
  const choice = (delta: RawObject, finish_reason: string | null = null) => [
    {index: 0, delta, logprobs: null, finish_reason},
  ]
  const choices = [
    choice({role: 'assistant', content: ''}),
    ...pieces(text).map(content => choice({content})),
    choice({}, 'stop'),
  ]
  return streamed({...head, object: 'chat.completion.chunk'}, choices, request, usage)
}

function complete(request: RawObject, {id, created}: Moment): Echo {
  const prompt = textOf(request.prompt)
  const text = echoOf(prompt)
  const head = {id: `cmpl-${id}`, object: 'text_completion', created, model: modelOf(request)}
  const usage = usageOf([prompt], text)
  const choice = (part: string, finish_reason: string | null) => [{index: 0, text: part, logprobs: null, finish_reason}]
  if (request.stream !== true) return {status: 200, json: {...head, choices: choice(text, 'stop'), usage}}
  return streamed(head, [...pieces(text).map(part => choice(part, null)), choice('', 'stop')], request, usage)
}

/**
 * Events of chat and completions; with `include_usage` each says its usage, null but in the last (OpenAI,
 * `stream_options`).
 */
function streamed(head: RawObject, choices: readonly unknown[], request: RawObject, usage: RawObject): Echo {
  const with_usage = object(request.stream_options).include_usage === true
  const events = choices.map(each => ({...head, choices: each, ...(with_usage && {usage: null})}))
  const all = with_usage ? [...events, {...head, choices: [], usage}] : events
  return {status: 200, events: [...all.map(event => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n']}
}

function respond(request: RawObject, {id, created}: Moment): Echo {
  const input = Array.isArray(request.input) ? request.input : [request.input]
  const texts = input.map(item => textOf(isObject(item) ? item.content : item))
  const text = echoOf(texts.at(-1) ?? '')
  const item_id = `msg_${id}`
  const part = {type: 'output_text', text, annotations: []}
  const item = {id: item_id, type: 'message', status: 'completed', role: 'assistant', content: [part]}
  const {prompt_tokens, completion_tokens, total_tokens} = usageOf(texts, text)
  const usage = {
    input_tokens: prompt_tokens,
    input_tokens_details: {cached_tokens: 0},
    output_tokens: completion_tokens,
    output_tokens_details: {reasoning_tokens: 0},
    total_tokens,
  }
  const head = {
    id: `resp_${id}`,
    object: 'response',
    created_at: created,
    model: modelOf(request),
    error: null,
    incomplete_details: null,
  }
  const whole = {...head, status: 'completed', output: [item], usage}
  if (request.stream !== true) return {status: 200, json: whole}
  const open = {...head, status: 'in_progress', output: [], usage: null}
  const at = {item_id, output_index: 0, content_index: 0}
  const steps: readonly [type: string, more: RawObject][] = [
    ['response.created', {response: open}],
    ['response.in_progress', {response: open}],
    ['response.output_item.added', {output_index: 0, item: {...item, status: 'in_progress', content: []}}],
    ['response.content_part.added', {...at, part: {...part, text: ''}}],
    ...pieces(text).map((delta): [string, RawObject] => ['response.output_text.delta', {...at, delta}]),
    ['response.output_text.done', {...at, text}],
    ['response.content_part.done', {...at, part}],
    ['response.output_item.done', {output_index: 0, item}],
    ['response.completed', {response: whole}],
  ]
  const events = steps.map(([type, more], sequence_number) => {
    return `event: ${type}\ndata: ${JSON.stringify({type, sequence_number, ...more})}\n\n`
  })
  return {status: 200, events}
}

function embed(request: RawObject): Echo {
  const {input, dimensions = DIMENSIONS, encoding_format} = request
  // One text, one text as token ids, or several of either.
  const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]
  if (input === undefined || inputs.length === 0 || inputs.length > MAX_INPUTS) {
    return refusal(400, `input: expected 1 to ${MAX_INPUTS} texts.`, 'input')
  }
  if (
    typeof dimensions !== 'number' ||
    !Number.isInteger(dimensions) ||
    dimensions < 1 ||
    dimensions > MAX_DIMENSIONS
  ) {
    return refusal(400, `dimensions: expected a whole number from 1 to ${MAX_DIMENSIONS}.`, 'dimensions')
  }
  const texts = inputs.map(textOf)
  const data = texts.map((text, index) => {
    const vector = vectorOf(text, dimensions)
    const embedding = encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector]
    return {object: 'embedding', index, embedding}
  })
  const {prompt_tokens} = usageOf(texts, '')
  return {
    status: 200,
    json: {object: 'list', data, model: modelOf(request), usage: {prompt_tokens, total_tokens: prompt_tokens}},
  }
}

function modelCard({created}: Moment) {
  return {id: ECHO_MODEL, object: 'model', created, owned_by: 'demo'}
}

function echoOf(text: string): string {
  return `This is an echo, no model was asked. You said: ${text}`
}

/** The text of a message's content, of a prompt, of one input: a string, or parts that hold texts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content === undefined || content === null ? '' : JSON.stringify(content)
  return content
    .map(part => (isObject(part) ? (typeof part.text === 'string' ? part.text : '') : String(part)))
    .join(' ')
}

/** `text` in at most `MAX_PIECES`, each of whole words with the space before them. */
function pieces(text: string): readonly string[] {
  const words = text.match(/\s*\S+\s*$|\s*\S+|\s+$/g) ?? []
  const size = Math.ceil(words.length / MAX_PIECES)
  return Array.from({length: Math.ceil(words.length / Math.max(1, size))}, (_, at) =>
    words.slice(at * size, (at + 1) * size).join(''),
  )
}

function usageOf(inputs: readonly string[], text: string) {
  const prompt_tokens = inputs.reduce((sum, each) => sum + estimateTokens(Buffer.byteLength(each)), 0)
  const completion_tokens = estimateTokens(Buffer.byteLength(text))
  return {prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens}
}

/** A vector of length 1 that is the same for the same text. */
function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  for (let at = 0; at < dimensions; at += 8) {
    const digest = createHash('sha256').update(`${at}\n${text}`).digest()
    for (let each = 0; each < 8 && at + each < dimensions; each++)
      vector[at + each] = digest.readInt32LE(each * 4) / 2 ** 31
  }
  const length = Math.hypot(...vector) || 1
  return vector.map(value => value / length)
}

function modelOf(request: RawObject): string {
  return typeof request.model === 'string' && request.model !== '' ? request.model : ECHO_MODEL
}
