import {has, type Program} from './regex-program.ts'

const ASCII = 128
const PAGE = 256
/** Above so many questions whether a set has a stretch of code units, like stretches are not looked for. */
const MAX_QUESTIONS = 65_536
const WORD_EDGES = [0x30, 0x3a, 0x41, 0x5b, 0x5f, 0x60, 0x61, 0x7b]

/** Code units that a program does not tell apart are one class. */
export class Classes {
  readonly count: number
  readonly ascii: Uint16Array
  /** The first code unit of each range, and its class. */
  readonly #starts: readonly number[]
  readonly #classes: readonly number[]
  readonly #pages: (Uint16Array | undefined)[] = new Array<Uint16Array | undefined>(0x10000 / PAGE).fill(undefined)

  constructor({sets}: Program, sees_words: boolean) {
    const edges = new Set([0, ...(sees_words ? WORD_EDGES : [])])
    for (const {ranges} of sets) {
      for (let at = 0; at < ranges.length; at += 2) {
        edges.add(ranges[at]!)
        if (ranges[at + 1]! < 0xffff) edges.add(ranges[at + 1]! + 1)
      }
    }
    const starts = [...edges].sort((one, other) => one - other)
    const by_members = starts.length * sets.length <= MAX_QUESTIONS
    const known = new Map<string, number>()
    this.#starts = starts
    this.#classes = starts.map((unit, at) => {
      if (!by_members) return at
      const key = sets.map(set => (has(set, unit) ? '1' : '0')).join('') + (sees_words && isWord(unit) ? 'w' : '')
      const same = known.get(key)
      if (same === undefined) known.set(key, known.size)
      return same ?? known.size - 1
    })
    this.count = by_members ? known.size : starts.length
    this.ascii = Uint16Array.from({length: ASCII}, (_, unit) => this.#look(unit))
  }

  /** The class of a code unit of any value. */
  of(unit: number): number {
    let page = this.#pages[unit >> 8]
    if (!page) {
      page = this.#page(unit >> 8)
      this.#pages[unit >> 8] = page
    }
    return page[unit & 0xff]!
  }

  #page(page: number): Uint16Array {
    return Uint16Array.from({length: PAGE}, (_, unit) => this.#look(page * PAGE + unit))
  }

  #look(unit: number): number {
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#starts[middle]! <= unit) low = middle
      else high = middle - 1
    }
    return this.#classes[low]!
  }
}

/** A letter of `\w`. */
export function isWord(unit: number): boolean {
  return (
    (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f || (unit >= 0x61 && unit <= 0x7a)
  )
}
