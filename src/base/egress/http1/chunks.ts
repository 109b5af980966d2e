import {maxHeaderSize} from 'node:http'
import {errors} from 'undici'
import {BACKSLASH, COLON, CR, EQUALS, IN_TOKEN, IN_VALUE, LF, PLACES, QUOTE, SEMICOLON} from './bytes.ts'
import {broken} from './reply-head.ts'

/** Sizes stay exact as numbers. */
const MAX_DIGITS = 13

const BEFORE_SIZE = 0
const SIZE = 1
const EXTENSION = 2
const NAME = 3
const VALUE_START = 4
const VALUE = 5
const QUOTED = 6
const ESCAPED = 7
const AFTER_QUOTES = 8
const SIZE_LF = 9
const DATA = 10
const DATA_LF = 11
const TRAILER = 12
const TRAILER_NAME = 13
const TRAILER_VALUE = 14
const TRAILER_LF = 15
const LAST_LF = 16
const OVER = 17

/**
 * The frame of a chunked body (RFC 9112 7.1), byte by byte. Extensions and trailers are checked, bounded and dropped.
 */
export class Chunks {
  /** Bytes of the chunk yet to come. */
  left = 0
  #at = BEFORE_SIZE
  #digits = 0
  /** Bytes of this extension, or of the trailers. */
  #beside = 0

  get is_over(): boolean {
    return this.#at === OVER
  }

  start(): void {
    this.left = 0
    this.#at = BEFORE_SIZE
    this.#beside = 0
  }

  /** Reads what frames the data: gives where data begins (`left` is above zero), or where the body is over, or `to`. */
  read(bytes: Buffer, from: number, to: number): number {
    let at = from
    if (this.#at === DATA && this.left > 0) return at
    for (; at < to && this.#at !== OVER; at++) {
      const byte = bytes[at]!
      switch (this.#at) {
        case BEFORE_SIZE:
          this.left = 0
          this.#digits = 0
          this.#addDigit(byte)
          this.#at = SIZE
          break
        case SIZE:
          if (byte === CR) this.#at = SIZE_LF
          else if (byte === SEMICOLON) this.#extend()
          else this.#addDigit(byte)
          break
        case EXTENSION:
        case NAME:
        case VALUE_START:
        case VALUE:
        case QUOTED:
        case ESCAPED:
        case AFTER_QUOTES:
          this.#at = this.#skipExtension(byte)
          break
        case SIZE_LF:
          expect(byte, LF)
          if (this.left > 0) {
            this.#at = DATA
            return at + 1
          }
          this.#beside = 0
          this.#at = TRAILER
          break
        case DATA:
          expect(byte, CR)
          this.#at = DATA_LF
          break
        case DATA_LF:
          expect(byte, LF)
          this.#at = BEFORE_SIZE
          break
        case TRAILER:
          if (byte === CR) this.#at = LAST_LF
          else this.#name(byte)
          break
        case TRAILER_NAME:
          if (byte === COLON) this.#at = TRAILER_VALUE
          else this.#name(byte)
          break
        case TRAILER_VALUE:
          if (byte === CR) this.#at = TRAILER_LF
          else this.#count(byte, IN_VALUE, 'INVALID_HEADER_TOKEN')
          break
        case TRAILER_LF:
          expect(byte, LF)
          this.#at = TRAILER
          break
        default:
          expect(byte, LF)
          this.#at = OVER
      }
    }
    return at
  }

  #addDigit(byte: number) {
    const digit = byte >= 48 && byte <= 57 ? byte - 48 : (byte | 32) >= 97 && (byte | 32) <= 102 ? (byte | 32) - 87 : -1
    if (digit < 0 || ++this.#digits > MAX_DIGITS) throw broken('INVALID_CHUNK_SIZE', 'Invalid character in chunk size')
    this.left = this.left * 16 + digit
  }

  #extend() {
    this.#beside = 0
    this.#at = EXTENSION
  }

  /** `;name`, `;name=token` or `;name="words"`. */
  #skipExtension(byte: number): number {
    const at = this.#at
    if (at === ESCAPED || (at === QUOTED && byte !== QUOTE && byte !== BACKSLASH)) {
      this.#count(byte, IN_VALUE, 'INVALID_CHUNK_SIZE')
      return QUOTED
    }
    if (at === QUOTED) return byte === QUOTE ? AFTER_QUOTES : ESCAPED
    if (byte === CR && (at === NAME || at === VALUE || at === AFTER_QUOTES)) return SIZE_LF
    if (byte === SEMICOLON && (at === NAME || at === VALUE || at === AFTER_QUOTES)) return EXTENSION
    if (byte === EQUALS && at === NAME) return VALUE_START
    if (byte === QUOTE && at === VALUE_START) return QUOTED
    this.#count(byte, at === AFTER_QUOTES ? 0 : IN_TOKEN, 'INVALID_CHUNK_SIZE')
    return at === EXTENSION || at === NAME ? NAME : VALUE
  }

  #name(byte: number) {
    this.#count(byte, IN_TOKEN, 'INVALID_HEADER_TOKEN')
    this.#at = TRAILER_NAME
  }

  #count(byte: number, place: number, code: string) {
    if (!(PLACES[byte]! & place)) throw broken(code, 'Invalid character in a chunked body')
    if (++this.#beside >= maxHeaderSize) throw new errors.HeadersOverflowError()
  }
}

function expect(byte: number, wanted: number) {
  if (byte !== wanted) throw broken('STRICT', `Expected ${wanted === LF ? 'LF' : 'CR'} in a chunked body`)
}
