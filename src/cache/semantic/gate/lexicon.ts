import {COLOURS, FILLERS, PLACES, POLITE, ROLES, SIZES, STOP, UNITS} from './tables/classes.ts'
import {CONTRACTIONS, FORMS, IS_AFTER, MONTHS, NUMBER_WORDS, ORDINALS, TENS, WEEKDAYS} from './tables/forms.ts'
import {JOINED, NEGATIONS, RELATIVE, STOP_WORDS} from './tables/languages.ts'
import {OPPOSITES} from './tables/opposites.ts'
import {SYNONYMS} from './tables/synonyms.ts'
import {VOCABULARY} from './tables/vocabulary.ts'

/** The past of a verb is its base with this behind it. */
export const PAST = '~ed'

const list = (text: string) => text.trim().split(/\s+/)
const groups = (text: string) =>
  text
    .trim()
    .split('|')
    .map(group => group.trim())
    .filter(group => group !== '')
/** `a=b|c=d` as a map. */
export const rules = (text: string): (readonly [string, string])[] =>
  groups(text).map(rule => {
    const at = rule.indexOf('=')
    return [rule.slice(0, at).trim(), rule.slice(at + 1).trim()]
  })

const BE = list('am is are')
const NUMBERS = list(NUMBER_WORDS)
const TENS_VALUES = [30, 40, 50, 60, 70, 80, 90, 100]

/** The tables as maps and sets. They are made when the gate is first used. */
function load() {
  const forms = new Map<string, string>()
  const flat = list(FORMS)
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const base = flat[at + 1]!
    forms.set(flat[at]!, base.startsWith('*') ? base.slice(1) + PAST : base)
  }
  for (const form of BE) forms.set(form, 'be')
  for (const [form, base] of [
    ['was', 'be'],
    ['were', 'be'],
    ['did', 'do'],
    ['had', 'have'],
  ] as const)
    forms.set(form, base + PAST)
  forms.set('does', 'do')
  forms.set('has', 'have')

  const heads = new Map<string, string>()
  for (const group of groups(SYNONYMS)) {
    const [head, ...others] = group.split(/\s+/)
    for (const other of others) heads.set(other, head!)
  }
  const units = new Map<string, string>()
  for (const group of groups(UNITS)) {
    const words = group.split(/\s+/)
    for (const word of words) units.set(word, `u:${words[0]}`)
  }
  const opposed = new Set(list(OPPOSITES.replaceAll('/', ' ')))
  const listed = new Set(list(`${COLOURS} ${SIZES} ${ROLES} ${PLACES}`))
  const numbers = new Map(NUMBERS.map((word, value) => [word, value] as const))
  for (const [at, word] of list(TENS).entries()) numbers.set(word, TENS_VALUES[at]!)
  const ordinals = new Map(list(ORDINALS).map((word, value) => [word, value] as const))
  const english = list(STOP_WORDS.en!)
  const vocabulary = new Set([
    ...list(VOCABULARY),
    ...groups(SYNONYMS).flatMap(group => group.split(/\s+/)),
    ...opposed,
    ...listed,
    ...list(FILLERS),
    ...list(POLITE),
    ...list(STOP),
    ...english,
    ...units.keys(),
    ...numbers.keys(),
    ...ordinals.keys(),
    ...list(MONTHS),
    ...list(WEEKDAYS),
    ...[...forms.values()].map(base => base.replace(PAST, '')),
  ])
  return {
    forms,
    heads,
    units,
    opposed,
    listed,
    numbers,
    ordinals,
    vocabulary,
    contractions: new Map(rules(CONTRACTIONS).map(([form, words]) => [form, words.split(' ')] as const)),
    joined: new Map(rules(JOINED).map(([form, words]) => [form, words.split(' ')] as const)),
    is_after: new Set(list(IS_AFTER)),
    months: new Map(list(MONTHS).map((word, at) => [word, at + 1] as const)),
    weekdays: new Set(list(WEEKDAYS)),
    fillers: new Set(list(FILLERS)),
    polite: new Set(list(POLITE)),
    stop: new Set(list(STOP)),
    negations: new Set(list(NEGATIONS)),
    relative: new Set(list(RELATIVE)),
    votes: votesOf(),
  }
}

/** Each stop word with the languages that have it, as bits. The first language is English. */
function votesOf(): ReadonlyMap<string, number> {
  const votes = new Map<string, number>()
  for (const [at, words] of Object.values(STOP_WORDS).entries())
    for (const word of new Set(list(words))) votes.set(word, (votes.get(word) ?? 0) | (1 << at))
  return votes
}

export type GateLexicon = ReturnType<typeof load>
let loaded: GateLexicon | undefined

export function lexicon(): GateLexicon {
  loaded ??= load()
  return loaded
}
