import {generateKeyPairSync} from 'node:crypto'
import type {EndpointName} from '../../../src/schema/endpoints.ts'
import {chat, chatAtTheEnd, completions, messages, responses} from './openai-words.ts'
import * as vendor from './vendor-words.ts'
import type {WireFormat} from './words.ts'

/** One way of a call: what its client speaks, whom it reaches, and what that one answers in. */
export interface CallPath {
  readonly name: string
  /** Behind `/v1`; for streams, then for whole answers. */
  readonly paths: readonly [stream: string, whole: string]
  readonly provider: string
  readonly words: WireFormat
  /** The unified endpoint; null: a vendor's own operations, by their names in the product's table. */
  readonly endpoint: EndpointName | null
  readonly operations: readonly string[]
  readonly model: string
  body(prompt: string, is_stream: boolean): object
  /** The provider's bytes go on as they are. */
  readonly is_as_came: boolean
  /** Its provider reports usage when it is requested by `stream_options`, and not otherwise. */
  readonly on_request: boolean
  /** Its provider hears `stream_options` from the gateway when limits count. */
  readonly is_asked: boolean
  /** Usage comes behind the reason to end. */
  readonly tells_after: boolean
  /** It does not stream, and its answers have no text. */
  readonly is_whole: boolean
  /** An engine of the house. */
  readonly is_local: boolean
  /** A client may send `stream_options`. */
  readonly has_options: boolean
}

const asksChat = (model: string) => (content: string, stream: boolean) => ({
  ...{model, stream, max_tokens: 500, messages: [{role: 'user', content}]},
  // a tenant's name stands in the path of some
  ...(model === TENANTS ? {user: 'tenant', metadata: {user_id: 'tenant'}} : {}),
})
const TENANTS = 'base:ad/1'
const asksText = (model: string) => (prompt: string, stream: boolean) => ({model, stream, max_tokens: 500, prompt})
const asksResponse = (model: string) => (input: string, stream: boolean) => ({
  model,
  stream,
  store: false,
  input,
  ...(model === TENANTS ? {user: 'tenant'} : {}),
})
const asksOne =
  (member: string, more: object = {}) =>
  (text: string, stream: boolean) => ({[member]: text, stream, ...more})
const NOT = {
  is_as_came: false,
  on_request: false,
  is_asked: false,
  tells_after: false,
  has_options: false,
  is_local: false,
  is_whole: false,
  operations: [],
  endpoint: null,
}
const UNIFIED = {
  chatComplete: {path: '/chat/completions', asks: asksChat},
  complete: {path: '/completions', asks: asksText},
  messages: {path: '/messages', asks: asksChat},
  createModelResponse: {path: '/responses', asks: asksResponse},
} as const

function unified(
  endpoint: keyof typeof UNIFIED,
  provider: string,
  words: WireFormat,
  model: string,
  more: Partial<CallPath> = {},
): CallPath {
  const {path, asks} = UNIFIED[endpoint]
  const has_options = endpoint === 'chatComplete' || endpoint === 'complete'
  return {
    ...NOT,
    name: `${endpoint} ${provider}`,
    paths: [path, path],
    provider,
    words,
    endpoint,
    model,
    body: asks(model),
    has_options,
    ...more,
  }
}

function own(
  names: string,
  provider: string,
  words: WireFormat,
  paths: CallPath['paths'],
  body: CallPath['body'],
  more: Partial<CallPath> = {},
): CallPath {
  const proxied = paths.map(path => `/proxy${path}`) as unknown as CallPath['paths']
  return {
    ...NOT,
    name: `${names} ${provider}`,
    operations: names.split(' '),
    provider,
    words,
    paths: proxied,
    model: 'm',
    body,
    is_as_came: true,
    ...more,
  }
}

function embed(provider: string, words: WireFormat, model: string, more: Partial<CallPath> = {}): CallPath {
  const body = (input: string) => ({model, input})
  const paths = ['/embeddings', '/embeddings'] as const
  return {
    ...NOT,
    name: `embed ${provider}`,
    endpoint: 'embed',
    provider,
    words,
    model,
    paths,
    body,
    is_whole: true,
    ...more,
  }
}

const asked = {is_as_came: true, on_request: true, is_asked: true, tells_after: true}
/** By way of chat with a provider that has chat alone: the gateway writes the request, and asks. */
const by_chat = {on_request: true, tells_after: true}
const says_contents = (text: string) => ({contents: [{role: 'user', parts: [{text}]}]})
const converses = (text: string) => ({messages: [{role: 'user', content: [{text}]}]})
const CLAUDE = 'claude-sonnet-4-5'
const GPT = 'gpt-4o'
const VERTEX = '/v1/projects/p/locations/us-central1'
const ON_BEDROCK = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
const invokes = (content: string) => ({
  anthropic_version: 'bedrock-2023-05-31',
  max_tokens: 500,
  messages: [{role: 'user', content}],
})

/** Providers whose chat is translated, for every client. */
const CHATS: readonly (readonly [provider: string, words: WireFormat, model: string, more?: Partial<CallPath>])[] = [
  ['anthropic', messages, CLAUDE],
  ['google', vendor.gemini, 'gemini-2.5-flash'],
  ['vertex-ai', vendor.gemini, 'gemini-2.5-flash'],
  ['bedrock', vendor.converse, 'amazon.nova-lite-v1:0', {tells_after: true}],
  ['cohere', vendor.cohere, 'command-a-03-2025'],
  ['mistral-ai', chatAtTheEnd, 'mistral-large-latest'],
  ['ai21', chatAtTheEnd, 'jamba-large'],
  ['cortex', vendor.cortex, 'llama3.1-70b'],
  ['oracle', vendor.oracle, 'meta.llama-3.3-70b-instruct', {tells_after: true}],
  ['predibase', chatAtTheEnd, 'base:ad/1'],
  ['reka-ai', vendor.reka, 'reka-flash'],
  ['workers-ai', vendor.workersAi, '@cf/meta/llama-3.1-8b-instruct'],
]

export const WAYS: readonly CallPath[] = [
  unified('chatComplete', 'openai', chat, GPT, asked),
  unified('chatComplete', 'anyscale', chat, GPT, {...asked, is_asked: false}),
  unified('complete', 'openai', completions, 'gpt-3.5-turbo-instruct', asked),
  unified('createModelResponse', 'openai', responses, GPT, {is_as_came: true}),
  unified('messages', 'anthropic', messages, CLAUDE, {is_as_came: true}),

  ...CHATS.flatMap(([provider, words, model, more]) => [
    unified('chatComplete', provider, words, model, more),
    ...(provider === 'anthropic' ? [] : [unified('messages', provider, words, model, more)]),
    unified('createModelResponse', provider, words, model, more),
  ]),
  unified('messages', 'cerebras', chat, 'gpt-oss-120b', by_chat),
  unified('createModelResponse', 'cerebras', chat, 'gpt-oss-120b', by_chat),

  unified('complete', 'mistral-ai', chatAtTheEnd, 'codestral-latest'),
  unified('complete', 'cohere', vendor.generate, 'command'),
  unified('complete', 'bedrock', vendor.converse, 'amazon.nova-lite-v1:0', {tells_after: true}),
  unified('complete', 'workers-ai', vendor.workersAi, '@cf/meta/llama-3.1-8b-instruct'),
  unified('complete', 'triton', vendor.triton, 'm'),
  unified('complete', 'anthropic', messages, CLAUDE),

  embed('openai', vendor.embeddings, 'text-embedding-3-small', {is_as_came: true}),
  embed('mistral-ai', vendor.embeddings, 'mistral-embed'),
  embed('cohere', vendor.cohereEmbed, 'embed-v4.0'),
  embed('bedrock', vendor.titanEmbed, 'amazon.titan-embed-text-v2:0'),

  own('openai.chat.completions', 'openai', chat, ['/chat/completions', '/chat/completions'], asksChat(GPT), {
    ...asked,
    has_options: true,
  }),
  own(
    'openai.completions',
    'openai',
    completions,
    ['/completions', '/completions'],
    asksText('gpt-3.5-turbo-instruct'),
    {
      ...asked,
      has_options: true,
    },
  ),
  own('openai.responses.create', 'openai', responses, ['/responses', '/responses'], asksResponse(GPT)),
  own('anthropic.messages', 'anthropic', messages, ['/messages', '/messages'], asksChat(CLAUDE)),
  own(
    'google.streamGenerateContent google.generateContent',
    'google',
    vendor.gemini,
    [
      '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
      '/v1beta/models/gemini-2.5-flash:generateContent',
    ],
    says_contents,
  ),
  own(
    'google.streamGenerateContent google.generateContent',
    'google',
    vendor.geminiArray,
    ['/v1beta/models/gemini-2.5-flash:streamGenerateContent', '/v1beta/models/gemini-2.5-flash:generateContent'],
    says_contents,
    {name: 'google.streamGenerateContent, an array'},
  ),
  own(
    'bedrock.ConverseStream bedrock.Converse',
    'bedrock',
    vendor.converse,
    ['/model/amazon.nova-lite-v1:0/converse-stream', '/model/amazon.nova-lite-v1:0/converse'],
    converses,
    {tells_after: true},
  ),
  own(
    'bedrock.InvokeModelWithResponseStream bedrock.InvokeModel',
    'bedrock',
    vendor.invoke,
    [`/model/${ON_BEDROCK}/invoke-with-response-stream`, `/model/${ON_BEDROCK}/invoke`],
    invokes,
  ),
  own(
    'google.streamRawPredict google.rawPredict',
    'vertex-ai',
    messages,
    [
      `${VERTEX}/publishers/anthropic/models/${CLAUDE}:streamRawPredict`,
      `${VERTEX}/publishers/anthropic/models/${CLAUDE}:rawPredict`,
    ],
    invokes,
  ),
  own(
    'mistral.fim',
    'mistral-ai',
    chatAtTheEnd,
    ['/fim/completions', '/fim/completions'],
    asksText('codestral-latest'),
  ),
  own(
    'huggingface.chat',
    'huggingface',
    chatAtTheEnd,
    ['/models/meta/llama/v1/chat/completions', '/models/meta/llama/v1/chat/completions'],
    asksChat('meta/llama'),
  ),
  own('cohere.chat', 'cohere', vendor.cohere, ['/v2/chat', '/v2/chat'], asksChat('command-a-03-2025')),
  own('cohere.generate', 'cohere', vendor.generate, ['/v1/generate', '/v1/generate'], asksText('command')),
  own('ollama.chat', 'ollama', vendor.ollamaChat, ['/api/chat', '/api/chat'], asksChat('m'), {is_local: true}),
  own('ollama.generate', 'ollama', vendor.ollamaGenerate, ['/api/generate', '/api/generate'], asksText('m'), {
    is_local: true,
  }),
  own('llama.cpp.completion', 'llama-cpp', vendor.llamaCpp, ['/completion', '/completion'], asksOne('prompt'), {
    is_local: true,
  }),
  own(
    'workers-ai.run',
    'workers-ai',
    vendor.workersAi,
    ['/@cf/meta/llama-3.1-8b-instruct', '/@cf/meta/llama-3.1-8b-instruct'],
    asksOne('prompt'),
  ),
]

const PEM = () =>
  String(generateKeyPairSync('rsa', {modulusLength: 2048}).privateKey.export({type: 'pkcs8', format: 'pem'}))

/** What an integration of a kind needs besides its host. */
export const SETTINGS: Readonly<Record<string, () => object>> = {
  bedrock: () => ({aws_auth_type: 'apiKey', aws_region: 'us-east-1'}),
  cortex: () => ({snowflake_account: 'mine', snowflake_token_type: 'OAUTH'}),
  'workers-ai': () => ({workers_ai_account_id: 'mine'}),
  'vertex-ai': () => ({vertex_auth_type: 'basic', vertex_project_id: 'p', vertex_region: 'us-central1'}),
  oracle: () => ({
    oracle_region: 'us-chicago-1',
    oracle_compartment_id: 'ocid1.compartment.oc1..c',
    oracle_tenancy: 'ocid1.tenancy.oc1..t',
    oracle_user: 'ocid1.user.oc1..u',
    oracle_fingerprint: '20:3b:97:13',
    oracle_private_key: PEM(),
  }),
}
