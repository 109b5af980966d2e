/** The parsed form of a pattern, before it is a program. */
export type Syntax =
  | {readonly kind: 'set'; readonly ranges: Ranges}
  | {readonly kind: 'assert'; readonly what: Assertion}
  | {readonly kind: 'sequence'; readonly of: readonly Syntax[]}
  | {readonly kind: 'choice'; readonly of: readonly Syntax[]}
  | {
      readonly kind: 'repeat'
      readonly of: Syntax
      readonly least: number
      readonly most: number
      readonly lazy: boolean
    }

export type Assertion = 'start' | 'end' | 'word' | 'inside'

/** UTF-16 code units from, to, from, to, in order and apart. */
export type Ranges = readonly number[]

/** An invalid pattern; the message is a sentence for its author, to follow a colon. */
export class RegexFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RegexFault'
  }
}

const LONGEST = 4096
const DEEPEST = 100
const MAX_TIMES = 1000
const LAST = 0xffff

/**
 * Reads a pattern of JavaScript without flags (ECMA-262, 22.2.1 and annex B). Refused are the parts that need
 * backtracking, back-references and lookaround, and what only looks as if it meant something without the `u` flag
 * (`\p{...}`, `\u{...}`).
 */
export function parseRegex(source: string): Syntax {
  if (source.length > LONGEST) throw new RegexFault(`a pattern has at most ${LONGEST} characters`)
  return new Parser(source).parse()
}

/** Reads a pattern from left to right, a method for each part of the grammar. */
class Parser {
  readonly #source: string
  #at = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  parse(): Syntax {
    const whole = this.#choice()
    if (this.#at < this.#source.length) throw new RegexFault(`the ) at position ${this.#at + 1} closes nothing`)
    return whole
  }

  #choice(): Syntax {
    const of = [this.#sequence()]
    while (this.#source[this.#at] === '|') {
      this.#at++
      of.push(this.#sequence())
    }
    return of.length === 1 ? of[0]! : {kind: 'choice', of}
  }

  #sequence(): Syntax {
    const of: Syntax[] = []
    while (this.#at < this.#source.length && this.#source[this.#at] !== '|' && this.#source[this.#at] !== ')')
      of.push(this.#repeated())
    return of.length === 1 ? of[0]! : {kind: 'sequence', of}
  }

  #repeated(): Syntax {
    const grouped = this.#source[this.#at] === '('
    const one = this.#atom()
    const started = this.#at
    const times = this.#quantifier()
    if (!times) return one
    if (one.kind === 'assert' && !grouped) throw new RegexFault(`there is nothing to repeat at position ${started + 1}`)
    const [least, most] = times
    if (most < least) throw new RegexFault(`the numbers of the quantifier at position ${started + 1} are out of order`)
    if (least > MAX_TIMES || (most !== Number.POSITIVE_INFINITY && most > MAX_TIMES))
      throw new RegexFault(`a repetition is counted to ${MAX_TIMES} at most`)
    const lazy = this.#source[this.#at] === '?'
    if (lazy) this.#at++
    return {kind: 'repeat', of: one, least, most, lazy}
  }

  #quantifier(): readonly [number, number] | undefined {
    const sign = this.#source[this.#at]
    if (sign === '*' || sign === '+' || sign === '?') {
      this.#at++
      return [sign === '+' ? 1 : 0, sign === '?' ? 1 : Number.POSITIVE_INFINITY]
    }
    const counted = sign === '{' ? this.#braces() : undefined
    if (!counted) return undefined
    const [text, least, comma, most] = counted
    this.#at += text.length
    return [Number(least), comma ? (most ? Number(most) : Number.POSITIVE_INFINITY) : Number(least)]
  }

  #braces(): RegExpExecArray | undefined {
    const counted = /\{(\d+)(,?)(\d*)\}/y
    counted.lastIndex = this.#at
    return counted.exec(this.#source) ?? undefined
  }

  #atom(): Syntax {
    const sign = this.#source[this.#at]!
    if (sign === '(') return this.#group()
    if (sign === '[') return {kind: 'set', ranges: this.#charClass()}
    if (sign === '\\') return this.#escaped()
    if (sign === '*' || sign === '+' || sign === '?' || (sign === '{' && this.#braces()))
      throw new RegexFault(`there is nothing to repeat at position ${this.#at + 1}`)
    this.#at++
    if (sign === '^') return {kind: 'assert', what: 'start'}
    if (sign === '$') return {kind: 'assert', what: 'end'}
    return {kind: 'set', ranges: sign === '.' ? NOT_LINE_END : single(sign.charCodeAt(0))}
  }

  #group(): Syntax {
    const opened = this.#at++
    if (++this.#depth > DEEPEST) throw new RegexFault(`groups stand within each other at most ${DEEPEST} deep`)
    if (this.#source[this.#at] === '?') {
      const head = /^\?(?::|<[A-Za-z_$][\w$]*>)/.exec(this.#source.slice(this.#at, this.#at + 260))
      if (!head) throw new RegexFault(groupFault(this.#source.slice(this.#at, this.#at + 3), opened))
      this.#at += head[0].length
    }
    const inner = this.#choice()
    if (this.#source[this.#at] !== ')') throw new RegexFault(`the ( at position ${opened + 1} is not closed`)
    this.#at++
    this.#depth--
    return inner
  }

  #escaped(): Syntax {
    const next = this.#source[this.#at + 1]
    if (next === 'b' || next === 'B') {
      this.#at += 2
      return {kind: 'assert', what: next === 'b' ? 'word' : 'inside'}
    }
    if (next !== undefined && next >= '1' && next <= '9')
      throw new RegexFault(`the back-reference \\${next} at position ${this.#at + 1} cannot be matched in linear time`)
    if (next === 'k')
      throw new RegexFault(`the back-reference \\k at position ${this.#at + 1} cannot be matched in linear time`)
    return {kind: 'set', ranges: this.#escapedRanges()}
  }

  /** The characters that a backslash and its operand match, in a class or outside. */
  #escapedRanges(): Ranges {
    const started = this.#at
    this.#at += 2
    const sign = this.#source[started + 1]
    if (sign === undefined) throw new RegexFault('it ends in a backslash')
    if (Object.hasOwn(CLASSES, sign)) return CLASSES[sign]!
    if (Object.hasOwn(CONTROLS, sign)) return single(CONTROLS[sign]!)
    if (sign === 'p' || sign === 'P')
      throw new RegexFault(`\\${sign} at position ${started + 1} is not available; name the characters`)
    if (sign === 'x' || sign === 'u') return single(this.#hexadecimal(sign, started))
    if (sign === 'c') {
      const letter = /^[A-Za-z]/.exec(this.#source.slice(this.#at, this.#at + 1))
      if (!letter) throw new RegexFault(`\\c at position ${started + 1} is followed by no letter`)
      this.#at++
      return single(letter[0].charCodeAt(0) % 32)
    }
    if (sign >= '0' && sign <= '9') {
      if (sign !== '0' || /\d/.test(this.#source[this.#at] ?? ''))
        throw new RegexFault(`the octal escape at position ${started + 1} is not available`)
      return single(0)
    }
    return single(sign.charCodeAt(0))
  }

  #hexadecimal(sign: 'x' | 'u', started: number): number {
    const length = sign === 'x' ? 2 : 4
    const digits = this.#source.slice(this.#at, this.#at + length)
    if (!/^[\da-f]+$/i.test(digits) || digits.length < length)
      throw new RegexFault(`\\${sign} at position ${started + 1} takes ${length} hexadecimal digits`)
    this.#at += length
    return Number.parseInt(digits, 16)
  }

  #charClass(): Ranges {
    const opened = this.#at++
    const inverted = this.#source[this.#at] === '^'
    if (inverted) this.#at++
    const bounds: number[] = []
    while (this.#source[this.#at] !== ']') {
      if (this.#at >= this.#source.length) throw new RegexFault(`the [ at position ${opened + 1} is not closed`)
      const low = this.#member()
      if (this.#source[this.#at] !== '-' || this.#source[this.#at + 1] === ']' || this.#at + 1 >= this.#source.length) {
        bounds.push(...low)
        continue
      }
      this.#at++
      const high = this.#member()
      const [from, to] = [low[0]!, high[0]!]
      // Annex B: beside a class such as \d the hyphen is itself.
      if (low.length !== 2 || high.length !== 2 || low[1] !== from || high[1] !== to)
        bounds.push(...low, HYPHEN, HYPHEN, ...high)
      else if (to < from) throw new RegexFault(`the range before position ${this.#at + 1} is out of order`)
      else bounds.push(from, to)
    }
    this.#at++
    const ranges = ordered(bounds)
    return inverted ? complement(ranges) : ranges
  }

  #member(): Ranges {
    if (this.#source[this.#at] === '\\') {
      if (this.#source[this.#at + 1] !== 'b') return this.#escapedRanges()
      this.#at += 2
      return single(8)
    }
    return single(this.#source.charCodeAt(this.#at++))
  }
}

const HYPHEN = 0x2d
const DIGITS: Ranges = [0x30, 0x39]
const WORD: Ranges = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a]
const SPACES: Ranges = [
  ...[0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a],
  ...[0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff],
]
const NOT_LINE_END: Ranges = complement([0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029])
const CLASSES: Readonly<Record<string, Ranges>> = {
  ...{d: DIGITS, w: WORD, s: SPACES},
  ...{D: complement(DIGITS), W: complement(WORD), S: complement(SPACES)},
}
const CONTROLS: Readonly<Record<string, number>> = {t: 9, n: 10, v: 11, f: 12, r: 13}

function single(unit: number): Ranges {
  return [unit, unit]
}

function complement(ranges: Ranges): Ranges {
  const left: number[] = []
  let from = 0
  for (let at = 0; at < ranges.length; at += 2) {
    if (ranges[at]! > from) left.push(from, ranges[at]! - 1)
    from = ranges[at + 1]! + 1
  }
  if (from <= LAST) left.push(from, LAST)
  return left
}

/** In order, and joined where they touch. */
function ordered(bounds: readonly number[]): Ranges {
  const pairs = Array.from(
    {length: bounds.length / 2},
    (_, pair) => [bounds[pair * 2]!, bounds[pair * 2 + 1]!] as const,
  )
  const joined: number[] = []
  for (const [from, to] of pairs.sort(([one], [other]) => one - other)) {
    const end = joined.length - 1
    if (end > 0 && from <= joined[end]! + 1) joined[end] = Math.max(joined[end]!, to)
    else joined.push(from, to)
  }
  return joined
}

function groupFault(head: string, opened: number): string {
  const place = `at position ${opened + 1}`
  if (head[1] === '=' || head[1] === '!') return `the lookahead ${place} cannot be matched in linear time`
  if (head[1] === '<' && (head[2] === '=' || head[2] === '!'))
    return `the lookbehind ${place} cannot be matched in linear time`
  return `the group ${place} begins with a (? that is not available; (?: and (?<name> are`
}
