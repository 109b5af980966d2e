import {wordsOf} from './vector.ts'

/** An entry as it is held in memory: its row, when it ends, and the signs of its vector. */
export interface SignEntry {
  readonly id: number
  readonly expires_at_ms: number
  readonly signs: Uint32Array
}

/** A search of the nearest entries, as far as it has come. */
export interface NearestSigns {
  readonly signs: Uint32Array
  readonly most: number
  readonly now_ms: number
  /** The next entry to look at. */
  at: number
  /** The nearest so far, the nearest first. */
  readonly ids: number[]
  readonly distances: number[]
}

/** About what a partition takes besides its entries. */
const PARTITION_BYTES = 1_024
/** An id and an end. */
const ROW_BYTES = 16
const GROWTH = 1.25
const LEAST_ROWS = 4

/**
 * The entries of one partition by the signs of their vectors: a bit for each place, so that 5,000 vectors of 1,536
 * places are 1 MB. Vectors of a small angle differ in few signs:
 * what is nearest by signs is then compared exactly (`VectorIndex`).
 */
export class SignIndex {
  readonly dimensions: number
  readonly #words: number
  #ids: Float64Array
  #ends: Float64Array
  #signs: Uint32Array
  #count = 0

  constructor(dimensions: number, rows: number) {
    this.dimensions = dimensions
    this.#words = wordsOf(dimensions)
    const room = Math.max(LEAST_ROWS, rows)
    this.#ids = new Float64Array(room)
    this.#ends = new Float64Array(room)
    this.#signs = new Uint32Array(room * this.#words)
  }

  get size(): number {
    return this.#count
  }

  get bytes(): number {
    return PARTITION_BYTES + this.#ids.length * (ROW_BYTES + 4 * this.#words)
  }

  /** Adds an entry, or puts it in the place of the one with its id. */
  put(entry: SignEntry): void {
    const at = this.#place(entry.id)
    if (at < 0) this.append(entry)
    else this.#write(at, entry)
  }

  /** Adds an entry whose id is new. */
  append(entry: SignEntry): void {
    if (entry.signs.length !== this.#words) return
    if (this.#count === this.#ids.length) this.#grow()
    this.#write(this.#count++, entry)
  }

  delete(id: number): void {
    const at = this.#place(id)
    if (at < 0) return
    const last = --this.#count
    this.#ids[at] = this.#ids[last]!
    this.#ends[at] = this.#ends[last]!
    this.#signs.copyWithin(at * this.#words, last * this.#words, (last + 1) * this.#words)
  }

  /** The id of the entry that came first, which has the least; undefined where there is none. */
  oldest(): number | undefined {
    let least: number | undefined
    for (let at = 0; at < this.#count; at++) if (least === undefined || this.#ids[at]! < least) least = this.#ids[at]!
    return least
  }

  /** The ids of at most `most` entries whose signs differ least, of those that have not ended. */
  nearest(signs: Uint32Array, most: number, now_ms: number): readonly number[] {
    const found = this.search(signs, most, now_ms)
    this.look(found, Number.POSITIVE_INFINITY)
    return found.ids
  }

  /** The same for a caller that lets others have a turn between two looks (`look`). */
  search(signs: Uint32Array, most: number, now_ms: number): NearestSigns {
    return {signs, most, now_ms, at: 0, ids: [], distances: []}
  }

  /** Looks at the next `rows` entries; false when none is left. */
  look(found: NearestSigns, rows: number): boolean {
    const words = this.#words
    const {signs, most, now_ms, ids, distances} = found
    if (signs.length !== words) return false
    const end = Math.min(this.#count, found.at + rows)
    let worst = distances.length === most ? distances[most - 1]! : Number.POSITIVE_INFINITY
    for (let at = found.at; at < end; at++) {
      if (this.#ends[at]! <= now_ms) continue
      const from = at * words
      let distance = 0
      for (let word = 0; word < words; word++) {
        distance += bitsIn(this.#signs[from + word]! ^ signs[word]!)
        if (distance >= worst) break
      }
      if (distance >= worst) continue
      let place = distances.length
      while (place > 0 && distances[place - 1]! > distance) place--
      distances.splice(place, 0, distance)
      ids.splice(place, 0, this.#ids[at]!)
      if (distances.length > most) {
        distances.pop()
        ids.pop()
      }
      if (distances.length === most) worst = distances[most - 1]!
    }
    found.at = end
    return end < this.#count
  }

  #write(at: number, {id, expires_at_ms, signs}: SignEntry): void {
    if (signs.length !== this.#words) return
    this.#ids[at] = id
    this.#ends[at] = expires_at_ms
    this.#signs.set(signs, at * this.#words)
  }

  #place(id: number): number {
    const at = this.#ids.indexOf(id)
    return at < this.#count ? at : -1
  }

  #grow(): void {
    const room = Math.ceil(this.#ids.length * GROWTH) + LEAST_ROWS
    this.#ids = grown(this.#ids, new Float64Array(room))
    this.#ends = grown(this.#ends, new Float64Array(room))
    this.#signs = grown(this.#signs, new Uint32Array(room * this.#words))
  }
}

function grown<A extends Float64Array | Uint32Array>(from: A, to: A): A {
  to.set(from)
  return to
}

/** The number of bits that are set in 32. */
function bitsIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
