import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import {type AddressInfo, createServer as createTcpServer, type Server, type Socket} from 'node:net'
import {acceptKey} from '../../../src/base/websocket/index.ts'
import {chatEvents, chatReply} from '../../support/provider.ts'

/** A request that is kept from its end. */
interface OpenRequest {
  readonly socket: Socket
  /** Lets it go on to its end. */
  readonly finish: () => void
  readonly closed: () => boolean
}

/** How a chat is answered: how far, and what finishes it. */
type Manner = (response: ServerResponse) => () => void

const SSE = {'content-type': 'text/event-stream'}
const REPLY = JSON.stringify(chatReply('gpt-4o-mini'))
const EVENTS = chatEvents('gpt-4o-mini', {usage: true})
const PIECE = `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices: [{index: 0, delta: {content: 'x'}}], pad: 'x'.repeat(250_000)})}\n\n`
const TO_END = (response: ServerResponse, from: number) => () => {
  for (const event of EVENTS.slice(from)) response.write(event)
  response.end()
}

/** By the word before the dot of a call's `user`. */
const MANNERS: Readonly<Record<string, Manner>> = {
  sent: response => () => response.writeHead(200, {'content-type': 'application/json'}).end(REPLY),
  'first event'(response) {
    response.writeHead(200, SSE).write(': one moment\n\n')
    return TO_END(response, 0)
  },
  stream(response) {
    response.writeHead(200, SSE)
    for (const event of EVENTS.slice(0, 3)) response.write(event)
    return TO_END(response, 3)
  },
  'terminal event'(response) {
    response.writeHead(200, SSE)
    for (const event of EVENTS.slice(0, -1)) response.write(event)
    return TO_END(response, EVENTS.length - 1)
  },
  'last byte'(response) {
    response
      .writeHead(200, {'content-type': 'application/json', 'content-length': REPLY.length})
      .write(REPLY.slice(0, -1))
    return () => response.end(REPLY.slice(-1))
  },
  'retry wait'(response) {
    const body = JSON.stringify({error: {message: 'busy', type: 'server_error'}})
    response.writeHead(429, {'content-type': 'application/json', 'retry-after-ms': '50000'}).end(body)
    return () => undefined
  },
  'slow reader'(response) {
    response.writeHead(200, SSE)
    const more = () => {
      while (!response.destroyed && response.write(PIECE));
    }
    response.on('drain', more)
    more()
    return () => undefined
  },
}

const AT_ONCE: Manner = response => {
  response.writeHead(200, {'content-type': 'application/json'}).end(REPLY)
  return () => undefined
}

/**
 * Everything beyond the gateway, on loopback: a provider, its login, a webhook, and a place that takes connections and
 * says nothing.
 */
export interface Double {
  readonly url: string
  /** Where no TLS handshake ends. */
  readonly silent_url: string
  /** Everything that was asked, in order: `chat`, `judge`, `login`, `session` and of whom, or `dial`. */
  readonly received: readonly string[]
  /** Resolves once `what` was asked `times` times. */
  until(what: string, times?: number): Promise<void>
  /** How often `what` was asked. */
  count(what: string): number
  /** Lets what is held of a tag go on to its end, and holds nothing more of it. */
  finish(tag: string): void
  /** Breaks the connections of what is held of a tag; what is asked of it later is answered at once. */
  reset(tag: string): void
  /** Connections of a tag that are still held open by the gateway. */
  open(tag: string): number
  close(): Promise<void>
}

export async function openDouble(): Promise<Double> {
  const received: string[] = []
  const holds = new Map<string, OpenRequest[]>()
  const free = new Set<string>()
  const waiting: {readonly what: string; readonly times: number; readonly resolve: () => void}[] = []
  const count = (what: string) => received.filter(each => each === what).length
  const hear = (what: string) => {
    received.push(what)
    for (const each of [...waiting]) {
      if (count(each.what) < each.times) continue
      waiting.splice(waiting.indexOf(each), 1)
      each.resolve()
    }
  }
  const hold = (tag: string, socket: Socket, finish: () => void, closed: () => boolean) => {
    let is_finished = false
    const once = () => {
      if (!is_finished) finish()
      is_finished = true
    }
    const one = {socket, finish: once, closed}
    holds.set(tag, [...(holds.get(tag) ?? []), one])
    if (free.has(tag)) once()
  }
  const held = (response: ServerResponse, request: IncomingMessage, tag: string, finish: () => void) => {
    let is_over = false
    response.on('close', () => {
      is_over = true
    })
    hold(tag, request.socket, finish, () => is_over)
  }

  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      const [, first = '', second = ''] = request.url!.split('/').map(decodeURIComponent)
      if (first === 'judge') {
        held(response, request, second, () =>
          response.writeHead(200, {'content-type': 'application/json'}).end('{"verdict":true}'),
        )
        return hear(`judge ${second}`)
      }
      if (second === 'oauth2') {
        const token = JSON.stringify({access_token: `token-of-${first}`, token_type: 'Bearer', expires_in: 3600})
        held(response, request, first, () => response.writeHead(200, {'content-type': 'application/json'}).end(token))
        return hear(`login ${first}`)
      }
      const tag = String((JSON.parse(body) as {user?: string}).user)
      const answer = free.has(tag) ? AT_ONCE : (MANNERS[tag.split('.')[0]!] ?? AT_ONCE)
      held(response, request, tag, answer(response))
      hear(`chat ${tag}`)
    })
  })
  server.on('upgrade', (request, socket: Socket) => {
    const tag = new URL(request.url!, 'http://double').searchParams.get('model')!
    let is_over = false
    socket.on('error', () => undefined)
    socket.on('data', () => undefined)
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      is_over = true
    })
    const accept = acceptKey(request.headers['sec-websocket-key']!)
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    )
    hold(
      tag,
      socket,
      () => socket.destroy(),
      () => is_over,
    )
    hear(`session ${tag}`)
  })
  const silent = createTcpServer(socket => {
    let is_over = false
    socket.on('error', () => undefined)
    socket.on('close', () => {
      is_over = true
    })
    socket.resume()
    hold(
      'dial',
      socket,
      () => socket.destroy(),
      () => is_over,
    )
    hear('dial')
  })
  const port = await listening(server)
  const silent_port = await listening(silent)
  return {
    url: `http://127.0.0.1:${port}`,
    silent_url: `https://127.0.0.1:${silent_port}/v1`,
    received,
    count,
    until: (what, times = 1) =>
      count(what) >= times
        ? Promise.resolve()
        : new Promise<void>(resolve => void waiting.push({what, times, resolve})),
    finish(tag) {
      if (tag !== 'dial') free.add(tag)
      for (const each of holds.get(tag) ?? []) each.finish()
    },
    reset(tag) {
      if (tag !== 'dial') free.add(tag)
      for (const {socket} of holds.get(tag) ?? []) socket.destroy()
    },
    open: tag => (holds.get(tag) ?? []).filter(each => !each.closed()).length,
    async close() {
      server.closeAllConnections()
      for (const all of holds.values()) for (const {socket} of all) socket.destroy()
      await Promise.all([server, silent].map(each => new Promise(resolve => each.close(resolve))))
    },
  }
}

function listening(server: Server): Promise<number> {
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}
