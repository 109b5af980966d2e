import type {StateName} from '../../../src/proxy/call/state.ts'
import type {Double} from './double.ts'

/** What a call asks for, and how it comes to where it is held. */
export interface Request {
  readonly config: object
  readonly body: object
  /** A session over WebSocket, in place of a chat. */
  readonly opens?: true
  /** The body, or the head, comes so far and no further. */
  readonly part?: 'head' | 'body'
  /** Reads no byte of its answer. */
  readonly is_slow?: boolean
}

/** A place on a call's way where something beyond the gateway can hold it. */
export interface State {
  readonly name: string
  /** Where it is in the life of a call; null before one is registered, and for sessions. */
  readonly at: StateName | null
  readonly request: (tag: string, double: Double, patience_ms: number) => Request
  /** What the double hears once the call is there; null: nothing, the gateway waits for its client. */
  readonly hears: 'chat' | 'judge' | 'login' | 'dial' | 'session' | null
  /** Attempts whose intent stands by then. */
  readonly attempts: 0 | 1
  /** The client has had the head of its answer. */
  readonly is_answered?: true
  /** Another call leads, and this one waits for its answer. */
  readonly follows?: true
}

export const CHAT = {model: 'gpt-4o-mini', max_tokens: 800, messages: [{role: 'user', content: 'hi'}]}
const chat = (tag: string, more: object = {}) => ({...CHAT, user: tag, ...more})
const streamed = (tag: string) => chat(tag, {stream: true, stream_options: {include_usage: true}})
const MAIN = {provider: '@main'}
const webhook = (tag: string, {url}: Double, timeout: number) => ({
  webhook: {webhookURL: `${url}/judge/${encodeURIComponent(tag)}`, timeout},
  deny: true,
})

export const STATES: readonly State[] = [
  {name: 'head', at: null, hears: null, attempts: 0, request: tag => ({config: MAIN, body: chat(tag), part: 'head'})},
  {
    name: 'body',
    at: 'reading_body',
    hears: null,
    attempts: 0,
    request: tag => ({config: MAIN, body: chat(tag), part: 'body'}),
  },
  {
    name: 'guarding',
    at: 'guarding',
    hears: 'judge',
    attempts: 0,
    request: (tag, double, ms) => ({config: {...MAIN, input_guardrails: [webhook(tag, double, ms)]}, body: chat(tag)}),
  },
  {
    name: 'following',
    at: 'following',
    hears: null,
    attempts: 0,
    follows: true,
    request: tag => ({config: {...MAIN, cache: {mode: 'simple'}}, body: chat(tag)}),
  },
  {
    name: 'login',
    at: 'logging_in',
    hears: 'login',
    attempts: 0,
    request: (tag, double) => ({
      config: {
        provider: 'azure-openai',
        custom_host: `${double.url}/openai`,
        azure_resource_name: 'r',
        azure_deployment_id: 'd',
        azure_api_version: '2024-10-21',
        azure_auth_mode: 'entra',
        azure_entra_tenant_id: tag,
        azure_entra_client_id: 'client',
        azure_entra_client_secret: 'hush',
      },
      body: chat(tag),
    }),
  },
  {
    name: 'connecting',
    at: 'queued',
    hears: 'dial',
    attempts: 1,
    request: tag => ({config: {provider: '@silent'}, body: chat(tag)}),
  },
  {name: 'sent', at: 'sent', hears: 'chat', attempts: 1, request: tag => ({config: MAIN, body: chat(tag)})},
  {
    name: 'first event',
    at: 'receiving',
    hears: 'chat',
    attempts: 1,
    request: tag => ({
      config: {strategy: {mode: 'fallback'}, targets: [MAIN, {provider: '@second'}]},
      body: streamed(tag),
    }),
  },
  {
    name: 'stream',
    at: 'receiving',
    hears: 'chat',
    attempts: 1,
    is_answered: true,
    request: tag => ({config: MAIN, body: streamed(tag)}),
  },
  {
    name: 'terminal event',
    at: 'receiving',
    hears: 'chat',
    attempts: 1,
    is_answered: true,
    request: tag => ({config: MAIN, body: streamed(tag)}),
  },
  {
    name: 'last byte',
    at: 'receiving',
    hears: 'chat',
    attempts: 1,
    is_answered: true,
    request: tag => ({config: MAIN, body: chat(tag)}),
  },
  {
    name: 'judging the answer',
    at: 'receiving',
    hears: 'judge',
    attempts: 1,
    request: (tag, double, ms) => ({config: {...MAIN, output_guardrails: [webhook(tag, double, ms)]}, body: chat(tag)}),
  },
  {
    name: 'retry wait',
    at: 'retry_wait',
    hears: 'chat',
    attempts: 1,
    request: tag => ({
      config: {
        strategy: {mode: 'fallback'},
        targets: [
          {...MAIN, retry: {attempts: 2, on_status_codes: [429], use_retry_after_header: true}},
          {provider: '@second'},
        ],
      },
      body: chat(tag),
    }),
  },
  {
    name: 'session',
    at: null,
    hears: 'session',
    attempts: 1,
    is_answered: true,
    request: () => ({config: MAIN, body: {}, opens: true}),
  },
  {
    name: 'slow reader',
    at: 'receiving',
    hears: 'chat',
    attempts: 1,
    is_answered: true,
    request: tag => ({config: MAIN, body: streamed(tag), is_slow: true}),
  },
]
