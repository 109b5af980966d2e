import {Automaton, type AutomatonState, type SearchCost, TEXT_END} from './regex-automaton.ts'
import {assemble, reversed, sizeOf} from './regex-program.ts'
import {parseRegex, RegexFault, type Syntax} from './regex-syntax.ts'

export {RegexFault} from './regex-syntax.ts'

/** The range of a match. */
export interface Match {
  readonly start: number
  readonly end: number
}

/** A pattern that is matched in time linear in the text, whatever the two are. */
export interface Regex {
  readonly source: string
  /** Instructions of its program: the time to match grows at most with this times the text's length. */
  readonly size: number
  /** True when `text` holds a match. */
  test(text: string): boolean
  /**
   * The first match at or after `from`, by the choices JavaScript makes: leftmost, then greedy or lazy as written;
   * null: none. Only where a part that may be empty is repeated, as in `(a*?|b)*`, may it end elsewhere.
   */
  find(text: string, from?: number): Match | null
  /** `test` with pauses: says undefined after each piece of work of a fraction of a millisecond. */
  testing(text: string, spend?: Spend): Generator<undefined, boolean>
  /** `find` with the same pauses. */
  finding(text: string, from?: number, spend?: Spend): Generator<undefined, Match | null>
}

/** Gets the cost of a piece of work: at least one unit, of a few nanoseconds, for each code unit that was read. */
export type Spend = (units: number) => void

const LARGEST = 5000
/** The work between two pauses, in looks at a known state; one of them takes a few nanoseconds. */
const UNITS_AT_ONCE = 50_000

/**
 * Compiles a pattern in JavaScript's syntax without flags, of UTF-16 code units, for a Thompson automaton that follows
 * all its threads at once (R. Cox, "Regular Expression Matching Can Be Simple And Fast"): forwards to where the match
 * ends, and from there backwards to where it begins. Throws `RegexFault` for a pattern that is malformed, needs
 * backtracking, or grows above 5000 instructions.
 */
export function compileRegex(source: string): Regex {
  const syntax = parseRegex(source)
  if (sizeOf(syntax) >= LARGEST) throw new RegexFault(`it repeats too much: it grows above ${LARGEST} steps`)
  return new Compiled(source, syntax)
}

class Compiled implements Regex {
  readonly source: string
  readonly size: number
  readonly #syntax: Syntax
  #forwards: Automaton | undefined
  #backwards: Automaton | undefined

  constructor(source: string, syntax: Syntax) {
    this.source = source
    this.size = sizeOf(syntax) + 1
    this.#syntax = syntax
  }

  test(text: string): boolean {
    return this.#forwardScan(text, 0, true).read(Number.POSITIVE_INFINITY) >= 0
  }

  find(text: string, from = 0): Match | null {
    if (from > text.length) return null
    const end = this.#forwardScan(text, from, false).read(Number.POSITIVE_INFINITY)
    return end < 0 ? null : {start: this.#backwardScan(text, end, from).read(Number.POSITIVE_INFINITY), end}
  }

  *testing(text: string, spend?: Spend): Generator<undefined, boolean> {
    return (yield* inPieces(this.#forwardScan(text, 0, true), spend)) >= 0
  }

  *finding(text: string, from = 0, spend?: Spend): Generator<undefined, Match | null> {
    if (from > text.length) return null
    const end = yield* inPieces(this.#forwardScan(text, from, false), spend)
    return end < 0 ? null : {start: yield* inPieces(this.#backwardScan(text, end, from), spend), end}
  }

  #forwardScan(text: string, from: number, any: boolean): Scan {
    this.#forwards ??= new Automaton(assemble(this.#syntax), {is_preferring: true})
    return new Scan(this.#forwards, text, {from, to: text.length, step: 1, any})
  }

  #backwardScan(text: string, from: number, to: number): Scan {
    this.#backwards ??= new Automaton(assemble(reversed(this.#syntax)), {is_preferring: false})
    return new Scan(this.#backwards, text, {from, to, step: -1, any: false})
  }
}

function* inPieces(scan: Scan, spend: Spend | undefined): Generator<undefined, number> {
  for (let spent = 0; ; spent = scan.units) {
    const found = scan.read(UNITS_AT_ONCE)
    spend?.(scan.units - spent)
    if (scan.is_over) return found
    yield
  }
}

interface Course {
  readonly from: number
  readonly to: number
  /** 1 reads the text forwards and looks for a match that begins anywhere, -1 backwards for one that ends at `from`. */
  readonly step: 1 | -1
  /** The first end of a match is enough. */
  readonly any: boolean
}

/** Code units that states must have served, when they became too many to keep; else none are kept for as many. */
const MIN_READ = 10_000

/** One reading of a text, which may pause anywhere. */
class Scan {
  is_over = false
  readonly #automaton: Automaton
  readonly #text: string
  readonly #course: Course
  readonly #spent: SearchCost = {units: 0, is_remembering: true}
  #state: AutomatonState
  #position: number
  #found = -1
  #generation: number
  #since: number

  constructor(automaton: Automaton, text: string, course: Course) {
    this.#automaton = automaton
    this.#text = text
    this.#course = course
    this.#position = course.from
    this.#state = automaton.begin(this.#unitAt(course.from - course.step), course.step === 1)
    this.#generation = automaton.generation
    this.#since = course.from
  }

  get units(): number {
    return this.#spent.units
  }

  /**
   * Reads on, for about so many units of work, and gives where the match ends (backwards: begins); -1: there is none.
   */
  read(most_units: number): number {
    const {step, to, any} = this.#course
    const {ascii} = this.#automaton.classes
    const spent = this.#spent
    const text = this.#text
    // Backwards, a position is before the unit that is read.
    const shift = step === 1 ? 0 : -1
    const limit = spent.units + most_units
    let state = this.#state
    let position = this.#position
    let stop = step === 1 ? Math.min(to, position + most_units) : Math.max(to, position - most_units)
    for (;;) {
      while (position !== stop) {
        const unit = text.charCodeAt(position + shift)
        const next = state.next[unit < 128 ? ascii[unit]! : this.#automaton.classes.of(unit)]
        if (next === undefined) {
          state = this.#learn(state, unit, position)
          if (spent.units >= limit) stop = position + step
        } else state = next
        if (state.is_special) {
          if (state.is_match) this.#found = position
          if (state.is_dead || (any && state.is_match)) return this.#end(position)
        }
        position += step
      }
      if (position === to) break
      this.#passed(position)
      this.#state = state
      return this.#found
    }
    const unit = this.#unitAt(to)
    state = this.#learn(state, unit, to)
    if (state.is_match) this.#found = to
    return this.#end(to)
  }

  /** A state that is not known yet. */
  #learn(state: AutomatonState, unit: number, position: number): AutomatonState {
    const automaton = this.#automaton
    const next = automaton.next(state, unit, this.#spent)
    const read = Math.abs(position - this.#since)
    if (automaton.generation !== this.#generation) {
      this.#generation = automaton.generation
      this.#spent.is_remembering = read >= MIN_READ
      this.#since = position
    } else if (!this.#spent.is_remembering && read >= MIN_READ) {
      this.#spent.is_remembering = true
      this.#since = position
    }
    if (this.#spent.is_remembering)
      state.next[unit === TEXT_END ? automaton.classes.count : automaton.classes.of(unit)] = next
    return next
  }

  #passed(position: number): void {
    this.#spent.units += Math.abs(position - this.#position)
    this.#position = position
  }

  #end(position: number): number {
    this.#passed(position)
    this.is_over = true
    return this.#found
  }

  /** The code unit behind `position`, in the direction of reading; `TEXT_END` at the end. */
  #unitAt(position: number): number {
    const at = this.#course.step === 1 ? position : position - 1
    return at >= 0 && at < this.#text.length ? this.#text.charCodeAt(at) : TEXT_END
  }
}
