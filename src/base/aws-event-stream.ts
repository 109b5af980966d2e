import {crc32} from 'node:zlib'
import {ChunkBuffer} from './chunk-buffer.ts'
import {isObject, parseJson} from './json-object.ts'

/** A message may be this long: 16 MiB of payload, 128 KiB of headers, and its frame. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024 + 128 * 1024 + 16

/** A header's value by its wire type: bool, byte to int, long, bytes, string or uuid (as text), timestamp. */
export type AwsHeader = boolean | number | bigint | Buffer | string | Date

/** One message of `application/vnd.amazon.eventstream`. */
export interface AwsMessage {
  /** By name, as it is written (`:event-type`). A name that comes twice has its last value. */
  readonly headers: ReadonlyMap<string, AwsHeader>
  /** Good during the call only. */
  readonly payload: Buffer
}

/** A message in the form of an SSE event: its name and its data. */
export interface AwsEvent {
  /** `:event-type`, `:exception-type` or `:error-code`; null where there is none. */
  readonly name: string | null
  /** Parsed JSON, or the text when it is none. Of an exception or an error: an object whose `__type` is `name`. */
  readonly data: unknown
}

/** Bytes that are no event stream, or were damaged in transit. Nothing after them can be read. */
export class FrameFault extends Error {
  constructor(reason: string) {
    super(`The event stream is damaged: ${reason}.`)
    this.name = 'FrameFault'
  }
}

const PRELUDE_BYTES = 12
const CRC_BYTES = 4
const MIN_MESSAGE_BYTES = PRELUDE_BYTES + CRC_BYTES
const MAX_HEADERS_BYTES = 128 * 1024

/**
 * Cuts an AWS event stream into its messages, however the stream is cut into chunks. Source: Amazon event stream
 * encoding (big-endian: total length, headers' length, CRC-32 of these eight bytes; headers; payload; CRC-32 of all
 * before it). Of a message that spans chunks its bytes are kept; a length beyond `most_bytes` is refused before
 * anything is kept for it. Throws `FrameFault`, and again at each call after.
 */
export class AwsEventStream {
  readonly #on_message: (message: AwsMessage) => void
  readonly #most_bytes: number
  readonly #carry = new ChunkBuffer()
  /** Length of the open message; 0 until its prelude is read. */
  #total = 0
  #broken: FrameFault | null = null

  constructor(on_message: (message: AwsMessage) => void, most_bytes = MAX_MESSAGE_BYTES) {
    this.#on_message = on_message
    this.#most_bytes = most_bytes
  }

  /** True inside a message: a stream that ends here was cut off. */
  get is_open(): boolean {
    return this.#carry.length > 0
  }

  /** How many of the bytes so far are of a message that has begun and not ended. */
  get open_bytes(): number {
    return this.#carry.length
  }

  push(chunk: Buffer): void {
    if (this.#broken) throw this.#broken
    try {
      this.#take(chunk)
    } catch (error) {
      if (error instanceof FrameFault) this.#broken = error
      throw error
    }
  }

  #take(chunk: Buffer) {
    let at = 0
    while (at < chunk.length) {
      if (this.#carry.length === 0 && chunk.length - at >= PRELUDE_BYTES) {
        const total = this.#readPrelude(chunk.subarray(at, at + PRELUDE_BYTES))
        if (chunk.length - at >= total) {
          this.#on_message(readMessage(chunk.subarray(at, at + total)))
          at += total
          continue
        }
        this.#total = total
      }
      at += this.#keep(chunk, at)
    }
  }

  /**
   * Keeps what `chunk` has of the open message from `at` on, and tells the message when it is whole. Gives how many
   * bytes it took.
   */
  #keep(chunk: Buffer, at: number): number {
    const wanted = (this.#total || PRELUDE_BYTES) - this.#carry.length
    const taken = Math.min(wanted, chunk.length - at)
    this.#carry.keep(chunk, at, at + taken)
    if (taken < wanted) return taken
    if (this.#total === 0) {
      this.#total = this.#readPrelude(this.#carry.bytes)
      return taken
    }
    const message = readMessage(this.#carry.bytes)
    this.#total = 0
    this.#carry.clear()
    this.#on_message(message)
    this.#carry.shrink()
    return taken
  }

  #readPrelude(prelude: Buffer): number {
    if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8))
      throw new FrameFault('the checksum of a prelude is wrong')
    const total = prelude.readUInt32BE(0)
    const headers = prelude.readUInt32BE(4)
    if (total > this.#most_bytes) throw new FrameFault(`a message of ${total} bytes is longer than ${this.#most_bytes}`)
    if (headers > MAX_HEADERS_BYTES || total < MIN_MESSAGE_BYTES + headers)
      throw new FrameFault('the lengths of a message disagree')
    return total
  }
}

/** The event that a message is. Its payload is read here, so that nothing of the stream's bytes is held. */
export function readEvent({headers, payload}: AwsMessage): AwsEvent {
  const kind = textIn(headers, ':message-type')
  if (kind === 'error') {
    const name = textIn(headers, ':error-code') ?? 'UnknownError'
    return {name, data: {__type: name, message: textIn(headers, ':error-message') ?? ''}}
  }
  const fault_body = parsed(payload)
  if (kind !== 'exception') return {name: textIn(headers, ':event-type'), data: fault_body}
  const name = textIn(headers, ':exception-type') ?? 'UnknownException'
  return {
    name,
    data: {
      ...(isObject(fault_body) ? fault_body : {message: typeof fault_body === 'string' ? fault_body : ''}),
      __type: name,
    },
  }
}

function textIn(headers: ReadonlyMap<string, AwsHeader>, name: string): string | null {
  const value = headers.get(name)
  return typeof value === 'string' ? value : null
}

function parsed(payload: Buffer): unknown {
  const text = payload.toString('utf8')
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

/** `bytes`: one message, its prelude already judged. */
function readMessage(bytes: Buffer): AwsMessage {
  const end = bytes.length - CRC_BYTES
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end))
    throw new FrameFault('the checksum of a message is wrong')
  const payload_at = PRELUDE_BYTES + bytes.readUInt32BE(4)
  return {headers: readHeaders(bytes.subarray(PRELUDE_BYTES, payload_at)), payload: bytes.subarray(payload_at, end)}
}

function readHeaders(bytes: Buffer): ReadonlyMap<string, AwsHeader> {
  const headers = new Map<string, AwsHeader>()
  let at = 0
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new FrameFault('a header is cut off')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const name = take(take(1)[0]!).toString('utf8')
    headers.set(name, readValue(take(1)[0]!, take))
  }
  return headers
}

function readValue(type: number, take: (length: number) => Buffer): AwsHeader {
  switch (type) {
    case 0:
      return true
    case 1:
      return false
    case 2:
      return take(1).readInt8()
    case 3:
      return take(2).readInt16BE()
    case 4:
      return take(4).readInt32BE()
    case 5:
      return take(8).readBigInt64BE()
    case 6:
      return Buffer.from(take(take(2).readUInt16BE()))
    case 7:
      return take(take(2).readUInt16BE()).toString('utf8')
    case 8:
      return new Date(Number(take(8).readBigInt64BE()))
    case 9:
      return take(16)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    default:
      throw new FrameFault(`a header has the unknown type ${type}`)
  }
}
