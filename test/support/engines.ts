import type {ServerResponse} from 'node:http'
import {type Answer, type Heard, json} from './provider.ts'

/** Words that an engine writes where nothing limits it; one token each. */
export const UNBOUNDED_TOKENS = 40
/** What the chat template of the model adds to each prompt. */
export const TEMPLATE_TOKENS = 25

type Asked = Readonly<Record<string, unknown>>

/** A local engine as its own server is: which members it reads, which routes it has, and where it counts. */
export interface EngineModel {
  readonly kind: string
  /** Members that limit its answer; it ignores the other. */
  readonly reads: readonly ('max_tokens' | 'max_completion_tokens')[]
  /** Routes beside `/v1/chat/completions`. */
  readonly routes: readonly string[]
  /** Whether a stream tells usage: never, or where `stream_options` asks for it. */
  readonly stream_usage: boolean
  /** Its answer to a path that it does not have. */
  absent(response: ServerResponse): void
}

const COUNTERS = ['/v1/messages/count_tokens', '/v1/chat/completions/input_tokens', '/tokenize']

/** Four engines, as their documentation and sources have them. */
export const ENGINE_MODELS = {
  llama_cpp: {
    kind: 'llama-cpp',
    reads: ['max_tokens', 'max_completion_tokens'],
    routes: ['/v1/messages', '/v1/responses', ...COUNTERS],
    stream_usage: true,
    absent: response => json(response, {error: {code: 404, message: 'File Not Found', type: 'not_found_error'}}, 404),
  },
  llama_cpp_python: {
    kind: 'llama-cpp',
    reads: ['max_tokens'],
    routes: [],
    stream_usage: false,
    absent: response => json(response, {detail: 'Not Found'}, 404),
  },
  ollama: {
    kind: 'ollama',
    reads: ['max_tokens'],
    routes: ['/v1/messages', '/v1/responses'],
    stream_usage: true,
    absent: response => response.writeHead(404, {'content-type': 'text/plain'}).end('404 page not found'),
  },
  vllm: {
    kind: 'vllm',
    reads: ['max_tokens', 'max_completion_tokens'],
    routes: ['/v1/messages', '/v1/responses', '/v1/messages/count_tokens', '/tokenize'],
    stream_usage: true,
    absent: response => json(response, {detail: 'Not Found'}, 404),
  },
} as const satisfies Record<string, EngineModel>

/**
 * Answers as the engine would. `hold`: it is at work, and sends nothing of a whole answer, or so many events of a
 * stream.
 */
export function engineAnswer(engine: EngineModel, hold: number | null = null): Answer {
  return (received, response) => {
    const path = received.path.split('?', 1)[0]!
    const asked = (received.body.length ? JSON.parse(received.body.toString()) : {}) as Asked
    if (path === '/v1/chat/completions') return chat(engine, asked, response, hold)
    if (!engine.routes.includes(path)) return engine.absent(response)
    if (path === '/v1/responses')
      return asked.input === undefined ? lacks(response, 'input') : json(response, responseOf(asked))
    if (path === '/tokenize') return json(response, {count: promptTokens(asked), max_model_len: 4096, tokens: []})
    if (!Array.isArray(asked.messages)) return lacks(response, 'messages')
    if (path !== '/v1/messages') return json(response, {input_tokens: promptTokens(asked)})
    if (asked.stream === true) return messageStream(engine, asked, response)
    return json(response, messageOf(engine, asked))
  }
}

/** What was sent there, by path. */
export function pathsOf(received: readonly Heard[]): readonly string[] {
  return received.map(({path}) => path)
}

/** One token a word, and the template. */
export function promptTokens({messages, prompt, system}: Asked): number {
  const texts = [prompt, system, ...(Array.isArray(messages) ? messages.map(({content}) => content) : [])]
  const said = texts
    .filter(text => text !== undefined)
    .map(text => (typeof text === 'string' ? text : JSON.stringify(text)))
  return TEMPLATE_TOKENS + said.join(' ').split(/\s+/).length
}

function lacks(response: ServerResponse, member: string) {
  json(response, {error: {code: 400, message: `'${member}' is required`, type: 'invalid_request_error'}}, 400)
}

function answerTokens({reads}: EngineModel, asked: Asked): number {
  const limits = reads.map(member => asked[member]).filter(limit => typeof limit === 'number')
  return limits[0] ?? UNBOUNDED_TOKENS
}

function usageOf(engine: EngineModel, asked: Asked) {
  const prompt_tokens = promptTokens(asked)
  const completion_tokens = answerTokens(engine, asked)
  return {prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens}
}

function chat(engine: EngineModel, asked: Asked, response: ServerResponse, hold: number | null) {
  const usage = usageOf(engine, asked)
  const words = Array.from({length: usage.completion_tokens}, () => 'a')
  if (asked.stream !== true) {
    const choice = {index: 0, message: {role: 'assistant', content: words.join('')}, finish_reason: 'stop'}
    if (hold === null)
      json(response, {id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage})
    return
  }
  response.writeHead(200, {'content-type': 'text/event-stream'})
  const event = (choices: readonly unknown[], more = {}) =>
    response.write(
      `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more})}\n\n`,
    )
  for (const content of words.slice(0, hold ?? words.length)) event([{index: 0, delta: {content}, finish_reason: null}])
  if (hold !== null) return
  event([{index: 0, delta: {}, finish_reason: 'stop'}])
  const {include_usage} = (asked.stream_options ?? {}) as {include_usage?: boolean}
  if (engine.stream_usage && include_usage) event([], {usage})
  response.end('data: [DONE]\n\n')
}

function messageOf(engine: EngineModel, asked: Asked) {
  const {prompt_tokens: input_tokens, completion_tokens: output_tokens} = usageOf(engine, asked)
  const content = [{type: 'text', text: 'a'.repeat(output_tokens)}]
  const whole = {
    id: 'msg_own',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
  }
  return {...whole, usage: {input_tokens, output_tokens}}
}

function messageStream(engine: EngineModel, asked: Asked, response: ServerResponse) {
  const {content, stop_reason, usage, ...head} = messageOf(engine, asked)
  response.writeHead(200, {'content-type': 'text/event-stream'})
  const event = (data: {readonly type: string}) =>
    response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
  const told = (more: object) => event(more as {readonly type: string})
  told({type: 'message_start', message: {...head, content: [], stop_reason: null, usage: {...usage, output_tokens: 0}}})
  told({type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}})
  for (const {text} of content) told({type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text}})
  told({type: 'content_block_stop', index: 0})
  told({type: 'message_delta', delta: {stop_reason, stop_sequence: null}, usage: {output_tokens: usage.output_tokens}})
  told({type: 'message_stop'})
  response.end()
}

function responseOf(asked: Asked) {
  const input_tokens = promptTokens({prompt: asked.input})
  const message = {
    type: 'message',
    id: 'm',
    role: 'assistant',
    status: 'completed',
    content: [{type: 'output_text', text: 'a', annotations: []}],
  }
  const usage = {input_tokens, output_tokens: 1, total_tokens: input_tokens + 1}
  return {id: 'resp_own', object: 'response', created_at: 1, status: 'completed', model: 'm', output: [message], usage}
}
