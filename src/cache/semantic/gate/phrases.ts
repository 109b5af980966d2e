import {headOf} from './base-form.ts'
import {rules} from './lexicon.ts'
import {FRAMES, OPENINGS, PHRASES} from './tables/phrases.ts'

export interface Phrase {
  readonly words: readonly string[]
  readonly to: readonly string[]
}
/** Phrases by their first word, the longest first. */
export type Phrases = ReadonlyMap<string, readonly Phrase[]>

/** The phrase that begins at a place of the words; null: none does. */
export function phraseAt(phrases: Phrases, words: readonly string[], at: number): Phrase | null {
  const candidates = phrases.get(words[at] ?? '')
  if (candidates === undefined) return null
  return candidates.find(phrase => phrase.words.every((word, offset) => words[at + offset] === word)) ?? null
}

/** Words with each phrase as the word that it means, as sentences are read. */
export function meant(words: readonly string[], phrases: Phrases = joiners()): string[] {
  const found: string[] = []
  let at = 0
  while (at < words.length) {
    const phrase = phraseAt(phrases, words, at)
    if (phrase === null) found.push(words[at++]!)
    else {
      found.push(...phrase.to)
      at += phrase.words.length
    }
  }
  return found
}

let joined: Phrases | undefined
function joiners(): Phrases {
  joined ??= made(rules(PHRASES), true, words => words)
  return joined
}

function made(
  list: readonly (readonly [string, string])[],
  heads_of_target: boolean,
  read: (words: readonly string[]) => readonly string[] = meant,
): Phrases {
  const phrases = new Map<string, Phrase[]>()
  for (const [from, to] of list) {
    const words = read(split(from).map(word => headOf(word, false)))
    const target = split(to).map(word => (heads_of_target ? headOf(word, false) : word))
    const first = words[0]
    if (first === undefined) continue
    const known = phrases.get(first)
    if (known === undefined) phrases.set(first, [{words, to: target}])
    else known.push({words, to: target})
  }
  for (const known of phrases.values()) known.sort((one, other) => other.words.length - one.words.length)
  return phrases
}

function split(text: string): string[] {
  return text.split(' ').filter(word => word !== '')
}

const openings = () =>
  OPENINGS.split('|')
    .map(text => text.trim())
    .filter(text => text !== '')
    .map(text => [text, ''] as const)

let loaded: {readonly phrases: Phrases; readonly openings: Phrases; readonly frames: Phrases} | undefined

/** Phrases that mean a word, beginnings that are only polite, and ways to ask: in the base forms of their words. */
export function phraseTables() {
  loaded ??= {
    phrases: joiners(),
    openings: made(openings(), false),
    frames: made(rules(FRAMES), false),
  }
  return loaded
}
