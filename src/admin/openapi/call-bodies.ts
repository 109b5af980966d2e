import {maybe} from './schemas.ts'

/**
 * The bodies of calls of models, as providers take them: the ranges are theirs and nothing here is enforced by the
 * gateway (decisions: wire).
 */
const text = {type: 'string'}
const flag = {type: 'boolean'}
const whole = (minimum: number, maximum?: number) => ({
  type: 'integer',
  minimum,
  ...(maximum !== undefined && {maximum}),
})
const between = (minimum: number, maximum: number, usual: number) =>
  maybe({type: 'number', minimum, maximum, default: usual})
const list = (items: object, bounds: object = {}) => ({type: 'array', items, ...bounds})
const free = {type: 'object', additionalProperties: true}
const either = (...anyOf: object[]) => ({anyOf})

/** An object with these fields and any other of the provider's; those that end in `!` are required. */
export function object(fields: Readonly<Record<string, object>>) {
  const names = Object.keys(fields)
  const required = names.filter(name => name.endsWith('!')).map(name => name.slice(0, -1))
  return {
    type: 'object',
    properties: Object.fromEntries(names.map(name => [name.replace(/!$/, ''), fields[name]!])),
    ...(required.length && {required}),
    additionalProperties: true,
  }
}

const model = {type: 'string', description: 'The model; `@slug/model` names the managed provider too.', minLength: 1}
const sampling = {
  temperature: between(0, 2, 1),
  top_p: between(0, 1, 1),
  frequency_penalty: between(-2, 2, 0),
  presence_penalty: between(-2, 2, 0),
  logit_bias: maybe({type: 'object', additionalProperties: {type: 'number', minimum: -100, maximum: 100}}),
  n: maybe({...whole(1, 128), default: 1}),
  seed: maybe({type: 'integer'}),
  stop: maybe(either(text, list(text, {maxItems: 4}))),
  stream: maybe({
    ...flag,
    default: false,
    description: '`true` answers with server-sent events that end with `data: [DONE]`.',
  }),
  stream_options: maybe(free),
  user: text,
}

export const ChatRequest = object({
  'messages!': list(
    object({
      'role!': {type: 'string', enum: ['system', 'developer', 'user', 'assistant', 'tool', 'function']},
      content: maybe(either(text, list(free))),
      name: text,
      tool_calls: list(free),
      tool_call_id: text,
    }),
    {minItems: 1},
  ),
  'model!': model,
  ...sampling,
  logprobs: maybe({...flag, default: false}),
  top_logprobs: maybe(whole(0, 20)),
  max_tokens: maybe({type: 'integer', deprecated: true}),
  max_completion_tokens: maybe({type: 'integer'}),
  response_format: free,
  thinking: maybe(free),
  tools: list(free, {maxItems: 128}),
  tool_choice: either({type: 'string', enum: ['none', 'auto', 'required']}, free),
  parallel_tool_calls: {...flag, default: true},
  function_call: {...either(text, free), deprecated: true},
  functions: {...list(free, {minItems: 1, maxItems: 128}), deprecated: true},
})

export const CompletionRequest = object({
  'model!': model,
  'prompt!': either(text, list(text), list({type: 'integer'}), list(list({type: 'integer'}))),
  ...sampling,
  best_of: maybe({...whole(0, 20), default: 1}),
  echo: maybe({...flag, default: false}),
  logprobs: maybe(whole(0, 5)),
  max_tokens: maybe({...whole(0), default: 16}),
  suffix: maybe(text),
})

export const EmbeddingRequest = object({
  'model!': model,
  'input!': either(text, list(text), list({type: 'integer'}), list(list({type: 'integer'}))),
  dimensions: whole(1),
  encoding_format: {type: 'string', enum: ['float', 'base64']},
  user: text,
})

const messages = list(
  object({'role!': {type: 'string', enum: ['user', 'assistant']}, 'content!': either(text, list(free))}),
  {minItems: 1},
)
const system = either(text, list(free))
export const MessagesRequest = object({
  'model!': model,
  'max_tokens!': whole(1),
  'messages!': messages,
  system,
  temperature: {type: 'number', minimum: 0, maximum: 1},
  stream: flag,
  tools: list(free),
  tool_choice: free,
  thinking: free,
})
export const CountTokensRequest = object({'model!': model, 'messages!': messages, system, tools: list(free)})

export const ResponseRequest = object({
  'model!': model,
  'input!': either(text, list(free)),
  instructions: maybe(text),
  max_output_tokens: maybe(whole(1)),
  previous_response_id: maybe(text),
  store: maybe(flag),
  stream: maybe(flag),
  temperature: between(0, 2, 1),
  tools: list(free),
})

export const RerankRequest = object({
  'model!': model,
  'query!': text,
  'documents!': list(text),
  top_n: whole(1),
  return_documents: flag,
  max_chunks_per_doc: whole(1),
})
export const OcrRequest = object({'model!': model, 'document!': free, pages: list(whole(0))})

export const ImageRequest = object({
  'prompt!': {type: 'string', maxLength: 4000},
  model,
  n: {...whole(1, 10), default: 1},
  quality: {type: 'string', description: '`standard` or `hd`, and what newer models name.'},
  response_format: {type: 'string', enum: ['url', 'b64_json']},
  size: {type: 'string', description: 'For example `1024x1024`; which there are the model says.'},
  style: {type: 'string', enum: ['vivid', 'natural']},
  user: text,
})
const file = {type: 'string', format: 'binary'}
export const ImageEditForm = object({'image!': file, 'prompt!': text, mask: file, model, n: whole(1, 10), size: text})
export const ImageVariationForm = object({'image!': file, model, n: whole(1, 10), size: text})

export const SpeechRequest = object({
  'model!': model,
  'input!': text,
  'voice!': text,
  response_format: {type: 'string', enum: ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']},
  speed: {type: 'number', minimum: 0.25, maximum: 4},
})
export const AudioForm = object({
  'file!': file,
  'model!': model,
  language: text,
  prompt: text,
  response_format: text,
  temperature: {type: 'number'},
})

export const ModerationRequest = object({
  'input!': either(text, list(text), list(free)),
  model: {type: 'string', default: 'text-moderation-latest'},
})

export const FileForm = object({
  'file!': file,
  'purpose!': {type: 'string', description: 'For example `batch` or `fine-tune`.'},
})
export const BatchRequest = object({
  'input_file_id!': text,
  'endpoint!': {
    type: 'string',
    description: 'What the rows of the file ask for: `/v1/chat/completions`, `/v1/completions` or `/v1/embeddings`.',
  },
  'completion_window!': {type: 'string', enum: ['24h']},
  metadata: maybe(free),
})
export const FinetuneRequest = object({
  'model!': model,
  'training_file!': text,
  validation_file: maybe(text),
  suffix: maybe(text),
  hyperparameters: free,
})
export const PromptRequest = object({
  'variables!': {type: 'object', description: 'What stands for the prompt’s variables.', additionalProperties: true},
  stream: flag,
  model,
  temperature: between(0, 2, 1),
})
