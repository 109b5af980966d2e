import {ByteOrderMark} from './byte-order-mark.ts'
import {BoundedCarry} from './chunk-buffer.ts'

/** A value may be this long; a longer one passes unread. */
export const MAX_VALUE_BYTES = 1024 * 1024

/**
 * Called with each value once: its bytes, without the white space around it; null when it is longer than the bound. The
 * bytes are good during the call only. Whether they are JSON is for `JSON.parse` to say: here only ends are found.
 */
export type OnValue = (raw: Buffer | null) => void

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** The framer's state between values; `line`: values one after the other, in no array; `over`: the array is closed. */
type Place = 'start' | 'line' | 'first' | 'element' | 'separator' | 'over'

/**
 * Cuts a stream into the elements of one JSON array (RFC 8259), or, where it does not begin with `[`, into JSON values
 * with or without white space between them; however it is cut into chunks. Each byte is looked at once. The bytes
 * between values must be valid, else `fault` says what is not and no more values come. Values within one chunk are
 * slices of it; of one that spans chunks its bytes are kept, up to `most_bytes`.
 */
export class JsonValueFramer {
  readonly #on_value: OnValue
  readonly #carry: BoundedCarry
  readonly #bom = new ByteOrderMark()
  #offset = 0
  #place: Place = 'start'
  /**
   * The open value: none, a string or a nested value (ends with its own bytes), a word such as `true` or `1` (ends
   * where others begin).
   */
  #open: 'none' | 'string' | 'nested' | 'word' = 'none'
  #depth = 0
  #in_string = false
  #after_backslash = false
  #fault: string | null = null

  constructor(on_value: OnValue, most_bytes = MAX_VALUE_BYTES) {
    this.#on_value = on_value
    this.#carry = new BoundedCarry(most_bytes)
  }

  /** The fault between values, and its byte; null for none. */
  get fault(): string | null {
    return this.#fault
  }

  /** True when the stream may end here: its array is closed, or no value is open and none was promised. */
  get is_whole(): boolean {
    return this.#fault === null && this.#open === 'none' && (this.#place === 'over' || this.#place === 'line')
  }

  /**
   * How many of the bytes so far are of a value that has begun and not ended; Infinity where it is longer than the
   * bound.
   */
  get open_bytes(): number {
    return this.#carry.bytes?.length ?? Number.POSITIVE_INFINITY
  }

  push(chunk: Buffer): void {
    let at = this.#place !== 'start' || this.#bom.is_past ? 0 : this.#bom.skip(chunk)
    let from = at
    while (at < chunk.length && this.#fault === null) {
      if (this.#open === 'none') {
        from = at
        this.#between(chunk[at]!, this.#offset + at)
        at++
        continue
      }
      const end = this.#endOfValue(chunk, at)
      if (end < 0) break
      this.#close(this.#carry.take(chunk, from, end))
      at = from = end
    }
    if (this.#open !== 'none' && this.#fault === null) this.#carry.keep(chunk, from, chunk.length)
    this.#offset += chunk.length
  }

  /**
   * The stream is over: a word without anything after it is a value; whatever else is open was cut off (`is_whole`
   * stays false).
   */
  end(): void {
    if (this.#open === 'word' && this.#fault === null && this.#place === 'line') this.#close(this.#carry.bytes)
  }

  /** One byte before, between or after values. */
  #between(byte: number, offset: number) {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return
    const place = this.#place
    if (place === 'start' && byte === OPEN_BRACKET) this.#place = 'first'
    else if (place === 'separator' && byte === COMMA) this.#place = 'element'
    else if ((place === 'separator' || place === 'first') && byte === CLOSE_BRACKET) this.#place = 'over'
    else if (place === 'separator') this.#fault = `a comma or ] was expected at byte ${offset}`
    else if (place === 'over') this.#fault = `something follows the array at byte ${offset}`
    else if (byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE)
      this.#fault = `a value was expected at byte ${offset}`
    else this.#begin(byte)
  }

  #begin(byte: number) {
    if (this.#place === 'start') this.#place = 'line'
    this.#in_string = byte === QUOTE
    this.#open = this.#in_string ? 'string' : byte === OPEN_BRACE || byte === OPEN_BRACKET ? 'nested' : 'word'
    this.#depth = this.#open === 'nested' ? 1 : 0
  }

  /** The byte after the open value, looked for from `at`; -1 when it continues beyond the chunk. */
  #endOfValue(chunk: Buffer, at: number): number {
    if (this.#open === 'word') {
      while (at < chunk.length && !ENDS_WORD[chunk[at]!]) at++
      return at < chunk.length ? at : -1
    }
    for (; at < chunk.length; at++) {
      const byte = chunk[at]
      if (this.#in_string) {
        if (this.#after_backslash) this.#after_backslash = false
        else if (byte === BACKSLASH) this.#after_backslash = true
        else if (byte === QUOTE) {
          this.#in_string = false
          if (this.#depth === 0) return at + 1
        }
      } else if (byte === QUOTE) this.#in_string = true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++
      else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --this.#depth === 0) return at + 1
    }
    return -1
  }

  #close(raw: Buffer | null) {
    this.#open = 'none'
    this.#carry.clear()
    if (this.#place !== 'line') this.#place = 'separator'
    this.#on_value(raw)
    this.#carry.shrink()
  }
}

/** Bytes that no number, true, false or null has: white space and JSON's own marks. */
const ENDS_WORD: readonly boolean[] = Array.from(
  {length: 256},
  (_, byte) => byte <= 0x20 || ',[]{}"'.includes(String.fromCharCode(byte)),
)
