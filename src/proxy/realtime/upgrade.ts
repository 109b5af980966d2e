import {type IncomingMessage, ServerResponse} from 'node:http'
import type {Duplex} from 'node:stream'
import {acceptKey} from '../../base/websocket/index.ts'
import {ResponseWriter} from '../inbound/response.ts'

/** A client's connection before it is a WebSocket: what it sent early, and the way to answer in HTTP. */
export interface UpgradeHandshake {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly relay: ResponseWriter
  /** Gives the connection away, with the bytes that came early. */
  hand(): Buffer
}

/** A client may send frames before it is answered; this many bytes of them wait. */
const MAX_EARLY_BYTES = 64 << 10
/** How long a refused client has to end its connection. */
const LINGER_MS = 2000

export function openDoor(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  live: {readonly draining: boolean},
): UpgradeHandshake {
  socket.on('error', () => undefined) // 'close' follows
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0])
  const early = [head]
  let early_bytes = head.length
  const hold = (chunk: Buffer) => {
    early.push(chunk)
    early_bytes += chunk.length
    if (early_bytes > MAX_EARLY_BYTES) socket.pause()
  }
  const left = () => void socket.destroy()
  // read from the start: a connection that is not read does not tell that the client has left
  socket.on('data', hold)
  socket.on('end', left)
  response.on('finish', () => {
    socket.end()
    setTimeout(left, LINGER_MS).unref()
  })
  const hand = () => {
    socket.off('data', hold)
    socket.off('end', left)
    response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
    return Buffer.concat(early)
  }
  return {request, socket, relay: new ResponseWriter(response, live), hand}
}

/**
 * The answer that opens the WebSocket. The subprotocol is the one the provider chose; where it chose none and the
 * client offered some, `realtime` if that is among them: browsers fail a connection that takes none of what they
 * offered.
 */
export function switching(key: string, protocol: string | null, headers: readonly string[]): string {
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    `sec-websocket-accept: ${acceptKey(key)}`,
  ]
  if (protocol !== null) lines.push(`sec-websocket-protocol: ${protocol}`)
  for (let at = 0; at < headers.length; at += 2) {
    if (!headers[at]!.startsWith('sec-websocket-')) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
