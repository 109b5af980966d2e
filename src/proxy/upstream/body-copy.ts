import {JsonSkim} from '../../base/json-skim.ts'
import {decodeWhole, type Tap, tap} from './decode.ts'

/** Answers up to this are read whole for their usage; of longer ones of JSON what is short in them (`JsonSkim`). */
const MAX_READ_BYTES = 8 << 20

/** A copy of an answer for our own reading: whole up to 8 MB; of a longer one the beginning that the log keeps. */
export class Copy {
  readonly #most: number
  #parts: Buffer[] = []
  #length = 0
  #skims = false
  #encoding: string | null = null
  #skim: JsonSkim | null = null
  /** Decodes what is skimmed; null where that comes as it is. */
  #tap: Tap | null = null
  isCut = false

  constructor(log_bytes: number) {
    this.#most = Math.max(log_bytes, MAX_READ_BYTES)
  }

  /** Reads on where an answer of JSON is longer. `encoding` is as `encodingOf` gives it. */
  readOn(type: string | undefined, encoding: string | null): void {
    this.#skims = type !== undefined && /json/i.test(type)
    this.#encoding = encoding
  }

  add(chunk: Buffer): void {
    if (this.isCut) return this.#skimOver(chunk)
    if (this.#length + chunk.length > this.#most) {
      this.isCut = true
      this.#beginSkim()
      this.#skimOver(chunk)
      this.#parts.push(chunk.subarray(0, this.#most - this.#length))
      this.#length = this.#most
      return
    }
    this.#parts.push(chunk)
    this.#length += chunk.length
  }

  /**
   * The plain bytes of the whole answer; of one that was longer without what is long in it. Null where it cannot be
   * read.
   */
  plain(encoding: string | null, done: (plain: Buffer | null) => void): void {
    if (!this.isCut) return decodeWhole(encoding, this.bytes(), done)
    const skim = this.#skim
    if (!skim) return done(null)
    const over = () => done(this.#tap?.is_broken ? null : skim.bytes())
    if (this.#tap) this.#tap.end(over)
    else over()
  }

  /** Frees what decodes it. */
  close(): void {
    this.#tap?.close()
  }

  #beginSkim() {
    if (!this.#skims) return
    const skim = new JsonSkim()
    if (this.#encoding !== null) {
      this.#tap = tap(this.#encoding, plain => skim.push(plain))
      if (!this.#tap) return
    }
    this.#skim = skim
    for (const part of this.#parts) this.#skimOver(part)
  }

  #skimOver(chunk: Buffer) {
    if (this.#tap) this.#tap.take(chunk, NOTHING)
    else this.#skim?.push(chunk)
  }

  /** Keeps other bytes instead: what the answer became. */
  replace(bytes: Buffer): void {
    this.#parts = [bytes]
    this.#length = bytes.length
    this.isCut = false
  }

  /** Keeps what `masked` makes of what was kept: the same bytes, but for those that may not be. */
  mask(masked: (bytes: Buffer) => Buffer): void {
    this.#parts = [masked(this.bytes())]
  }

  /** The kept bytes, in one piece. */
  bytes(): Buffer {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)]
    return this.#parts[0] ?? EMPTY
  }
}

const EMPTY = Buffer.alloc(0)
const NOTHING = () => undefined
