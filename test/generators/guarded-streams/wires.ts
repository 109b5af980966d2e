import type {EndpointName} from '../../../src/schema/endpoints.ts'
import {eventFrame} from '../../providers/bedrock/frames.ts'
import {anthropicWords} from '../../support/dialects/anthropic.ts'
import {bedrockWords} from '../../support/dialects/bedrock.ts'
import {cohereWords} from '../../support/dialects/cohere.ts'
import {geminiWords} from '../../support/dialects/gemini.ts'
import {mistralWords} from '../../support/dialects/mistral.ts'
import {openaiWords} from '../../support/dialects/openai.ts'
import {sse, type TwinWords} from '../../support/dialects/words.ts'

/**
 * An event of a provider: its bytes, the text that it brings, and whether it or one before it tells why the answer
 * ended.
 */
export interface Told {
  readonly bytes: Buffer
  readonly text: string
  readonly is_end: boolean
}

/** How a client's endpoint is streamed by a provider. */
export interface Wire {
  readonly name: string
  readonly endpoint: EndpointName
  /** Null: its words are the client's own, and its bytes go on as they come. */
  readonly provider: string | null
  readonly is_sse: boolean
  told(words: readonly string[]): readonly Told[]
  /** An error told inside the stream. */
  readonly error: Buffer
}

export const THOUGHT = 'It is a small matter. '
export const ARGUMENTS = '{"city":"Oslo","days":2}'

const event = (type: string, more: object = {}) => sse({type, ...more}, type)

/** Events of which those in `words` bring a word each; those behind the last word end the answer. */
function inOrder(
  before: readonly Buffer[],
  words: readonly (readonly [Buffer, string])[],
  after: readonly Buffer[],
): readonly Told[] {
  return [
    ...before.map(bytes => ({bytes, text: '', is_end: false})),
    ...words.map(([bytes, text]) => ({bytes, text, is_end: false})),
    ...after.map(bytes => ({bytes, text: '', is_end: true})),
  ]
}

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
  sse({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{index: 0, delta, finish_reason}],
    ...more,
  })
const USAGE = {prompt_tokens: 9, completion_tokens: 7, total_tokens: 16}
const call = (of: object) => chunk({tool_calls: [{index: 0, ...of}]})

const chat: Wire = {
  name: 'chat',
  endpoint: 'chatComplete',
  provider: null,
  is_sse: true,
  told: words =>
    inOrder(
      [chunk({role: 'assistant', content: ''}), chunk({reasoning_content: THOUGHT})],
      words.map(content => [chunk({content}), content] as const),
      [
        call({id: 'call_1', type: 'function', function: {name: 'weather', arguments: ARGUMENTS.slice(0, 9)}}),
        call({function: {arguments: ARGUMENTS.slice(9)}}),
        chunk({}, 'tool_calls'),
        sse({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: USAGE}),
        sse('[DONE]'),
      ],
    ),
  error: sse({error: {message: 'The server had an error', type: 'server_error', param: null, code: null}}),
}

const text = (said: string, finish_reason: string | null = null) =>
  sse({
    id: 'c',
    object: 'text_completion',
    created: 1,
    model: 'm',
    choices: [{index: 0, text: said, logprobs: null, finish_reason}],
  })

const completions: Wire = {
  ...chat,
  name: 'completions',
  endpoint: 'complete',
  told: words =>
    inOrder(
      [],
      words.map(said => [text(said), said] as const),
      [text('', 'stop'), sse('[DONE]')],
    ),
}

const PLACE = {item_id: 'item_1', output_index: 1, content_index: 0}
const message = (said: string) => ({
  id: 'item_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{type: 'output_text', text: said, annotations: []}],
})
const thinking = {id: 'rs_1', type: 'reasoning', summary: [{type: 'summary_text', text: THOUGHT}]}
const response = (status: string, output: readonly object[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  model: 'm',
  output,
  usage: {input_tokens: 9, output_tokens: 7, total_tokens: 16},
})

const responses: Wire = {
  ...chat,
  name: 'responses',
  endpoint: 'createModelResponse',
  told(words) {
    const whole = words.join('')
    return inOrder(
      [
        event('response.created', {response: response('in_progress', [])}),
        event('response.output_item.added', {output_index: 0, item: {...thinking, summary: []}}),
        event('response.reasoning_summary_text.delta', {
          item_id: 'rs_1',
          output_index: 0,
          summary_index: 0,
          delta: THOUGHT,
        }),
        event('response.output_item.done', {output_index: 0, item: thinking}),
        event('response.output_item.added', {output_index: 1, item: {...message(''), content: []}}),
        event('response.content_part.added', {...PLACE, part: {type: 'output_text', text: '', annotations: []}}),
      ],
      words.map(delta => [event('response.output_text.delta', {...PLACE, delta}), delta] as const),
      [
        event('response.output_text.done', {...PLACE, text: whole}),
        event('response.content_part.done', {...PLACE, part: message(whole).content[0]}),
        event('response.output_item.done', {output_index: 1, item: message(whole)}),
        event('response.completed', {response: response('completed', [thinking, message(whole)])}),
      ],
    )
  },
  error: event('error', {code: 'server_error', message: 'The server had an error', param: null}),
}

const messages: Wire = {
  name: 'messages',
  endpoint: 'messages',
  provider: null,
  is_sse: true,
  told: words => twinTold(anthropicWords, words),
  error: event('error', {error: {type: 'overloaded_error', message: 'Overloaded'}}),
}

const ONE = 'AAAA'
const LAST = 'BBBB'

/** The events of a twin, the pieces of its text put in their places. */
function twinTold(twin: TwinWords, words: readonly string[]): readonly Told[] {
  const events = twin.events({
    text: ONE + LAST,
    thought: twin.thinks ? THOUGHT : '',
    finish: 'stop',
    input_tokens: 9,
    output_tokens: 7,
  })
  const at = events.findIndex(each => each.includes(LAST))
  const put = (bytes: Buffer, mark: string, word: string): Buffer => {
    if (twin.kind === 'bedrock')
      return eventFrame('contentBlockDelta', {contentBlockIndex: twin.thinks ? 1 : 0, delta: {text: word}})
    return Buffer.from(bytes.toString().replaceAll(mark, JSON.stringify(word).slice(1, -1)))
  }
  return events.flatMap((bytes, place) => {
    if (bytes.includes(ONE))
      return words.slice(0, -1).map(word => ({bytes: put(bytes, ONE, word), text: word, is_end: false}))
    if (place !== at) return [{bytes, text: '', is_end: place > at}]
    // some tell with the last piece why it is the last
    const says_why = at === events.length - 1
    return [{bytes: put(bytes, LAST, words.at(-1) ?? ''), text: words.at(-1) ?? '', is_end: says_why}]
  })
}

const ERRORS: Readonly<Record<string, Buffer>> = {
  anthropic: event('error', {error: {type: 'overloaded_error', message: 'Overloaded'}}),
  google: sse({error: {code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE'}}),
  bedrock: eventFrame('internalServerException', {message: 'Internal error'}),
  cerebras: chat.error,
}

const through = (twin: TwinWords, endpoint: EndpointName): Wire => ({
  name: `${endpoint} by ${twin.kind}`,
  endpoint,
  provider: twin.kind,
  is_sse: twin.stream_type.startsWith('text/event-stream'),
  told: words => twinTold(twin, words),
  error: ERRORS[twin.kind] ?? ERRORS.cerebras!,
})

/** Every endpoint that streams text, in its own words and by every major dialect. */
export const WIRES: readonly Wire[] = [
  chat,
  completions,
  messages,
  responses,
  ...[anthropicWords, geminiWords, bedrockWords, cohereWords, mistralWords].map(twin => through(twin, 'chatComplete')),
  ...[openaiWords, geminiWords, cohereWords].map(twin => through(twin, 'messages')),
  ...[anthropicWords, openaiWords, bedrockWords].map(twin => through(twin, 'createModelResponse')),
]

/** What a client makes of a stream. */
export interface Understood {
  readonly text: string
  /** What is told again of the text, where it is: it must be the same. */
  readonly again: readonly string[]
  readonly thought: string
  readonly calls: string
  /** It is told why the answer ended. */
  readonly has_reason: boolean
  /** How often it is told that it is whole. */
  readonly ends: number
  readonly errors: number
}

// biome-ignore lint/suspicious/noExplicitAny: what a client reads of an event has the event's own shape
type Any = any

/** Reads a stream as the clients of an endpoint do: by lines, whatever ends them. */
export function understood(endpoint: EndpointName, bytes: string): Understood {
  const data = bytes
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .filter(line => line.startsWith('data:'))
    .map(line => line.slice(5).trim())
  const events: readonly Any[] = data
    .filter(each => each !== '[DONE]')
    .flatMap((each, at) => parsed(each, at === data.length - 1))
  const joined = (of: (each: Any) => string | undefined | null) => events.map(each => of(each) ?? '').join('')
  const count = (of: (each: Any) => unknown) => events.filter(each => of(each)).length
  switch (endpoint) {
    case 'messages':
      return {
        text: joined(({delta, content_block}) => delta?.text ?? content_block?.text),
        again: [],
        thought: joined(({delta}) => delta?.thinking),
        calls: joined(({delta}) => delta?.partial_json),
        has_reason: count(({delta}) => delta?.stop_reason) > 0,
        ends: count(({type}) => type === 'message_stop'),
        errors: count(({type}) => type === 'error'),
      }
    case 'createModelResponse':
      return {
        text: joined(({type, delta}) => (type === 'response.output_text.delta' ? delta : '')),
        again: events.flatMap(each => {
          if (each.type === 'response.output_text.done') return [each.text]
          const said = [
            each.part,
            ...(each.item?.content ?? []),
            ...(each.response?.output ?? []).flatMap((item: Any) => item.content ?? []),
          ]
          return each.type.endsWith('.added')
            ? []
            : said.filter(part => part?.type === 'output_text').map(part => part.text)
        }),
        thought: joined(({type, delta}) => (type === 'response.reasoning_summary_text.delta' ? delta : '')),
        calls: joined(({type, delta}) => (type === 'response.function_call_arguments.delta' ? delta : '')),
        has_reason: count(({type}) => type === 'response.completed') > 0,
        ends: count(({type}) => type === 'response.completed'),
        errors: count(({type}) => type === 'error' || type === 'response.failed'),
      }
    default:
      return {
        text: joined(({choices}) => choices?.[0]?.delta?.content ?? choices?.[0]?.text),
        again: [],
        thought: joined(({choices}) => choices?.[0]?.delta?.reasoning_content),
        calls: joined(({choices}) => choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments),
        has_reason: count(({choices}) => choices?.[0]?.finish_reason) > 0,
        ends: data.filter(each => each === '[DONE]').length,
        errors: count(({error}) => error),
      }
  }
}

/** Of the last event a part may have come. */
function parsed(json: string, is_last: boolean): Any[] {
  try {
    return [JSON.parse(json)]
  } catch (fault) {
    if (is_last) return []
    throw fault
  }
}
