import {badRequest} from '../fault.ts'
import {type AttributePath, readPath} from '../path.ts'
import {type Filter, type FilterOperator, type Literal, OPERATORS} from './filter.ts'
import {type Lexeme, lexed} from './lex.ts'

const LONGEST_BYTES = 4096
const DEEPEST = 20
const MOST_TERMS = 50

/** Reads a filter; refuses one that is broken, too long, too deep or of too many terms with `invalidFilter`. */
export function readFilter(text: string): Filter {
  if (Buffer.byteLength(text) > LONGEST_BYTES) throw wrong('is longer than 4 KB')
  return new Reader(lexed(text)).whole()
}

class Reader {
  readonly #pieces: readonly Lexeme[]
  #at = 0
  #terms = 0

  constructor(pieces: readonly Lexeme[]) {
    this.#pieces = pieces
  }

  whole(): Filter {
    const filter = this.#any(0)
    if (this.#at < this.#pieces.length) throw wrong('goes on after its end')
    return filter
  }

  #any(depth: number): Filter {
    const all = [this.#every(depth)]
    while (this.#takesWord('or')) all.push(this.#every(depth))
    return all.length === 1 ? all[0]! : {kind: 'or', of: all}
  }

  #every(depth: number): Filter {
    const all = [this.#one(depth)]
    while (this.#takesWord('and')) all.push(this.#one(depth))
    return all.length === 1 ? all[0]! : {kind: 'and', of: all}
  }

  #one(depth: number): Filter {
    if (depth > DEEPEST) throw wrong(`is nested deeper than ${DEEPEST} levels`)
    if (this.#peekWord() === 'not' && this.#pieces[this.#at + 1]?.kind === '(') {
      this.#at++
      return {kind: 'not', of: this.#grouped(depth)}
    }
    return this.#pieces[this.#at]?.kind === '(' ? this.#grouped(depth) : this.#term(depth)
  }

  #grouped(depth: number): Filter {
    this.#takes('(')
    const inner = this.#any(depth + 1)
    this.#takes(')')
    return inner
  }

  #term(depth: number): Filter {
    if (++this.#terms > MOST_TERMS) throw wrong(`has more than ${MOST_TERMS} terms`)
    const path = this.#path()
    if (this.#pieces[this.#at]?.kind === '[') {
      this.#at++
      const of = this.#any(depth + 1)
      this.#takes(']')
      return {kind: 'element', path, of, behind: this.#after()}
    }
    return this.#judged(path)
  }

  /** `.value eq "x"` behind a list's filter. */
  #after(): Filter | null {
    const next = this.#pieces[this.#at]
    if (next?.kind !== 'word' || next.text[0] !== '.') return null
    this.#at++
    const path = readPath(next.text.slice(1))
    if (!path) throw wrong(`has ${shown(next.text)}, which is no attribute`)
    return this.#judged(path)
  }

  #judged(path: AttributePath): Filter {
    const operator = this.#word().toLowerCase()
    if (operator === 'pr') return {kind: 'present', path}
    if (!OPERATORS.some(each => each === operator)) throw wrong(`has ${shown(operator)}, which is no operator`)
    return {kind: 'compare', path, operator: operator as FilterOperator, value: this.#literal()}
  }

  #path(): AttributePath {
    const word = this.#word()
    const path = readPath(word)
    if (!path) throw wrong(`has ${shown(word)}, which is no attribute`)
    return path
  }

  #literal(): Literal {
    const piece = this.#pieces[this.#at++]
    if (piece?.kind === 'text') return piece.text
    if (piece?.kind !== 'word') throw wrong('ends where a value is expected')
    const folded = piece.text.toLowerCase()
    if (folded === 'true' || folded === 'false') return folded === 'true'
    if (folded === 'null') return null
    if (/^-?\d{1,15}(\.\d{1,15})?$/.test(piece.text)) return Number(piece.text)
    throw wrong(`has ${shown(piece.text)} where a value is expected: a text is quoted`)
  }

  #word(): string {
    const piece = this.#pieces[this.#at++]
    if (piece?.kind !== 'word') throw wrong('ends where an attribute or an operator is expected')
    return piece.text
  }

  #peekWord(): string | undefined {
    const piece = this.#pieces[this.#at]
    return piece?.kind === 'word' ? piece.text.toLowerCase() : undefined
  }

  #takesWord(word: string): boolean {
    if (this.#peekWord() !== word) return false
    this.#at++
    return true
  }

  #takes(kind: '(' | ')' | ']') {
    if (this.#pieces[this.#at++]?.kind !== kind) throw wrong(`lacks a ${kind}`)
  }
}

function wrong(why: string) {
  return badRequest('invalidFilter', `The filter ${why}.`)
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 40))
}
