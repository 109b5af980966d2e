import type {IncomingMessage, Server, ServerResponse} from 'node:http'
import type {Server as TlsServer} from 'node:https'
import type {Socket} from 'node:net'
import {Refusal} from '../errors.ts'
import {type Coming, Governed} from './governed.ts'
import type {Governor} from './governor.ts'
import {sendRefusal} from './refused.ts'
import {type ClientRequest, FastRequest} from './request.ts'

const PLACE = Symbol('governed')
type Placed = Socket & {[PLACE]?: Governed}

/** The state of a connection that the governor of its server keeps. */
export function governedOf(socket: Socket): Governed | undefined {
  return (socket as Placed)[PLACE]
}

/** Says that the caller of a request is known: its body may take the time that its bytes take. */
export function vouchFor(request: ClientRequest): void {
  if (request instanceof FastRequest) return // is not read before
  const coming = request.socket && governedOf(request.socket)?.coming // one that was injected has no socket
  if (coming instanceof MessageBody) coming.is_known = true
}

/**
 * Puts a governor over all connections of a server and of the fast path before it: it sees each first, and every
 * request that the server itself reads. Call it after every other listener is in place.
 */
export function govern(server: Server, governor: Governor): void {
  const is_tls = 'setSecureContext' in server
  const accepts = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  const handshakes = new Map<string, Governed | Refusal>()
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const one = governor.admit(socket, is_tls)
    if (!one) return
    if (is_tls) remember(handshakes, socket, one)
    else if (one instanceof Governed) place(socket, one, governor)
    for (const accept of accepts) accept.call(server, socket)
  })
  if (is_tls) {
    const secures = server.listeners('secureConnection') as ((this: Server, socket: Socket) => void)[]
    server.removeAllListeners('secureConnection')
    ;(server as unknown as TlsServer).on('secureConnection', socket => {
      const one = handshakes.get(ends(socket))
      if (!one) return void socket.destroy()
      if (one instanceof Refusal) return sendRefusal(socket, one)
      place(socket, one, governor)
      governor.secured(one, socket)
      for (const secure of secures) secure.call(server, socket)
    })
  }
  server.prependListener('request', (request, response) => {
    const one = governedOf(request.socket)
    if (!one) return
    if (one.state === 'closing') return void request.socket.destroy() // it came behind the last: no answer would leave
    const coming = hasBody(request) ? new MessageBody(request, response) : null
    if (!governor.begin(one, coming)) response.shouldKeepAlive = false
    response.once('close', () => governor.answered(one))
  })
  server.prependListener('upgrade', request => {
    const one = governedOf(request.socket)
    if (one) governor.session(one)
  })
  server.on('listening', () => governor.open())
  server.closeIdleConnections = () => governor.closeIdle()
  server.closeAllConnections = () => governor.destroyAll()
}

/** The server ends a connection behind its last answer: the governor does, who reads the rest of a request before. */
function place(socket: Placed, one: Governed, governor: Governor) {
  socket[PLACE] = one
  socket.destroySoon = () => governor.endSoon(one)
}

/**
 * A handshake gives another object than the one that was accepted; of two connections that are open at once no two have
 * the same ends.
 */
function remember(handshakes: Map<string, Governed | Refusal>, socket: Socket, one: Governed | Refusal) {
  const key = ends(socket)
  handshakes.set(key, one)
  socket.once('close', () => handshakes.get(key) === one && handshakes.delete(key))
}

const ends = ({remoteAddress, remotePort, localAddress, localPort}: Socket) =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`

function hasBody({headers}: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** The event of a request whose body is given up, with the refusal to answer. */
export const GIVEN_UP = 'given-up'

/** The body of a request that the server reads. */
class MessageBody implements Coming {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  is_known = false

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
  }

  get complete(): boolean {
    return this.#request.complete
  }

  get is_behind(): boolean {
    return this.#request.readableLength > 0
  }

  fail(refusal: Refusal): boolean {
    if (this.#request.emit(GIVEN_UP, refusal)) return true
    if (this.#response.headersSent) this.#request.destroy()
    return false
  }

  drop(): void {
    this.#request.unpipe()
    for (const event of ['data', 'readable']) this.#request.removeAllListeners(event)
    this.#request.resume()
  }
}
