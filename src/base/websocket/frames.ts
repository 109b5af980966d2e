import {SocketFault} from './fault.ts'
import {CLOSE, OPCODE} from './opcodes.ts'

/** The message of one or more frames, or the control frame, that ended with a piece. */
export type CompletedFrame =
  | {readonly kind: 'message'; readonly is_text: boolean; readonly bytes: number; readonly payload: Buffer | null}
  | {readonly kind: 'close' | 'ping' | 'pong'; readonly payload: Buffer}

/** Bytes of the wire, to be passed on as they are. */
export interface WirePiece {
  readonly bytes: Buffer
  readonly ended: CompletedFrame | null
}

/** A larger message passes unread, and a frame larger than this in pieces. */
export const MAX_MESSAGE_BYTES = 1 << 20

const FIN = 0x80
const RESERVED = 0x70
const MASKED = 0x80
const MAX_CONTROL_BYTES = 125

interface Header {
  readonly opcode: number
  readonly is_final: boolean
  /** The header's own length. */
  readonly length: number
  readonly payload_bytes: number
  readonly mask: Buffer | null
}

/**
 * Cuts one direction of a WebSocket connection (RFC 6455, without extensions) into pieces, however it is cut into
 * chunks: the pieces' bytes, put together, are the bytes that came in. Frames up to the bound are pieces of their own;
 * of a larger one each piece is what is there of it. `next` gives the next piece, or null when more bytes are needed;
 * it throws a SocketFault where the other side breaks the protocol, and is not to be called again. Not more than a
 * frame within the bound and a chunk is held.
 */
export class FrameReader {
  readonly #is_masked: boolean
  readonly #most_bytes: number
  #chunks: Buffer[] = []
  #available = 0
  /** The bytes that are left of a frame that passes in pieces, and its header. */
  #left = 0
  #open: Header | undefined
  /** The opcode of the message whose frames are being read; 0 between messages. */
  #message = 0
  #message_bytes = 0
  /** Null: the message is larger than the bound. */
  #parts: Buffer[] | null = []

  /** `from`: whose frames these are. A client's are masked, a server's are not (RFC 6455, 5.1). */
  constructor(from: 'client' | 'server', most_bytes = MAX_MESSAGE_BYTES) {
    this.#is_masked = from === 'client'
    this.#most_bytes = most_bytes
  }

  /** True within a frame, of which a part was given: nothing can be put in there. */
  get is_mid_frame(): boolean {
    return this.#left > 0
  }

  /** True within a frame or between the frames of a message: no other message can begin there. */
  get is_mid_message(): boolean {
    return this.#left > 0 || this.#message !== 0
  }

  /** Bytes taken and not given yet. */
  get held_bytes(): number {
    return this.#available
  }

  add(chunk: Buffer): void {
    gather(this.#chunks, chunk)
    this.#available += chunk.length
  }

  next(): WirePiece | null {
    if (this.#left > 0) return this.#rest()
    const header = this.#header()
    if (!header) return null
    const whole = header.length + header.payload_bytes
    if (whole > this.#most_bytes) {
      this.#begin(header)
      this.#parts = null
      this.#open = header
      this.#left = whole
      return this.#rest()
    }
    if (this.#available < whole) return null
    const bytes = this.#take(whole)
    const payload = bytes.subarray(header.length)
    const plain = header.mask ? unmasked(payload, header.mask) : payload
    if (header.opcode >= OPCODE.close) return {bytes, ended: control(header.opcode, plain)}
    this.#begin(header)
    this.#keep(plain, header.is_final)
    return {bytes, ended: header.is_final ? this.#end() : null}
  }

  #rest(): WirePiece | null {
    if (this.#available === 0) return null
    const bytes = this.#take(Math.min(this.#left, this.#available))
    this.#left -= bytes.length
    return {bytes, ended: this.#left === 0 && this.#open!.is_final ? this.#end() : null}
  }

  #begin({opcode, payload_bytes}: Header) {
    if (opcode !== OPCODE.continuation) {
      this.#message = opcode
      this.#message_bytes = 0
      this.#parts = []
    }
    this.#message_bytes += payload_bytes
    if (this.#message_bytes > this.#most_bytes) this.#parts = null
  }

  #keep(payload: Buffer, is_final: boolean) {
    if (!this.#parts) return
    // a part that must wait for others is copied, so that it does not keep the whole chunk it came in
    gather(this.#parts, is_final || this.#is_masked ? payload : Buffer.from(payload))
  }

  #end(): CompletedFrame {
    const parts = this.#parts
    const is_text = this.#message === OPCODE.text
    this.#message = 0
    this.#parts = []
    const payload = parts === null ? null : parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    return {kind: 'message', is_text, bytes: this.#message_bytes, payload}
  }

  /** The header of the frame that begins with what is held; undefined while it is not all there. */
  #header(): Header | undefined {
    if (this.#available < 2) return undefined
    const first = this.#byte(0)
    const second = this.#byte(1)
    const opcode = first & 0x0f
    const is_final = (first & FIN) !== 0
    this.#check(first, opcode, is_final, (second & MASKED) !== 0)
    const short = second & 0x7f
    if (opcode >= OPCODE.close && short > MAX_CONTROL_BYTES) throw wrong('a control frame is longer than 125 bytes')
    const length_bytes = short === 127 ? 8 : short === 126 ? 2 : 0
    const length = 2 + length_bytes + (this.#is_masked ? 4 : 0)
    if (this.#available < length) return undefined
    let payload_bytes = short
    if (length_bytes) {
      payload_bytes = 0
      for (let at = 2; at < 2 + length_bytes; at++) payload_bytes = payload_bytes * 256 + this.#byte(at)
      if (payload_bytes > Number.MAX_SAFE_INTEGER) throw wrong('a frame is longer than any can be')
      if (payload_bytes < (length_bytes === 2 ? 126 : 65_536))
        throw wrong('a length is not written in its shortest form')
    }
    const mask = this.#is_masked ? Buffer.from([0, 1, 2, 3].map(at => this.#byte(length - 4 + at))) : null
    return {opcode, is_final, length, payload_bytes, mask}
  }

  #check(first: number, opcode: number, is_final: boolean, is_masked: boolean) {
    if (first & RESERVED) throw wrong('a reserved bit is set, though no extension was agreed on')
    if (!KNOWN.has(opcode)) throw wrong(`the opcode ${opcode} is not known`)
    if (is_masked !== this.#is_masked)
      throw wrong(is_masked ? 'a frame of a server is masked' : 'a frame of a client is not masked')
    if (opcode >= OPCODE.close) {
      if (!is_final) throw wrong('a control frame is fragmented')
    } else if (opcode === OPCODE.continuation) {
      if (this.#message === 0) throw wrong('a message is continued that did not begin')
    } else if (this.#message !== 0) throw wrong('a message begins before the one before it has ended')
  }

  #byte(at: number): number {
    let rest = at
    for (const chunk of this.#chunks) {
      if (rest < chunk.length) return chunk[rest]!
      rest -= chunk.length
    }
    return 0
  }

  #take(length: number): Buffer {
    this.#available -= length
    const first = this.#chunks[0]!
    if (first.length > length) {
      this.#chunks[0] = first.subarray(length)
      return first.subarray(0, length)
    }
    if (first.length === length) {
      this.#chunks.shift()
      return first
    }
    const all = Buffer.concat(this.#chunks)
    this.#chunks = all.length > length ? [all.subarray(length)] : []
    return all.subarray(0, length)
  }
}

const KNOWN: ReadonlySet<number> = new Set(Object.values(OPCODE))

function control(opcode: number, payload: Buffer): CompletedFrame {
  if (opcode !== OPCODE.close) return {kind: opcode === OPCODE.ping ? 'ping' : 'pong', payload}
  if (payload.length === 1) throw wrong('a close frame holds half a code')
  return {kind: 'close', payload}
}

/**
 * Adds `chunk` to what waits. Many small ones are put together, so that a byte sent alone costs no buffer of its own
 * for long.
 */
function gather(chunks: Buffer[], chunk: Buffer) {
  if (chunk.length === 0) return
  chunks.push(chunk)
  while (chunks.length > MAX_APART && chunks.at(-1)!.length >= chunks.at(-2)!.length)
    chunks.push(Buffer.concat(chunks.splice(-2)))
}

const MAX_APART = 16

function unmasked(payload: Buffer, mask: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(payload.length)
  for (let at = 0; at < payload.length; at++) plain[at] = payload[at]! ^ mask[at & 3]!
  return plain
}

function wrong(reason: string): SocketFault {
  return new SocketFault(CLOSE.protocol_error, reason)
}
