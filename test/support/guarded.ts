import {type Answer, chatEvents, chatReply, json, USAGE} from './provider.ts'
import {events, said} from './routing.ts'

/** A route whose texts guardrails judge: how it asks, how its provider answers, and how its client reads the answer. */
export interface GuardedRoute {
  readonly name: string
  readonly path: string
  readonly provider: 'a' | 'claude'
  ask(text: string, more?: object): object
  /** The provider's answer, in pieces where it is asked to stream. */
  answer(words: readonly string[]): Answer
  /** The text of a whole answer, and of a stream as far as it came. */
  read(text: string): string
}

const isStream = (body: Buffer) => (JSON.parse(body.toString()) as {stream?: boolean}).stream === true

/** Answers plainly, or with the events when a stream is asked for. */
const either =
  (plain: () => unknown, streamed: () => readonly string[]): Answer =>
  (received, response, request) => {
    if (isStream(received.body)) events(streamed())(received, response, request)
    else json(response, plain())
  }

/** The data of each event that is JSON. */
export function dataOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter(line => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map(line => JSON.parse(line.slice(6)) as Record<string, unknown>)
}

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer has the answer's own shape
type Any = any

const isEvents = (text: string) => /^(data|event):/m.test(text)
const joined = (text: string, of: (event: Any) => string | undefined) =>
  dataOf(text)
    .map(event => of(event) ?? '')
    .join('')

const textChunk = (text: string, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm', choices: [{index: 0, text, finish_reason}]})}\n\n`

const message = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{type: 'text', text}],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: {input_tokens: 25, output_tokens: 3},
})

const output = (text: string) => ({
  id: 'item_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{type: 'output_text', text, annotations: []}],
})
const response = (text: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-4o-mini',
  output: [output(text)],
  usage: {input_tokens: 12, output_tokens: 5, total_tokens: 17},
})

function responseEvents(words: readonly string[]): string[] {
  const place = {item_id: 'item_1', output_index: 0, content_index: 0}
  const text = words.join('')
  return [
    said('response.created', {response: {...response(''), status: 'in_progress', output: []}}),
    said('response.output_item.added', {output_index: 0, item: {...output(''), content: []}}),
    said('response.content_part.added', {...place, part: {type: 'output_text', text: '', annotations: []}}),
    ...words.map(delta => said('response.output_text.delta', {...place, delta})),
    said('response.output_text.done', {...place, text}),
    said('response.content_part.done', {...place, part: {type: 'output_text', text, annotations: []}}),
    said('response.output_item.done', {output_index: 0, item: output(text)}),
    said('response.completed', {response: response(text)}),
  ]
}

export const CHAT_ROUTE: GuardedRoute = {
  name: 'chat',
  path: '/v1/chat/completions',
  provider: 'a',
  ask: (content, more) => ({model: 'gpt-4o-mini', messages: [{role: 'user', content}], ...more}),
  answer: words =>
    either(
      () => chatReply('gpt-4o-mini', words.join('')),
      () => chatEvents('gpt-4o-mini', {words: [...words]}),
    ),
  read: text =>
    isEvents(text)
      ? joined(text, event => event.choices?.[0]?.delta?.content)
      : (JSON.parse(text) as Any).choices?.[0]?.message.content,
}

/** Routes whose answers are text. */
export const ROUTES: readonly GuardedRoute[] = [
  CHAT_ROUTE,
  {
    ...CHAT_ROUTE,
    name: 'prompt completions',
    path: '/v1/prompts/{prompt}/completions',
    ask: (text, more) => ({variables: {text}, ...more}),
  },
  {
    name: 'completions',
    path: '/v1/completions',
    provider: 'a',
    ask: (prompt, more) => ({model: 'gpt-4o-mini', prompt, ...more}),
    answer: words =>
      either(
        () => ({
          id: 'cmpl-1',
          object: 'text_completion',
          created: 1,
          model: 'm',
          choices: [{index: 0, text: words.join(''), finish_reason: 'stop', logprobs: null}],
          usage: USAGE,
        }),
        () => [...words.map(word => textChunk(word)), textChunk('', 'stop'), 'data: [DONE]\n\n'],
      ),
    read: text =>
      isEvents(text) ? joined(text, event => event.choices?.[0]?.text) : (JSON.parse(text) as Any).choices?.[0]?.text,
  },
  {
    name: 'messages',
    path: '/v1/messages',
    provider: 'claude',
    ask: (content, more) => ({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      messages: [{role: 'user', content}],
      ...more,
    }),
    answer: words =>
      either(
        () => message(words.join('')),
        () => messageEvents(words),
      ),
    read: text =>
      isEvents(text) ? joined(text, event => event.delta?.text) : (JSON.parse(text) as Any).content?.[0]?.text,
  },
  {
    name: 'chat of another dialect',
    path: '/v1/chat/completions',
    provider: 'claude',
    ask: (content, more) => ({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      messages: [{role: 'user', content}],
      ...more,
    }),
    answer: words =>
      either(
        () => message(words.join('')),
        () => messageEvents(words),
      ),
    read: CHAT_ROUTE.read,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    provider: 'a',
    ask: (input, more) => ({model: 'gpt-4o-mini', input, ...more}),
    answer: words =>
      either(
        () => response(words.join('')),
        () => responseEvents(words),
      ),
    read: text =>
      isEvents(text)
        ? joined(text, event => (event.type === 'response.output_text.delta' ? event.delta : ''))
        : (JSON.parse(text) as Any).output?.[0]?.content[0].text,
  },
]

function messageEvents(words: readonly string[]): string[] {
  return [
    said('message_start', {
      message: {...message(''), content: [], stop_reason: null, usage: {input_tokens: 25, output_tokens: 1}},
    }),
    said('content_block_start', {index: 0, content_block: {type: 'text', text: ''}}),
    ...words.map(text => said('content_block_delta', {index: 0, delta: {type: 'text_delta', text}})),
    said('content_block_stop', {index: 0}),
    said('message_delta', {delta: {stop_reason: 'end_turn', stop_sequence: null}, usage: {output_tokens: 3}}),
    said('message_stop'),
  ]
}
