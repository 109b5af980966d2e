import type {GateClass, GateFeatures} from './contract.ts'
import {GATE_VERSION} from './contract.ts'
import {TextHmac} from './hmac.ts'
import {type GateItem, sentencesOf} from './items.ts'
import {KeyedHash} from './keyed-hash.ts'
import {languageOf} from './language.ts'
import {lexicon, PAST} from './lexicon.ts'
import {scan, written} from './scan.ts'
import {type Structure, structureOf} from './structure.ts'
import type {GateToken} from './token.ts'
import {withValues} from './values.ts'
import {wordingOf} from './wording.ts'

/** A longer text has more words than 2 KB of features can hold, or says one thing too often to be compared. */
const MAX_CHARACTERS = 8 * 1024
/** With digests of all classes and three fillers, this many words are 2 KB of JSON. */
const MAX_WORDS = 240
const MAX_FILLERS = 16
const DIGEST_BYTES = 16
const MODALS = new Set('can could will would should must may might shall'.split(' '))
const PRONOUNS = new Set(
  'i me my mine you your yours he him his she her hers we us our ours they them their'.split(' '),
)
const PASTS = new Set(['be', 'do', 'have'].map(verb => verb + PAST))

/** The features of a text under a key; null when they would be longer than 2 KB: it is neither stored nor served. */
export function featuresOf(text: string, key: Uint8Array): GateFeatures | null {
  if (text.length > MAX_CHARACTERS || text.trim() === '') return null
  const form = written(text)
  if (form.length > 2 * MAX_CHARACTERS) return null
  const tokens = scan(form)
  const language = languageOf(form, tokens)
  const meaning = language.is_english ? englishMeaning(tokens) : plainMeaning(tokens)
  const words = new Set(meaning.items.filter(item => isContent(item)).map(item => item.text))
  const fillers = new Set(meaning.fillers)
  if (words.size > MAX_WORDS || fillers.size > MAX_FILLERS) return null
  const found = valuesOf(meaning.items, language.is_english)
  found.language = [language.name]
  found.kind = meaning.kinds
  found.direction = meaning.order
  const wording = language.is_english ? wordingOf(form) : null
  if (wording !== null) found.wording = [wording]
  // nothing is left to compare but the text itself
  if (words.size === 0) found.words = [text.normalize('NFKC').trim()]
  const {hash, hmac} = hashersOf(key)
  return {
    v: GATE_VERSION,
    classes: digestsOf(found, hmac),
    words: sortedHashes(words, hash),
    fillers: sortedHashes(fillers, hash),
  }
}

/** The hashers of a key, for as long as the key is in use. */
const hashers = new WeakMap<Uint8Array, {readonly hash: KeyedHash; readonly hmac: TextHmac}>()

function hashersOf(key: Uint8Array) {
  const known = hashers.get(key)
  if (known !== undefined) return known
  const made = {hash: new KeyedHash(key), hmac: new TextHmac(key)}
  hashers.set(key, made)
  return made
}

interface Meaning {
  readonly items: readonly GateItem[]
  readonly fillers: readonly string[]
  readonly kinds: readonly string[]
  readonly order: readonly string[]
}

function englishMeaning(tokens: readonly GateToken[]): Meaning {
  const parts = sentencesOf(withValues(tokens))
    .map(structureOf)
    .filter((part): part is Structure => part !== null)
  return {
    items: parts.flatMap(part => part.items),
    fillers: parts.flatMap(part => part.fillers),
    kinds: parts.map(part => part.kind),
    order: parts.map(part => part.text),
  }
}

/** Of a language whose words the gate does not know: all of them as they are, in their order. */
function plainMeaning(tokens: readonly GateToken[]): Meaning {
  const {polite, joined} = lexicon()
  const items = tokens
    .filter(({kind, text}, at) => kind !== 'break' && !(kind === 'word' && polite.has(text) && isApart(tokens, at)))
    .flatMap(({kind, text}): GateItem[] => {
      if (kind !== 'word') return [{of: kind, text}]
      const words = joined.get(text) ?? [text.replaceAll('ß', 'ss')]
      return words.map(word => ({of: kind, text: word}))
    })
  return {
    items,
    fillers: [],
    kinds: [],
    order: items.map(({of, text}) => `${of} ${text}`),
  }
}

/** True of a word between the ends of the text, commas and full stops. */
function isApart(tokens: readonly GateToken[], at: number): boolean {
  const [before, after] = [tokens[at - 1], tokens[at + 1]]
  return (before === undefined || before.kind === 'break') && (after === undefined || after.kind === 'break')
}

function isContent({of, text}: GateItem): boolean {
  return of !== 'break' && !(of === 'word' && text === 'of')
}

type Values = Partial<Record<GateClass, readonly string[]>>

/** Each class with what the text has of it. */
function valuesOf(items: readonly GateItem[], is_english: boolean): Values {
  const {negations, opposed, listed, months, weekdays, relative} = lexicon()
  const of = (kind: GateItem['of']) => items.filter(item => item.of === kind).map(item => item.text)
  const words = of('word')
  const that = (set: {has(word: string): boolean}) => words.filter(word => set.has(word))
  const units = items.flatMap((item, at) => (item.of === 'unit' ? [`${before(items, at)}${item.text}`] : []))
  const days = words.filter(word => (months.has(word) && word !== 'may') || weekdays.has(word) || relative.has(word))
  const values: Values = {
    numbers: [...of('number'), ...of('ordinal')].toSorted(),
    units: [...units, ...words.filter(word => word.startsWith('u:'))].toSorted(),
    dates: [...of('date'), ...days].toSorted(),
    names: of('name').toSorted(),
    quotes: of('quote'),
    code: [...of('code'), ...of('symbol')],
    negation: that(negations),
  }
  if (!is_english) return values
  return {
    ...values,
    modality: that(MODALS),
    tense: that(PASTS),
    pronouns: that(PRONOUNS),
    opposites: words.filter(word => opposed.has(word) || listed.has(word)).toSorted(),
  }
}

function before(items: readonly GateItem[], at: number): string {
  const number = items[at - 1]
  return number?.of === 'number' ? `${number.text} ` : ''
}

/** One HMAC a class that the text has something of: equality is all that is compared. */
function digestsOf(values: Values, hmac: TextHmac): GateFeatures['classes'] {
  const classes: Partial<Record<GateClass, string>> = {}
  for (const [name, list] of Object.entries(values) as [GateClass, readonly string[]][]) {
    if (list.length === 0 || (list.length === 1 && list[0] === '')) continue
    const digest = hmac.of(`${name}\n${JSON.stringify(list)}`)
    classes[name] = digest.toString('base64url', 0, DIGEST_BYTES)
  }
  return classes
}

function sortedHashes(words: ReadonlySet<string>, hash: KeyedHash): string {
  const hashes = Uint32Array.from(words, word => hash.of(word)).sort()
  const bytes = Buffer.alloc(hashes.length * 4)
  for (const [at, value] of hashes.entries()) bytes.writeUInt32BE(value, at * 4)
  return bytes.toString('base64url')
}
