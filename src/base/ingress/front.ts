import type {Server} from 'node:http'
import type {Socket} from 'node:net'
import {Connection, type Ingress} from './connection.ts'
import type {PlainRequest} from './request.ts'
import type {ClientResponse} from './response.ts'

export interface FrontOptions {
  /** True for a path whose plain POSTs `handle` gets. */
  readonly takes: (path: string) => boolean
  readonly handle: (request: PlainRequest, response: ClientResponse) => void
  /** How long a connection may lie idle. */
  readonly keep_alive_ms: number
}

const SWEEP_MS = 5000
/** How long a server that closes waits for clients that have yet to read the end of their answers. */
const LAST_BYTES_MS = 5000

/**
 * Stands before a node:http (or node:https) server: it reads plain requests itself, for a third of the processor time, and gives a connection
 * on which anything else comes to the server, for good. Who speaks to the server sees no difference but the time.
 */
export function putBefore(server: Server, {takes, handle, keep_alive_ms}: FrontOptions): void {
  const connected = 'setSecureContext' in server ? 'secureConnection' : 'connection'
  const accepts = server.listeners(connected) as ((this: Server, socket: Socket) => void)[]
  const connections = new Set<Connection>()
  const ingress: Ingress = {
    takes,
    handle,
    keep_alive: `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keep_alive_ms / 1000)}\r\n`,
    get keeps() {
      return server.listening
    },
    closed: connection => void connections.delete(connection),
    handOver(connection, socket, came) {
      connections.delete(connection)
      for (const accept of accepts) accept.call(server, socket)
      socket.resume() // before an upgrade may stop it
      socket.emit('data', came)
    },
  }
  server.removeAllListeners(connected)
  server.on(connected, (socket: Socket) => connections.add(new Connection(socket, ingress, Date.now())))
  const closeIdle = (before_ms: number) => {
    for (const connection of connections) if (connection.isIdle && connection.idle_since_ms < before_ms) connection.close()
  }
  const destroyIdle = () => {
    for (const connection of connections) if (connection.isIdle) connection.destroy()
  }
  let sweep: NodeJS.Timeout | undefined
  server.on('listening', () => {
    sweep = setInterval(() => closeIdle(Date.now() - keep_alive_ms), SWEEP_MS).unref()
  })
  server.on('close', () => clearInterval(sweep))
  const {closeIdleConnections, closeAllConnections} = server
  server.closeIdleConnections = () => {
    closeIdleConnections.call(server)
    closeIdle(Number.POSITIVE_INFINITY)
    setTimeout(destroyIdle, LAST_BYTES_MS).unref()
  }
  server.closeAllConnections = () => {
    closeAllConnections.call(server)
    for (const connection of connections) connection.destroy()
  }
}
