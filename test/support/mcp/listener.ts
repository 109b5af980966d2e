import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo, Socket} from 'node:net'
import {buffer} from 'node:stream/consumers'

/** One HTTP request as a fixture got it. */
export interface SeenRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  /** Its JSON-RPC message; null where the body is none. */
  readonly message: SeenMessage | null
  /** True once the client went away before the answer was whole. */
  left: boolean
}

export interface SeenMessage {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>> & {readonly _meta?: Readonly<Record<string, unknown>>}
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: {readonly code: number; readonly message: string}
}

export interface McpListener {
  readonly origin: string
  readonly requests: readonly SeenRequest[]
  /** The requests of one JSON-RPC method, those that are answers (`answer`), or of one HTTP method other than POST. */
  of(method: string): readonly SeenRequest[]
  /** Connections that were made so far. */
  connections(): number
  /** Cuts every connection, as a machine that loses its power. */
  cut(): void
  close(): Promise<void>
}

export type FixtureHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  seen: SeenRequest,
) => void | Promise<void>

/** A server on a port of its own, on loopback, that keeps what it received. */
export async function listen(handler: FixtureHandler, port = 0): Promise<McpListener> {
  const requests: SeenRequest[] = []
  const sockets = new Set<Socket>()
  const server = createServer({requireHostHeader: false}, async (request, response) => {
    const body = (await buffer(request).catch(() => Buffer.alloc(0))).toString()
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers as SeenRequest['headers'],
      body,
      message: messageOf(body),
      left: false,
    }
    requests.push(seen)
    response.on('close', () => (seen.left = !response.writableFinished))
    response.on('error', () => undefined)
    await handler(request, response, seen)
  })
  let connections = 0
  server.on('connection', socket => {
    connections++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>(done => server.listen(port, '127.0.0.1', done))
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connections: () => connections,
    of: method =>
      requests.filter(({method: http, message}) =>
        http === 'POST' ? (message?.method ?? 'answer') === method : http === method,
      ),
    cut,
    async close() {
      const closed = new Promise(done => server.close(done))
      cut()
      await closed
    },
  }
}

function messageOf(body: string): SeenMessage | null {
  try {
    return JSON.parse(body) as SeenMessage
  } catch {
    return null
  }
}
