import {type Asked, chunked, type HostileReply, whole} from './reply.ts'

/**
 * The answers of a provider that means well; cases are made of them. The text has letters of two and four bytes, so
 * that it can be cut in them.
 */
export const TEXT = 'Grüße aus Wien 🎡'
const PARTS = ['Grüße ', 'aus ', 'Wien 🎡']
const OPENAI_USAGE = {prompt_tokens: 10, completion_tokens: 5, total_tokens: 15}
const ANTHROPIC_USAGE = {input_tokens: 10, output_tokens: 5}
const COHERE_USAGE = {billed_units: {...ANTHROPIC_USAGE}, tokens: {...ANTHROPIC_USAGE}}
const GOOGLE_USAGE = {promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15}

const openaiChat = {
  id: 'chatcmpl-7',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'm',
  choices: [{index: 0, message: {role: 'assistant', content: TEXT}, finish_reason: 'stop'}],
  usage: OPENAI_USAGE,
}
const anthropicMessage = {
  id: 'msg_7',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{type: 'text', text: TEXT}],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: ANTHROPIC_USAGE,
}
const response = {
  id: 'resp_7',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  model: 'm',
  error: null,
  output: [
    {
      type: 'message',
      id: 'item_7',
      status: 'completed',
      role: 'assistant',
      content: [{type: 'output_text', text: TEXT, annotations: []}],
    },
  ],
  usage: {...ANTHROPIC_USAGE, total_tokens: 15},
}
const cohereChat = {
  id: 'co-7',
  finish_reason: 'COMPLETE',
  message: {role: 'assistant', content: [{type: 'text', text: TEXT}]},
  usage: COHERE_USAGE,
}
const googlePart = (text: string, more: object = {}) => ({
  candidates: [{index: 0, content: {role: 'model', parts: [{text}]}, ...more}],
  usageMetadata: GOOGLE_USAGE,
})

/** Bodies by a part of the path; the first that fits is sent. */
const BODIES: readonly (readonly [path: RegExp, body: object])[] = [
  [/\/chat\/completions/, openaiChat],
  [
    /\/completions/,
    {
      id: 'cmpl-7',
      object: 'text_completion',
      created: 1,
      model: 'm',
      choices: [{index: 0, text: TEXT, finish_reason: 'stop'}],
      usage: OPENAI_USAGE,
    },
  ],
  [/\/messages/, anthropicMessage],
  [/\/responses/, response],
  [/[gG]enerateContent/, googlePart(TEXT, {finishReason: 'STOP'})],
  [/\/v2\/chat/, cohereChat],
  [
    /\/embed/,
    {
      object: 'list',
      model: 'm',
      data: [{object: 'embedding', index: 0, embedding: [0.5, -0.25]}],
      usage: {prompt_tokens: 3, total_tokens: 3},
    },
  ],
  [/\/rerank/, {id: 'rr-7', results: [{index: 0, relevance_score: 0.5}], meta: {billed_units: {search_units: 1}}}],
  [/\/images\//, {created: 1, data: [{b64_json: 'aGk='}]}],
  [/\/models/, {object: 'list', data: [{id: 'm', object: 'model', created: 1, owned_by: 'someone'}]}],
]

export function usualBody({path}: Pick<Asked, 'path'>): object {
  return BODIES.find(([of_path]) => of_path.test(path))?.[1] ?? {is_answered: true, usage: OPENAI_USAGE}
}

/** Events of the answer as the dialect of the path streams it, each with its blank line. */
export function usualEvents({path}: Pick<Asked, 'path'>): readonly string[] {
  if (/\/messages/.test(path)) return anthropicEvents()
  if (/\/responses/.test(path)) return responsesEvents()
  if (/[gG]enerateContent/.test(path)) return googleEvents()
  if (/\/v2\/chat/.test(path)) return cohereEvents()
  const chunkOf = (choices: readonly object[], more: object = {}) =>
    data({id: 'chatcmpl-7', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more})
  return [
    chunkOf([{index: 0, delta: {role: 'assistant', content: ''}, finish_reason: null}]),
    ...PARTS.map(content => chunkOf([{index: 0, delta: {content}, finish_reason: null}])),
    chunkOf([{index: 0, delta: {}, finish_reason: 'stop'}], {usage: OPENAI_USAGE}),
    'data: [DONE]\n\n',
  ]
}

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const named = (value: {readonly type: string}) => `event: ${value.type}\n${data(value)}`

function anthropicEvents(): readonly string[] {
  return [
    {type: 'message_start', message: {...anthropicMessage, content: [], stop_reason: null}},
    {type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}},
    ...PARTS.map(text => ({type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text}})),
    {type: 'content_block_stop', index: 0},
    {type: 'message_delta', delta: {stop_reason: 'end_turn', stop_sequence: null}, usage: {output_tokens: 5}},
    {type: 'message_stop'},
  ].map(named)
}

function responsesEvents(): readonly string[] {
  const begun = {...response, status: 'in_progress', output: []}
  return [
    {type: 'response.created', response: begun},
    ...PARTS.map(delta => ({
      type: 'response.output_text.delta',
      item_id: 'item_7',
      output_index: 0,
      content_index: 0,
      delta,
    })),
    {type: 'response.completed', response},
  ].map((event, sequence_number) => named(Object.assign(event, {sequence_number})))
}

function googleEvents(): readonly string[] {
  return PARTS.map((text, at) => data(googlePart(text, at === PARTS.length - 1 ? {finishReason: 'STOP'} : {})))
}

function cohereEvents(): readonly string[] {
  return [
    {id: 'co-7', type: 'message-start', delta: {message: {role: 'assistant', content: []}}},
    {type: 'content-start', index: 0, delta: {message: {content: {type: 'text', text: ''}}}},
    ...PARTS.map(text => ({type: 'content-delta', index: 0, delta: {message: {content: {text}}}})),
    {type: 'content-end', index: 0},
    {type: 'message-end', delta: {finish_reason: 'COMPLETE', usage: COHERE_USAGE}},
  ].map(named)
}

export const SSE = 'text/event-stream'

/** The JSON of the answer, also where a stream is asked for. */
export const usualJson = (asked: Pick<Asked, 'path'>): string => JSON.stringify(usualBody(asked))

/** The answer as it is asked for, a stream or a body, each event or the body put through `change`. */
export function changed(asked: Asked, change: (json: string) => string): HostileReply {
  return asked.is_stream ? chunked(usualEvents(asked).map(change), {type: SSE}) : whole(change(usualJson(asked)))
}

/** What a provider that means well answers. */
export function usual(asked: Asked): HostileReply {
  if (/\/speech/.test(asked.path)) return whole(Buffer.alloc(900, 'ID3\0'), {type: 'audio/mpeg'})
  return changed(asked, json => json)
}
