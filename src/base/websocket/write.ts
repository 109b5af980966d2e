import {randomBytes} from 'node:crypto'
import {CLOSE, OPCODE} from './opcodes.ts'

/** The sender: a client's frames are masked, a server's are not (RFC 6455, 5.1). */
export type WebSocketSide = 'client' | 'server'

/** The content of a close frame; `code` 1005 when it has none. */
export interface Closing {
  readonly code: number
  readonly reason: string
}

const MAX_REASON_BYTES = 123

/** A close frame. The reason is cut to the 123 bytes there are, between characters. Code 1005 writes an empty one. */
export function closeFrame(side: WebSocketSide, {code, reason}: Closing): Buffer {
  if (code === CLOSE.none) return frame(side, OPCODE.close, Buffer.alloc(0))
  const text = Buffer.from(reason)
  let length = Math.min(text.length, MAX_REASON_BYTES)
  while (length < text.length && length > 0 && (text[length]! & 0xc0) === 0x80) length--
  const payload = Buffer.alloc(2 + length)
  payload.writeUInt16BE(code)
  text.copy(payload, 2, 0, length)
  return frame(side, OPCODE.close, payload)
}

/** The payload of a close frame, read. Its reason may be any bytes: what is no UTF-8 is replaced. */
export function readClose(payload: Buffer): Closing {
  if (payload.length < 2) return {code: CLOSE.none, reason: ''}
  return {code: payload.readUInt16BE(), reason: payload.toString('utf8', 2)}
}

export function textFrame(side: WebSocketSide, text: string): Buffer {
  return frame(side, OPCODE.text, Buffer.from(text))
}

export function pingFrame(side: WebSocketSide, payload = Buffer.alloc(0)): Buffer {
  return frame(side, OPCODE.ping, payload)
}

/** One whole frame. A control frame's payload has at most 125 bytes. */
export function frame(side: WebSocketSide, opcode: number, payload: Buffer, is_final = true): Buffer {
  const length_bytes = payload.length < 126 ? 0 : payload.length < 65_536 ? 2 : 8
  const mask = side === 'client' ? randomBytes(4) : null
  const header = Buffer.alloc(2 + length_bytes)
  header[0] = (is_final ? 0x80 : 0) | opcode
  header[1] = (mask ? 0x80 : 0) | (length_bytes === 0 ? payload.length : length_bytes === 2 ? 126 : 127)
  if (length_bytes === 2) header.writeUInt16BE(payload.length, 2)
  if (length_bytes === 8) header.writeBigUInt64BE(BigInt(payload.length), 2)
  if (!mask) return Buffer.concat([header, payload])
  const masked = Buffer.allocUnsafe(payload.length)
  for (let at = 0; at < payload.length; at++) masked[at] = payload[at]! ^ mask[at & 3]!
  return Buffer.concat([header, mask, masked])
}
