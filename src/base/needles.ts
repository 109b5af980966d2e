const TABLE_SIZE = 4096
/** A table keeps its skips in bytes. */
const MAX_SKIP = 255

/**
 * Looks for some byte strings at once, as Wu and Manber do: the two bytes at the end of a window as long as the
 * shortest needle say how far the window may be moved. Of an answer that holds none of them it looks at every few bytes
 * only.
 */
export class Needles {
  readonly #needles: readonly Buffer[]
  readonly #window: number
  readonly #skips = new Uint8Array(TABLE_SIZE)

  /** `needles`: each of at least two bytes. */
  constructor(needles: readonly Buffer[]) {
    this.#needles = needles
    this.#window = needles.reduce((least, {length}) => Math.min(least, length), MAX_SKIP + 1)
    this.#skips.fill(this.#window - 1)
    for (const needle of needles) {
      for (let end = 1; end < this.#window; end++) {
        const pair = pairOf(needle[end - 1]!, needle[end]!)
        this.#skips[pair] = Math.min(this.#skips[pair]!, this.#window - 1 - end)
      }
    }
  }

  /** True when `bytes` has one of them. */
  isIn(bytes: Buffer): boolean {
    const last = this.#window - 1
    for (let at = last; at < bytes.length; ) {
      const skip = this.#skips[pairOf(bytes[at - 1]!, bytes[at]!)]!
      if (skip === 0 && this.#beginsAt(bytes, at - last)) return true
      at += skip || 1
    }
    return false
  }

  #beginsAt(bytes: Buffer, start: number): boolean {
    for (const needle of this.#needles) {
      const end = start + needle.length
      if (
        bytes[start] === needle[0] &&
        end <= bytes.length &&
        bytes.compare(needle, 0, needle.length, start, end) === 0
      )
        return true
    }
    return false
  }
}

function pairOf(first: number, second: number): number {
  return ((first << 5) ^ second) & (TABLE_SIZE - 1)
}
