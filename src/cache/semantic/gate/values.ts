import {lexicon} from './lexicon.ts'
import type {GateToken} from './token.ts'

const MONTH_SHORT: ReadonlyMap<string, string> = new Map(
  `jan january,feb february,mar march,apr april,jun june,jul july,aug august,sep september,sept september,oct october,
nov november,dec december`
    .split(/,\s*/)
    .map(pair => pair.split(' ') as [string, string]),
)
const MULTIPLIERS: ReadonlyMap<string, number> = new Map([
  ['hundred', 100],
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
  ['trillion', 1e12],
])
/** Behind these "one" counts nothing. */
const NO_COUNT = new Set(
  'this that which the each every no any some another other next last old new my your'.split(' '),
)
const ROMAN: ReadonlyMap<string, number> = new Map(
  'ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xvii xviii xix xx'
    .split(' ')
    .map((text, at) => [text, [2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20][at]!] as const),
)

/** The tokens with short forms written out, and number words, dates and units in the one way that is compared. */
export function withValues(tokens: readonly GateToken[]): GateToken[] {
  const done: GateToken[] = []
  const full = writtenOut(tokens)
  let at = 0
  while (at < full.length) {
    const date = dateAt(full, at)
    if (date !== null) {
      done.push({kind: 'date', text: date.text})
      at = date.end
      continue
    }
    at = addValue(full, at, done)
  }
  return done
}

function writtenOut(tokens: readonly GateToken[]): GateToken[] {
  const {contractions} = lexicon()
  return tokens.flatMap(token => {
    const words = token.kind === 'word' ? contractions.get(token.text) : undefined
    return words === undefined ? [token] : words.map(text => ({kind: 'word' as const, text}))
  })
}

/** Adds the value that begins at `at` and returns where the next begins. */
function addValue(tokens: readonly GateToken[], at: number, done: GateToken[]): number {
  const token = tokens[at]!
  const previous = done.at(-1)
  if (token.kind === 'word') {
    const counted = wordValue(tokens, at, previous)
    if (counted !== null) {
      done.push({kind: counted.kind, text: counted.text})
      return counted.end
    }
    const behind_number = previous?.kind === 'number' || (previous?.kind === 'symbol' && previous.text === '-')
    const unit = token.text.length > 1 || behind_number ? unitNamed(token.text) : undefined
    if (unit !== undefined && (behind_number || !AMBIGUOUS.has(token.text))) {
      if (previous?.kind === 'number') done[done.length - 1] = {kind: 'number', text: measured(previous.text)}
      done.push({kind: 'unit', text: unit})
      return at + 1
    }
  }
  if (token.kind === 'number') return addScaled(tokens, at, done)
  done.push(token)
  return at + 1
}

/** A plural of more than a short form is a unit too: `kilometres`, but not `as`. */
function unitNamed(word: string): string | undefined {
  const {units} = lexicon()
  return units.get(word) ?? (word.length > 4 && word.endsWith('s') ? units.get(word.slice(0, -1)) : undefined)
}

/** Words that are units behind a number only. */
const AMBIGUOUS = new Set(
  `in second min bar bars deg us page word line character sentence pair feet foot pound pounds pt ha ms rad pa cup cups
  a m`.split(/\s+/),
)

function addScaled(tokens: readonly GateToken[], at: number, done: GateToken[]): number {
  let end = at + 1
  let text = tokens[at]!.text
  // three noughts behind a space belong to the number before them
  while (tokens[end]?.text === '000' && text.length <= 12) {
    text += '000'
    end++
  }
  const scale = tokens[end]?.kind === 'word' ? MULTIPLIERS.get(tokens[end]!.text) : undefined
  if (scale !== undefined) {
    text = String(Number(text) * scale)
    end++
  }
  done.push({kind: 'number', text})
  return end
}

function measured(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

function wordValue(tokens: readonly GateToken[], at: number, previous: GateToken | undefined) {
  const {text, capital} = tokens[at]!
  const {numbers, ordinals} = lexicon()
  const ordinal = ordinals.get(text)
  if (ordinal !== undefined) {
    if (text === 'second' && previous?.kind === 'number') return null
    return {kind: 'ordinal' as const, text: `#${ordinal}`, end: at + 1}
  }
  const roman = capital === true && previous?.kind === 'word' ? ROMAN.get(text) : undefined
  if (roman !== undefined) return {kind: 'number' as const, text: String(roman), end: at + 1}
  let value = numbers.get(text)
  if (value === undefined) return null
  if (text === 'one' && (previous === undefined || previous.kind !== 'number') && !counts(tokens, at, previous))
    return null
  let end = at + 1
  const next = tokens[end]?.kind === 'word' ? numbers.get(tokens[end]!.text) : undefined
  if (value >= 20 && value < 100 && next !== undefined && next > 0 && next < 10) {
    value += next
    end++
  }
  for (;;) {
    const scale = tokens[end]?.kind === 'word' ? MULTIPLIERS.get(tokens[end]!.text) : undefined
    if (scale === undefined) break
    value *= scale
    end++
  }
  return {kind: 'number' as const, text: String(value), end}
}

function counts(tokens: readonly GateToken[], at: number, previous: GateToken | undefined): boolean {
  const next = tokens[at + 1]
  return next?.kind === 'word' && next.text !== 'of' && !(previous?.kind === 'word' && NO_COUNT.has(previous.text))
}

/** `12 May`, `May 12th`, `the 12th of May 2024`, one way. */
function dateAt(tokens: readonly GateToken[], at: number): {text: string; end: number} | null {
  const first = monthAt(tokens, at)
  if (first !== null) {
    const day = dayAt(tokens, at + 1)
    return day === null ? null : dateOf(tokens, first, day, at + 2)
  }
  const day = dayAt(tokens, at)
  if (day === null) return null
  const of = tokens[at + 1]?.text === 'of' ? 1 : 0
  const month = monthAt(tokens, at + 1 + of)
  return month === null ? null : dateOf(tokens, month, day, at + 2 + of)
}

function dateOf(tokens: readonly GateToken[], month: number, day: number, end: number) {
  const skip = tokens[end]?.kind === 'break' && tokens[end]!.text === ',' ? 1 : 0
  const year = tokens[end + skip]
  const has_year = year?.kind === 'number' && /^[12]\d{3}$/.test(year.text)
  const two = (value: number) => String(value).padStart(2, '0')
  const text = `${has_year ? year.text : ''}-${two(month)}-${two(day)}`
  return {text, end: has_year ? end + skip + 1 : end}
}

function monthAt(tokens: readonly GateToken[], at: number): number | null {
  const token = tokens[at]
  if (token?.kind !== 'word') return null
  return lexicon().months.get(MONTH_SHORT.get(token.text) ?? token.text) ?? null
}

function dayAt(tokens: readonly GateToken[], at: number): number | null {
  const token = tokens[at]
  if (token?.kind !== 'number' && token?.kind !== 'ordinal') return null
  const day = Number(token.text.replace('#', ''))
  return Number.isInteger(day) && day >= 1 && day <= 31 ? day : null
}
