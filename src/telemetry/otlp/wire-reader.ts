/** The bytes are no message of Protocol Buffers, or a field of it has another type than its definition. */
export class WireFault extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'WireFault'
  }
}

const VARINT = 0
const FIXED64 = 1
const LENGTH = 2
const FIXED32 = 5
/** A varint of 64 bits takes no more. */
const MAX_VARINT_BYTES = 10
/** Seven bits each: beyond so many bytes a number is no longer exact. */
const EXACT_BYTES = 7

/**
 * Reads a message of Protocol Buffers field by field, and never beyond its end. A message inside another is a reader of
 * its own, so that a fault in it leaves what comes behind it readable.
 */
export class ProtobufReader {
  readonly #bytes: Buffer
  #at: number
  readonly #end: number
  #type = VARINT

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
  }

  /** Bytes that are left. */
  get length(): number {
    return this.#end - this.#at
  }

  /** A reader of the same, from here on. */
  copy(): ProtobufReader {
    return new ProtobufReader(this.#bytes, this.#at, this.#end)
  }

  /** The number of the next field, whose value is read or skipped then; 0 at the end. */
  next(): number {
    if (this.#at === this.#end) return 0
    const tag = this.#varint()
    if (typeof tag !== 'number' || tag < 8 || tag > 0xffffffff) throw new WireFault('a field has no number')
    this.#type = tag % 8
    return Math.floor(tag / 8)
  }

  skip(): void {
    if (this.#type === VARINT) this.#varint()
    else if (this.#type === FIXED64) this.#take(8)
    else if (this.#type === LENGTH) this.#take(this.#length())
    else if (this.#type === FIXED32) this.#take(4)
    else throw new WireFault('a field has a type that is not read')
  }

  /** A varint of at most 53 bits: an enumeration, a count. Larger ones become infinite. */
  number(): number {
    this.#expect(VARINT)
    const found = this.#varint()
    return typeof found === 'number' ? found : Number.POSITIVE_INFINITY
  }

  /** An int64: a number where it is exact, else its digits. */
  integer(): number | string {
    this.#expect(VARINT)
    const found = this.#varint()
    if (typeof found === 'number') return found
    const signed = BigInt.asIntN(64, found)
    const exact = Number(signed)
    return Number.isSafeInteger(exact) ? exact : String(signed)
  }

  fixed64(): bigint {
    this.#expect(FIXED64)
    return this.#bytes.readBigUInt64LE(this.#take(8))
  }

  double(): number {
    this.#expect(FIXED64)
    return this.#bytes.readDoubleLE(this.#take(8))
  }

  /** Bytes that are no UTF-8 become U+FFFD. */
  text(): string {
    const [start, end] = this.#span()
    return this.#bytes.toString('utf8', start, end)
  }

  bytes(): Buffer {
    const [start, end] = this.#span()
    return this.#bytes.subarray(start, end)
  }

  message(): ProtobufReader {
    const [start, end] = this.#span()
    return new ProtobufReader(this.#bytes, start, end)
  }

  #span(): readonly [start: number, end: number] {
    this.#expect(LENGTH)
    const length = this.#length()
    const start = this.#take(length)
    return [start, start + length]
  }

  #expect(type: number): void {
    if (this.#type !== type) throw new WireFault('a field has another type than its definition')
  }

  #length(): number {
    const length = this.#varint()
    if (typeof length !== 'number') throw new WireFault('a length is beyond the end')
    return length
  }

  /** The place of the next bytes, which are passed. */
  #take(length: number): number {
    const start = this.#at
    if (length > this.#end - start) throw new WireFault('a field is cut off')
    this.#at = start + length
    return start
  }

  /** A number where it is exact, else a bigint of 64 bits. */
  #varint(): number | bigint {
    let value = 0
    let scale = 1
    const start = this.#at
    for (let count = 0; count < EXACT_BYTES; count++) {
      const byte = this.#byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 128
    }
    let large = BigInt(value)
    for (let shift = 49n; this.#at - start < MAX_VARINT_BYTES; shift += 7n) {
      const byte = this.#byte()
      large |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return narrowed(BigInt.asUintN(64, large))
    }
    throw new WireFault('a number has no end')
  }

  #byte(): number {
    if (this.#at === this.#end) throw new WireFault('a field is cut off')
    return this.#bytes[this.#at++]!
  }
}

function narrowed(value: bigint): number | bigint {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
}
