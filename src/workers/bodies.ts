import type {LogBodies} from '../schema/records.ts'
import type {LogBodiesTable} from '../store/tables/traffic.ts'

/** Bodies of log rows in one piece of memory, so that another thread takes them without a copy. */
export interface PackedBodies {
  /** The rows, one behind the other; what follows the last is of no meaning. */
  readonly bytes: ArrayBuffer
  readonly rows: number
  /** What they weigh until they are written. */
  readonly weight_bytes: number
}

type Bytes = Buffer<ArrayBuffer>

/** What headers and bookkeeping weigh, roughly: many small rows are many rows too. */
const ROW_BYTES = 2048
/** A row begins with the lengths of its seven fields and whether it was cut, each in four bytes. */
const HEAD_BYTES = 8 * 4
const NONE = -1
const LEAST_BYTES = 64 * 1024
const MOST_SPARE_BYTES = 4 * 1024 * 1024
/** UTF-8 takes at most three bytes for one UTF-16 unit. */
const MOST_BYTES_PER_UNIT = 3

/**
 * Bodies on their way to the database. They do not pass through the journal, so what waits is bounded and the rest is dropped.
 * A row is written out at once, into memory that is handed over whole: nothing of a call is kept alive until then.
 */
export class BodyQueue {
  /** How many rows lost their bodies for want of room. */
  dropped = 0
  /** What waits here and what is handed over but not written. */
  weight_bytes = 0
  readonly #most_bytes: number
  #buffer: Bytes = Buffer.alloc(0)
  #spare: Bytes | undefined
  #end = 0
  #rows = 0
  #weight_bytes = 0

  constructor(most_bytes: number) {
    this.#most_bytes = most_bytes
  }

  get isEmpty(): boolean {
    return this.#rows === 0
  }

  add(bodies: LogBodies, created_at: string): void {
    const {log_id, request_body, response_body, response_encoding} = bodies
    const body_bytes = lengthOf(request_body) + lengthOf(response_body)
    const weight_bytes = ROW_BYTES + body_bytes
    if (this.weight_bytes + weight_bytes > this.#most_bytes) {
      this.dropped++
      return
    }
    this.#rows++
    this.#weight_bytes += weight_bytes
    this.weight_bytes += weight_bytes
    const request_headers = JSON.stringify(bodies.request_headers)
    const response_headers = JSON.stringify(bodies.response_headers)
    const units = log_id.length + created_at.length + request_headers.length + response_headers.length + (response_encoding?.length ?? 0)
    this.#reserve(HEAD_BYTES + units * MOST_BYTES_PER_UNIT + body_bytes)
    const head = this.#end
    this.#end += HEAD_BYTES
    this.#put(head, 0, log_id)
    this.#put(head, 1, created_at)
    this.#put(head, 2, request_headers)
    this.#put(head, 3, request_body)
    this.#put(head, 4, response_headers)
    this.#put(head, 5, response_body)
    this.#put(head, 6, response_encoding)
    this.#buffer.writeInt32LE(bodies.cut ? 1 : 0, head + 28)
  }

  /** Takes what waits; it counts against the bound until `written` is told its weight. */
  pack(): PackedBodies {
    const packed = {bytes: this.#buffer.buffer, rows: this.#rows, weight_bytes: this.#weight_bytes}
    this.#buffer = Buffer.alloc(0)
    this.#end = 0
    this.#rows = 0
    this.#weight_bytes = 0
    return packed
  }

  written(weight_bytes: number): void {
    this.weight_bytes -= weight_bytes
  }

  /** Takes back the memory of what was written: new memory every time would have to wait for the collections of two threads. */
  reuse(bytes: ArrayBuffer): void {
    if (bytes.byteLength <= MOST_SPARE_BYTES) this.#spare = Buffer.from(bytes)
  }

  #put(head: number, field: number, value: string | Uint8Array | null) {
    let length = NONE
    if (typeof value === 'string') length = this.#buffer.write(value, this.#end)
    else if (value !== null) {
      this.#buffer.set(value, this.#end)
      length = value.length
    }
    this.#buffer.writeInt32LE(length, head + field * 4)
    if (length > 0) this.#end += length
  }

  #reserve(bytes: number) {
    const needed = this.#end + bytes
    if (needed <= this.#buffer.length) return
    const spare = this.#spare
    const larger = spare && spare.length >= needed ? spare : Buffer.allocUnsafeSlow(Math.max(LEAST_BYTES, needed * 2))
    if (larger === spare) this.#spare = undefined
    this.#buffer.copy(larger, 0, 0, this.#end)
    this.#buffer = larger
  }
}

/** The rows of what was packed. Their bodies are views, not copies. */
export function unpackBodies({bytes, rows}: Pick<PackedBodies, 'bytes' | 'rows'>): LogBodiesTable[] {
  const buffer = Buffer.from(bytes)
  let at = 0
  return Array.from({length: rows}, () => {
    const head = at
    at += HEAD_BYTES
    const take = (field: number): Buffer | null => {
      const length = buffer.readInt32LE(head + field * 4)
      if (length === NONE) return null
      at += length
      return buffer.subarray(at - length, at)
    }
    const text = (field: number) => take(field)?.toString() ?? null
    return {
      log_id: text(0)!,
      created_at: text(1)!,
      request_headers: text(2)!,
      request_body: take(3),
      response_headers: text(4)!,
      response_body: take(5),
      response_encoding: text(6),
      cut: buffer.readInt32LE(head + 28),
    }
  })
}

const lengthOf = (body: Uint8Array | null) => body?.length ?? 0
