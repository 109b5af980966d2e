import {encodingOf} from '../../base/content-encoding.ts'
import {Refusal} from '../../base/errors.ts'
import type {MaskFilter, SecretMask} from '../../base/secret-mask.ts'
import {hasValue, keyBytes} from '../../providers/openai/scan.ts'

const ERROR = keyBytes('error')
const LF = 10
const NO_HEADERS = {}
/** As much as the word for an error and what stands around it. */
const SEAM_BYTES = 16

/**
 * Takes what the gateway sent as a secret out of what comes back: of each header, of an error whole, and of a good answer from where it
 * tells an error. The rest of a good answer reaches the client as it came; its kept copies are masked when they are kept.
 */
export class ResponseMask {
  readonly #mask: SecretMask
  #filter: MaskFilter | null = null
  /** The end of the last chunk, where it was cut within an event. */
  #seam: Buffer | null = null
  /** Nothing is looked for in bytes that are encoded: who reads them decodes them first. */
  #is_encoded = false

  constructor(mask: SecretMask) {
    this.#mask = mask
  }

  /** The head has come; its headers are masked in place. */
  open(status: number, headers: Record<string, string | string[]>): void {
    let all = ''
    for (const name in headers) all += `${String(headers[name])}\n`
    const has_secret = this.#mask.text(all) !== all
    for (const name in has_secret ? headers : NO_HEADERS) {
      const value = headers[name]!
      headers[name] = typeof value === 'string' ? this.#mask.text(value) : value.map(each => this.#mask.text(each))
    }
    this.#is_encoded = encodingIn(headers) !== null
    this.#filter = status >= 300 && !this.#is_encoded ? this.#mask.filter() : null
    this.#seam = null
  }

  /** The next bytes as they may go on; some may wait for the next. */
  take(chunk: Buffer): Buffer {
    if (this.#filter) return this.#filter.push(chunk)
    if (this.#is_encoded || !this.#tellsError(chunk)) return chunk
    this.#filter = this.#mask.filter()
    return this.#filter.push(chunk)
  }

  /** What waited. */
  end(): Buffer | null {
    const rest = this.#filter?.end()
    return rest?.length ? rest : null
  }

  /** Whether an error has to be there whole before any of it may go on: it is encoded. */
  static waits(status: number, headers: Record<string, string | string[]>): boolean {
    return status >= 300 && encodingIn(headers) !== null
  }

  /** A copy as it may be kept. */
  kept(bytes: Buffer): Buffer {
    return this.#mask.bytes(bytes)
  }

  /** A fault in the words of the provider, as it may be told. */
  told<T extends Refusal | null>(fault: T): T {
    if (!fault || this.#mask.text(fault.message) === fault.message || fault.constructor !== Refusal) return fault
    const details = Object.entries(fault.details).map(([name, value]) => [name, typeof value === 'string' ? this.#mask.text(value) : value])
    return new Refusal(fault.code, Object.fromEntries(details), {cause: fault.cause}) as T
  }

  #tellsError(chunk: Buffer): boolean {
    const seam = this.#seam
    if (chunk[chunk.length - 1] === LF) this.#seam = null
    else this.#seam = (chunk.length < SEAM_BYTES && seam ? Buffer.concat([seam, chunk]) : chunk).subarray(-SEAM_BYTES)
    if (hasValue(chunk, ERROR)) return true
    return seam !== null && hasValue(Buffer.concat([seam, chunk.subarray(0, SEAM_BYTES)]), ERROR)
  }
}

/** The encoding of a body, as its head says. */
export function encodingIn(headers: Record<string, string | string[]>): string | null {
  const header = headers['content-encoding']
  return header === undefined ? null : encodingOf(String(header))
}
