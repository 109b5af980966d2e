import {object, parsedObject} from '../../base/json-object.ts'

interface PartialSuccess {
  readonly rejected: number
  readonly reason: string | null
}

const NOTHING: PartialSuccess = {rejected: 0, reason: null}
const REJECTED = ['rejectedSpans', 'rejectedLogRecords', 'rejectedDataPoints'] as const

/** How much of a request a receiver rejected that took the rest; a reply that cannot be read rejects nothing. */
export function partialSuccess(type: string, body: Buffer): PartialSuccess {
  if (type.includes('json')) {
    const partial = object(parsedObject(body.toString())?.partialSuccess)
    const counts = REJECTED.map(name => numberIn(partial[name]))
    const rejected = counts.find(count => Number.isSafeInteger(count) && count > 0) ?? 0
    return {rejected, reason: typeof partial.errorMessage === 'string' ? partial.errorMessage : null}
  }
  try {
    const message = new WireReader(body).field(1, 2)
    return message instanceof Buffer ? {rejected: countIn(message), reason: null} : NOTHING
  } catch {
    return NOTHING
  }
}

/** A 64-bit number is a text in the JSON of OTLP. */
function numberIn(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : 0
}

function countIn(message: Buffer): number {
  const count = new WireReader(message).field(1, 0)
  return typeof count === 'number' && Number.isSafeInteger(count) && count > 0 ? count : 0
}

/** Finds a field of a message of Protocol Buffers. */
class WireReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The first of number `field` and wire type `type` (0 or 2). Throws where the bytes are no message. */
  field(field: number, type: 0 | 2): number | Buffer | undefined {
    while (this.#at < this.#bytes.length) {
      const tag = this.#varint()
      const found = this.#value(tag & 7)
      if (tag >> 3 === field && (tag & 7) === type) return found
    }
    return undefined
  }

  #value(type: number): number | Buffer | undefined {
    if (type === 0) return this.#varint()
    const length = type === 2 ? this.#varint() : type === 1 ? 8 : type === 5 ? 4 : Number.NaN
    const begin = this.#at
    this.#at += length
    if (!(this.#at <= this.#bytes.length)) throw new RangeError('not a message')
    return this.#bytes.subarray(begin, this.#at)
  }

  #varint(): number {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new RangeError('not a message')
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
  }
}
