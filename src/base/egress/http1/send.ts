import {once} from 'node:events'
import type {Socket} from 'node:net'
import {errors} from 'undici'
import type {HttpExchange, Streamed} from './call.ts'

/** Methods whose requests have a body; after any other with one, the line is closed. */
export const TAKES_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH'])
/** Up to here it is cheaper to copy a body behind its head than to send both by one `writev`. */
const MAX_COPIED_BYTES = 3 * 1024
const NOTHING = Buffer.alloc(0)

/** Sends a call whose body is bytes or none. */
export function sendBytes(socket: Socket, call: HttpExchange): void {
  const {head, bytes, handler} = call
  if (bytes === null) return sendNothing(socket, call, whenWritten(handler))
  const text = `${head}content-length: ${bytes.length}\r\n\r\n`
  if (bytes.length <= MAX_COPIED_BYTES) sendCopied(socket, text, bytes, handler)
  else {
    socket.cork()
    socket.write(text, 'latin1')
    socket.write(bytes, whenWritten(handler))
    socket.uncork()
  }
  handler.onBodySent?.(bytes)
}

/**
 * Most requests are short, and their socket takes them at once. Node calls a callback of such a write in a turn of its
 * own, which costs more than to look whether anything waits. A write that failed leaves nothing waiting either, and a
 * socket that is not writable.
 */
function sendCopied(socket: Socket, head: string, bytes: Buffer, handler: HttpExchange['handler']): void {
  const whole = Buffer.allocUnsafe(head.length + bytes.length)
  whole.write(head, 'latin1')
  bytes.copy(whole, head.length)
  const is_direct = !('encrypted' in socket) && !socket.connecting && socket.writableLength === 0
  if (!is_direct) socket.write(whole, whenWritten(handler))
  else {
    socket.write(whole)
    if (socket.writableLength > 0) socket.write(NOTHING, whenWritten(handler))
    else if (socket.writable) handler.onRequestSent?.()
  }
}

function whenWritten(handler: HttpExchange['handler']): Written {
  return fault => fault || handler.onRequestSent?.()
}

/**
 * Sends a call whose body comes in pieces, no faster than the socket takes them; chunked unless its length is known.
 */
export async function sendStream(socket: Socket, call: HttpExchange, stream: Streamed): Promise<void> {
  const {head, length, handler} = call
  let sent = 0
  let waiting = 0
  let is_whole = false
  const written: Written = fault => {
    waiting--
    if (!fault && is_whole && waiting === 0) handler.onRequestSent?.()
  }
  for await (const part of stream) {
    if (call.is_over) return
    const piece = typeof part === 'string' ? Buffer.from(part) : part
    if (piece.length === 0) continue
    if (length !== null && sent + piece.length > length) throw new errors.RequestContentLengthMismatchError()
    socket.cork()
    if (sent === 0)
      socket.write(
        `${head}${length === null ? 'transfer-encoding: chunked' : `content-length: ${length}`}\r\n\r\n`,
        'latin1',
      )
    if (length === null) socket.write(`${piece.length.toString(16)}\r\n`, 'latin1')
    waiting++
    const flows = socket.write(piece, written)
    if (length === null) socket.write('\r\n', 'latin1')
    socket.uncork()
    sent += piece.length
    handler.onBodySent?.(piece as Buffer)
    if (!flows) await drained(socket)
  }
  if (call.is_over) return
  if (length !== null && sent !== length) throw new errors.RequestContentLengthMismatchError()
  is_whole = true
  if (sent > 0 && length !== null) {
    if (waiting === 0) handler.onRequestSent?.()
    return
  }
  waiting++
  if (sent === 0) sendNothing(socket, call, written)
  else socket.write('0\r\n\r\n', 'latin1', written)
}

/** The operating system has taken what was written, or the socket is gone. */
type Written = (fault?: Error | null) => void

function sendNothing(socket: Socket, {head, method}: HttpExchange, written: Written): void {
  socket.write(TAKES_BODY.has(method) ? `${head}content-length: 0\r\n\r\n` : `${head}\r\n`, 'latin1', written)
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
