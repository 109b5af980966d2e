import {type Assertion, parseRegex, type Ranges, RegexFault, type Syntax} from './regex-syntax.ts'

export {RegexFault} from './regex-syntax.ts'

/** A pattern that is matched in time linear in the text, whatever the two are. */
export interface Regex {
  readonly source: string
  /** Instructions of its program: the time to match grows with this times the text's length. */
  readonly size: number
  /** True when `text` holds a match. */
  test(text: string): boolean
  /**
   * The first match at or after `from`, by the choices JavaScript makes: leftmost, then greedy or lazy as written; null: none. Only
   * where a part that may be empty is repeated, as in `(a*?|b)*`, may it end elsewhere.
   */
  find(text: string, from?: number): {readonly start: number; readonly end: number} | null
}

const LARGEST = 5000

/**
 * Compiles a pattern in JavaScript's syntax without flags, of UTF-16 code units, for a Thompson automaton that follows all its
 * threads at once (Pike's machine: R. Cox, "Regular Expression Matching: the Virtual Machine Approach"). Throws `RegexFault` for a
 * pattern that is malformed, needs backtracking, or grows above 5000 instructions.
 */
export function compileRegex(source: string): Regex {
  const syntax = parseRegex(source)
  if (sizeOf(syntax) >= LARGEST) throw new RegexFault(`it repeats too much: it grows above ${LARGEST} steps`)
  const program = assemble(syntax)
  return {
    source,
    size: program.op.length,
    test: text => run(program, text, 0, true) !== null,
    find: (text, from = 0) => run(program, text, from, false),
  }
}

const SET = 0
const SPLIT = 1
const JUMP = 2
const START = 3
const END = 4
const BOUNDARY = 5
const NO_BOUNDARY = 6
const MATCH = 7
const ASSERTIONS: Readonly<Record<Assertion, number>> = {start: START, end: END, word: BOUNDARY, inside: NO_BOUNDARY}

interface Program {
  readonly op: number[]
  /** SET: index of the set. SPLIT, JUMP: where to go first. */
  readonly x: number[]
  /** SPLIT: where to go else. */
  readonly y: number[]
  readonly sets: CharSet[]
}

interface CharSet {
  /** By code unit, for those below 128. */
  readonly ascii: Uint8Array
  readonly ranges: Ranges
}

/** Instructions that `syntax` becomes, without its repetitions being written out. May be Infinity. */
function sizeOf(syntax: Syntax): number {
  if (syntax.kind === 'set' || syntax.kind === 'assert') return 1
  if (syntax.kind === 'sequence') return syntax.of.reduce((sum, each) => sum + sizeOf(each), 0)
  if (syntax.kind === 'choice') return syntax.of.reduce((sum, each) => sum + sizeOf(each) + 2, 0)
  const {of, least, most} = syntax
  const one = sizeOf(of)
  // At least one a time: a part of no instructions is written out as often, and that takes time too.
  if (most === Number.POSITIVE_INFINITY) return least * Math.max(one, 1) + one + 2
  return least * Math.max(one, 1) + (most - least) * (one + 1)
}

function assemble(syntax: Syntax): Program {
  const program: Program = {op: [], x: [], y: [], sets: []}
  const known = new Map<string, number>()
  emit(syntax)
  add(MATCH)
  return program

  function add(op: number, x = 0, y = 0): number {
    program.op.push(op)
    program.x.push(x)
    program.y.push(y)
    return program.op.length - 1
  }

  function emit(part: Syntax): void {
    if (part.kind === 'set') add(SET, setOf(part.ranges))
    else if (part.kind === 'assert') add(ASSERTIONS[part.what])
    else if (part.kind === 'sequence') part.of.forEach(emit)
    else if (part.kind === 'choice') emitChoice(part.of)
    else emitRepeat(part)
  }

  function emitChoice(options: readonly Syntax[]): void {
    const ends: number[] = []
    options.forEach((option, index) => {
      const last = index === options.length - 1
      const split = last ? -1 : add(SPLIT)
      if (!last) program.x[split] = program.op.length
      emit(option)
      if (last) return
      ends.push(add(JUMP))
      program.y[split] = program.op.length
    })
    for (const end of ends) program.x[end] = program.op.length
  }

  function emitRepeat({of, least, most, lazy}: Extract<Syntax, {kind: 'repeat'}>): void {
    for (let times = 0; times < least; times++) emit(of)
    if (most === Number.POSITIVE_INFINITY) {
      const split = add(SPLIT)
      emit(of)
      add(JUMP, split)
      aim(split, split + 1, lazy)
      return
    }
    const splits: number[] = []
    for (let times = least; times < most; times++) {
      splits.push(add(SPLIT))
      emit(of)
    }
    for (const split of splits) aim(split, split + 1, lazy)
  }

  /** Into the repetition first, or out of it (to what comes next) first. */
  function aim(split: number, into: number, lazy: boolean): void {
    const out = program.op.length
    program.x[split] = lazy ? out : into
    program.y[split] = lazy ? into : out
  }

  function setOf(ranges: Ranges): number {
    const key = ranges.join()
    const same = known.get(key)
    if (same !== undefined) return same
    const ascii = new Uint8Array(128)
    for (let at = 0; at < ranges.length; at += 2) ascii.fill(1, Math.min(ranges[at]!, 128), Math.min(ranges[at + 1]! + 1, 128))
    known.set(key, program.sets.length)
    return program.sets.push({ascii, ranges}) - 1
  }
}

function has({ascii, ranges}: CharSet, unit: number): boolean {
  if (unit < 128) return ascii[unit] === 1
  let low = 0
  let high = ranges.length / 2
  while (low < high) {
    const middle = (low + high) >> 1
    if (ranges[middle * 2 + 1]! < unit) low = middle + 1
    else high = middle
  }
  return low * 2 < ranges.length && ranges[low * 2]! <= unit
}

/** Threads in order of preference: where each stands in the program, and where in the text it began. */
interface Threads {
  readonly at: Int32Array
  readonly began: Int32Array
  count: number
}

function run(program: Program, text: string, from: number, any: boolean): {start: number; end: number} | null {
  const {op, x, y, sets} = program
  const size = op.length
  const threads = (): Threads => ({at: new Int32Array(size), began: new Int32Array(size), count: 0})
  let [now, next] = [threads(), threads()]
  // The step at which an instruction was last reached: each is followed once a step, by the thread that is preferred.
  const reached = new Int32Array(size).fill(-1)
  const waiting: number[] = []
  let found: {start: number; end: number} | null = null

  const follow = (list: Threads, first: number, position: number, began: number) => {
    waiting.push(first)
    while (waiting.length) {
      const pc = waiting.pop()!
      if (reached[pc] === position) continue
      reached[pc] = position
      const what = op[pc]!
      if (what === SPLIT) waiting.push(y[pc]!, x[pc]!)
      else if (what === JUMP) waiting.push(x[pc]!)
      else if (what === SET || what === MATCH) {
        list.at[list.count] = pc
        list.began[list.count++] = began
      } else if (holds(what, text, position)) waiting.push(pc + 1)
    }
  }

  for (let position = from; position <= text.length; position++) {
    if (!found) follow(now, 0, position, position)
    else if (!now.count) break
    next.count = 0
    const unit = position < text.length ? text.charCodeAt(position) : -1
    for (let index = 0; index < now.count; index++) {
      const pc = now.at[index]!
      if (op[pc] === MATCH) {
        found = {start: now.began[index]!, end: position}
        if (any) return found
        break // Those that follow are less preferred.
      }
      if (unit >= 0 && has(sets[x[pc]!]!, unit)) follow(next, pc + 1, position + 1, now.began[index]!)
    }
    ;[now, next] = [next, now]
  }
  return found
}

function holds(assertion: number, text: string, position: number): boolean {
  if (assertion === START) return position === 0
  if (assertion === END) return position === text.length
  const boundary = isWord(text, position - 1) !== isWord(text, position)
  return boundary === (assertion === BOUNDARY)
}

function isWord(text: string, position: number): boolean {
  if (position < 0 || position >= text.length) return false
  const unit = text.charCodeAt(position)
  return (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f || (unit >= 0x61 && unit <= 0x7a)
}
