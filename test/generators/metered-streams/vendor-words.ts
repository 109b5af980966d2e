import {eventFrame} from '../../providers/bedrock/frames.ts'
import {messages} from './openai-words.ts'
import {
  atTheLast,
  type Bill,
  type Counts,
  carrying,
  line,
  openaiUsage,
  plain,
  reported,
  type Step,
  sse,
  type WireFormat,
} from './words.ts'

const geminiUsage = ({input, output, total}: Counts) => ({
  usageMetadata: reported({
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: total ?? (input === undefined || output === undefined ? undefined : input + output),
  }),
})
const candidate = (text: string, more: object = {}) => ({
  candidates: [{index: 0, content: {parts: [{text}], role: 'model'}, ...more}],
  modelVersion: 'm',
  responseId: 'r1',
})
const everyTime = (steps: readonly Step[], {input, output}: Bill): ReadonlyMap<number, Counts> => {
  const carriers = steps.flatMap(({carries}, at) => (carries ? [at] : []))
  return new Map(
    carriers.map((at, index) => [at, {input, output: Math.ceil((output * (index + 1)) / carriers.length)}]),
  )
}

/** ai.google.dev/api/generate-content: each event tells the usage so far. */
export const gemini: WireFormat = {
  type: 'text/event-stream',
  steps: pieces => [
    ...pieces.map(text => carrying('text', text, sse, candidate(text), geminiUsage)),
    carrying('end', '', sse, candidate('', {finishReason: 'STOP'}), geminiUsage),
  ],
  usual: everyTime,
  late: () => null,
  whole: (text, told) => ({...candidate(text, {finishReason: 'STOP'}), ...(told && geminiUsage(told))}),
}

/** The same without `alt=sse`: one array of JSON. */
export const geminiArray: WireFormat = {
  ...gemini,
  type: 'application/json',
  steps: pieces =>
    gemini.steps(pieces).map((step, at, all) => ({
      ...step,
      bytes: told => {
        const data = step.bytes(told).toString().slice('data: '.length).trim()
        return Buffer.from(`${at === 0 ? '[' : ',\r\n'}${data}${at === all.length - 1 ? ']' : ''}`)
      },
    })),
}

const converseUsage = ({input, output, total}: Counts) => ({
  usage: reported({
    inputTokens: input,
    outputTokens: output,
    totalTokens: total ?? (input === undefined || output === undefined ? undefined : input + output),
  }),
})

/** Bedrock API reference, ConverseStream: usage comes behind the reason to end. */
export const converse: WireFormat = {
  type: 'application/vnd.amazon.eventstream',
  steps: pieces => [
    plain('begin', '', eventFrame('messageStart', {role: 'assistant'})),
    ...pieces.map(text => plain('text', text, eventFrame('contentBlockDelta', {contentBlockIndex: 0, delta: {text}}))),
    plain('other', '', eventFrame('contentBlockStop', {contentBlockIndex: 0})),
    plain('reason', '', eventFrame('messageStop', {stopReason: 'end_turn'})),
    carrying('usage', '', data => eventFrame('metadata', data), {metrics: {latencyMs: 3}}, converseUsage),
  ],
  usual: atTheLast,
  late: () => null,
  whole: (text, told) => ({
    output: {message: {role: 'assistant', content: [{text}]}},
    stopReason: 'end_turn',
    metrics: {latencyMs: 3},
    ...(told && converseUsage(told)),
  }),
}

/** Bedrock API reference, InvokeModelWithResponseStream: the model's own events, in base64. */
export const invoke: WireFormat = {
  ...messages,
  type: 'application/vnd.amazon.eventstream',
  steps: pieces =>
    messages.steps(pieces).map(step => ({
      ...step,
      bytes: told => {
        const data = /^data: (.*)$/m.exec(step.bytes(told).toString())![1]!
        return eventFrame('chunk', {bytes: Buffer.from(data).toString('base64')})
      },
    })),
  late: () => null,
}

const cohereUsage = ({input, output}: Counts) => {
  const units = reported({input_tokens: input, output_tokens: output})
  return {billed_units: units, tokens: units}
}
const cohereEnd = (told?: Counts | null) =>
  sse(
    {type: 'message-end', id: 'm1', delta: {finish_reason: 'COMPLETE', ...(told && {usage: cohereUsage(told)})}},
    'message-end',
  )
const cohereEvent = (type: string, more: object) => sse({type, ...more}, type)

/** docs.cohere.com, API v2, chat with streaming. */
export const cohere: WireFormat = {
  type: 'text/event-stream',
  steps: pieces => [
    plain(
      'begin',
      '',
      cohereEvent('message-start', {id: 'm1', delta: {message: {role: 'assistant', content: [], tool_calls: []}}}),
    ),
    plain('other', '', cohereEvent('content-start', {index: 0, delta: {message: {content: {type: 'text', text: ''}}}})),
    ...pieces.map(text =>
      plain('text', text, cohereEvent('content-delta', {index: 0, delta: {message: {content: {text}}}})),
    ),
    plain('other', '', cohereEvent('content-end', {index: 0})),
    {place: 'end', text: '', carries: true, bytes: cohereEnd},
  ],
  usual: atTheLast,
  late: () => null,
  whole: (text, told) => ({
    id: 'm1',
    finish_reason: 'COMPLETE',
    message: {role: 'assistant', content: [{type: 'text', text}]},
    ...(told && {usage: cohereUsage(told)}),
  }),
}

/** docs.cohere.com, API v1, generate: JSON by lines. */
export const generate: WireFormat = {
  type: 'application/stream+json',
  steps: pieces => [
    ...pieces.map(text => plain('text', text, line({text, is_finished: false, event_type: 'text-generation'}))),
    {
      place: 'end',
      text: '',
      carries: true,
      bytes: told =>
        line({
          ...{is_finished: true, event_type: 'stream-end', finish_reason: 'COMPLETE'},
          response: {id: 'g1', generations: [], meta: {...(told && {billed_units: cohereUsage(told).billed_units})}},
        }),
    },
  ],
  usual: atTheLast,
  late: () => null,
  whole: (text, told) => ({
    id: 'g1',
    generations: [{id: 'x', text, finish_reason: 'COMPLETE'}],
    meta: {...(told && {billed_units: cohereUsage(told).billed_units})},
  }),
}

/** docs/api.md of Ollama: lines, the last of which counts. */
const ofOllama = (member: (text: string) => object): WireFormat => {
  const usageOf = ({input, output}: Counts) => reported({prompt_eval_count: input, eval_count: output})
  const base = {model: 'm', created_at: '2026-01-01T00:00:00Z'}
  return {
    type: 'application/x-ndjson',
    steps: pieces => [
      ...pieces.map(text => plain('text', text, line({...base, ...member(text), done: false}))),
      carrying('end', '', line, {...base, ...member(''), done: true, done_reason: 'stop'}, usageOf),
    ],
    usual: atTheLast,
    late: () => null,
    whole: (text, told) => ({...base, ...member(text), done: true, ...(told && usageOf(told))}),
  }
}
export const ollamaChat = ofOllama(content => ({message: {role: 'assistant', content}}))
export const ollamaGenerate = ofOllama(response => ({response}))

/** tools/server/README.md of llama.cpp. */
export const llamaCpp: WireFormat = {
  type: 'text/event-stream',
  steps: pieces => [
    ...pieces.map(content => plain('text', content, sse({content, stop: false}))),
    carrying('end', '', sse, {content: '', stop: true, model: 'm'}, ({input, output}) =>
      reported({tokens_evaluated: input, tokens_predicted: output}),
    ),
  ],
  usual: atTheLast,
  late: () => null,
  whole: (content, told) => ({
    content,
    stop: true,
    ...(told && reported({tokens_evaluated: told.input, tokens_predicted: told.output})),
  }),
}

/** Snowflake's OpenAPI of the Cortex REST API: usage with each event, filled in the last. */
export const cortex: WireFormat = {
  type: 'text/event-stream',
  steps: pieces =>
    pieces.map((content, at) =>
      carrying(
        at === pieces.length - 1 ? 'end' : 'text',
        content,
        sse,
        {id: 's1', model: 'm', choices: [{delta: {type: 'text', content}}], usage: {}},
        openaiUsage,
      ),
    ),
  usual: atTheLast,
  late: () => null,
  whole: (content, told) => ({id: 's1', model: 'm', choices: [{message: {content}}], ...(told && openaiUsage(told))}),
}

/** docs.reka.ai, chat. */
export const reka: WireFormat = {
  type: 'text/event-stream',
  steps: pieces => {
    const say = (content: string, finish_reason: string) => ({
      id: 'k1',
      model: 'm',
      responses: [{chunk: {role: 'assistant', content}, finish_reason}],
    })
    const usageOf = ({input, output}: Counts) => ({usage: reported({input_tokens: input, output_tokens: output})})
    const frame = (data: object) => sse(data, 'message')
    return [
      ...pieces.map(text => carrying('text', text, frame, say(text, ''), usageOf)),
      carrying('end', '', frame, say('', 'stop'), usageOf),
    ]
  },
  usual: atTheLast,
  late: () => null,
  whole: (content, told) => ({
    ...{id: 'k1', model: 'm', responses: [{message: {role: 'assistant', content}, finish_reason: 'stop'}]},
    ...(told && {usage: reported({input_tokens: told.input, output_tokens: told.output})}),
  }),
}

/** docs.oracle.com, ChatResult with a GenericChatResponse. */
export const oracle: WireFormat = {
  type: 'text/event-stream',
  steps: pieces => [
    ...pieces.map(text =>
      plain('text', text, sse({index: 0, message: {role: 'ASSISTANT', content: [{type: 'TEXT', text}]}, pad: 'aaaa'})),
    ),
    plain('reason', '', sse({index: 0, finishReason: 'stop', pad: 'aaaa'})),
    carrying('usage', '', sse, {}, oracleUsage),
    plain('end', '', sse('[DONE]')),
  ],
  usual: atTheLast,
  late: () => null,
  whole: (text, told) => ({
    modelId: 'm',
    chatResponse: {
      choices: [{index: 0, message: {role: 'ASSISTANT', content: [{type: 'TEXT', text}]}, finishReason: 'stop'}],
      ...(told && oracleUsage(told)),
    },
  }),
}
function oracleUsage({input, output}: Counts) {
  return {usage: reported({promptTokens: input, completionTokens: output})}
}

/** developers.cloudflare.com/workers-ai: words of its own for models that have no chunks. */
export const workersAi: WireFormat = {
  type: 'text/event-stream',
  steps: pieces => [
    ...pieces.map(response => carrying('text', response, sse, {response}, openaiUsage)),
    carrying('reason', '', sse, {response: ''}, openaiUsage),
    plain('end', '', sse('[DONE]')),
  ],
  usual: atTheLast,
  late: told => sse({response: '', ...openaiUsage(told)}),
  whole: (response, told) => ({
    result: {response, ...(told && openaiUsage(told))},
    success: true,
    errors: [],
    messages: [],
  }),
}

/** Vectors come whole, and have no output. */
const vectors = (whole: (told?: Counts) => object): WireFormat => ({
  type: 'application/json',
  steps: () => [{place: 'end', text: '', carries: true, bytes: () => Buffer.alloc(0)}],
  usual: atTheLast,
  late: () => null,
  whole: (_, told) => whole(told),
})
/** OpenAI API reference, embeddings. */
export const embeddings: WireFormat = vectors(told => ({
  object: 'list',
  model: 'm',
  data: [{object: 'embedding', index: 0, embedding: [0.5]}],
  ...(told && {usage: reported({prompt_tokens: told.input, total_tokens: told.total ?? told.input})}),
}))
/** docs.cohere.com, API v2, embed. */
export const cohereEmbed: WireFormat = vectors(told => ({
  id: 'e1',
  embeddings: {float: [[0.5]]},
  texts: ['t'],
  ...(told && {meta: {billed_units: reported({input_tokens: told.input})}}),
}))
/** Amazon Titan Text Embeddings V2, Bedrock user guide. */
export const titanEmbed: WireFormat = vectors(told => ({
  embedding: [0.5],
  embeddingsByType: {float: [0.5]},
  ...(told && reported({inputTextTokenCount: told.input})),
}))

/** Triton inference server, generate extension: it tells no usage, and no end but the connection's. */
export const triton: WireFormat = {
  type: 'text/event-stream',
  steps: pieces =>
    pieces.map((text_output, at) =>
      plain(at === pieces.length - 1 ? 'end' : 'text', text_output, sse({model_name: 'm', text_output})),
    ),
  usual: () => new Map(),
  late: () => null,
  whole: text_output => ({model_name: 'm', text_output}),
}
