import {openStore} from '../../src/store/dialect/index.ts'
import {startGateway, type TestGateway} from './gateway.ts'
import {type Answer, type FakeProvider, fakeProvider, json, openaiLike} from './provider.ts'

/** An upstream attempt as the ledger holds it. */
export interface Entry {
  readonly attempt: number
  readonly provider_slug: string | null
  readonly outcome: string
  readonly status: number | null
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cost_nanousd: number
  readonly delivered: number
  readonly usage_source: string
}

/** A row of the log, with what it says of the way. */
export interface Row {
  readonly provider_slug: string | null
  readonly status: number
  readonly mode: string
  readonly option_path: string
  readonly retry_count: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cost_nanousd: number
  readonly outcome: string
  readonly warning: string | null
  readonly error: string | null
  readonly is_stream: boolean
}

/** What came of a call: the answer, and what was recorded of it. */
export interface Told {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The JSON path of the target that answered. */
  readonly path: string | null
  readonly retries: string | null
  readonly rows: readonly Row[]
  readonly entries: readonly Entry[]
}

export interface Asked {
  readonly path?: string
  readonly body?: object | string | FormData
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
  /** Told of the answer's text as far as it has come. */
  readonly onText?: (text: string) => void
}

/** A gateway over fake providers `@a`, `@b`, `@c` (OpenAI's words) and `@claude` (Anthropic's). */
export interface RoutingSetup {
  readonly gateway: TestGateway
  readonly a: FakeProvider
  readonly b: FakeProvider
  readonly c: FakeProvider
  readonly claude: FakeProvider
  /** Asks a chat along a config: one sent with the call, or the slug of a saved one. */
  ask(config: object | string | null, asked?: Asked): Promise<Told>
  /** What was recorded of a call by now: rows and entries in the order of their writing. */
  recorded(trace_id: string): Promise<Pick<Told, 'rows' | 'entries'>>
  save(config: object): Promise<string>
  /** Saves a prompt that goes to `@a`; gives its slug. */
  savePrompt(body: object): Promise<string>
  /** A prompt whose one message is its variable `text`. */
  readonly prompt: string
  /** A key of its own, with its limits. */
  key(more: object): Promise<string>
  /** Paths that each provider heard, by its name. */
  received(): Record<string, number>
  reset(): void
  close(): Promise<void>
}

export const CHAT = {model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]}
let traces = 0
export const newTrace = () => `trace-${process.pid}-${++traces}`

export async function startRouting(env: Record<string, string> = {}): Promise<RoutingSetup> {
  const gateway = await startGateway(env)
  const [a, b, c, claude] = await Promise.all([
    fakeProvider(),
    fakeProvider(),
    fakeProvider(),
    fakeProvider(anthropicLike),
  ])
  const named = {a, b, c, claude}
  for (const [slug, provider] of Object.entries(named))
    await gateway.provider(slug, slug === 'claude' ? 'anthropic' : 'openai', provider.url)
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data

  const {data: collections} = await gateway.admin<{data: {id: string}[]}>(
    'GET',
    `/collections?workspace_id=${workspace!.id}`,
  )
  const savePrompt: RoutingSetup['savePrompt'] = async body => {
    const saved = {
      name: 'Saved',
      collection_id: collections[0]!.id,
      parameters: {},
      virtual_key: 'a',
      model: 'gpt-4o-mini',
      ...body,
    }
    return (await gateway.admin<{slug: string}>('POST', '/prompts', saved)).slug
  }
  const prompt = await savePrompt({string: JSON.stringify([{role: 'user', content: '{{text}}'}])})

  const recorded: RoutingSetup['recorded'] = async trace_id => {
    await gateway.app.flushed()
    const store = await openStore({kind: 'sqlite', folder: gateway.folder, role: 'operator'})
    try {
      const entries = await store.db
        .selectFrom('traffic.ledger_entries')
        .selectAll()
        .where('trace_id', '=', trace_id)
        .orderBy('sequence')
        .execute()
      const rows = await store.db
        .selectFrom('traffic.logs')
        .selectAll()
        .where('trace_id', '=', trace_id)
        .orderBy('id')
        .execute()
      return {
        entries,
        rows: rows.map(({detail, duration_ms, is_rescued, retry_count, cache_status, ...row}) => ({
          ...(JSON.parse(detail) as Row),
          ...row,
          retry_count: retry_count!,
          cache_status: cache_status!,
        })),
      }
    } finally {
      await store.close()
    }
  }
  return {
    ...named,
    gateway,
    recorded,
    savePrompt,
    prompt,
    async ask(config, {path = '/v1/chat/completions', body = CHAT, headers = {}, signal, onText} = {}) {
      const trace_id = newTrace()
      const is_json = typeof body === 'object' && !(body instanceof FormData)
      const reply = await gateway.call(path.replace('{prompt}', prompt), {
        method: 'POST',
        body: is_json ? JSON.stringify(body) : body,
        headers: {
          ...(is_json ? {'content-type': 'application/json'} : {}),
          'x-gateway-trace-id': trace_id,
          ...(config === null
            ? {}
            : {'x-gateway-config': typeof config === 'string' ? config : JSON.stringify(config)}),
          ...headers,
        },
        ...(signal ? {signal} : {}),
      })
      const text = onText ? await readOn(reply, onText) : await reply.text()
      return {
        status: reply.status,
        headers: reply.headers,
        text,
        path: reply.headers.get('x-gateway-last-used-option-index'),
        retries: reply.headers.get('x-gateway-retry-attempt-count'),
        ...(await recorded(trace_id)),
      }
    },
    async save(config) {
      const {data} = await gateway.admin<{data: {slug: string}}>('POST', '/configs', {
        name: 'saved',
        workspace_id: workspace!.id,
        config,
      })
      return data.slug
    },
    async key(more) {
      const body = {name: newTrace(), workspace_id: workspace!.id, scopes: ['completions.write'], ...more}
      return (await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)).key
    },
    received: () => Object.fromEntries(Object.entries(named).map(([name, {received}]) => [name, received.length])),
    reset() {
      for (const provider of [a, b, c]) provider.answer(openaiLike)
      claude.answer(anthropicLike)
      for (const provider of Object.values(named)) provider.received.length = 0
    },
    async close() {
      await gateway.close()
      for (const provider of Object.values(named)) await provider.close()
    },
  }
}

async function readOn(reply: Response, onText: (text: string) => void): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of reply.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, {stream: true})
    onText(text)
  }
  return text
}

/** A condition of a config. Written so because an object with a `then` of its own looks like a promise. */
export const when = (query: object, then: string) =>
  Object.fromEntries([
    ['query', query],
    ['then', then],
  ])

/** Answers with `statuses` one after the other, the last one again and again; 200 as OpenAI does. */
export function statuses(said: readonly number[], headers: Record<string, string> = {}): Answer {
  let at = 0
  return (received, response, request) => {
    const status = said[Math.min(at++, said.length - 1)]!
    if (status === 200) return openaiLike(received, response)
    request.resume()
    json(response, {error: {message: `told ${status}`, type: 'server_error', param: null, code: null}}, status, headers)
  }
}

/** A stream of these events, whole and ended. */
export function events(said: readonly string[]): Answer {
  return (_, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream'})
    for (const event of said) response.write(event)
    response.end()
  }
}

/** One of Anthropic's events. */
export const said = (type: string, more: object = {}) => `event: ${type}\ndata: ${JSON.stringify({type, ...more})}\n\n`

/** What begins a Messages stream: it tells what the prompt used. */
export const MESSAGE_START = said('message_start', {
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {input_tokens: 25, output_tokens: 1},
  },
})
export const ANTHROPIC_OVERLOAD = said('error', {error: {type: 'overloaded_error', message: 'Overloaded'}})

/** A Messages stream without its start. */
export const MESSAGE_REST = [
  said('content_block_start', {index: 0, content_block: {type: 'text', text: ''}}),
  said('content_block_delta', {index: 0, delta: {type: 'text_delta', text: 'Hello'}}),
  said('content_block_stop', {index: 0}),
  said('message_delta', {delta: {stop_reason: 'end_turn', stop_sequence: null}, usage: {output_tokens: 3}}),
  said('message_stop'),
]

export const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{type: 'text', text: 'Hello from Claude'}],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: {input_tokens: 25, output_tokens: 3},
}

/** Answers `/messages` as Anthropic does. */
export const anthropicLike: Answer = (received, response, request) => {
  const asked = JSON.parse(received.body.toString()) as {stream?: boolean}
  if (asked.stream) events([MESSAGE_START, said('ping'), ...MESSAGE_REST])(received, response, request)
  else json(response, MESSAGE)
}

/** What a chat's stream says, and what it ends with. */
export function chatText(stream: string): {text: string; ends: number; errors: unknown[]} {
  const data = stream
    .split('\n')
    .filter(line => line.startsWith('data: '))
    .map(line => line.slice(6))
  const chunks = data
    .filter(line => line !== '[DONE]')
    .map(line => JSON.parse(line) as {error?: unknown; choices?: {delta?: {content?: string}}[]})
  return {
    text: chunks.map(chunk => chunk.choices?.[0]?.delta?.content ?? '').join(''),
    ends: data.filter(line => line === '[DONE]').length,
    errors: chunks.flatMap(({error}) => (error === undefined ? [] : [error])),
  }
}
