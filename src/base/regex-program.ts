import type {Assertion, Ranges, Syntax} from './regex-syntax.ts'

export const SET = 0
export const SPLIT = 1
export const JUMP = 2
export const START = 3
export const END = 4
export const BOUNDARY = 5
export const NO_BOUNDARY = 6
export const MATCH = 7
const ASSERTIONS: Readonly<Record<Assertion, number>> = {start: START, end: END, word: BOUNDARY, inside: NO_BOUNDARY}

/**
 * Instructions for a Thompson automaton. It begins at `first`; after each SET and assertion comes the one at `after`.
 */
export interface Program {
  readonly op: readonly number[]
  /** SET: index of the set. SPLIT, JUMP: where to go first. */
  readonly x: readonly number[]
  /** SPLIT: where to go else. */
  readonly y: readonly number[]
  /** The instructions that follow one, jumps taken. */
  readonly after: readonly number[]
  readonly first: number
  readonly sets: readonly CharSet[]
}

export interface CharSet {
  /** By code unit, for those below 128. */
  readonly ascii: Uint8Array
  readonly ranges: Ranges
}

/** Instructions that `syntax` becomes, without its repetitions being written out. May be Infinity. */
export function sizeOf(syntax: Syntax): number {
  if (syntax.kind === 'set' || syntax.kind === 'assert') return 1
  if (syntax.kind === 'sequence') return syntax.of.reduce((sum, each) => sum + sizeOf(each), 0)
  if (syntax.kind === 'choice') return syntax.of.reduce((sum, each) => sum + sizeOf(each) + 2, 0)
  const {of, least, most} = syntax
  const one = sizeOf(of)
  // At least one a time: a part of no instructions is written out as often, and that takes time too.
  if (most === Number.POSITIVE_INFINITY) return least * Math.max(one, 1) + one + 2
  return least * Math.max(one, 1) + (most - least) * (one + 1)
}

/** The syntax that matches the same texts read from their ends. */
export function reversed(syntax: Syntax): Syntax {
  if (syntax.kind === 'set') return syntax
  if (syntax.kind === 'assert') return {kind: 'assert', what: TURNED[syntax.what]}
  if (syntax.kind === 'repeat') return {...syntax, of: reversed(syntax.of)}
  return {
    kind: syntax.kind,
    of: syntax.kind === 'sequence' ? syntax.of.map(reversed).reverse() : syntax.of.map(reversed),
  }
}

const TURNED: Readonly<Record<Assertion, Assertion>> = {start: 'end', end: 'start', word: 'word', inside: 'inside'}

export function assemble(syntax: Syntax): Program {
  const op: number[] = []
  const x: number[] = []
  const y: number[] = []
  const sets: CharSet[] = []
  const known = new Map<string, number>()
  emit(syntax)
  add(MATCH)
  const landed = (pc: number): number => {
    let at = pc
    // A loop of jumps alone cannot be: each loop holds a SPLIT.
    while (op[at] === JUMP) at = x[at]!
    return at
  }
  return {
    op,
    x: x.map((to, pc) => (op[pc] === SPLIT ? landed(to) : to)),
    y: y.map(landed),
    sets,
    first: landed(0),
    after: op.map((_, pc) => landed(pc + 1)),
  }

  function add(what: number, first = 0, second = 0): number {
    op.push(what)
    x.push(first)
    y.push(second)
    return op.length - 1
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
      if (!last) x[split] = op.length
      emit(option)
      if (last) return
      ends.push(add(JUMP))
      y[split] = op.length
    })
    for (const end of ends) x[end] = op.length
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
    const out = op.length
    x[split] = lazy ? out : into
    y[split] = lazy ? into : out
  }

  function setOf(ranges: Ranges): number {
    const key = ranges.join()
    const same = known.get(key)
    if (same !== undefined) return same
    const ascii = new Uint8Array(128)
    for (let at = 0; at < ranges.length; at += 2)
      ascii.fill(1, Math.min(ranges[at]!, 128), Math.min(ranges[at + 1]! + 1, 128))
    known.set(key, sets.length)
    return sets.push({ascii, ranges}) - 1
  }
}

export function has({ascii, ranges}: CharSet, unit: number): boolean {
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
