/** A carry larger than this is released once it was read. */
const KEPT_BYTES = 64 * 1024
const EMPTY = Buffer.alloc(0)

/** The bytes of something that spans the chunks of a stream, until it is whole. */
export class ChunkBuffer {
  #bytes: Buffer = EMPTY
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The kept bytes; valid until the next `keep` or `clear`. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  keep(chunk: Buffer, from: number, to: number): void {
    const needed = this.#length + to - from
    if (needed > this.#bytes.length) {
      // Doubled, so that a stream cut at every byte costs no more than twice its length.
      const grown = Buffer.allocUnsafe(Math.max(512, needed, this.#bytes.length * 2))
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    chunk.copy(this.#bytes, this.#length, from, to)
    this.#length = needed
  }

  /** Nothing is kept any more; `bytes` read before stay good until the next `keep`. */
  clear(): void {
    this.#length = 0
  }

  /** After what was read of it was used: a large one is no longer held. */
  shrink(): void {
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = EMPTY
  }
}

/** A carry with a bound: what is longer than `most_bytes` is not kept at all, and read as null. */
export class BoundedCarry {
  readonly #most_bytes: number
  readonly #carry = new ChunkBuffer()
  #is_opaque = false

  constructor(most_bytes: number) {
    this.#most_bytes = most_bytes
  }

  /** True when what is open is longer than the bound, so that nothing of it is kept. */
  get is_opaque(): boolean {
    return this.#is_opaque
  }

  /** The kept bytes; null when they are longer than the bound. */
  get bytes(): Buffer | null {
    return this.#is_opaque ? null : this.#carry.bytes
  }

  keep(chunk: Buffer, from: number, to: number): void {
    if (this.#is_opaque) return
    if (this.#carry.length + to - from <= this.#most_bytes) return this.#carry.keep(chunk, from, to)
    this.#is_opaque = true
    this.#carry.clear()
    this.#carry.shrink()
  }

  /** The whole of what ends at `to`: a slice of the chunk where all of it is there. */
  take(chunk: Buffer, from: number, to: number): Buffer | null {
    if (this.#carry.length === 0 && !this.#is_opaque)
      return to - from > this.#most_bytes ? null : chunk.subarray(from, to)
    this.keep(chunk, from, to)
    return this.bytes
  }

  clear(): void {
    this.#carry.clear()
    this.#is_opaque = false
  }

  shrink(): void {
    this.#carry.shrink()
  }
}
