import {encodingOf} from '../../base/content-encoding.ts'
import {Refusal} from '../../base/errors.ts'
import type {MaskFilter, SecretMask} from '../../base/secret-mask.ts'
import {hasValue, keyBytes} from '../../providers/openai/scan.ts'

const ERROR = keyBytes('error')
const LF = 10
const NO_HEADERS = {}
/** The bytes of the word for an error and of the text around it. */
const SEAM_BYTES = 16

/**
 * Takes what the gateway sent as a secret out of what comes back: of each header, of an error whole, and of a good
 * answer from where it tells an error. The rest of a good answer reaches the client as it came; its kept copies are
 * masked when they are kept.
 */
export class ResponseMask {
  readonly #mask: SecretMask
  #filter: MaskFilter | null = null
  /** The last chunk, where it was cut within an event. */
  #last: Buffer | null = null
  /** The length of the answer, while none of it has come; −1: it is not known. */
  #whole_length = -1
  /** The whole answer, when it holds no secret. */
  #clean: Buffer | null = null
  /** Nothing is looked for in bytes that are encoded: who reads them decodes them first. */
  #is_encoded = false

  constructor(mask: SecretMask) {
    this.#mask = mask
  }

  /** The head has come; its headers are masked in place. One whose name holds a secret is left out. */
  open(status: number, headers: Record<string, string | string[]>): void {
    let all = ''
    for (const name in headers) {
      if (this.#mask.isInName(name)) {
        delete headers[name]
        continue
      }
      const value = headers[name]!
      // an array counts its members: its text is longer than any of them
      const text = typeof value === 'string' ? value : String(value)
      if (text.length >= this.#mask.shortest) all += `${text}\n`
    }
    const has_secret = all !== '' && this.#mask.text(all) !== all
    for (const name in has_secret ? headers : NO_HEADERS) {
      const value = headers[name]!
      headers[name] = typeof value === 'string' ? this.#mask.text(value) : value.map(each => this.#mask.text(each))
    }
    this.#is_encoded = encodingIn(headers) !== null
    this.#filter = status >= 300 && !this.#is_encoded ? this.#mask.filter() : null
    this.#last = null
    const length = headers['content-length']
    this.#whole_length = typeof length === 'string' ? Number(length) : -1
  }

  /** The next bytes that may be sent; some may wait for the next. */
  take(chunk: Buffer): Buffer {
    if (this.#filter) return this.#filter.push(chunk)
    if (this.#is_encoded || this.#isCleanWhole(chunk) || !this.#tellsError(chunk)) return chunk
    this.#filter = this.#mask.filter()
    return this.#filter.push(chunk)
  }

  /** Returns the bytes that waited. */
  end(): Buffer | null {
    const rest = this.#filter?.end()
    return rest?.length ? rest : null
  }

  /** True when an error has to be whole before any of it may be sent: it is encoded. */
  static waits(status: number, headers: Record<string, string | string[]>): boolean {
    return status >= 300 && encodingIn(headers) !== null
  }

  /** A copy as it may be kept. */
  kept(bytes: Buffer): Buffer {
    return bytes === this.#clean ? bytes : this.#mask.bytes(bytes)
  }

  /** A provider's fault in its own format, its secrets masked. */
  told<T extends Refusal | null>(fault: T): T {
    if (!fault || this.#mask.text(fault.message) === fault.message || fault.constructor !== Refusal) return fault
    const details = Object.entries(fault.details).map(([name, value]) => [
      name,
      typeof value === 'string' ? this.#mask.text(value) : value,
    ])
    return new Refusal(fault.code, Object.fromEntries(details), {cause: fault.cause}) as T
  }

  /** Most answers come in one piece and hold no secret: then it does not matter whether they tell an error. */
  #isCleanWhole(chunk: Buffer): boolean {
    const is_whole = chunk.length === this.#whole_length
    this.#whole_length = -1
    if (!is_whole || this.#mask.isIn(chunk)) return false
    this.#clean = chunk
    return true
  }

  #tellsError(chunk: Buffer): boolean {
    const last = this.#last
    if (chunk[chunk.length - 1] === LF) this.#last = null
    else this.#last = chunk.length < SEAM_BYTES && last ? Buffer.concat([last.subarray(-SEAM_BYTES), chunk]) : chunk
    if (hasValue(chunk, ERROR)) return true
    return last !== null && hasValue(Buffer.concat([last.subarray(-SEAM_BYTES), chunk.subarray(0, SEAM_BYTES)]), ERROR)
  }
}

/** The encoding of a body, as its head says. */
export function encodingIn(headers: Record<string, string | string[]>): string | null {
  const header = headers['content-encoding']
  return header === undefined ? null : encodingOf(String(header))
}
