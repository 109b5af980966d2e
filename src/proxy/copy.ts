/** Answers up to this are read whole for their usage. */
const MOST_READ_BYTES = 8 << 20

/** A copy of an answer for our own reading: whole up to 8 MB; of a longer one the beginning that the log keeps. */
export class Copy {
  readonly #most: number
  #parts: Buffer[] = []
  #length = 0
  isCut = false

  constructor(log_bytes: number) {
    this.#most = Math.max(log_bytes, MOST_READ_BYTES)
  }

  add(chunk: Buffer): void {
    if (this.isCut) return
    if (this.#length + chunk.length > this.#most) {
      this.isCut = true
      this.#parts.push(chunk.subarray(0, this.#most - this.#length))
      this.#length = this.#most
      return
    }
    this.#parts.push(chunk)
    this.#length += chunk.length
  }

  /** Keeps other bytes instead: what the answer became. */
  replace(bytes: Buffer): void {
    this.#parts = [bytes]
    this.#length = bytes.length
    this.isCut = false
  }

  /** What was kept, in one piece. */
  bytes(): Buffer {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)]
    return this.#parts[0] ?? EMPTY
  }
}

const EMPTY = Buffer.alloc(0)
