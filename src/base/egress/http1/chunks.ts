import {maxHeaderSize} from 'node:http'
import {errors} from 'undici'
import {COLON, CR, IN_TOKEN, IN_VALUE, LF, PLACES, SEMICOLON} from './bytes.ts'
import {broken} from './reply-head.ts'

/** Sizes stay exact as numbers. */
const MOST_DIGITS = 13

const BEFORE_SIZE = 0
const SIZE = 1
const EXTENSION = 2
const SIZE_LF = 3
const DATA = 4
const DATA_LF = 5
const TRAILER = 6
const TRAILER_NAME = 7
const TRAILER_VALUE = 8
const TRAILER_LF = 9
const LAST_LF = 10
const OVER = 11

/** The frame of a chunked body (RFC 9112 7.1), byte by byte. Extensions and trailers are checked, bounded and dropped. */
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
    if (this.left > 0) return at
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
          if (byte === CR) this.#at = SIZE_LF
          else this.#skip(byte, 'INVALID_CHUNK_SIZE', 'Invalid character in chunk extensions')
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
          else this.#skip(byte, 'INVALID_HEADER_TOKEN', 'Invalid header value char')
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
    if (digit < 0 || ++this.#digits > MOST_DIGITS) throw broken('INVALID_CHUNK_SIZE', 'Invalid character in chunk size')
    this.left = this.left * 16 + digit
  }

  #extend() {
    this.#beside = 0
    this.#at = EXTENSION
  }

  #name(byte: number) {
    if (!(PLACES[byte]! & IN_TOKEN)) throw broken('INVALID_HEADER_TOKEN', 'Invalid header token')
    this.#at = TRAILER_NAME
    this.#count()
  }

  #skip(byte: number, code: string, what: string) {
    if (!(PLACES[byte]! & IN_VALUE)) throw broken(code, what)
    this.#count()
  }

  #count() {
    if (++this.#beside >= maxHeaderSize) throw new errors.HeadersOverflowError()
  }
}

function expect(byte: number, wanted: number) {
  if (byte !== wanted) throw broken('STRICT', `Expected ${wanted === LF ? 'LF' : 'CR'} in a chunked body`)
}
