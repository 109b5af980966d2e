/** A string longer than this is read over. */
const LONGEST_STRING = 1024
/** No more is kept of a text; what says more in short words is not read. */
const MAX_KEPT_BYTES = 8 << 20
const FIRST_BYTES = 64 * 1024
const MAX_DEPTH = 4096

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * JSON of any length that is streamed through, kept without its long parts: long strings become empty, numbers in lists
 * 0. The facts in an answer of many megabytes are between its pictures, texts and vectors.
 */
export class JsonSkim {
  #kept = Buffer.allocUnsafe(FIRST_BYTES)
  #length = 0
  /** For each open list and object, whether it is a list. */
  readonly #lists: boolean[] = []
  #is_string = false
  /** The index in the kept bytes at which the open string begins; bytes beyond the longest are not kept. */
  #string_at = 0
  #is_escaped = false
  #is_number = false
  #is_broken = false

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.#is_broken)
      at = this.#is_string ? this.#string(chunk, at) : this.#structure(chunk, at)
  }

  /** The kept bytes; null when they are too long, or when the text has no end. */
  bytes(): Buffer | null {
    return this.#is_broken || this.#is_string || this.#lists.length > 0 ? null : this.#kept.subarray(0, this.#length)
  }

  /** Reads to the end of the string, or of the chunk. */
  #string(chunk: Buffer, from: number): number {
    let at = from
    for (;;) {
      if (this.#is_escaped) {
        this.#is_escaped = false
        at++
      }
      const quote = chunk.indexOf(QUOTE, at)
      const end = quote < 0 ? chunk.length : quote
      let slashes = 0
      while (end - 1 - slashes >= at && chunk[end - 1 - slashes] === BACKSLASH) slashes++
      if (quote < 0) {
        this.#is_escaped = slashes % 2 === 1
        this.#keepString(chunk, from, end)
        return end
      }
      at = quote
      if (slashes % 2 === 1) this.#is_escaped = true
      else {
        this.#keepString(chunk, from, quote)
        if (this.#length - this.#string_at > LONGEST_STRING) this.#length = this.#string_at
        this.#keep(chunk, quote, quote + 1)
        this.#is_string = false
        return quote + 1
      }
      if (at >= chunk.length) return at
    }
  }

  /** As much of it as tells that it is too long. */
  #keepString(chunk: Buffer, from: number, end: number) {
    const room = LONGEST_STRING + 1 - (this.#length - this.#string_at)
    if (room > 0) this.#keep(chunk, from, Math.min(end, from + room))
  }

  /** Reads to the next string, or to the end of the chunk. */
  #structure(chunk: Buffer, from: number): number {
    let run = from
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (this.#is_number) {
        if (byte !== COMMA && byte !== CLOSE_ARRAY) {
          run = at + 1
          continue
        }
        this.#is_number = false
        run = at
      }
      if (byte === QUOTE) {
        this.#keep(chunk, run, at + 1)
        this.#is_string = true
        this.#string_at = this.#length
        return at + 1
      }
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (this.#lists.push(byte === OPEN_ARRAY) > MAX_DEPTH) this.#is_broken = true
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#lists.pop()
      else if ((byte === MINUS || (byte >= ZERO && byte <= NINE)) && this.#lists.at(-1)) {
        this.#keep(chunk, run, at)
        this.#keep(NOUGHT, 0, 1)
        this.#is_number = true
        run = at + 1
      }
    }
    this.#keep(chunk, run, chunk.length)
    return chunk.length
  }

  #keep(chunk: Buffer, from: number, end: number) {
    const needed = this.#length + end - from
    if (needed > MAX_KEPT_BYTES) {
      this.#is_broken = true
      return
    }
    if (needed > this.#kept.length) {
      const more = Buffer.allocUnsafe(Math.min(MAX_KEPT_BYTES, Math.max(needed, this.#kept.length * 2)))
      this.#kept.copy(more, 0, 0, this.#length)
      this.#kept = more
    }
    this.#length += chunk.copy(this.#kept, this.#length, from, end)
  }
}

const NOUGHT = Buffer.from('0')
