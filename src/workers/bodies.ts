import type {LogBodies} from '../schema/records.ts'
import {mostRowBytes, type PackedBodies, type RowFields, writeRow} from '../store/bodies/index.ts'

type Bytes = Buffer<ArrayBuffer>

/** What headers and bookkeeping weigh, roughly: many small rows are many rows too. */
const ROW_BYTES = 2048
const LEAST_BYTES = 64 * 1024
const MOST_SPARE_BYTES = 4 * 1024 * 1024

/**
 * Bodies on their way to the disk. They do not pass through the journal, so what waits is bounded and the rest is dropped.
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
    const fields: RowFields = [
      log_id,
      created_at,
      JSON.stringify(bodies.request_headers),
      request_body,
      JSON.stringify(bodies.response_headers),
      response_body,
      response_encoding,
    ]
    this.#reserve(mostRowBytes(fields))
    this.#end = writeRow(this.#buffer, this.#end, fields, bodies.cut)
  }

  /** Takes what waits; it counts against the bound until `written` is told its weight. */
  pack(packed_ms: number): PackedBodies {
    const packed = {bytes: this.#buffer.buffer, used_bytes: this.#end, rows: this.#rows, weight_bytes: this.#weight_bytes, packed_ms}
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

const lengthOf = (body: Uint8Array | null) => body?.length ?? 0
