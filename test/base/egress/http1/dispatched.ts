import {type AddressInfo, connect, createServer, type Socket} from 'node:net'
import {Duplex} from 'node:stream'
import {setImmediate as turn} from 'node:timers/promises'
import type {Dispatcher} from 'undici'
import {onTestFinished} from 'vitest'
import {refusalOf} from '../../../../src/base/egress/faults.ts'
import {ConnectionPool} from '../../../../src/base/egress/http1/pool.ts'
import {sharedReadBuffer} from '../../../../src/base/egress/http1/shared-read-buffer.ts'

export const LATIN1 = 'latin1'
const ROOM = {host: 'models.example', connections: 8, waiting_calls: 8}

/** What a handler was told of a call: heads, the bytes of the body together, and the end. */
export interface Told {
  readonly heads: {readonly status: number; readonly headers: object; readonly reason: string | undefined}[]
  body: string
  end: 'whole' | Error | null
}

export type Asked = Partial<Dispatcher.DispatchOptions>

/** Calls, and resolves when the call has come to its end. */
export function tell(
  pool: Pick<Dispatcher, 'dispatch'>,
  asked: Asked = {},
  more: Dispatcher.DispatchHandler = {},
): Promise<Told> {
  const told: Told = {heads: [], body: '', end: null}
  return new Promise(resolve => {
    pool.dispatch({path: '/', method: 'GET', ...asked} as Dispatcher.DispatchOptions, {
      onRequestStart(controller, context) {
        more.onRequestStart?.(controller, context)
      },
      onBodySent(chunk) {
        more.onBodySent?.(chunk)
      },
      onResponseStart(controller, status, headers, reason) {
        told.heads.push({status, headers: {...headers}, reason})
        more.onResponseStart?.(controller, status, headers, reason)
      },
      onResponseData(controller, chunk) {
        told.body += chunk.toString(LATIN1)
        more.onResponseData?.(controller, chunk)
      },
      onResponseEnd(controller, trailers) {
        more.onResponseEnd?.(controller, trailers)
        told.end = 'whole'
        resolve(told)
      },
      onResponseError(controller, error) {
        more.onResponseError?.(controller, error)
        told.end = error
        resolve(told)
      },
    })
  })
}

/** The same, with what controls the call, which is there once it has begun. */
export function control(pool: Pick<Dispatcher, 'dispatch'>, asked: Asked = {}, more: Dispatcher.DispatchHandler = {}) {
  let given: Dispatcher.DispatchController | undefined
  const call = tell(pool, asked, {
    ...more,
    onRequestStart(controller, context) {
      given = controller
      more.onRequestStart?.(controller, context)
    },
  })
  return {call, controller: () => given!}
}

/**
 * What matters to callers: news, head, body, and how it ended. Undici takes a reason for UTF-8, and the space behind a
 * value for a part of it (RFC 9112 5.1 has it left out).
 */
export function received({heads, body, end}: Told) {
  const trimmed = (values: object) =>
    Object.entries(values).map(([name, value]) => [name, [value].flat().map(text => text.replace(/[ \t]+$/, ''))])
  const plain = heads.map(({status, reason, headers}) => [
    status,
    reason?.replaceAll(/[^ -~]+/g, '?'),
    trimmed(headers),
  ])
  return {heads: plain, body, end: end instanceof Error ? refusalOf(end, 'x').code : end}
}

export function codeOf({end}: Told): string {
  return end instanceof Error ? String((end as NodeJS.ErrnoException).code ?? end.message) : String(end)
}

/** A socket in memory: what was written to it, and what it reads next. */
export class Wire extends Duplex {
  written = ''

  override _read() {}

  override _write(chunk: Buffer, _: string, done: () => void) {
    this.written += chunk.toString(LATIN1)
    done()
  }

  ref() {}
  unref() {}
}

/** A pool whose sockets are in memory, in the order in which they were dialled. */
export function wired(): {readonly pool: ConnectionPool; readonly wires: Wire[]; wire(place: number): Promise<Wire>} {
  const wires: Wire[] = []
  const dial = async () => wires[wires.push(new Wire()) - 1] as unknown as Socket
  const pool = new ConnectionPool({...ROOM, dial})
  const wire = async (place: number) => {
    while (!wires[place]?.written.includes('\r\n\r\n')) await turn()
    return wires[place]!
  }
  return {pool, wires, wire}
}

/** A server on loopback that takes each request of a socket to `answer`, and the text it got. */
export async function serveText(answer: (socket: Socket, request: string) => void) {
  const sockets: Socket[] = []
  const server = createServer({noDelay: true}, socket => {
    sockets.push(socket)
    let text = ''
    socket.on('error', () => {})
    socket.on('data', bytes => {
      text += bytes.toString(LATIN1)
      for (let whole = requestIn(text); whole; whole = requestIn(text)) {
        text = text.slice(whole.length)
        answer(socket, whole)
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {port: (server.address() as AddressInfo).port, sockets}
}

function requestIn(text: string): string {
  const end = text.indexOf('\r\n\r\n') + 4
  if (end < 4) return ''
  const head = text.slice(0, end).toLowerCase()
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1]
  if (length) return text.length >= end + Number(length) ? text.slice(0, end + Number(length)) : ''
  if (!head.includes('transfer-encoding: chunked')) return text.slice(0, end)
  const last = text.indexOf('0\r\n\r\n', end)
  return last < 0 ? '' : text.slice(0, last + 5)
}

/** A pool of sockets to a port of this machine; what they read is lent, or not. */
export function poolTo(port: number, is_lent = true): ConnectionPool {
  const dial = async () => {
    const lent = is_lent ? sharedReadBuffer() : null
    const socket = connect({port, host: '127.0.0.1', noDelay: true, ...(lent && {onread: lent.onread})})
    lent?.lend(socket)
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return socket
  }
  const pool = new ConnectionPool({...ROOM, host: `127.0.0.1:${port}`, dial})
  onTestFinished(() => pool.destroy())
  return pool
}
