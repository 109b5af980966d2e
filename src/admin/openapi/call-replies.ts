import {EXAMPLE_KIND} from '../../providers/example.ts'
import {object} from './call-bodies.ts'

const text = {type: 'string'}
const count = {type: 'integer', minimum: 0}
const list = (items: object) => ({type: 'array', items})
const free = {type: 'object', additionalProperties: true}
const kind = (value: string) => ({type: 'string', enum: [value]})

const usage = {prompt_tokens: 13, completion_tokens: 2, total_tokens: 15}
const Usage = object({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: object({cached_tokens: count}),
  completion_tokens_details: object({
    reasoning_tokens: count,
    accepted_prediction_tokens: count,
    rejected_prediction_tokens: count,
  }),
})

/** A reply of JSON: its shape, and one such. */
export interface DocumentedReply {
  readonly schema: object
  readonly example: unknown
}

const MODEL = 'gpt-4o-mini'
const CREATED = 1_772_600_767

export const Chat: DocumentedReply = {
  schema: object({
    'id!': text,
    'object!': kind('chat.completion'),
    'created!': count,
    'model!': text,
    'choices!': list(
      object({
        'index!': count,
        'message!': object({
          'role!': kind('assistant'),
          content: {...text, nullable: true},
          tool_calls: list(object({id: text, type: kind('function'), function: object({name: text, arguments: text})})),
          content_blocks: list(free),
        }),
        logprobs: {...object({content: {...list(free), nullable: true}}), nullable: true},
        finish_reason: {...text, nullable: true},
      }),
    ),
    system_fingerprint: {...text, nullable: true},
    usage: Usage,
  }),
  example: {
    id: 'chatcmpl-EXAMPLE',
    object: 'chat.completion',
    created: CREATED,
    model: MODEL,
    choices: [{index: 0, message: {role: 'assistant', content: 'Hello!'}, logprobs: null, finish_reason: 'stop'}],
    usage,
  },
}

export const Completion: DocumentedReply = {
  schema: object({
    'id!': text,
    'object!': kind('text_completion'),
    'created!': count,
    'model!': text,
    'choices!': list(
      object({
        'index!': count,
        'text!': text,
        logprobs: {...free, nullable: true},
        finish_reason: {...text, nullable: true},
      }),
    ),
    usage: Usage,
  }),
  example: {
    id: 'cmpl-EXAMPLE',
    object: 'text_completion',
    created: CREATED,
    model: MODEL,
    choices: [{index: 0, text: 'Hello!', logprobs: null, finish_reason: 'stop'}],
    usage,
  },
}

export const Embeddings: DocumentedReply = {
  schema: object({
    'object!': kind('list'),
    'data!': list(
      object({object: kind('embedding'), 'index!': count, 'embedding!': {anyOf: [list({type: 'number'}), text]}}),
    ),
    'model!': text,
    usage: Usage,
  }),
  example: {
    object: 'list',
    data: [{object: 'embedding', index: 0, embedding: [0.0023, -0.0093, 0.0157]}],
    model: 'text-embedding-3-small',
    usage: {prompt_tokens: 5, total_tokens: 5},
  },
}

export const Message: DocumentedReply = {
  schema: object({
    'id!': text,
    'type!': kind('message'),
    'role!': kind('assistant'),
    'model!': text,
    'content!': list(free),
    usage: free,
  }),
  example: {
    id: 'msg_EXAMPLE',
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5',
    content: [{type: 'text', text: 'Hello!'}],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: {input_tokens: 13, output_tokens: 2},
  },
}
export const TokenCount: DocumentedReply = {schema: object({'input_tokens!': count}), example: {input_tokens: 13}}

export const Response: DocumentedReply = {
  schema: object({
    'id!': text,
    'object!': kind('response'),
    'created_at!': count,
    'model!': text,
    status: text,
    'output!': list(free),
    usage: free,
  }),
  example: {
    id: 'resp_EXAMPLE',
    object: 'response',
    created_at: CREATED,
    status: 'completed',
    model: MODEL,
    output: [
      {
        id: 'msg_EXAMPLE',
        type: 'message',
        role: 'assistant',
        content: [{type: 'output_text', text: 'Hello!', annotations: []}],
      },
    ],
    usage: {input_tokens: 13, output_tokens: 2, total_tokens: 15},
  },
}

export const Ranks: DocumentedReply = {
  schema: object({'results!': list(object({'index!': count, 'relevance_score!': {type: 'number'}}))}),
  example: {
    id: 'rerank-EXAMPLE',
    results: [
      {index: 1, relevance_score: 0.98},
      {index: 0, relevance_score: 0.11},
    ],
  },
}
export const Pages: DocumentedReply = {
  schema: object({'pages!': list(object({'index!': count, 'markdown!': text})), model: text}),
  example: {pages: [{index: 0, markdown: '# Invoice'}], model: 'mistral-ocr-latest'},
}
export const Images: DocumentedReply = {
  schema: object({'created!': count, 'data!': list(object({b64_json: text, url: text, revised_prompt: text}))}),
  example: {
    created: CREATED,
    data: [{url: 'https://images.example.com/1.png', revised_prompt: 'A lighthouse at night'}],
  },
}
export const Transcript: DocumentedReply = {schema: object({'text!': text}), example: {text: 'Hello!'}}
export const Moderation: DocumentedReply = {
  schema: object({
    'id!': text,
    'model!': text,
    'results!': list(
      object({
        'flagged!': {type: 'boolean'},
        'categories!': {type: 'object', additionalProperties: {type: 'boolean'}},
        'category_scores!': {type: 'object', additionalProperties: {type: 'number'}},
      }),
    ),
  }),
  example: {
    id: 'modr-EXAMPLE',
    model: 'text-moderation-latest',
    results: [
      {flagged: false, categories: {hate: false, violence: false}, category_scores: {hate: 0.0001, violence: 0.0002}},
    ],
  },
}

const model = {
  id: '@openai-search/gpt-4o-mini',
  slug: 'gpt-4o-mini',
  canonical_slug: 'gpt-4o-mini',
  object: 'model',
  created: 0,
  owned_by: EXAMPLE_KIND,
  max_output_tokens: 16_384,
  pricing: {prompt: '0.00000015', completion: '0.0000006'},
}
export const Models = listed(
  object({'id!': text, 'object!': kind('model'), 'created!': count, 'owned_by!': text, max_output_tokens: count}),
  model,
)

const File = object({
  'id!': text,
  'object!': kind('file'),
  bytes: count,
  created_at: count,
  filename: text,
  purpose: text,
})
const file = {
  id: 'file-EXAMPLE',
  object: 'file',
  bytes: 1024,
  created_at: CREATED,
  filename: 'rows.jsonl',
  purpose: 'batch',
}
export const OneFile: DocumentedReply = {schema: File, example: file}
export const Files = listed(File, file)

const Batch = object({
  'id!': text,
  'object!': kind('batch'),
  endpoint: text,
  'status!': text,
  input_file_id: text,
  output_file_id: {...text, nullable: true},
})
const batch = {
  id: 'batch_EXAMPLE',
  object: 'batch',
  endpoint: '/v1/chat/completions',
  status: 'completed',
  input_file_id: 'file-EXAMPLE',
  output_file_id: 'file-OUTPUT',
  created_at: CREATED,
  request_counts: {total: 2, completed: 2, failed: 0},
}
export const OneBatch: DocumentedReply = {schema: Batch, example: batch}
export const Batches = listed(Batch, batch)

const Finetune = object({
  'id!': text,
  'object!': kind('fine_tuning.job'),
  'model!': text,
  'status!': text,
  training_file: text,
})
const finetune = {
  id: 'ftjob-EXAMPLE',
  object: 'fine_tuning.job',
  model: MODEL,
  status: 'queued',
  training_file: 'file-EXAMPLE',
  created_at: CREATED,
}
export const OneFinetune: DocumentedReply = {schema: Finetune, example: finetune}
export const Finetunes = listed(Finetune, finetune)

export const InputItems = listed(free, {
  id: 'msg_EXAMPLE',
  type: 'message',
  role: 'user',
  content: [{type: 'input_text', text: 'Hello?'}],
})

export function deleted(of: string, id: string): DocumentedReply {
  return {
    schema: object({'id!': text, 'object!': kind(of), 'deleted!': {type: 'boolean'}}),
    example: {id, object: of, deleted: true},
  }
}

function listed(item: object, example: unknown): DocumentedReply {
  return {schema: object({'object!': kind('list'), 'data!': list(item)}), example: {object: 'list', data: [example]}}
}
