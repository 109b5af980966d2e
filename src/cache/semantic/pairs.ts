import {OPPOSITES} from './gate/tables/opposites.ts'

/** Two texts that differ in one thing. */
export interface PromptPair {
  readonly kind: string
  /** `miss`: they have other answers. `hit`: one answer serves both. */
  readonly expected: 'miss' | 'hit'
  readonly a: string
  readonly b: string
}

/** A number from 0 to 1, without 1. */
type Random = () => number

const UNITS: readonly (readonly [string, string])[] = [
  ['km', 'miles'],
  ['kg', 'pounds'],
  ['minutes', 'hours'],
  ['liters', 'gallons'],
  ['dollars', 'euros'],
  ['GB', 'MB'],
]
const PEOPLE = 'Anna Bertil Chidi Dorota Emre Farida Goran Hanae Ivo Jelena'.split(' ')
const CITIES = 'Rome Oslo Quito Perth Lyon Turin Malmo Kobe Ghent Bergen'.split(' ')
const TONGUES = 'French Spanish Czech Korean Dutch Welsh Danish Greek'.split(' ')
const DAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')
const THINGS = 'violin glacier invoice lantern pepper harbor ticket cactus turbine saddle'.split(' ')
const QUOTES: readonly (readonly [string, string])[] = [
  ['north wind', 'north winds'],
  ['Version A', 'Version B'],
  ['do it', 'do it!'],
]
const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bdo not\b/, "don't"],
  [/\bdoes not\b/, "doesn't"],
  [/\bcannot\b/, "can't"],
  [/\b([Ww])hat is\b/, "$1hat's"],
  [/\b([Hh])ow is\b/, "$1ow's"],
  [/\bI am\b/, "I'm"],
]
/** How a text is written is part of its question. */
const IS_ABOUT_WRITING = /spell|grammar|capitali|capital letter|punctuat|translate|\bwords?\b/i
/** Capitals and blanks say something in it. */
const HAS_FORM = /["'`_/\\#<>{}[\]=|]|[a-z][A-Z]|--|\b[A-Z]{2,}\b|\n/

/** The gate reads no longer text, and a hostile one would cost more than its length. */
const MAX_CHARACTERS = 8 * 1024

let opposites: ReadonlyMap<string, string> | undefined

function oppositeOf(word: string): string | undefined {
  opposites ??= new Map(
    OPPOSITES.trim()
      .split(/\s+/)
      .map(pair => pair.split('/') as [string, string])
      .flatMap(([one, other]) => [[one, other] as const, [other, one] as const]),
  )
  return opposites.get(word)
}

/**
 * Pairs of a text that differ in as little as can be: in one thing that changes the answer, or in how the text is
 * written. The same numbers of `random` make the same pairs.
 */
export function pairsOf(text: string, random: Random): PromptPair[] {
  if (text.length > MAX_CHARACTERS) return []
  return [...changed(text, random), ...rewritten(text)].filter(({a, b}) => a !== b)
}

function changed(text: string, random: Random): PromptPair[] {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!
  const two = (of: readonly string[]): readonly [string, string] => {
    const one = Math.floor(random() * of.length)
    return [of[one]!, of[(one + 1 + Math.floor(random() * (of.length - 1))) % of.length]!]
  }
  const pairs: PromptPair[] = []
  const add = (kind: string, a: string, b: string) => pairs.push({kind, expected: 'miss', a, b})
  const swap = (kind: string, [one, other]: readonly [string, string], to: (part: string) => string) =>
    add(kind, to(one), to(other))
  const number = 3 + Math.floor(random() * 40)
  add(
    'number',
    text,
    text.replace(/\d+/, digits => shifted(digits)),
  )
  swap('number', [`${number}`, `${number + 1}`], part => behind(text, `Give ${part} reasons.`))
  swap('unit', pick(UNITS), part => behind(text, `It is about ${number} ${part}.`))
  swap('date', two(DAYS), part => behind(text, `It is for ${part}.`))
  add(
    'date',
    text,
    text.replace(/\b(20\d\d-\d\d-)(\d\d)\b/, (_, month: string, day: string) => month + nextDay(day)),
  )
  swap('name', two(PEOPLE), part => behind(text, `I am asking for ${part}.`))
  swap('negation', ['Use tables.', 'Do not use tables.'], part => behind(text, part))
  swap('opposite', ['In more detail.', 'In less detail.'], part => behind(text, part))
  add('opposite', text, opposed(text))
  const [from, to] = two(CITIES)
  swap('direction', [`from ${from} to ${to}`, `from ${to} to ${from}`], part => behind(text, `I travel ${part}.`))
  const [first, second] = two(THINGS)
  const heavier = (one: string, other: string) => behind(text, `The ${one} is heavier than the ${other}.`)
  add('operands', heavier(first, second), heavier(second, first))
  swap('noun', [first, second], part => behind(text, `It is about a ${part}.`))
  swap('language', two(TONGUES), part => behind(text, `Answer in ${part}.`))
  swap('quote', pick(QUOTES), part => behind(text, `Begin with "${part}".`))
  add('code', text, codeChanged(text))
  return pairs
}

function rewritten(text: string): PromptPair[] {
  if (IS_ABOUT_WRITING.test(text)) return []
  const pairs: PromptPair[] = []
  const add = (kind: string, b: string) => pairs.push({kind, expected: 'hit', a: text, b})
  add('punctuation', withoutEnd(text))
  if (HAS_FORM.test(text)) return pairs
  add('spaces', `  ${text.replaceAll(' ', '  ')}\n`)
  add('case', text.charAt(0).toLowerCase() + text.slice(1))
  add('please', `Please, ${text.charAt(0).toLowerCase()}${text.slice(1)}`)
  add('thanks', behind(text, 'Thanks!'))
  for (const [whole, short] of CONTRACTIONS) add('contraction', text.replace(whole, short))
  return pairs
}

/** Without final punctuation, and the blanks behind it. */
function withoutEnd(text: string): string {
  const plain = text.trimEnd()
  let end = plain.length
  while (end > 0 && '.?!'.includes(plain.charAt(end - 1))) end--
  return end === plain.length ? text : plain.slice(0, end)
}

const behind = (text: string, sentence: string) => `${text.trimEnd()} ${sentence}`

/** One more, as many digits as before where that can be. */
function shifted(digits: string): string {
  if (digits.length > 15) return digits
  return String(Number(digits) + 1).padStart(digits.length, '0')
}

function nextDay(day: string): string {
  return String((Number(day) % 28) + 1).padStart(2, '0')
}

/** One word as its opposite. */
function opposed(text: string): string {
  const words = text.split(/\b/)
  const at = words.findIndex(word => oppositeOf(word) !== undefined)
  return at < 0 ? text : words.with(at, oppositeOf(words[at]!)!).join('')
}

/** One line of a block of code with another number, sign or indent. */
function codeChanged(text: string): string {
  return text.replace(/(```[^\n]*\n)([^\n]+)/, (_, fence: string, line: string) => {
    const other = line.replace(/\d+/, shifted).replace(/[+>]/, '-')
    return fence + (other === line ? ` ${line}` : other)
  })
}
