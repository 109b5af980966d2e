import {setImmediate} from 'node:timers/promises'
import {promisify} from 'node:util'
import {brotliDecompress} from 'node:zlib'
import {readTable} from '../../base/runtime.ts'

/** A public vocabulary of byte pairs that the gateway has. */
export type Encoding = 'o200k_base' | 'cl100k_base'

/** Tokens entered before others have their turn: a few milliseconds. */
const ENTERED_AT_ONCE = 8192
const FNV_START = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** A vocabulary of byte pairs: each token's rank, found by its bytes. About 3 MB of memory for 200,000 tokens. */
export class Vocabulary {
  readonly #bytes: Buffer
  /** The index at which a token begins in `#bytes`: behind its length. */
  readonly #starts: Uint32Array
  /** A rank plus one, by the hash of its token; 0: there is none. */
  readonly #slots: Int32Array
  readonly #mask: number

  constructor(bytes: Buffer, starts: Uint32Array, slots: Int32Array) {
    this.#bytes = bytes
    this.#starts = starts
    this.#slots = slots
    this.#mask = slots.length - 1
  }

  /** The rank of the token that `text` is from `from` to `to`; -1 where it is none. */
  rankOf(text: Uint8Array, from: number, to: number): number {
    const length = to - from
    if (length > LONGEST_TOKEN) return -1
    let hash = FNV_START
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ text[at]!, FNV_PRIME)
    for (let slot = slotOf(hash, this.#mask); this.#slots[slot] !== 0; slot = (slot + 1) & this.#mask) {
      const start = this.#starts[this.#slots[slot]! - 1]!
      if (this.#bytes[start - 1] !== length) continue
      let same = 0
      while (same < length && this.#bytes[start + same] === text[from + same]) same++
      if (same === length) return this.#slots[slot]! - 1
    }
    return -1
  }
}

const LONGEST_TOKEN = 255
const held = new Map<Encoding, Vocabulary | Promise<Vocabulary>>()

/** The vocabulary, read on first use; at once where it was read before. Rejects where its table cannot be read. */
export function vocabularyOf(encoding: Encoding): Vocabulary | Promise<Vocabulary> {
  const known = held.get(encoding)
  if (known) return known
  const reading = read(encoding).then(
    vocabulary => {
      held.set(encoding, vocabulary)
      return vocabulary
    },
    (fault: unknown) => {
      held.delete(encoding)
      throw fault
    },
  )
  held.set(encoding, reading)
  return reading
}

/** A table lists tokens by rank, each behind a byte with its length (`bin/vocabulary.ts`). */
async function read(encoding: Encoding): Promise<Vocabulary> {
  const bytes = await promisify(brotliDecompress)(await readTable(`${encoding}.br`))
  const starts = new Uint32Array(bytes.length >> 1)
  const slots = new Int32Array(1 << 19)
  let rank = 0
  for (let at = 0; at < bytes.length; ) {
    const length = bytes[at]!
    const start = at + 1
    at = start + length
    let hash = FNV_START
    for (let next = start; next < at; next++) hash = Math.imul(hash ^ bytes[next]!, FNV_PRIME)
    let slot = slotOf(hash, slots.length - 1)
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
    starts[rank] = start
    slots[slot] = ++rank
    if (rank % ENTERED_AT_ONCE === 0) await setImmediate()
  }
  return new Vocabulary(bytes, starts.slice(0, rank), slots)
}

function slotOf(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask
}
