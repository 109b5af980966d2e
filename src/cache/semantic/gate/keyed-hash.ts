/**
 * SipHash-2-4 of texts under a key of 16 bytes, cut to 32 bits. A text has hundreds of words, and an HMAC of each would
 * cost more than the whole rest of the gate.
 */
export class KeyedHash {
  private readonly key: readonly [number, number, number, number]

  constructor(key: Uint8Array) {
    const view = new DataView(key.buffer, key.byteOffset, 16)
    this.key = [view.getInt32(0, true), view.getInt32(4, true), view.getInt32(8, true), view.getInt32(12, true)]
  }

  /** Two code units of the text are 4 bytes of the message; its length is part of the last block. */
  of(text: string): number {
    const [k0, k1, k2, k3] = this.key
    const state = Int32Array.of(
      k0 ^ 0x70736575,
      k1 ^ 0x736f6d65,
      k2 ^ 0x6e646f6d,
      k3 ^ 0x646f7261,
      k0 ^ 0x6e657261,
      k1 ^ 0x6c796765,
      k2 ^ 0x79746573,
      k3 ^ 0x74656462,
    )
    const whole = text.length - (text.length % 4)
    for (let at = 0; at < whole; at += 4) block(state, pair(text, at), pair(text, at + 2))
    block(state, pair(text, whole), (text.length << 25) | (whole + 2 < text.length ? text.charCodeAt(whole + 2) : 0))
    state[4]! ^= 0xff
    for (let round = 0; round < 4; round++) mix(state)
    return (state[0]! ^ state[2]! ^ state[4]! ^ state[6]!) >>> 0
  }
}

function pair(text: string, at: number): number {
  const low = at < text.length ? text.charCodeAt(at) : 0
  const high = at + 1 < text.length ? text.charCodeAt(at + 1) : 0
  return low | (high << 16)
}

function block(state: Int32Array, low: number, high: number) {
  state[6]! ^= low
  state[7]! ^= high
  mix(state)
  mix(state)
  state[0]! ^= low
  state[1]! ^= high
}

/** One round: numbers of 64 bits are two of 32, the lower first. */
function mix(v: Int32Array) {
  add(v, 0, 2)
  rotate(v, 2, 13)
  xor(v, 2, 0)
  rotate(v, 0, 32)
  add(v, 4, 6)
  rotate(v, 6, 16)
  xor(v, 6, 4)
  add(v, 0, 6)
  rotate(v, 6, 21)
  xor(v, 6, 0)
  add(v, 4, 2)
  rotate(v, 2, 17)
  xor(v, 2, 4)
  rotate(v, 4, 32)
}

function add(v: Int32Array, to: number, from: number) {
  const low = (v[to]! >>> 0) + (v[from]! >>> 0)
  v[to + 1] = v[to + 1]! + v[from + 1]! + (low > 0xffffffff ? 1 : 0)
  v[to] = low | 0
}

function xor(v: Int32Array, to: number, from: number) {
  v[to]! ^= v[from]!
  v[to + 1]! ^= v[from + 1]!
}

function rotate(v: Int32Array, at: number, bits: number) {
  const low = v[at]!
  const high = v[at + 1]!
  if (bits === 32) {
    v[at] = high
    v[at + 1] = low
    return
  }
  v[at] = (low << bits) | (high >>> (32 - bits))
  v[at + 1] = (high << bits) | (low >>> (32 - bits))
}
