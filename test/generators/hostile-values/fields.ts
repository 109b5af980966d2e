import type {HostileValue} from './values.ts'

export interface HostileRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface HostileField {
  readonly name: string
  /** Whatever is in it, the call is served. */
  readonly is_free?: true
  request(value: HostileValue): HostileRequest
  /** What the provider says that an answer used, as JSON; for the one field that is the provider's. */
  readonly usage?: (value: HostileValue) => string
}

const CHAT = '/v1/chat/completions'
const MESSAGES = '"messages":[{"role":"user","content":"x"}]'
const chat = (members: string, headers: Record<string, string> = {}): HostileRequest => ({
  path: CHAT,
  headers: {'content-type': 'application/json', ...headers},
  body: `{${members},${MESSAGES}}`,
})
const PLAIN = '"model":"gpt-4o-mini","max_tokens":20'
const inHeader = (name: string, of: (value: HostileValue) => string) => ({
  name: `header ${name}`,
  request: (value: HostileValue) => chat(PLAIN, {[name]: of(value)}),
})

const freeHeader = (name: string, of: (value: HostileValue) => string) => ({
  ...inHeader(name, of),
  is_free: true as const,
})

/** UTF-8 as a client writes it into a header; what no header may hold is escaped. */
const raw = ({text}: HostileValue) =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[\0-\x1f\x7f]/g, encodeURIComponent)
/** Characters beyond ASCII in escapes: JSON stays the same. */
const ascii = (json: string) =>
  json.replace(/[\u007f-\uffff]/g, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
/** Halves of pairs as their three bytes, which are no UTF-8. */
const inPath = ({text}: HostileValue) => (text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80')
const asKey = ({json}: HostileValue) => (json.startsWith('"') ? json : `"${json}"`)

export const FIELDS: readonly HostileField[] = [
  {name: 'model', request: ({json}) => chat(`"model":${json}`)},
  {name: 'model behind a slug', request: value => chat(`"model":"@main/${asKey(value).slice(1)}`)},
  {name: 'slug of a model', request: value => chat(`"model":"@${asKey(value).slice(1, -1)}/gpt-4o-mini"`)},
  {name: 'user', is_free: true, request: ({json}) => chat(`${PLAIN},"user":${json}`)},
  {name: 'max_tokens', request: ({json}) => chat(`"model":"gpt-4o-mini","max_tokens":${json}`)},
  {name: 'n', request: ({json}) => chat(`${PLAIN},"n":${json}`)},
  freeHeader('x-gateway-metadata', ({json}) => `{"_user":${ascii(json)},"team":${ascii(json)}}`),
  {
    name: 'key of metadata',
    is_free: true,
    request: value => chat(PLAIN, {'x-gateway-metadata': `{${ascii(asKey(value))}:"x","team":"a"}`}),
  },
  freeHeader('x-gateway-trace-id', raw),
  freeHeader('x-gateway-span-id', raw),
  freeHeader('x-gateway-parent-span-id', raw),
  freeHeader('x-gateway-span-name', raw),
  freeHeader('x-gateway-cache-namespace', raw),
  inHeader('x-gateway-provider', value => `@${raw(value)}`),
  inHeader('x-gateway-config', raw),
  {
    name: 'virtual key of a config',
    request: ({json}) => chat(PLAIN, {'x-gateway-config': `{"virtual_key":${ascii(json)}}`}),
  },
  {
    name: 'model that a config sets',
    request: ({json}) =>
      chat(PLAIN, {'x-gateway-config': `{"provider":"@main","override_params":{"model":${ascii(json)}}}`}),
  },
  inHeader('baggage', value => `team=${inPath(value)}`),
  inHeader('x-request-id', raw),
  {name: 'path', request: value => ({method: 'GET', path: `/v1/proxy/${inPath(value)}?q=${inPath(value)}`})},
  {
    name: 'name of a prompt',
    request: value => ({
      path: `/v1/prompts/${inPath(value)}/completions`,
      headers: {'content-type': 'application/json'},
      body: '{"variables":{}}',
    }),
  },
  {
    name: 'log of a call elsewhere',
    request: ({json}) => ({
      path: '/v1/logs',
      headers: {'content-type': 'application/json'},
      body: `{"request":{"url":"https://x.example/v1","method":"POST","headers":{},"body":{"model":${json}}},"response":{"status":200,"headers":{},"body":{"model":${json}},"response_time":1},"metadata":{"trace_id":"t","user":${json}}}`,
    }),
  },
  {
    name: 'trace of feedback',
    request: ({json}) => ({
      path: '/v1/feedback',
      headers: {'content-type': 'application/json'},
      body: `{"trace_id":${json},"value":1,"metadata":{"note":${json}}}`,
    }),
  },
  {
    name: 'usage of an answer',
    request: () => chat(PLAIN),
    usage: ({json}) => `{"prompt_tokens":${json},"completion_tokens":${json},"total_tokens":${json}}`,
  },
]
