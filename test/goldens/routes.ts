import {chatEvents, chatReply, USAGE} from '../support/provider.ts'
import {type Reply, stream, whole} from './provider.ts'
import type {RowAsk} from './scene.ts'

/** A route as a client asks it and as a provider answers it. */
export interface Route {
  readonly name: string
  /** Slug of the provider, which answers as `@a` does: all but `@b` are at its address. */
  readonly to: 'a' | 'claude'
  readonly ask: Partial<RowAsk>
  readonly answer: Reply
  /** Asks for, and is, a stream of these events. */
  readonly events?: readonly string[]
  /** No provider is asked. */
  readonly is_ours?: true
  /** Its texts can be judged: a request that says `text`. */
  readonly says?: (text: string) => object
}

const MODEL = 'gpt-4o-mini'
const CLAUDE = 'claude-sonnet-4-5'
const QUESTION = 'Which river runs through Vienna? ☃'

const event = (type: string, more: object = {}) => `event: ${type}\ndata: ${JSON.stringify({type, ...more})}\n\n`
const message = (content: readonly object[], usage = {input_tokens: 25, output_tokens: 3}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: CLAUDE,
  content,
  stop_reason: content.length ? 'end_turn' : null,
  stop_sequence: null,
  usage,
})
const MESSAGE = whole(message([{type: 'text', text: 'The Danube, call 555-1234.'}]))
const MESSAGE_EVENTS = [
  event('message_start', {message: message([], {input_tokens: 25, output_tokens: 1})}),
  event('content_block_start', {index: 0, content_block: {type: 'text', text: ''}}),
  event('ping'),
  ...['The Danube, ', 'call 555', '-1234.'].map(text =>
    event('content_block_delta', {index: 0, delta: {type: 'text_delta', text}}),
  ),
  event('content_block_stop', {index: 0}),
  event('message_delta', {delta: {stop_reason: 'end_turn', stop_sequence: null}, usage: {output_tokens: 3}}),
  event('message_stop'),
]
const output = (text: string, status = 'completed') => ({
  id: 'item_1',
  type: 'message',
  role: 'assistant',
  status,
  content: text ? [{type: 'output_text', text, annotations: []}] : [],
})
const response = (text: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: text ? 'completed' : 'in_progress',
  model: MODEL,
  output: text ? [output(text)] : [],
  usage: text ? {input_tokens: 12, output_tokens: 5, total_tokens: 17} : null,
})
const SAID = 'The Danube, call 555-1234.'
const place = {item_id: 'item_1', output_index: 0, content_index: 0}
const RESPONSE_EVENTS = [
  event('response.created', {response: response('')}),
  event('response.output_item.added', {output_index: 0, item: output('', 'in_progress')}),
  event('response.content_part.added', {...place, part: {type: 'output_text', text: '', annotations: []}}),
  ...['The Danube, ', 'call 555', '-1234.'].map(delta => event('response.output_text.delta', {...place, delta})),
  event('response.output_text.done', {...place, text: SAID}),
  event('response.content_part.done', {...place, part: {type: 'output_text', text: SAID, annotations: []}}),
  event('response.output_item.done', {output_index: 0, item: output(SAID)}),
  event('response.completed', {response: response(SAID)}),
]
const textChunk = (text: string, finish_reason: string | null = null, more: object = {}) =>
  `data: ${JSON.stringify({id: 'cmpl-1', object: 'text_completion', created: 1, model: MODEL, choices: [{index: 0, text, finish_reason}], ...more})}\n\n`
const CHAT = whole(chatReply(MODEL, SAID))
const CHAT_EVENTS = chatEvents(MODEL, {words: ['The Danube, ', 'call 555', '-1234.']})
const BATCH = {
  id: 'batch_1',
  object: 'batch',
  endpoint: '/v1/chat/completions',
  status: 'in_progress',
  input_file_id: 'file-1',
  output_file_id: null,
  error_file_id: null,
  created_at: 1,
}
const FILE = {
  id: 'file-1',
  object: 'file',
  bytes: 3,
  created_at: 1,
  filename: 'a.jsonl',
  purpose: 'batch',
  status: 'processed',
}
const JOB = {
  id: 'ftjob-1',
  object: 'fine_tuning.job',
  model: MODEL,
  status: 'queued',
  training_file: 'file-1',
  created_at: 1,
}

const post = (path: string, body: object) => ({path, body})
const get = (path: string, method = 'GET') => ({method, path})

/** A form of fields, and files of three strings: name, file name, content. */
function form(path: string, ...parts: readonly (readonly string[])[]): Partial<RowAsk> {
  const body = parts.map(([name, ...rest]) => {
    const [file, content] = rest.length === 2 ? rest : [undefined, rest[0]]
    const type = file ? `; filename="${file}"\r\ncontent-type: application/octet-stream` : ''
    return `--golden\r\ncontent-disposition: form-data; name="${name}"${type}\r\n\r\n${content}\r\n`
  })
  return {
    path,
    headers: {'content-type': 'multipart/form-data; boundary=golden'},
    body: `${body.join('')}--golden--\r\n`,
  }
}

/** Routes whose texts guardrails judge; each streams. */
export const TEXT_ROUTES: readonly Route[] = [
  {
    ...chat('chat', 'a', MODEL),
    answer: CHAT,
    events: CHAT_EVENTS,
  },
  {...chat('chat to Anthropic', 'claude', CLAUDE), answer: MESSAGE, events: MESSAGE_EVENTS},
  {...messages('messages', 'claude', CLAUDE), answer: MESSAGE, events: MESSAGE_EVENTS},
  {...messages('messages to OpenAI', 'a', MODEL), answer: CHAT, events: CHAT_EVENTS},
  {...responses('responses', 'a', MODEL), answer: whole(response(SAID)), events: RESPONSE_EVENTS},
  {...responses('responses to Anthropic', 'claude', CLAUDE), answer: MESSAGE, events: MESSAGE_EVENTS},
  {
    name: 'completions',
    to: 'a',
    ask: post('/v1/completions', {model: MODEL, prompt: QUESTION}),
    says: prompt => ({model: MODEL, prompt}),
    answer: whole({
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1,
      model: MODEL,
      choices: [{index: 0, text: SAID, finish_reason: 'stop', logprobs: null}],
      usage: USAGE,
    }),
    events: [
      ...['The Danube, ', 'call 555', '-1234.'].map(each => textChunk(each)),
      textChunk('', 'stop', {usage: USAGE}),
      'data: [DONE]\n\n',
    ],
  },
]

/** The others. */
export const OTHER_ROUTES: readonly Route[] = [
  {
    name: 'embeddings',
    to: 'a',
    ask: post('/v1/embeddings', {model: 'text-embedding-3-small', input: QUESTION}),
    says: input => ({model: 'text-embedding-3-small', input}),
    answer: whole({
      object: 'list',
      model: 'text-embedding-3-small',
      data: [{object: 'embedding', index: 0, embedding: [0.25, -0.5]}],
      usage: {prompt_tokens: 3, total_tokens: 3},
    }),
  },
  {
    name: 'rerank',
    to: 'a',
    ask: post('/v1/rerank', {model: 'rerank-v3.5', query: 'river', documents: ['Danube', 'Oslo']}),
    answer: whole({id: 'r-1', results: [{index: 0, relevance_score: 0.9}], meta: {billed_units: {search_units: 1}}}),
  },
  {
    name: 'moderations',
    to: 'a',
    ask: post('/v1/moderations', {model: 'omni-moderation-latest', input: QUESTION}),
    answer: whole({
      id: 'modr-1',
      model: 'omni-moderation-latest',
      results: [{flagged: false, categories: {}, category_scores: {}}],
    }),
  },
  {
    name: 'images',
    to: 'a',
    ask: post('/v1/images/generations', {
      model: 'gpt-image-1',
      prompt: 'A fox',
      n: 1,
      size: '1024x1024',
      quality: 'low',
    }),
    answer: whole({
      created: 1,
      data: [{b64_json: 'aGk='}],
      usage: {total_tokens: 30, input_tokens: 10, output_tokens: 20},
    }),
  },
  {
    name: 'image edits',
    to: 'a',
    ask: form('/v1/images/edits', ['model', 'gpt-image-1'], ['prompt', 'A fox'], ['image', 'a.png', 'PNG']),
    answer: whole({
      created: 1,
      data: [{b64_json: 'aGk='}],
      usage: {total_tokens: 30, input_tokens: 10, output_tokens: 20},
    }),
  },
  {
    name: 'transcription',
    to: 'a',
    ask: form(
      '/v1/audio/transcriptions',
      ['model', 'gpt-4o-transcribe'],
      ['response_format', 'json'],
      ['file', 'a.wav', 'RIFF….'],
    ),
    answer: whole({
      text: 'One two',
      usage: {
        type: 'tokens',
        total_tokens: 45,
        input_tokens: 40,
        input_token_details: {text_tokens: 10, audio_tokens: 30},
        output_tokens: 5,
      },
    }),
    events: [
      'data: {"type":"transcript.text.delta","delta":"One two"}\n\n',
      'data: {"type":"transcript.text.done","text":"One two","usage":{"type":"tokens","total_tokens":45,"input_tokens":40,"output_tokens":5}}\n\n',
    ],
  },
  {
    name: 'translation of speech',
    to: 'a',
    ask: form('/v1/audio/translations', ['model', 'whisper-1'], ['file', 'a.wav', 'RIFF….']),
    answer: whole({text: 'One two'}),
  },
  {
    name: 'speech',
    to: 'a',
    ask: post('/v1/audio/speech', {model: 'tts-1', input: 'One two', voice: 'alloy'}),
    answer: whole(Buffer.from(Array.from({length: 300}, (_, at) => (at * 7) % 256)), {type: 'audio/mpeg'}),
  },
  {
    name: 'ocr',
    to: 'a',
    ask: post('/v1/ocr', {
      model: 'mistral-ocr-latest',
      document: {type: 'document_url', document_url: 'https://example.com/a.pdf'},
    }),
    answer: whole({pages: [{index: 0, markdown: 'A'}], model: 'mistral-ocr-latest', usage_info: {pages_processed: 1}}),
  },
  {
    name: 'upload of a file',
    to: 'a',
    ask: form('/v1/files', ['purpose', 'batch'], ['file', 'a.jsonl', '{"custom_id":"a"}\n']),
    answer: whole(FILE),
  },
  {
    name: 'list of files',
    to: 'a',
    ask: get('/v1/files?purpose=batch&limit=2'),
    answer: whole({object: 'list', data: [FILE]}),
  },
  {name: 'file', to: 'a', ask: get('/v1/files/file-1'), answer: whole(FILE)},
  {
    name: 'content of a file',
    to: 'a',
    ask: get('/v1/files/file-1/content'),
    answer: whole('{"custom_id":"a"}\n', {type: 'application/octet-stream'}),
  },
  {
    name: 'deletion of a file',
    to: 'a',
    ask: get('/v1/files/file-1', 'DELETE'),
    answer: whole({id: 'file-1', object: 'file', deleted: true}),
  },
  {
    name: 'batch',
    to: 'a',
    ask: post('/v1/batches', {input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h'}),
    answer: whole(BATCH),
  },
  {
    name: 'list of batches',
    to: 'a',
    ask: get('/v1/batches?limit=1'),
    answer: whole({object: 'list', data: [BATCH], has_more: false}),
  },
  {name: 'state of a batch', to: 'a', ask: get('/v1/batches/batch_1'), answer: whole(BATCH)},
  {
    name: 'cancelling of a batch',
    to: 'a',
    ask: get('/v1/batches/batch_1/cancel', 'POST'),
    answer: whole({...BATCH, status: 'cancelling'}),
  },
  {
    name: 'fine-tuning job',
    to: 'a',
    ask: post('/v1/fine_tuning/jobs', {model: MODEL, training_file: 'file-1'}),
    answer: whole(JOB),
  },
  {
    name: 'list of fine-tuning jobs',
    to: 'a',
    ask: get('/v1/fine_tuning/jobs'),
    answer: whole({object: 'list', data: [JOB]}),
  },
  {name: 'state of a fine-tuning job', to: 'a', ask: get('/v1/fine_tuning/jobs/ftjob-1'), answer: whole(JOB)},
  {
    name: 'cancelling of a fine-tuning job',
    to: 'a',
    ask: get('/v1/fine_tuning/jobs/ftjob-1/cancel', 'POST'),
    answer: whole(JOB),
  },
  {name: 'stored response', to: 'a', ask: get('/v1/responses/resp_1'), answer: whole(response(SAID))},
  {
    name: 'items of a response',
    to: 'a',
    ask: get('/v1/responses/resp_1/input_items'),
    answer: whole({object: 'list', data: []}),
  },
  {
    name: 'deletion of a response',
    to: 'a',
    ask: get('/v1/responses/resp_1', 'DELETE'),
    answer: whole({id: 'resp_1', object: 'response', deleted: true}),
  },
  {
    name: 'models of a provider',
    to: 'a',
    ask: get('/v1/models'),
    answer: whole({object: 'list', data: [{id: 'm', object: 'model', created: 1, owned_by: 'x'}]}),
  },
  {
    name: 'token count',
    to: 'claude',
    ask: post('/v1/messages/count_tokens', {model: CLAUDE, messages: [{role: 'user', content: QUESTION}]}),
    answer: whole({input_tokens: 14}),
  },
  {
    name: 'token count at OpenAI',
    to: 'a',
    is_ours: true,
    ask: post('/v1/messages/count_tokens', {model: MODEL, messages: [{role: 'user', content: QUESTION}]}),
    answer: whole({input_tokens: 14}),
  },
  {
    name: 'pass-through',
    to: 'a',
    ask: {
      method: 'PUT',
      path: '/v1/proxy/any/thing?x=1&y=%2F',
      headers: {'content-type': 'application/json', 'x-mine': '1', cookie: 'a=b'},
      body: '{ "model": "m", "n": 1.0 }',
    },
    answer: whole({any: 'thing', usage: USAGE}, {status: 201, headers: {'x-theirs': '2'}}),
    events: ['data: {"any":1}\n\n', 'data: [DONE]\n\n'],
  },
  {name: 'pass-through without a body', to: 'a', ask: get('/v1/proxy/any', 'DELETE'), answer: whole('', {status: 200})},
]

function chat(name: string, to: Route['to'], model: string) {
  const says = (content: string) => ({model, max_tokens: 100, messages: [{role: 'user', content}]})
  return {name, to, ask: post('/v1/chat/completions', says(QUESTION)), says}
}

function messages(name: string, to: Route['to'], model: string) {
  const says = (content: string) => ({model, max_tokens: 100, messages: [{role: 'user', content}]})
  return {name, to, ask: post('/v1/messages', says(QUESTION)), says}
}

function responses(name: string, to: Route['to'], model: string) {
  const says = (input: string) => ({model, max_output_tokens: 100, input})
  return {name, to, ask: post('/v1/responses', says(QUESTION)), says}
}

/** `route` asked for a stream. */
export function streamed({ask}: Route): Partial<RowAsk> {
  const {body} = ask
  if (typeof body === 'object' && !Buffer.isBuffer(body)) return {...ask, body: {...body, stream: true}}
  return {
    ...ask,
    body: String(body).replace(
      '--golden\r\n',
      '--golden\r\ncontent-disposition: form-data; name="stream"\r\n\r\ntrue\r\n--golden\r\n',
    ),
  }
}

export const eventsOf = ({events = []}: Route): Reply => stream(events)
