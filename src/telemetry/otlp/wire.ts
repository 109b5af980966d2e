const FIRST_BYTES = 16 * 1024
const SHORT = 0x80
/** `encodeInto` is faster from about here on. */
const LONG_TEXT = 24
const encoder = new TextEncoder()

/**
 * Writes messages of Protocol Buffers. A message inside another is written behind one byte for its length, and moved
 * where that takes more.
 */
export class WireWriter {
  #bytes = new Uint8Array(FIRST_BYTES)
  #view = new DataView(this.#bytes.buffer)
  #at = 0

  /** The bytes of all messages. */
  finish(): Buffer {
    return Buffer.from(this.#bytes.buffer, 0, this.#at)
  }

  /** A varint of at most 53 bits. */
  int(field: number, value: number): void {
    this.#tag(field, 0)
    this.#varint(value)
  }

  /** An int64; a negative one takes ten bytes. */
  signed(field: number, value: number): void {
    this.#tag(field, 0)
    if (value >= 0) return this.#varint(value)
    this.#room(10)
    let rest = BigInt.asUintN(64, BigInt(value))
    for (; rest > 127n; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 127n) | SHORT
    this.#bytes[this.#at++] = Number(rest)
  }

  double(field: number, value: number): void {
    this.#tag(field, 1)
    this.#double(value)
  }

  fixed64(field: number, value: number): void {
    this.#tag(field, 1)
    this.#fixed64(value)
  }

  /** Microseconds as the nanoseconds of a fixed64, exactly. */
  time(field: number, us: number): void {
    this.#tag(field, 1)
    this.#room(8)
    const whole = us > 0 ? Math.round(us) : 0
    const low = (whole % WORD) * 1000
    this.#view.setUint32(this.#at, low % WORD, true)
    this.#view.setUint32(this.#at + 4, Math.floor(whole / WORD) * 1000 + Math.floor(low / WORD), true)
    this.#at += 8
  }

  doubles(field: number, values: readonly number[]): void {
    this.message(field, () => {
      for (const value of values) this.#double(value)
    })
  }

  fixed64s(field: number, values: readonly number[]): void {
    this.message(field, () => {
      for (const value of values) this.#fixed64(value)
    })
  }

  /** Halves of surrogate pairs become U+FFFD, as UTF-8 has none. */
  string(field: number, value: string): void {
    this.#tag(field, 2)
    const {length} = value
    this.#room(length * 3 + 10)
    if (length < LONG_TEXT && this.#ascii(value)) return
    const begin = this.#at++
    const {written} = encoder.encodeInto(value, this.#bytes.subarray(this.#at))
    this.#at += written
    this.#close(begin)
  }

  hex(field: number, digits: string): void {
    this.#tag(field, 2)
    const bytes = digits.length >> 1
    this.#room(bytes + 1)
    this.#bytes[this.#at++] = bytes
    for (let at = 0; at < digits.length; at += 2)
      this.#bytes[this.#at++] = (nibble(digits.charCodeAt(at)) << 4) | nibble(digits.charCodeAt(at + 1))
  }

  message(field: number, write: () => void): void {
    this.#tag(field, 2)
    this.#room(1)
    const begin = this.#at++
    write()
    this.#close(begin)
  }

  /** The message behind the byte at `begin` is written: its length goes there. */
  #close(begin: number): void {
    const length = this.#at - begin - 1
    if (length < SHORT) {
      this.#bytes[begin] = length
      return
    }
    const more = varintBytes(length) - 1
    this.#room(more)
    this.#bytes.copyWithin(begin + 1 + more, begin + 1, this.#at)
    const end = this.#at + more
    this.#at = begin
    this.#varint(length)
    this.#at = end
  }

  #ascii(value: string): boolean {
    const begin = this.#at
    this.#bytes[this.#at++] = value.length
    for (let at = 0; at < value.length; at++) {
      const code = value.charCodeAt(at)
      if (code >= SHORT) {
        this.#at = begin
        return false
      }
      this.#bytes[this.#at++] = code
    }
    return true
  }

  #double(value: number): void {
    this.#room(8)
    this.#view.setFloat64(this.#at, value, true)
    this.#at += 8
  }

  #fixed64(value: number): void {
    this.#room(8)
    this.#view.setUint32(this.#at, value % WORD, true)
    this.#view.setUint32(this.#at + 4, Math.floor(value / WORD), true)
    this.#at += 8
  }

  #tag(field: number, type: number): void {
    this.#room(2)
    const tag = (field << 3) | type
    if (tag < SHORT) this.#bytes[this.#at++] = tag
    else this.#varint(tag)
  }

  #varint(value: number): void {
    this.#room(10)
    let rest = value
    while (rest >= SHORT) {
      this.#bytes[this.#at++] = (rest % SHORT) | SHORT
      rest = Math.floor(rest / SHORT)
    }
    this.#bytes[this.#at++] = rest
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + bytes))
    larger.set(this.#bytes.subarray(0, this.#at))
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }
}

const WORD = 2 ** 32

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= SHORT; rest = Math.floor(rest / SHORT)) bytes++
  return bytes
}

function nibble(code: number): number {
  return code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57
}
