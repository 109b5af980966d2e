/**
 * The part of DER (X.690) that a certificate is made of. A certificate has one fixed shape here, so that its encoder is
 * shorter than the use of a library would be, and nothing is loaded for it.
 */

/** One value as it is in the bytes: its tag, its content, and both with the length between them. */
export interface DerValue {
  readonly tag: number
  readonly content: Buffer
  readonly whole: Buffer
}

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  text: 0x0c,
  utc_time: 0x17,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

const CONSTRUCTED = 0xa0
const IMPLICIT = 0x80

/** A value of `tag` with the given content. */
export function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const {length} = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const digits = length.toString(16)
  const bytes = Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length]), bytes, content])
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(TAG.sequence, ...parts)
export const setOf = (part: Uint8Array): Buffer => tagged(TAG.set, part)
export const octets = (part: Uint8Array): Buffer => tagged(TAG.octets, part)
export const text = (value: string): Buffer => tagged(TAG.text, Buffer.from(value))
export const yes = (): Buffer => tagged(TAG.boolean, Buffer.from([0xff]))
/** `[number]` around whole values, or in place of the tag of one. */
export const explicit = (number: number, ...parts: readonly Uint8Array[]): Buffer =>
  tagged(CONSTRUCTED | number, ...parts)
export const implicit = (number: number, content: Uint8Array): Buffer => tagged(IMPLICIT | number, content)

/** A number that is not negative, from its bytes, highest first. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex(byte => byte !== 0)
  const short = first < 0 ? Buffer.from([0]) : Buffer.from(bytes.subarray(first))
  return tagged(TAG.integer, ...(short[0]! & 0x80 ? [Buffer.from([0])] : []), short)
}

/** Bits from their bytes; `unused` of the last byte do not count. */
export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return tagged(TAG.bits, Buffer.from([unused]), bytes)
}

/** An object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const groups = [first * 40 + second, ...rest].flatMap(arc => {
    const group = [arc & 0x7f]
    for (let left = arc >>> 7; left > 0; left >>>= 7) group.unshift((left & 0x7f) | 0x80)
    return group
  })
  return tagged(TAG.oid, Buffer.from(groups))
}

/** A moment in whole seconds, in the form that RFC 5280 (4.1.2.5) asks for: two digits of the year until 2049. */
export function moment(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, '')
  const is_short = digits.startsWith('19') || (digits.startsWith('20') && digits < '2050')
  return is_short ? tagged(TAG.utc_time, Buffer.from(digits.slice(2))) : tagged(TAG.time, Buffer.from(digits))
}

/** The values that follow each other in `bytes`; undefined where they are no DER or more than `most`. */
export function valuesIn(bytes: Buffer, most = 64): readonly DerValue[] | undefined {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const value = valueAt(bytes, at)
    if (!value || values.length === most) return undefined
    values.push(value)
    at += value.whole.length
  }
  return values
}

function valueAt(bytes: Buffer, at: number): DerValue | undefined {
  const tag = bytes[at]
  const short = bytes[at + 1]
  if (tag === undefined || short === undefined || (tag & 0x1f) === 0x1f) return undefined
  const more = short < 0x80 ? 0 : short & 0x7f
  const start = at + 2 + more
  if (short === 0x80 || more > 4 || start > bytes.length) return undefined
  const length = more === 0 ? short : bytes.readUIntBE(at + 2, more)
  const end = start + length
  if (end > bytes.length) return undefined
  return {tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end)}
}
