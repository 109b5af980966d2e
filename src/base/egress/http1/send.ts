import {once} from 'node:events'
import type {Socket} from 'node:net'
import {errors} from 'undici'
import type {HttpExchange, Streamed} from './call.ts'

/** Methods whose requests have a body; after any other with one, the line is closed. */
export const TAKES_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH'])
/** Up to here it is cheaper to copy a body behind its head than to send both by one `writev`. */
const MAX_COPIED_BYTES = 3 * 1024

/** Sends a call whose body is bytes or none. */
export function sendBytes(socket: Socket, call: HttpExchange): void {
  const {head, bytes, handler} = call
  if (bytes === null) sendNothing(socket, call)
  else {
    const text = `${head}content-length: ${bytes.length}\r\n\r\n`
    if (bytes.length <= MAX_COPIED_BYTES) {
      const whole = Buffer.allocUnsafe(text.length + bytes.length)
      whole.write(text, 'latin1')
      bytes.copy(whole, text.length)
      socket.write(whole)
    } else {
      socket.cork()
      socket.write(text, 'latin1')
      socket.write(bytes)
      socket.uncork()
    }
    handler.onBodySent?.(bytes)
  }
  handler.onRequestSent?.()
}

/** Sends a call whose body comes in pieces, no faster than the socket takes them; chunked unless its length is known. */
export async function sendStream(socket: Socket, call: HttpExchange, stream: Streamed): Promise<void> {
  const {head, length, handler} = call
  let sent = 0
  for await (const part of stream) {
    if (call.is_over) return
    const piece = typeof part === 'string' ? Buffer.from(part) : part
    if (piece.length === 0) continue
    if (length !== null && sent + piece.length > length) throw new errors.RequestContentLengthMismatchError()
    socket.cork()
    if (sent === 0) socket.write(`${head}${length === null ? 'transfer-encoding: chunked' : `content-length: ${length}`}\r\n\r\n`, 'latin1')
    if (length === null) socket.write(`${piece.length.toString(16)}\r\n`, 'latin1')
    const flows = socket.write(piece)
    if (length === null) socket.write('\r\n', 'latin1')
    socket.uncork()
    sent += piece.length
    handler.onBodySent?.(piece as Buffer)
    if (!flows) await drained(socket)
  }
  if (call.is_over) return
  if (length !== null && sent !== length) throw new errors.RequestContentLengthMismatchError()
  if (sent === 0) sendNothing(socket, call)
  else if (length === null) socket.write('0\r\n\r\n', 'latin1')
  handler.onRequestSent?.()
}

function sendNothing(socket: Socket, {head, method}: HttpExchange): void {
  socket.write(TAKES_BODY.has(method) ? `${head}content-length: 0\r\n\r\n` : `${head}\r\n`, 'latin1')
}

async function drained(socket: Socket): Promise<void> {
  if (socket.destroyed || !socket.writableNeedDrain) return
  const over = new AbortController()
  try {
    await Promise.race(['drain', 'close'].map(event => once(socket, event, {signal: over.signal})))
  } finally {
    over.abort()
  }
}
