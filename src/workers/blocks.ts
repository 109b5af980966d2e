/**
 * Shared with the thread that writes it: memory that goes from one thread to another counts as new there, and has its
 * garbage collected.
 */
export type Block = Buffer<SharedArrayBuffer>

const BLOCK_BYTES = 512 * 1024
/** Blocks kept when none is needed, and when all were: so much as may wait to be written (`most_body_bytes`). */
const IDLE_SPARES = 4
const MAX_SPARES = 64

/**
 * Blocks that were written and are filled again. V8 does not count shared memory: a block that is let go stays until
 * both of its threads collect their old spaces, which they hardly do. So there are as many as were ever in use at once,
 * and those unused for a whole while are released in one piece.
 */
export class Blocks {
  readonly #spares: Block[] = []
  /** Since `trim` was called. */
  #least_spares = 0

  take(bytes: number): Block {
    const spare = bytes <= BLOCK_BYTES ? this.#spares.pop() : undefined
    this.#least_spares = Math.min(this.#least_spares, this.#spares.length)
    return spare ?? Buffer.from(new SharedArrayBuffer(Math.max(bytes, BLOCK_BYTES)))
  }

  giveBack(bytes: SharedArrayBuffer): void {
    if (bytes.byteLength === BLOCK_BYTES && this.#spares.length < MAX_SPARES) this.#spares.push(Buffer.from(bytes))
  }

  /** True when there are spares that the next `trim` may find to be too many. */
  get hasMany(): boolean {
    return this.#spares.length > IDLE_SPARES
  }

  /** Lets go of what was not needed since the last time. */
  trim(): void {
    this.#spares.length -= Math.max(0, Math.min(this.#least_spares, this.#spares.length - IDLE_SPARES))
    this.#least_spares = this.#spares.length
  }
}
