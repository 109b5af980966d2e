import {OPPOSITES} from '../../../../src/cache/semantic/gate/tables/opposites.ts'
import {SYNONYMS} from '../../../../src/cache/semantic/gate/tables/synonyms.ts'
import {BLOCKS, CODE, ENGLISH, FOREIGN} from './prompts.ts'

export interface MinimalPair {
  readonly kind: string
  readonly a: string
  readonly b: string
}

const lines = (text: string) => text.trim().split('\n')
export const english = lines(ENGLISH)
const foreign = lines(FOREIGN).map(line => line.split('|') as [language: string, prompt: string])
const code = lines(CODE).flatMap(request => BLOCKS.map(block => [request, block] as const))

/** How many different prompts the pairs are made of. */
export const PROMPTS = english.length + foreign.length + code.length

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length]!
const NOUNS = `violin glacier invoice lantern pepper harbor ticket cactus turbine saddle receipt meadow mirror syllable
  magnet orchard engine blanket parcel comet`.split(/\s+/)
const VERBS = `bury postpone paint borrow freeze translate weigh polish measure sing`.split(' ')
const PEOPLE = 'Anna Bertil Chidi Dorota Emre Farida Goran Hanae Ivo Jelena'.split(' ')
const CITIES = 'Rome Oslo Quito Perth Lyon Turin Malmo Kobe Ghent Bergen'.split(' ')
const TONGUES = 'French Spanish Czech Korean Dutch Welsh Danish Greek'.split(' ')
const DAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')
const MONTHS = 'January February March April June July August September October November December'.split(' ')
const UNITS: readonly (readonly [string, string])[] = [
  ['km', 'miles'],
  ['kg', 'pounds'],
  ['minutes', 'hours'],
  ['liters', 'gallons'],
  ['meters', 'feet'],
  ['dollars', 'euros'],
  ['GB', 'MB'],
  ['days', 'weeks'],
]
const QUOTES: readonly (readonly [string, string])[] = [
  ['north wind', 'north winds'],
  ['Version A', 'Version B'],
  ['in the beginning', 'in the Beginning'],
  ['do it', 'do it!'],
]
const OPPOSED: readonly (readonly [string, string])[] = [
  ['before lunch', 'after lunch'],
  ['with pictures', 'without pictures'],
  ['in more detail', 'in less detail'],
  ['for the first part', 'for the last part'],
  ['in ascending order', 'in descending order'],
  ['for the import', 'for the export'],
]
const opposite = new Map(
  OPPOSITES.trim()
    .split(/\s+/)
    .flatMap(pair => {
      const [one, other] = pair.split('/') as [string, string]
      return [[one, other] as const, [other, one] as const]
    }),
)
const group = new Map(
  SYNONYMS.split('|').flatMap((words, at) =>
    words
      .trim()
      .split(/\s+/)
      .map(word => [word, at] as const),
  ),
)
/** Words that the prompts use as verbs at their beginning, or behind "do I". */
const LEADING = /^(?:How (?:do|can|should) (?:I|we) )?([A-Za-z]+) /
/** Words that carry no meaning, or several, so that a swap of one would prove nothing. */
const LIGHT = new Set(
  `a an the is are was were be do does did how what why when where who which can could should would will i my me you it
  we to of in on at for with without from by as if and or not there this that their these have has much many long old
  far high often fast best please give tell most good than between kind`.split(/\s+/),
)

/** The text with a clause before its last mark, or a sentence behind it. */
const within = (text: string, clause: string) =>
  `${text.replace(/[.?!:]$/, '')} ${clause}${/[.?!]$/.exec(text)?.[0] ?? ''}`
const behind = (text: string, sentence: string) => `${text} ${sentence}`

/** Pairs whose sides answer differently and that differ in as little as can be. Always the same ones. */
export function minimalPairs(): MinimalPair[] {
  return [...english.flatMap(englishPairs), ...foreign.flatMap(foreignPairs), ...code.flatMap(codePairs)]
}

function englishPairs(text: string, at: number): MinimalPair[] {
  const pairs: MinimalPair[] = []
  const add = (kind: string, a: string, b: string) => {
    if (a !== b) pairs.push({kind, a, b})
  }
  const swap = (kind: string, [one, other]: readonly [string, string], to: (part: string) => string) =>
    add(kind, to(one), to(other))
  const number = 3 + (at % 40)
  swap('number', [`in ${number} steps`, `in ${number + 1} steps`], part => within(text, part))
  for (const step of [1, -1])
    add(
      'number',
      text,
      text.replace(/\d+/, digits => String(Number(digits) + step)),
    )
  const [unit, other_unit] = pick(UNITS, at)
  swap('unit', [`for ${number} ${unit}`, `for ${number} ${other_unit}`], part => within(text, part))
  swap('date', [pick(DAYS, at), pick(DAYS, at + 1)], day => within(text, `by ${day}`))
  swap('date', [`${pick(MONTHS, at)} ${number % 28}`, `${pick(MONTHS, at)} ${(number % 28) + 1}`], day =>
    within(text, `on ${day}`),
  )
  swap('name', [pick(PEOPLE, at), pick(PEOPLE, at + 3)], name => within(text, `for ${name}`))
  add('name', text, text.replace(/(?<=[a-z] )[A-Z][a-z]{3,}(?!\w)/, pick(CITIES, at)))
  swap('negation', ['Use tables.', 'Do not use tables.'], part => behind(text, part))
  add('negation', text, negated(text))
  swap('opposite', pick(OPPOSED, at), part => within(text, part))
  add('opposite', text, opposed(text))
  const [from, to] = [pick(CITIES, at), pick(CITIES, at + 4)]
  swap('direction', [`from ${from} to ${to}`, `from ${to} to ${from}`], part => within(text, part))
  const [first, second] = [pick(NOUNS, at), pick(NOUNS, at + 7)]
  swap(
    'operands',
    [`The ${first} is heavier than the ${second}.`, `The ${second} is heavier than the ${first}.`],
    part => behind(text, part),
  )
  swap('language', [pick(TONGUES, at), pick(TONGUES, at + 1)], tongue => behind(text, `Answer in ${tongue}.`))
  swap('quote', pick(QUOTES, at), quote => behind(text, `Begin with "${quote}".`))
  for (const offset of [0, 1]) add('noun', text, nounSwapped(text, at + offset, offset))
  add('verb', text, verbSwapped(text, at))
  return pairs
}

/** A beginning up to the subject of its verb. */
const VERB_FIRST = new RegExp(
  '^((?:How |Why |When |What |Where |Who |Which )?(?:do|does|did|can|is|are|should|was|will|has) ' +
    '(?:I|you|we|it|the \\w+|my \\w+|\\w+)) ',
  'i',
)

/** "Not" behind the first verb that takes it, or before an order. */
function negated(text: string): string {
  if (/\bnot\b|n't\b/.test(text)) return text.replace(/ not\b|n't\b/, '')
  const asked = text.replace(VERB_FIRST, '$1 not ')
  if (asked !== text) return asked
  return /^(?:How|What|Who|Which|Why|When|Where)\b/.test(text)
    ? text
    : `Do not ${text[0]!.toLowerCase()}${text.slice(1)}`
}

function opposed(text: string): string {
  const words = text.split(/\b/)
  const at = words.findIndex(word => !LIGHT.has(word) && opposite.has(word))
  return at < 0 ? text : words.with(at, opposite.get(words[at]!)!).join('')
}

/** A content word, one of the last, as another that is no synonym of it. */
function nounSwapped(text: string, at: number, from_end: number): string {
  const words = text.split(/\b/)
  const places = words.flatMap((word, place) =>
    /^[a-z]{4,}$/.test(word) && !LIGHT.has(word) && !isFree(word) ? [place] : [],
  )
  const place = places.at(-1 - from_end)
  if (place === undefined) return text
  const noun =
    NOUNS.find((word, index) => index >= at % NOUNS.length && group.get(word) !== group.get(words[place]!)) ?? 'comet'
  return words[place] === noun ? text : words.with(place, noun).join('')
}

/** Fillers may differ. */
function isFree(word: string): boolean {
  return ['quickly', 'simple', 'there', 'following', 'certain'].includes(word)
}

function verbSwapped(text: string, at: number): string {
  const verb = LEADING.exec(text)?.[1]
  if (verb === undefined || LIGHT.has(verb.toLowerCase())) return text
  const other = pick(VERBS, at)
  if (other === verb.toLowerCase()) return text
  return text.replace(LEADING, found =>
    found.replace(`${verb} `, `${verb === verb.toLowerCase() ? other : other[0]!.toUpperCase() + other.slice(1)} `),
  )
}

const NOT: Readonly<Record<string, string>> = {
  de: 'nicht',
  fr: 'sans',
  es: 'no',
  it: 'non',
  pt: 'não',
  nl: 'niet',
  pl: 'nie',
  sv: 'inte',
  ru: 'не',
  tr: 'değil',
  ja: 'ない',
  zh: '不',
  ko: '안',
  ar: 'لا',
}

function foreignPairs([language, text]: readonly [string, string], at: number): MinimalPair[] {
  const number = 3 + at
  const words = text.split(' ')
  const middle = Math.floor(words.length / 2)
  const pairs: MinimalPair[] = [
    {kind: 'number', a: within(text, `${number}`), b: within(text, `${number + 1}`)},
    {kind: 'unit', a: within(text, `${number} km`), b: within(text, `${number} kg`)},
    {kind: 'date', a: within(text, `2026-03-${10 + (at % 19)}`), b: within(text, `2026-03-${11 + (at % 19)}`)},
    {kind: 'name', a: within(text, pick(PEOPLE, at)), b: within(text, pick(PEOPLE, at + 1))},
    {kind: 'quote', a: `${text} "A b"`, b: `${text} "A c"`},
    {kind: 'negation', a: text, b: words.toSpliced(middle, 0, NOT[language]!).join(' ')},
    {kind: 'identifier', a: `${text} user_id`, b: `${text} user_ids`},
  ]
  if (words.length > 3) {
    pairs.push(
      {kind: 'noun', a: text, b: words.with(-1, `${pick(NOUNS, at)}?`).join(' ')},
      {
        kind: 'order',
        a: text,
        b: words
          .with(middle, words[middle - 1]!)
          .with(middle - 1, words[middle]!)
          .join(' '),
      },
    )
  } else pairs.push({kind: 'noun', a: text, b: text.replace(/.(?=.{4}$)/u, found => (found === '山' ? '川' : '山'))})
  return pairs
}

/** One line of code another way: a number, a sign, a name, its indent. */
function codePairs([request, block]: readonly [string, readonly string[]], at: number): MinimalPair[] {
  const text = (lines: readonly string[], fence: string) => `${request}\n\n${fence}\n${lines.join('\n')}\n${fence}`
  const changes = block.flatMap((line, place) =>
    [
      line.replace(/\d+/, digits => String(Number(digits) + 1)),
      line.replace(/[+>]/, '-'),
      line.replace(/\b(name|item|a|b|total|users)\b/, '$1x'),
      ` ${line}`,
      line.toUpperCase(),
    ]
      .filter(changed => changed !== line)
      .map(changed => block.with(place, changed)),
  )
  const fences = at % 2 === 0 ? ['```'] : ['```', '']
  return fences.flatMap(fence =>
    changes
      .slice(0, fence === '' ? 4 : 12)
      .map(changed => ({kind: 'code', a: text(block, fence), b: text(changed, fence)})),
  )
}

/** Pairs that differ only in how they are written: an answer to one serves the other. */
export function neutralPairs(): MinimalPair[] {
  return [...english, ...foreign.map(([, text]) => text)].flatMap((text, at) => {
    const is_english = at < english.length
    // how they are written is what they ask about
    if (/spelling|grammar/.test(text)) return []
    const pairs: MinimalPair[] = [
      {kind: 'spaces', a: text, b: `  ${outsideQuotes(text, part => part.replaceAll(' ', '  '))}\n`},
      {kind: 'punctuation', a: text, b: text.replace(/[.?!]$/, '')},
    ]
    // capitals say something in code and quotation marks, and of a name that is a word too
    const has_case = /["`_/]|[a-z][A-Z]|--|\b[A-Z]{2,}\b|Turkey|Windows/.test(text)
    if (!has_case) pairs.push({kind: 'case', a: text, b: text.toLowerCase()})
    if (!has_case && is_english) pairs.push({kind: 'case', a: text, b: text.toUpperCase()})
    if (!is_english) return pairs
    // it could belong to what stands behind the colon
    const has_material = /:\s/.test(text)
    const small = text[0]!.toLowerCase() + text.slice(1)
    pairs.push(
      {kind: 'please', a: text, b: `Please ${small}`},
      {kind: 'please', a: text, b: `${text.replace(/[.?!]$/, '')}, please${/[.?!]$/.exec(text)?.[0] ?? ''}`},
      {kind: 'thanks', a: text, b: `${text} Thanks!`},
      {
        kind: "what's",
        a: text,
        b: text
          .replace(/^What is /, "What's ")
          .replace(/^What's /, found => (text.startsWith("What's") ? 'What is ' : found)),
      },
      {kind: 'contraction', a: text, b: text.replace(/^(Who|Where|Why|How|When) is /, "$1's ")},
      {kind: 'contraction', a: within(text, 'if it does not work'), b: within(text, "if it doesn't work")},
    )
    return pairs.filter(({a, b}) => a !== b && !(has_material && b.includes(', please')))
  })
}

function outsideQuotes(text: string, change: (part: string) => string): string {
  return text
    .split('"')
    .map((part, at) => (at % 2 === 0 ? change(part) : part))
    .join('"')
}
