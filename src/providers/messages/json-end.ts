const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Knows when the JSON object or array that comes in pieces is whole. Every character is looked at once, and only on
 * demand.
 */
export class JsonEnd {
  #unread: string[] = []
  #depth = 0
  #is_string = false
  #is_escaped = false
  #is_whole = false

  push(text: string): void {
    this.#unread.push(text)
  }

  /** True when the value that began has ended; never for one that is neither object nor array. */
  get is_whole(): boolean {
    for (const piece of this.#unread) this.#read(piece)
    this.#unread = []
    return this.#is_whole
  }

  #read(piece: string) {
    for (let at = 0; at < piece.length && !this.#is_whole; at++) {
      const code = piece.charCodeAt(at)
      if (this.#is_escaped) this.#is_escaped = false
      else if (this.#is_string) {
        if (code === BACKSLASH) this.#is_escaped = true
        else if (code === QUOTE) this.#is_string = false
      } else if (code === QUOTE) this.#is_string = true
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#depth++
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.#is_whole = --this.#depth <= 0
    }
  }
}
