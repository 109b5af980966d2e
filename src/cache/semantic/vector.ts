/** `values` at length 1; null where they are no direction: empty, not finite, all zero. */
export function unitVector(values: readonly unknown[] | Float32Array): Float32Array | null {
  const vector = new Float32Array(values.length)
  let sum = 0
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (typeof value !== 'number' || !Number.isFinite(value)) return null
    vector[at] = value
    sum += value * value
  }
  const length = Math.sqrt(sum)
  if (!(length > LEAST_LENGTH) || !Number.isFinite(length)) return null
  for (let at = 0; at < vector.length; at++) vector[at] = (values[at] as number) / length
  return vector
}

const LEAST_LENGTH = 1e-12

/** The most by which rounding changes a length. */
const ROUNDING = 1e-3

/**
 * The cosine of two vectors of length 1, in -1..1; NaN where they cannot be compared, or the
 * first, which was stored, is not of length 1.
 */
export function cosine(one: Float32Array, other: Float32Array): number {
  if (one.length !== other.length) return Number.NaN
  let sum = 0
  let mine = 0
  for (let at = 0; at < one.length; at++) {
    sum += one[at]! * other[at]!
    mine += one[at]! * one[at]!
  }
  if (Math.abs(mine - 1) > ROUNDING) return Number.NaN
  return Math.max(-1, Math.min(1, sum))
}

/** The bytes of a vector, little endian as every machine that runs this is. */
export function vectorBytes(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
}

/** The vector in bytes; null where they are none, or no direction. */
export function vectorIn(bytes: Uint8Array): Float32Array | null {
  if (bytes.byteLength === 0 || bytes.byteLength % 4 !== 0) return null
  const vector = new Float32Array(bytes.byteLength / 4)
  new Uint8Array(vector.buffer).set(bytes)
  return vector.every(Number.isFinite) ? vector : null
}

/** One bit for each place of a vector, set where it is negative: 32 places a word. */
export function signsOf(vector: Float32Array): Uint32Array {
  const signs = new Uint32Array(wordsOf(vector.length))
  for (let at = 0; at < vector.length; at++) if (vector[at]! < 0) signs[at >>> 5]! |= 1 << (at & 31)
  return signs
}

export const wordsOf = (dimensions: number) => Math.ceil(dimensions / 32)
