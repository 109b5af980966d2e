import {Classes, isWord} from './regex-classes.ts'
import {BOUNDARY, END, has, JUMP, MATCH, NO_BOUNDARY, type Program, SET, SPLIT, START} from './regex-program.ts'

/** The kind of text before a position: none, a letter of a word, or something else. */
const NOTHING = 0
const WORD = 1
const OTHER = 2

/** In place of a code unit: the text is at its end. */
export const TEXT_END = -1

/**
 * The positions of all threads of a search between two code units. The same threads are the same state, so that a text
 * is read by one look per code unit once its states are known (a lazy DFA: R. Cox, "Regular Expression Matching in the
 * Wild").
 */
export class AutomatonState {
  /** Instructions, the preferred first, before the next code unit is looked at. */
  readonly threads: Uint16Array
  readonly before: number
  /** Besides, a match may begin here. */
  readonly is_searching: boolean
  /** A match ended before the code unit that led here. */
  readonly is_match: boolean
  readonly is_dead: boolean
  /** Not simply passed through. */
  readonly is_special: boolean
  /** By class of code unit; the last is the end of the text. */
  readonly next: (AutomatonState | undefined)[]

  constructor(threads: Uint16Array, before: number, is_searching: boolean, is_match: boolean, classes: number) {
    this.threads = threads
    this.before = before
    this.is_searching = is_searching
    this.is_match = is_match
    this.is_dead = threads.length === 0 && !is_searching
    this.is_special = is_match || this.is_dead
    this.next = new Array<AutomatonState | undefined>(classes).fill(undefined)
  }
}

/** The memory that states may take, in words: about half a megabyte. */
const MAX_WORDS = 65_536
/** The cost of a new state, in looks at a known one, besides its threads. */
const NEW_STATE = 16

export interface AutomatonOptions {
  /** The first match that JavaScript would choose, in place of the longest. */
  readonly is_preferring: boolean
}

/** A program with the states that were met so far. They are forgotten when they become too many. */
export class Automaton {
  readonly classes: Classes
  readonly #program: Program
  readonly #is_preferring: boolean
  readonly #sees_words: boolean
  readonly #sees_start: boolean
  readonly #reached: Uint32Array
  readonly #listed: Uint32Array
  readonly #made: Uint16Array
  readonly #waiting: number[] = []
  #turn = 0
  #states = new Map<string, AutomatonState>()
  readonly #beginnings: AutomatonState[] = []
  #words = 0
  /** Counts up with each time that the states were forgotten. */
  generation = 0

  constructor(program: Program, {is_preferring}: AutomatonOptions) {
    this.#program = program
    this.#is_preferring = is_preferring
    this.#sees_words = program.op.some(op => op === BOUNDARY || op === NO_BOUNDARY)
    this.#sees_start = program.op.includes(START)
    this.#reached = new Uint32Array(program.op.length)
    this.#listed = new Uint32Array(program.op.length)
    this.#made = new Uint16Array(program.op.length)
    this.classes = new Classes(program, this.#sees_words)
  }

  /** The state before anything was read; `unit` comes before it, or `TEXT_END`. */
  begin(unit: number, is_searching: boolean): AutomatonState {
    const before = this.#before(unit)
    const known = this.#beginnings[before * 2 + Number(is_searching)]
    if (known) return known
    this.#made[0] = this.#program.first
    const state = this.#state(is_searching ? 0 : 1, before, is_searching, false)
    this.#beginnings[before * 2 + Number(is_searching)] = state
    return state
  }

  /** The state after `unit`, or `TEXT_END`, and what finding it cost is added to `spent`. */
  next(state: AutomatonState, unit: number, spent: SearchCost): AutomatonState {
    const {op, x, y, after, first, sets} = this.#program
    const reached = this.#reached
    const listed = this.#listed
    const waiting = this.#waiting
    const turn = this.#newTurn()
    const {threads, before, is_searching} = state
    const to_word = this.#sees_words && unit !== TEXT_END && isWord(unit)
    const is_boundary = (before === WORD) !== to_word
    const count = threads.length + (is_searching ? 1 : 0)
    let made = 0
    let looks = 0
    let is_match = false
    for (let thread = 0; thread < count; thread++) {
      waiting.push(thread < threads.length ? threads[thread]! : first)
      while (waiting.length) {
        const pc = waiting.pop()!
        if (reached[pc] === turn) continue
        reached[pc] = turn
        looks++
        switch (op[pc]) {
          case SET:
            if (unit !== TEXT_END && has(sets[x[pc]!]!, unit)) {
              const to = after[pc]!
              if (listed[to] !== turn) {
                listed[to] = turn
                this.#made[made++] = to
              }
            }
            break
          case SPLIT:
            waiting.push(y[pc]!, x[pc]!)
            break
          case JUMP:
            waiting.push(x[pc]!)
            break
          case MATCH:
            is_match = true
            break
          default:
            if (this.#holds(op[pc]!, before, unit, is_boundary)) waiting.push(after[pc]!)
        }
        // Those that follow are less preferred.
        if (is_match && this.#is_preferring) waiting.length = 0
      }
      if (is_match && this.#is_preferring) break
    }
    spent.units += looks + made + NEW_STATE
    if (!this.#is_preferring) this.#made.subarray(0, made).sort()
    return this.#state(made, this.#before(unit), is_searching && !(is_match && this.#is_preferring), is_match, spent)
  }

  #holds(assertion: number, before: number, unit: number, is_boundary: boolean): boolean {
    if (assertion === START) return before === NOTHING
    if (assertion === END) return unit === TEXT_END
    return is_boundary === (assertion === BOUNDARY)
  }

  /** The class of `unit` as a predecessor. */
  #before(unit: number): number {
    if (unit === TEXT_END) return this.#sees_start ? NOTHING : OTHER
    return this.#sees_words && isWord(unit) ? WORD : OTHER
  }

  #state(made: number, before: number, is_searching: boolean, is_match: boolean, spent?: SearchCost): AutomatonState {
    const threads = this.#made.subarray(0, made)
    if (spent?.is_remembering === false) return new AutomatonState(threads.slice(), before, is_searching, is_match, 0)
    const key = String.fromCharCode(before * 4 + (is_searching ? 2 : 0) + (is_match ? 1 : 0), ...threads)
    const known = this.#states.get(key)
    if (known) return known
    const state = new AutomatonState(threads.slice(), before, is_searching, is_match, this.classes.count + 1)
    if (this.#words > MAX_WORDS) this.#forget()
    this.#words += 24 + this.classes.count + (made >> 2)
    this.#states.set(key, state)
    return state
  }

  #forget(): void {
    this.#states = new Map()
    this.#beginnings.length = 0
    this.#words = 0
    this.generation++
  }

  #newTurn(): number {
    if (this.#turn === 0xffff_ffff) {
      this.#reached.fill(0)
      this.#listed.fill(0)
      this.#turn = 0
    }
    return ++this.#turn
  }
}

/** The cost of a search, in looks at a known state, and whether remembering states is worth it. */
export interface SearchCost {
  units: number
  is_remembering: boolean
}
