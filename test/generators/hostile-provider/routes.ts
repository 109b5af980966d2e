/** A way into the gateway that leads to the hostile provider. */
export interface HostileRoute {
  readonly name: string
  readonly kind: ProviderKind
  readonly method?: 'GET'
  readonly path: string
  readonly body?: object
  /** A config of the call. */
  readonly config?: object
}

/** The kinds of provider that stand for the hostile one, and below which path its routes are. */
export const KINDS = {openai: '/v1', anthropic: '/v1', cohere: '', google: '/v1beta'} as const
export type ProviderKind = keyof typeof KINDS

/** A credential for each, which is nowhere else. */
export const secretOf = (kind: ProviderKind) => `sk-hostile-${kind}-4f9a8c17e3b2d605`

const messages = [{role: 'user', content: 'Where is the wheel?'}]
const CHAT = '/v1/chat/completions'
const chat = {messages, max_tokens: 20}
const guarded = {
  output_guardrails: [
    {checks: [{id: 'default.contains', parameters: {words: ['zzzz'], operator: 'none'}}], deny: true},
  ],
}
const cached = {cache: {mode: 'simple'}}

/** The same call plain and as a stream. */
const both = (name: string, kind: ProviderKind, path: string, body: object, config?: object): readonly HostileRoute[] =>
  [false, true].map(stream => ({
    name: `${name}${stream ? ', streamed' : ''}`,
    kind,
    path,
    body: stream ? {...body, stream} : body,
    ...(config && {config}),
  }))
const once = (name: string, kind: ProviderKind, path: string, body: object): HostileRoute => ({name, kind, path, body})

export const ROUTES: readonly HostileRoute[] = [
  ...both('chat of OpenAI', 'openai', CHAT, chat),
  ...both('chat of Anthropic', 'anthropic', CHAT, chat),
  ...both('chat of Google', 'google', CHAT, chat),
  ...both('chat of Cohere', 'cohere', CHAT, chat),
  ...both('messages of Anthropic', 'anthropic', '/v1/messages', chat),
  ...both('messages of OpenAI', 'openai', '/v1/messages', chat),
  ...both('responses of OpenAI', 'openai', '/v1/responses', {input: 'Where?'}),
  ...both('responses of Anthropic', 'anthropic', '/v1/responses', {input: 'Where?'}),
  ...both('guarded chat', 'openai', CHAT, chat, guarded),
  ...both('cached chat', 'openai', CHAT, chat, cached),
  once('completions', 'openai', '/v1/completions', {prompt: 'Where?'}),
  once('embeddings', 'openai', '/v1/embeddings', {input: 'Where?'}),
  once('rerank', 'cohere', '/v1/rerank', {query: 'Where?', documents: ['There.']}),
  once('images', 'openai', '/v1/images/generations', {prompt: 'A wheel'}),
  once('speech', 'openai', '/v1/audio/speech', {input: 'There.', voice: 'alloy'}),
  {name: 'models', kind: 'openai', method: 'GET', path: '/v1/models', config: {forward_headers: ['x-hostile']}},
  once('pass-through', 'openai', '/v1/proxy/any/thing', {a: 1}),
]
