import {createHash} from 'node:crypto'
import {createServer, request as httpRequest, type IncomingMessage} from 'node:http'
import type {AddressInfo, Socket} from 'node:net'
import type {Duplex} from 'node:stream'
import {frame, OPCODE} from '../../src/base/websocket/index.ts'

/** One end of a WebSocket over a raw connection: what came, byte by byte and message by message. */
export interface Peer {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly bytes: () => Buffer
  /** How many they are. */
  readonly size: () => number
  readonly messages: string[]
  /** The close frame that came. */
  readonly closing: () => {readonly code: number; readonly reason: string} | null
  say(event: object): void
  write(bytes: Buffer): void
  /** Resolves once `is_so`, asked at everything that comes. */
  until(is_so: () => boolean): Promise<void>
  readonly ended: Promise<void>
}

export interface Refusal {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

export interface RealtimeProvider {
  readonly url: string
  readonly peers: Peer[]
  /** Answers upgrades with this from now on, or with what it makes of each; null: accepts them. */
  refuse(with_what: Refusal | ((request: IncomingMessage) => Refusal | null) | null): void
  /** Told of each message. */
  answer(answer: (message: string, peer: Peer) => void): void
  /** Chooses no subprotocol from now on. */
  chooseNone(): void
  next(): Promise<Peer>
  close(): Promise<void>
}

/** A provider of sessions on loopback. It reads frames by itself, not with the code under test. */
export async function realtimeProvider(): Promise<RealtimeProvider> {
  const peers: Peer[] = []
  const waiting: ((peer: Peer) => void)[] = []
  const sockets = new Set<Duplex>()
  let refusing: Refusal | ((request: IncomingMessage) => Refusal | null) | null = null
  let chooses = true
  let answer: (message: string, peer: Peer) => void = () => undefined
  const server = createServer((_, response) => response.writeHead(426).end())
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (request, socket) => {
    const refusal = typeof refusing === 'function' ? refusing(request) : refusing
    if (refusal) {
      const {status, headers, body} = refusal
      const lines = Object.entries({...headers, 'content-length': String(Buffer.byteLength(body))}).map(
        ([name, value]) => `${name}: ${value}`,
      )
      return void socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    }
    const offered = String(request.headers['sec-websocket-protocol'] ?? '').split(',')[0]!
    const protocol = chooses && offered ? `sec-websocket-protocol: ${offered}\r\n` : ''
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n${protocol}` +
        `sec-websocket-accept: ${acceptOf(String(request.headers['sec-websocket-key']))}\r\nx-request-id: req_1\r\n\r\n`,
    )
    const peer = peerOn(request, socket, 'server', message => answer(message, peer))
    peers.push(peer)
    waiting.shift()?.(peer)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    peers,
    refuse: with_what => {
      refusing = with_what
    },
    answer: next => {
      answer = next
    },
    chooseNone: () => {
      chooses = false
    },
    next: () => new Promise(resolve => waiting.push(resolve)),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** A client on a raw connection: the answer to its upgrade, and the peer where it was accepted. */
export function rawClient(
  url: string,
  headers: Record<string, string>,
): Promise<{status: number; headers: IncomingMessage['headers']; body: string; peer: Peer | null}> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, {
      agent: false,
      headers: {
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': KEY,
        ...headers,
      },
    })
    asked.on('error', reject)
    asked.on('upgrade', (response, socket, head) => {
      socket.unshift(head)
      const peer = peerOn(response, socket, 'client', () => undefined)
      resolve({status: 101, headers: response.headers, body: '', peer})
    })
    asked.on('response', response => {
      const parts: Buffer[] = []
      response.on('data', part => parts.push(part))
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          body: Buffer.concat(parts).toString(),
          peer: null,
        }),
      )
    })
    asked.end()
  })
}

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
/** What the key of `rawClient` must be answered with (RFC 6455, 1.3). */
export const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

function peerOn(
  request: IncomingMessage,
  socket: Duplex,
  side: 'client' | 'server',
  hear: (message: string) => void,
): Peer {
  const parts: Buffer[] = []
  const messages: string[] = []
  const waiting: {is_so: () => boolean; resolve: () => void}[] = []
  let rest = Buffer.alloc(0)
  let size = 0
  let message: Buffer[] = []
  let closing: {code: number; reason: string} | null = null
  const look = () => {
    for (const one of waiting.splice(0)) {
      if (one.is_so()) one.resolve()
      else waiting.push(one)
    }
  }
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => {
    parts.push(chunk)
    size += chunk.length
    rest = Buffer.concat([rest, chunk])
    for (let found = firstFrame(rest); found; found = firstFrame(rest)) {
      rest = rest.subarray(found.length)
      if (found.opcode === 8) {
        closing =
          found.payload.length < 2
            ? {code: 1005, reason: ''}
            : {code: found.payload.readUInt16BE(), reason: found.payload.toString('utf8', 2)}
        if (side === 'server') socket.end(frame('server', OPCODE.close, found.payload))
      } else if (found.opcode < 3) {
        message.push(found.payload)
        if (!found.is_final) continue
        const text = Buffer.concat(message).toString()
        message = []
        messages.push(text)
        hear(text)
      }
    }
    look()
  })
  const ended = new Promise<void>(resolve => socket.once('close', resolve))
  socket.on('end', () => {
    socket.end()
    look()
  })
  socket.on('close', look)
  return {
    request,
    socket,
    bytes: () => Buffer.concat(parts),
    size: () => size,
    messages,
    closing: () => closing,
    say: event => void socket.write(frame(side, OPCODE.text, Buffer.from(JSON.stringify(event)))),
    write: bytes => void socket.write(bytes),
    until: is_so => (is_so() ? Promise.resolve() : new Promise(resolve => waiting.push({is_so, resolve}))),
    ended,
  }
}

function firstFrame(bytes: Buffer): {length: number; opcode: number; is_final: boolean; payload: Buffer} | null {
  if (bytes.length < 2) return null
  const short = bytes[1]! & 0x7f
  const start = (short === 127 ? 10 : short === 126 ? 4 : 2) + (bytes[1]! & 0x80 ? 4 : 0)
  if (bytes.length < start) return null
  const size = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
  if (bytes.length < start + size) return null
  const payload = Buffer.from(bytes.subarray(start, start + size))
  if (bytes[1]! & 0x80) {
    const mask = bytes.subarray(start - 4, start)
    for (let at = 0; at < payload.length; at++) payload[at]! ^= mask[at % 4]!
  }
  return {length: start + size, opcode: bytes[0]! & 0x0f, is_final: (bytes[0]! & 0x80) !== 0, payload}
}
