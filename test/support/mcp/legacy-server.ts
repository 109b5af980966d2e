import {randomUUID} from 'node:crypto'
import {completable} from '@modelcontextprotocol/sdk/server/completable.js'
import {McpServer, ResourceTemplate} from '@modelcontextprotocol/sdk/server/mcp.js'
import {type EventStore, StreamableHTTPServerTransport} from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  type JSONRPCMessage,
  ListRootsResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import {z} from 'zod'
import {listen, type McpListener} from './listener.ts'
import {FixtureState, QUESTION, SAMPLING, text} from './tools.ts'

export interface LegacyOptions {
  /** `stateless`: no session id, and a server of its own for each request. */
  readonly sessions?: 'stateful' | 'stateless'
  /** Replies are JSON, never a stream. */
  readonly json?: boolean
  /** `stream`: questions go out on the GET stream, as the documented way of SDK v1 does it. */
  readonly asks_on?: 'call' | 'stream'
  /** Streams have event ids and can be resumed; this is their `retry`. The tool `early` ends its stream too soon. */
  readonly retry_ms?: number
  readonly port?: number
}

export interface LegacyFixture extends McpListener {
  readonly url: string
  readonly state: FixtureState
  readonly sessions: ReadonlyMap<string, LegacySession>
  /** Forgets every session, as a restart does. */
  forget(): void
}

interface LegacySession {
  readonly server: McpServer
  readonly transport: StreamableHTTPServerTransport
}

/** A server on the official SDK v1, of the revisions with a handshake. */
export async function openLegacy(options: LegacyOptions = {}): Promise<LegacyFixture> {
  const state = new FixtureState()
  const sessions = new Map<string, LegacySession>()
  const events = new StoredEvents()
  const begin = async (): Promise<LegacySession> => {
    const server = legacyServer(state, options)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: options.sessions === 'stateless' ? undefined : randomUUID,
      onsessioninitialized: id => void sessions.set(id, {server, transport}),
      onsessionclosed: id => void sessions.delete(id),
      enableJsonResponse: options.json ?? false,
      ...(options.retry_ms !== undefined && {eventStore: events, retryInterval: options.retry_ms}),
    })
    await server.connect(transport as Parameters<McpServer['connect']>[0])
    return {server, transport}
  }
  const listener = await listen(async (request, response, {headers, message}) => {
    const id = headers['mcp-session-id']
    const known = id === undefined ? undefined : sessions.get(id)
    if (id !== undefined && !known) return refuse(404, -32001, 'Session not found')
    if (known) return known.transport.handleRequest(request, response, message ?? undefined)
    const begins = message?.method === 'initialize'
    if (options.sessions === 'stateless' ? request.method !== 'POST' : !begins)
      return refuse(request.method === 'GET' ? 405 : 400, -32000, 'Bad Request: Server not initialized')
    const made = await begin()
    await made.transport.handleRequest(request, response, message ?? undefined)

    function refuse(status: number, code: number, message: string) {
      response.writeHead(status, {'content-type': 'application/json'})
      response.end(JSON.stringify({jsonrpc: '2.0', error: {code, message}, id: null}))
    }
  }, options.port)
  return {
    ...listener,
    url: `${listener.origin}/mcp`,
    state,
    sessions,
    forget: () => sessions.clear(),
  }
}

function legacyServer(state: FixtureState, options: LegacyOptions): McpServer {
  const server = new McpServer(
    {name: 'legacy-fixture', version: '1.2.3', title: 'Legacy fixture'},
    {
      capabilities: {logging: {}, resources: {subscribe: true, listChanged: true}, tools: {listChanged: true}},
      instructions: 'Call echo.',
    },
  )
  addPlainTools(server, state)
  addAskingTools(server, state, options)
  addOthers(server)
  return server
}

function addPlainTools(server: McpServer, state: FixtureState) {
  server.registerTool('echo', {description: 'Says it again', inputSchema: {text: z.string()}}, ({text: word}) => {
    state.ran('echo')
    return text(word)
  })
  server.registerTool(
    'add',
    {inputSchema: {a: z.number(), b: z.number()}, outputSchema: {sum: z.number()}},
    ({a, b}) => ({...text(String(a + b)), structuredContent: {sum: a + b}}),
  )
  server.registerTool('count', {}, () => {
    state.ran('count')
    return text(String(state.runs('count')))
  })
  server.registerTool('slow', {inputSchema: {steps: z.number()}}, async ({steps}, {_meta, sendNotification}) => {
    const progressToken = _meta?.progressToken
    for (let progress = 1; progressToken !== undefined && progress <= steps; progress++)
      await sendNotification({method: 'notifications/progress', params: {progressToken, progress, total: steps}})
    return text(`${steps} steps`)
  })
  server.registerTool('hold', {inputSchema: {tag: z.string().optional()}}, async ({tag}, {signal}) => {
    state.ran('hold')
    return text(`${tag ?? ''} ${await state.hold(signal)}`.trim())
  })
  server.registerTool('log', {inputSchema: {words: z.string()}}, async ({words}, {sendNotification}) => {
    await sendNotification({method: 'notifications/message', params: {level: 'warning', data: words}})
    return text('logged')
  })
  server.registerTool('early', {}, async ({closeSSEStream, sendNotification}) => {
    state.ran('early')
    await sendNotification({method: 'notifications/message', params: {level: 'info', data: 'before'}})
    closeSSEStream?.()
    await sendNotification({method: 'notifications/message', params: {level: 'info', data: 'after'}})
    return text('late')
  })
  server.registerTool('fail', {}, () => ({...text('It failed.'), isError: true}))
}

function addAskingTools(server: McpServer, state: FixtureState, {asks_on = 'call'}: LegacyOptions) {
  server.registerTool('ask', {}, async ({sendRequest}) => {
    state.ran('ask')
    const params = {mode: 'form' as const, ...QUESTION}
    const answer =
      asks_on === 'stream'
        ? await server.server.elicitInput(params)
        : await sendRequest({method: 'elicitation/create', params}, ElicitResultSchema)
    return text(`${answer.action} ${JSON.stringify(answer.content ?? null)}`)
  })
  server.registerTool('sample', {}, async ({sendRequest}) => {
    const answer =
      asks_on === 'stream'
        ? await server.server.createMessage(SAMPLING)
        : await sendRequest({method: 'sampling/createMessage', params: SAMPLING}, CreateMessageResultSchema)
    return text(JSON.stringify(answer.content))
  })
  server.registerTool('roots', {}, async ({sendRequest}) => {
    const answer =
      asks_on === 'stream'
        ? await server.server.listRoots()
        : await sendRequest({method: 'roots/list'}, ListRootsResultSchema)
    return text(answer.roots.map(({uri}) => uri).join(' '))
  })
}

function addOthers(server: McpServer) {
  server.registerResource('note', 'note://one', {mimeType: 'text/plain'}, () => ({
    contents: [{uri: 'note://one', text: 'first'}],
  }))
  const template = new ResourceTemplate('page://{number}', {list: undefined, complete: {number: () => ['1', '2']}})
  server.registerResource('page', template, {}, (uri, {number}) => ({
    contents: [{uri: uri.href, text: `page ${String(number)}`}],
  }))
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}))
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}))
  const argsSchema = {name: completable(z.string(), () => ['Ada', 'Alan'])}
  server.registerPrompt('greet', {argsSchema}, ({name}) => ({
    messages: [{role: 'user', content: {type: 'text', text: `Greet ${name}`}}],
  }))
}

/** Events of streams that can be resumed. */
class StoredEvents implements EventStore {
  readonly #events: {stream: string; id: string; message: JSONRPCMessage}[] = []

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = `e${this.#events.length}`
    this.#events.push({stream, id, message})
    return id
  }

  async replayEventsAfter(
    last: string,
    {send}: {send: (id: string, message: JSONRPCMessage) => Promise<void>},
  ): Promise<string> {
    const at = this.#events.findIndex(({id}) => id === last)
    const stream = this.#events[at]?.stream ?? ''
    for (const {id, message, stream: of} of this.#events.slice(at + 1)) if (of === stream) await send(id, message)
    return stream
  }
}
