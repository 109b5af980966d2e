import {once} from 'node:events'
import {type AddressInfo, createServer, type Socket} from 'node:net'
import {setImmediate as turn} from 'node:timers/promises'
import {caseIn} from './cases.ts'
import type {HostileReply} from './reply.ts'
import {usual} from './usual.ts'

/**
 * The provider itself. It reads requests well, for the gateway writes them; what it writes back goes to the socket byte
 * by byte as the case has it.
 */
export interface HostileServer {
  readonly port: number
  /** How often each case was played. */
  readonly played: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** Only so much of a body is looked through for the name of a case. */
const MAX_LOOKED_THROUGH = 20_000
const KEY = /^(?:authorization: bearer|x-api-key:|x-goog-api-key:|api-key:) *(.+)$/im

export async function hostileServer(): Promise<HostileServer> {
  const played = new Map<string, number>()
  const sockets = new Set<Socket>()
  const server = createServer({noDelay: true}, socket => {
    sockets.add(socket)
    // the gateway hangs up on many of these, as it should
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    void serve(socket, played)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    played,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function serve(socket: Socket, played: Map<string, number>) {
  let text = ''
  try {
    for await (const bytes of socket.iterator({destroyOnReturn: false})) {
      text += (bytes as Buffer).toString('latin1')
      const request = firstIn(text)
      if (!request) continue
      text = text.slice(request.length)
      const after = await answer(socket, request.head, request.body, played)
      if (after === 'keeps') continue
      // nothing more is heard, but for the gateway's own end
      socket.resume()
      return
    }
  } catch {
    socket.destroy()
  }
}

/**
 * The first request of what came, where all of it is there. The gateway sends lengths, or chunks where a body passes
 * through.
 */
function firstIn(text: string): {readonly head: string; readonly body: string; readonly length: number} | null {
  const head_length = text.indexOf('\r\n\r\n') + 4
  if (head_length < 4) return null
  const head = text.slice(0, head_length - 4)
  if (/^transfer-encoding: *chunked/im.test(head)) {
    const end = text.indexOf('\r\n0\r\n\r\n', head_length - 2)
    return end < 0 ? null : {head, body: text.slice(head_length, end), length: end + 7}
  }
  const length = head_length + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  return text.length < length ? null : {head, body: text.slice(head_length, length), length}
}

async function answer(
  socket: Socket,
  head: string,
  body: string,
  played: Map<string, number>,
): Promise<HostileReply['after']> {
  const path = head.split(' ', 2)[1]!
  const is_stream = /"stream": *true/.test(body) || /stream/i.test(path)
  const found = caseIn(`${head}\n${body.slice(0, MAX_LOOKED_THROUGH)}`)
  if (found) played.set(found.name, (played.get(found.name) ?? 0) + 1)
  const {pieces, after} = (found?.play ?? usual)({path, is_stream, key: KEY.exec(head)?.[1] ?? '', head})
  for (const piece of pieces) {
    if (socket.destroyed) return 'ends'
    // once it is taken the next may come, and a turn later, so that each is a packet of its own
    if (!socket.write(piece)) await taken(socket)
    else await turn()
  }
  if (after === 'ends') socket.end()
  if (after === 'resets') socket.resetAndDestroy()
  return after
}

/** Resolves once the socket takes more, or is gone. */
function taken(socket: Socket): Promise<void> {
  const {promise, resolve} = Promise.withResolvers<void>()
  const done = () => {
    socket.off('drain', done).off('close', done)
    resolve()
  }
  socket.on('drain', done).on('close', done)
  return promise
}
