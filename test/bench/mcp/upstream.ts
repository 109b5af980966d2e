import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'

/** An MCP server of both eras that answers from memory: `/modern` is of 2026-07-28, `/legacy` of 2025-11-25. */
export interface McpUpstream {
  readonly origin: string
  /** Sessions begun at `/legacy`. */
  initialized(): number
  /** Calls of its tool. */
  called(): number
  stop(): void
}

const TOOL = {name: 'echo', description: 'Answers with a text.', inputSchema: {type: 'object'}}
const SERVER_INFO = {name: 'bench', version: '1'}
const CAPABILITIES = {tools: {listChanged: true}}
const CONTENT = [{type: 'text', text: 'x'.repeat(1024)}]

/** Serves on a free port of loopback. */
export async function startUpstream(): Promise<McpUpstream> {
  const counts = {initialized: 0, called: 0}
  const server = createServer({keepAliveTimeout: 600_000}, (request, response) => {
    const is_modern = request.url === '/modern'
    if (request.method === 'GET' && !is_modern) return stream(response)
    if (request.method !== 'POST') return void response.writeHead(405).end()
    readBody(request, body => {
      const {id, method} = JSON.parse(body) as {id?: unknown; method?: string}
      if (id === undefined || method === undefined) return void response.writeHead(202).end()
      if (method === 'subscriptions/listen' && is_modern) return subscription(response, id)
      if (method === 'tools/call') counts.called++
      if (method === 'initialize') response.setHeader('mcp-session-id', `session-${++counts.initialized}`)
      const result = resultOf(method, is_modern)
      // an era that does not know the method refuses it: this is how a client learns the era
      const reply = result ? {result} : {error: {code: -32601, message: 'Method not found'}}
      response.writeHead(result ? 200 : is_modern ? 404 : 400, {'content-type': 'application/json'})
      response.end(JSON.stringify({jsonrpc: '2.0', id, ...reply}))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    initialized: () => counts.initialized,
    called: () => counts.called,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function resultOf(method: string, is_modern: boolean): object | undefined {
  const cached = {resultType: 'complete', ttlMs: 60_000, cacheScope: 'public'}
  const {resultType} = cached
  if (method === 'tools/call') return is_modern ? {resultType, content: CONTENT} : {content: CONTENT}
  if (method === 'tools/list') return is_modern ? {...cached, tools: [TOOL]} : {tools: [TOOL]}
  if (method === 'initialize' && !is_modern)
    return {protocolVersion: '2025-11-25', capabilities: CAPABILITIES, serverInfo: SERVER_INFO}
  if (method === 'server/discover' && is_modern)
    return {
      ...cached,
      ...{supportedVersions: ['2026-07-28'], capabilities: CAPABILITIES},
      _meta: {'io.modelcontextprotocol/serverInfo': SERVER_INFO},
    }
  return undefined
}

/** A subscription that is acknowledged; nothing ever comes on it. */
function subscription(response: ServerResponse, id: unknown): void {
  const params = {
    notifications: {toolsListChanged: true},
    _meta: {'io.modelcontextprotocol/subscriptionId': id},
  }
  response.writeHead(200, {'content-type': 'text/event-stream'})
  const acknowledged = {jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params}
  response.write(`event: message\ndata: ${JSON.stringify(acknowledged)}\n\n`)
}

/** The stream of a session, on which nothing ever comes. */
function stream(response: ServerResponse): void {
  response.writeHead(200, {'content-type': 'text/event-stream'})
  response.write(': open\n\n')
}

function readBody(request: IncomingMessage, done: (body: string) => void): void {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (part: string) => {
    body += part
  })
  request.on('end', () => done(body))
}
