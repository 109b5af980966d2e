import {Agent, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request} from 'node:http'

/** Requests of one MCP endpoint over connections that stay open. */
export interface McpClient {
  /** Calls the tool once. Throws where the reply is no result. */
  call(lane: number): Promise<void>
  /** Opens the stream of a lane's session, or of its subscription, and keeps it. Gives its end. */
  listen(lane: number): Promise<() => void>
  close(): void
}

const COMMON = {'content-type': 'application/json', accept: 'application/json, text/event-stream'}
const MODERN = '2026-07-28'
const LEGACY = '2025-11-25'
const CALL = {name: 'echo', arguments: {text: 'y'.repeat(200)}}
const ENVELOPE = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': {name: 'bench', version: '1'},
  },
}

/** A client of 2026-07-28. `keys` has the key of each lane; none where a proxy needs none. */
export function modernClient(url: string, keys: readonly string[]): McpClient {
  const agent = new Agent({keepAlive: true})
  const headers = (lane: number, method: string, name?: string) => ({
    ...COMMON,
    ...keyed(keys, lane),
    ...{'mcp-protocol-version': MODERN, 'mcp-method': method},
    ...(name !== undefined && {'mcp-name': name}),
  })
  const body = (method: string, params: object) =>
    JSON.stringify({jsonrpc: '2.0', id: 1, method, params: {...params, ...ENVELOPE}})
  const called = body('tools/call', CALL)
  const listened = body('subscriptions/listen', {notifications: {toolsListChanged: true}})
  return {
    call: async lane => void resultOf(await post(agent, url, headers(lane, 'tools/call', 'echo'), called)),
    listen: lane => held('POST', url, headers(lane, 'subscriptions/listen'), listened),
    close: () => agent.destroy(),
  }
}

/** A client of 2025-11-25: a session for each lane, made before it returns. */
export async function legacyClient(url: string, keys: readonly string[], lanes: number): Promise<McpClient> {
  const agent = new Agent({keepAlive: true})
  const hello = {
    protocolVersion: LEGACY,
    ...{capabilities: {}, clientInfo: {name: 'bench', version: '1'}},
  }
  const sessions: OutgoingHttpHeaders[] = []
  for (let lane = 0; lane < lanes; lane++) {
    const headers = {...COMMON, ...keyed(keys, lane)}
    const greeting = JSON.stringify({jsonrpc: '2.0', id: 0, method: 'initialize', params: hello})
    const reply = await post(agent, url, headers, greeting)
    resultOf(reply)
    const session = {
      ...headers,
      'mcp-protocol-version': LEGACY,
      'mcp-session-id': reply.message.headers['mcp-session-id'],
    }
    await post(agent, url, session, JSON.stringify({jsonrpc: '2.0', method: 'notifications/initialized'}))
    sessions.push(session)
  }
  const called = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'tools/call', params: CALL})
  return {
    call: async lane => void resultOf(await post(agent, url, sessions[lane]!, called)),
    listen: lane => held('GET', url, sessions[lane]!),
    close: () => agent.destroy(),
  }
}

interface Reply {
  readonly message: IncomingMessage
  readonly text: string
}

function keyed(keys: readonly string[], lane: number): OutgoingHttpHeaders {
  return keys.length ? {'x-gateway-api-key': keys[lane % keys.length]} : {}
}

function post(agent: Agent, url: string, headers: OutgoingHttpHeaders, body: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {method: 'POST', agent, headers: {...headers, 'content-length': Buffer.byteLength(body)}})
    sent.on('error', reject)
    sent.on('response', message => {
      let text = ''
      message.setEncoding('utf8')
      message.on('data', (part: string) => {
        text += part
      })
      message.on('end', () => resolve({message, text}))
      message.on('error', reject)
    })
    sent.end(body)
  })
}

/** Opens a stream on a connection of its own, until its first byte. */
function held(method: string, url: string, headers: OutgoingHttpHeaders, body = ''): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = request(url, {method, agent: false, headers})
    sent.on('error', reject)
    sent.on('response', message => {
      if (message.statusCode !== 200) return void reject(new Error(`a stream was refused with ${message.statusCode}`))
      message.on('error', () => undefined)
      message.once('data', () => resolve(() => sent.destroy()))
      message.resume()
    })
    sent.end(body)
  })
}

function resultOf({message, text}: Reply): void {
  if (message.statusCode !== 200 || !text.includes('"result"') || text.includes('"isError":true'))
    throw new Error(`a call answers ${message.statusCode}: ${text.slice(0, 300)}`)
}
