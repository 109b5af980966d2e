import type {AnswerFormat} from './answers.ts'

/** The headers that carry a key, by the name that the page gives each. */
export const KEY_HEADERS = {
  'Authorization: Bearer': (key: string) => ({authorization: `Bearer ${key}`}),
  'x-api-key': (key: string) => ({'x-api-key': key}),
  'api-key': (key: string) => ({'api-key': key}),
  'x-goog-api-key': (key: string) => ({'x-goog-api-key': key}),
  'x-portkey-api-key': (key: string) => ({'x-portkey-api-key': key}),
} as const satisfies Record<string, (key: string) => Record<string, string>>

/** A request that a client is known to send behind its base URL. */
export interface ClientCall {
  readonly method?: 'GET' | 'HEAD'
  /** `MODEL` is the model. */
  readonly path: string
  /** The model as the client writes it into its path; as it is, where that is missing. */
  readonly encoded?: (model: string) => string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: (model: string) => object
  readonly format: AnswerFormat
  /** Path and query at the provider. */
  readonly at: string
  /** The client requests no usage in its stream, and the format has none without. */
  readonly hides_usage?: true
}

/** A client of docs/clients.md. */
export interface PageClient {
  readonly client: string
  readonly calls: readonly ClientCall[]
  /** Requests beside, which the gateway answers itself: their statuses. */
  readonly beside?: readonly (Pick<ClientCall, 'method' | 'path' | 'headers' | 'body'> & {readonly status: number})[]
  /** Packages that its snippet imports, where it is a program. */
  readonly packages?: readonly string[]
}

const messages = [{role: 'user', content: 'Hello'}]
const CHAT = '/v1/chat/completions'
const chat: ClientCall = {path: '/chat/completions', body: model => ({model, messages}), format: 'chat', at: CHAT}
const chatStream: ClientCall = {
  ...chat,
  body: model => ({model, messages, stream: true, stream_options: {include_usage: true}}),
}
const chatBareStream: ClientCall = {...chat, body: model => ({model, messages, stream: true}), hides_usage: true}
const responses: ClientCall = {
  path: '/responses',
  body: model => ({model, input: 'Hello'}),
  format: 'responses',
  at: '/v1/responses',
}
const anthropic: ClientCall = {
  path: '/v1/messages',
  headers: {'anthropic-version': '2026-10-21'},
  body: model => ({model, max_tokens: 100, messages}),
  format: 'messages',
  at: '/v1/messages',
}
const ollama: ClientCall = {
  path: '/api/chat',
  body: model => ({model, messages, stream: false}),
  format: 'ollama',
  at: '/api/chat',
}
const ollamaStream: ClientCall = {...ollama, body: model => ({model, messages, stream: true})}
const contents = [{role: 'user', parts: [{text: 'Hello'}]}]
const gemini: ClientCall = {
  path: '/v1beta/models/MODEL:generateContent',
  body: () => ({contents}),
  format: 'gemini',
  at: '/v1beta/models/gemini-2.5-flash:generateContent',
}
const geminiStream: ClientCall = {
  ...gemini,
  path: '/v1beta/models/MODEL:streamGenerateContent?alt=sse',
  at: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
}

const CLAUDE_CODE = {
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14',
  'user-agent': 'claude-cli/2.1.197 (external, cli)',
  'x-app': 'cli',
}
const claudeCode = (model: string) => ({
  model,
  max_tokens: 64000,
  stream: true,
  system: [
    {type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=cli;'},
    {type: 'text', text: 'Be brief.', cache_control: {type: 'ephemeral'}},
  ],
  messages: [{role: 'user', content: [{type: 'text', text: 'Hello', cache_control: {type: 'ephemeral'}}]}],
  tools: [{name: 'Read', description: 'Reads a file.', input_schema: {type: 'object', properties: {}}}],
  thinking: {type: 'adaptive'},
  metadata: {user_id: 'user'},
})
const codex = (model: string) => ({
  model,
  input: [
    {type: 'message', role: 'developer', content: [{type: 'input_text', text: 'Be brief.'}]},
    {type: 'message', role: 'user', content: [{type: 'input_text', text: 'Hello'}]},
  ],
  tools: [
    {
      type: 'function',
      name: 'shell',
      description: 'Runs.',
      parameters: {type: 'object', properties: {}},
      strict: false,
    },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: {effort: 'medium', summary: 'auto'},
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'thread',
})
const geminiCli = () => ({
  contents,
  systemInstruction: {role: 'user', parts: [{text: 'Be brief.'}]},
  generationConfig: {
    temperature: 1,
    topP: 0.95,
    topK: 64,
    thinkingConfig: {includeThoughts: true, thinkingBudget: 8192},
  },
})

/** Azure's clients write the model into the path, as their library encodes it there, and have it in the body too. */
const azure: ClientCall = {
  ...chat,
  path: '/openai/deployments/MODEL/chat/completions?api-version=2024-10-21',
  encoded: model => model.replace('/', '%2F'),
}
const converse: ClientCall = {
  path: '/model/MODEL/converse',
  encoded: encodeURIComponent,
  body: () => ({messages: [{role: 'user', content: [{text: 'Hello'}]}]}),
  format: 'converse',
  at: '/model/amazon.nova-lite-v1%3A0/converse',
}

export const CLIENTS: readonly PageClient[] = [
  {client: 'curl', calls: [chat]},
  {client: 'Ollama (JavaScript)', calls: [ollama, ollamaStream], packages: ['ollama']},
  {client: 'Ollama (Python)', calls: [ollama, ollamaStream], packages: ['ollama']},
  {client: 'OpenAI (Node.js)', calls: [chat, chatStream], packages: ['openai']},
  {client: 'OpenAI (Python)', calls: [responses], packages: ['openai']},
  {client: 'OpenAI Agents SDK', calls: [responses], packages: ['@openai/agents']},
  {client: 'AzureOpenAI', calls: [azure, {...azure, body: chatStream.body!}], packages: ['openai']},
  {client: 'Anthropic (Node.js)', calls: [anthropic], packages: ['@anthropic-ai/sdk']},
  {
    client: 'Anthropic (Python)',
    calls: [anthropic, {...anthropic, headers: {'anthropic-version': '2023-06-01'}}],
    packages: ['anthropic'],
  },
  {client: 'Google GenAI (Node.js)', calls: [gemini], packages: ['@google/genai']},
  {client: 'Google GenAI (Python)', calls: [geminiStream], packages: ['google.genai']},
  {
    client: 'Cohere',
    calls: [{path: '/v2/chat', body: model => ({model, messages}), format: 'cohere', at: '/v2/chat'}],
    packages: ['cohere-ai'],
  },
  {client: 'Mistral', calls: [{...chat, path: CHAT}], packages: ['@mistralai/mistralai']},
  {
    client: 'Groq',
    calls: [{...chat, path: '/openai/v1/chat/completions', at: '/openai/v1/chat/completions'}],
    packages: ['groq-sdk'],
  },
  {client: 'Hugging Face', calls: [chat], packages: ['@huggingface/inference']},
  {client: 'AI SDK', calls: [chat, responses], packages: ['ai', '@ai-sdk/openai']},
  {client: 'LangChain (JavaScript)', calls: [chat, chatStream], packages: ['@langchain/openai']},
  {client: 'LangChain (Python)', calls: [chat, chatStream], packages: ['langchain_openai']},
  {client: 'LlamaIndex', calls: [chat], packages: ['llama_index.llms.openai_like']},
  {client: 'LiteLLM', calls: [chat], packages: ['litellm']},
  {client: 'Portkey SDK', calls: [chat], packages: ['portkey-ai']},
  {client: 'boto3', calls: [converse], packages: ['boto3']},
  {
    client: 'Claude Code',
    calls: [
      {
        ...anthropic,
        path: '/v1/messages?beta=true',
        at: '/v1/messages?beta=true',
        headers: CLAUDE_CODE,
        body: claudeCode,
      },
    ],
    beside: [
      {
        path: '/v1/messages/count_tokens?beta=true',
        headers: CLAUDE_CODE,
        body: model => ({model, messages}),
        status: 200,
      },
      {method: 'GET', path: '/v1/models?limit=1000', headers: CLAUDE_CODE, status: 200},
      {method: 'HEAD', path: '/', status: 204},
      {method: 'HEAD', path: '/api/hello', status: 404},
    ],
  },
  {
    client: 'Codex',
    calls: [{...responses, body: codex, headers: {accept: 'text/event-stream', originator: 'codex_exec'}}],
  },
  {client: 'Gemini CLI', calls: [{...geminiStream, body: geminiCli}]},
  {client: 'Aider', calls: [chatBareStream]},
  {client: 'Continue', calls: [chatStream, chatBareStream]},
  {client: 'Cline', calls: [chatStream]},
  {client: 'OpenCode', calls: [chatStream]},
  {client: 'Zed', calls: [chatStream]},
  {
    client: 'Open WebUI',
    calls: [chatBareStream],
    beside: [{method: 'GET', path: '/models', status: 200}],
  },
  {client: 'promptfoo', calls: [chat]},
]
