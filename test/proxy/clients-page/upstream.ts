import type {ServerResponse} from 'node:http'
import {chatEvents, chatReply, type Heard, json} from '../../support/provider.ts'

export const ANSWER = 'Hello from the provider'
const WORDS = ['Hello', ' from', ' the provider']
/** The usage of each answer, in every format. */
export const INPUT_TOKENS = 12
export const OUTPUT_TOKENS = 5
const TOTAL_TOKENS = INPUT_TOKENS + OUTPUT_TOKENS

type Json = Readonly<Record<string, unknown>>

/**
 * Every vendor and engine at one address: each path answers as its documentation has it, and whatever none of them has
 * is 404. A stream of chat has usage only where it is requested.
 */
export function vendors(received: Heard, response: ServerResponse): void {
  const [path = ''] = received.path.split('?', 1)
  const body = (received.body.length ? JSON.parse(received.body.toString()) : {}) as Json
  const found = ROUTES.find(([method, pattern]) => method === received.method && pattern.test(path))
  if (found) found[2](body, response, path)
  else json(response, {error: `nothing is at ${received.method} ${received.path}`}, 404)
}

type Route = readonly [
  method: 'GET' | 'POST',
  path: RegExp,
  answer: (body: Json, response: ServerResponse, path: string) => void,
]

const ROUTES: readonly Route[] = [
  ['POST', /^(?:\/openai)?\/v1\/chat\/completions$/, chat],
  ['POST', /^\/v1\/responses$/, responses],
  ['POST', /^\/v1\/messages$/, messages],
  ['POST', /^\/v1beta\/models\/[\w.-]+:(?:stream)?[gG]enerateContent$/, gemini],
  ['POST', /^\/v2\/chat$/, (_, response) => json(response, COHERE)],
  ['POST', /^\/api\/chat$/, ollama],
  ['POST', /^\/model\/[\w.%-]+\/converse$/, (_, response) => json(response, CONVERSE)],
  [
    'GET',
    /^\/v1\/models$/,
    (_, response) =>
      json(response, {object: 'list', data: [{id: 'llama3.2', object: 'model', created: 1, owned_by: 'x'}]}),
  ],
]

function chat(body: Json, response: ServerResponse) {
  const model = String(body.model)
  const usage = (body.stream_options as {include_usage?: boolean} | undefined)?.include_usage === true
  if (body.stream === true) events(response, chatEvents(model, {usage, words: WORDS}))
  else json(response, chatReply(model, ANSWER))
}

const event = (data: {readonly type: string} & Json) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

function messages({model, messages, stream}: Json, response: ServerResponse) {
  if (!Array.isArray(messages)) return json(response, {type: 'error', error: {message: 'messages: missing'}}, 400)
  const usage = {input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS}
  const content = [{type: 'text', text: ANSWER}]
  const whole = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  }
  if (stream !== true) return json(response, whole)
  events(response, [
    event({
      type: 'message_start',
      message: {...whole, content: [], stop_reason: null, usage: {...usage, output_tokens: 1}},
    }),
    event({type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}}),
    ...WORDS.map(text => event({type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text}})),
    event({type: 'content_block_stop', index: 0}),
    event({
      type: 'message_delta',
      delta: {stop_reason: 'end_turn', stop_sequence: null},
      usage: {output_tokens: OUTPUT_TOKENS},
    }),
    event({type: 'message_stop'}),
  ])
}

function responses({model, input, stream}: Json, response: ServerResponse) {
  if (input === undefined) return json(response, {error: {message: 'input is required'}}, 400)
  const part = {type: 'output_text', text: ANSWER, annotations: []}
  const item = {type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part]}
  const usage = {
    input_tokens: INPUT_TOKENS,
    input_tokens_details: {cached_tokens: 0},
    output_tokens: OUTPUT_TOKENS,
    output_tokens_details: {reasoning_tokens: 0},
    total_tokens: TOTAL_TOKENS,
  }
  const whole = {id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model, output: [item], usage}
  if (stream !== true) return json(response, whole)
  const at = {item_id: 'msg_1', output_index: 0, content_index: 0}
  const begun = {...whole, status: 'in_progress', output: [], usage: null}
  const all = [
    {type: 'response.created', response: begun},
    {type: 'response.output_item.added', output_index: 0, item: {...item, status: 'in_progress', content: []}},
    {type: 'response.content_part.added', ...at, part: {...part, text: ''}},
    ...WORDS.map(delta => ({type: 'response.output_text.delta', ...at, delta})),
    {type: 'response.output_text.done', ...at, text: ANSWER},
    {type: 'response.content_part.done', ...at, part},
    {type: 'response.output_item.done', output_index: 0, item},
    {type: 'response.completed', response: whole},
  ]
  events(
    response,
    all.map((each, sequence_number) => event({...each, sequence_number})),
  )
}

const candidate = (text: string, more: object = {}) => ({
  candidates: [{content: {role: 'model', parts: [{text}]}, index: 0, ...more}],
  modelVersion: 'gemini-2.5-flash',
})

function gemini(_: Json, response: ServerResponse, path: string) {
  const usageMetadata = {
    promptTokenCount: INPUT_TOKENS,
    candidatesTokenCount: OUTPUT_TOKENS,
    totalTokenCount: TOTAL_TOKENS,
  }
  if (!path.endsWith(':streamGenerateContent'))
    return json(response, {...candidate(ANSWER, {finishReason: 'STOP'}), usageMetadata})
  const all = WORDS.map((text, at) => {
    const is_last = at === WORDS.length - 1
    return {...candidate(text, is_last ? {finishReason: 'STOP'} : {}), ...(is_last && {usageMetadata})}
  })
  events(
    response,
    all.map(each => `data: ${JSON.stringify(each)}\r\n\r\n`),
  )
}

/** A stream unless the request says that it wants none. */
function ollama({model, stream}: Json, response: ServerResponse) {
  const line = (content: string, more: object) => ({
    model,
    created_at: '2026-01-01T00:00:00Z',
    message: {role: 'assistant', content},
    ...more,
  })
  const end = {done: true, done_reason: 'stop', prompt_eval_count: INPUT_TOKENS, eval_count: OUTPUT_TOKENS}
  if (stream === false) return json(response, line(ANSWER, end))
  const lines = [...WORDS.map(text => line(text, {done: false})), line('', end)]
  response
    .writeHead(200, {'content-type': 'application/x-ndjson'})
    .end(lines.map(each => `${JSON.stringify(each)}\n`).join(''))
}

const COHERE = {
  id: 'c',
  message: {role: 'assistant', content: [{type: 'text', text: ANSWER}]},
  finish_reason: 'COMPLETE',
  usage: {
    billed_units: {input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS},
    tokens: {input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS},
  },
}
const CONVERSE = {
  output: {message: {role: 'assistant', content: [{text: ANSWER}]}},
  stopReason: 'end_turn',
  usage: {inputTokens: INPUT_TOKENS, outputTokens: OUTPUT_TOKENS, totalTokens: TOTAL_TOKENS},
  metrics: {latencyMs: 3},
}

function events(response: ServerResponse, all: readonly string[]) {
  response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8'})
  for (const each of all) response.write(each)
  response.end()
}
