import type {LogBodies} from '../schema/records.ts'
import {mostRowBytes, type PackedBodies, type RowFields, writeRow} from '../store/bodies/index.ts'
import {type Block, Blocks} from './blocks.ts'

/** The rough weight of headers and bookkeeping: many small rows are many rows too. */
const ROW_BYTES = 2048
const NOTHING: Block = Buffer.from(new SharedArrayBuffer(0))

/**
 * Bodies to be written to the disk. They do not pass through the journal, so the waiting ones are bounded and the rest
 * is dropped. A row is written out at once, into a block that is handed over whole: nothing of a call is kept alive
 * until then.
 */
export class BodyQueue {
  /** How many rows lost their bodies for want of room. */
  dropped = 0
  /** There is no room where bodies wait for the log store: none is taken. */
  is_shut = false
  /** The weight of bodies that wait here or are handed over but not written. */
  weight_bytes = 0
  readonly blocks = new Blocks()
  readonly #most_bytes: number
  #block: Block = NOTHING
  #end = 0
  #rows = 0
  #weight_bytes = 0
  #full: Omit<PackedBodies, 'packed_ms'>[] = []

  constructor(most_bytes: number) {
    this.#most_bytes = most_bytes
  }

  get isEmpty(): boolean {
    return this.#rows === 0 && this.#full.length === 0
  }

  /** True when a whole block waits, which should not wait for others. */
  get isFull(): boolean {
    return this.#full.length > 0
  }

  add(bodies: LogBodies, created_at: string): void {
    const {log_id, request_body, response_body, response_encoding} = bodies
    const body_bytes = lengthOf(request_body) + lengthOf(response_body)
    const weight_bytes = ROW_BYTES + body_bytes
    if (this.is_shut || this.weight_bytes + weight_bytes > this.#most_bytes) {
      this.dropped++
      return
    }
    const fields: RowFields = [
      log_id,
      created_at,
      JSON.stringify(bodies.request_headers),
      request_body,
      JSON.stringify(bodies.response_headers),
      response_body,
      response_encoding,
    ]
    const most_bytes = mostRowBytes(fields)
    if (this.#end + most_bytes > this.#block.length) this.#begin(most_bytes)
    this.#end = writeRow(this.#block, this.#end, fields, bodies.cut)
    this.#rows++
    this.#weight_bytes += weight_bytes
    this.weight_bytes += weight_bytes
  }

  /**
   * Takes the oldest block that waits; it counts against the bound until `written` gets its weight. Undefined when none
   * does.
   */
  pack(packed_ms: number): PackedBodies | undefined {
    if (this.#full.length === 0) this.#close()
    const block = this.#full.shift()
    return block && {...block, packed_ms}
  }

  written(weight_bytes: number): void {
    this.weight_bytes -= weight_bytes
  }

  /** Begins a block with room for a row of `bytes`. */
  #begin(bytes: number) {
    this.#close()
    this.#block = this.blocks.take(bytes)
  }

  #close() {
    if (this.#rows === 0) return
    this.#full.push({
      bytes: this.#block.buffer,
      used_bytes: this.#end,
      rows: this.#rows,
      weight_bytes: this.#weight_bytes,
    })
    this.#block = NOTHING
    this.#end = 0
    this.#rows = 0
    this.#weight_bytes = 0
  }
}

const lengthOf = (body: Uint8Array | null) => body?.length ?? 0
