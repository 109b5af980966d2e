import type {Server} from 'node:http'
import type {Socket} from 'node:net'
import {Connection, type Ingress} from './connection.ts'
import {governedOf} from './govern.ts'
import type {Governor} from './governor.ts'
import type {FastRequest} from './request.ts'
import type {ClientResponse} from './response.ts'

export interface FrontOptions {
  /** True for a path whose plain POSTs `handle` gets. */
  readonly takes: (path: string) => boolean
  readonly handle: (request: FastRequest, response: ClientResponse) => void
  /** The governor of the same server, which was put over it before this class reads from it. */
  readonly governor: Governor
}

/**
 * Reads from connections before a node:http (or node:https) server: it reads plain requests itself, for a third of the
 * processor time, and gives a connection with any other bytes to the server, permanently. Clients of the server see no
 * difference but the time.
 */
export function attachFastPath(server: Server, {takes, handle, governor}: FrontOptions): void {
  const connected = 'setSecureContext' in server ? 'secureConnection' : 'connection'
  const accepts = server.listeners(connected) as ((this: Server, socket: Socket) => void)[]
  const ingress: Ingress = {
    takes,
    handle,
    governor,
    keep_alive: `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(governor.options.keep_alive_ms / 1000)}\r\n`,
    get keeps() {
      return server.listening && !governor.is_closing
    },
    handOver(socket, came) {
      for (const accept of accepts) accept.call(server, socket)
      socket.resume() // before an upgrade may stop it
      socket.emit('data', came)
    },
  }
  server.removeAllListeners(connected)
  server.on(connected, (socket: Socket) => {
    const governed = governedOf(socket)
    if (governed) new Connection(socket, ingress, governed)
  })
}
