const BOM = [0xef, 0xbb, 0xbf]

/** Skips the byte order mark that a stream of UTF-8 may begin with, however it is cut into chunks. */
export class ByteOrderMark {
  /** Bytes of it seen so far; 3 when there is none to come. */
  #seen = 0

  get is_past(): boolean {
    return this.#seen === 3
  }

  /** The index in `chunk` at which the text begins. */
  skip(chunk: Buffer): number {
    let at = 0
    while (this.#seen < 3 && at < chunk.length) {
      if (chunk[at] !== BOM[this.#seen]) {
        this.#seen = 3
        break
      }
      this.#seen++
      at++
    }
    return at
  }
}
