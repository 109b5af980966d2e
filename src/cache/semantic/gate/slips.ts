import {lexicon} from './lexicon.ts'

const MIN_LENGTH = 4
const MAX_LENGTH = 20
/** Two words that the index has under one form. */
const SEVERAL = ''

/** Every form of a known word that lacks one letter, with the word. It is made at the first slip. */
let shortened: Map<string, string[]> | undefined

function index(): Map<string, string[]> {
  if (shortened) return shortened
  shortened = new Map()
  for (const word of lexicon().vocabulary) {
    if (word.length < MIN_LENGTH || word.length > MAX_LENGTH || !/^[a-z]+$/.test(word)) continue
    for (const form of formsWithout(word)) {
      const known = shortened.get(form)
      if (known === undefined) shortened.set(form, [word])
      else known.push(word)
    }
  }
  return shortened
}

/** The one known word of which this unknown one is a slip; null: none or several. Its first letter is never wrong. */
export function slipOf(word: string): string | null {
  if (word.length < MIN_LENGTH || word.length > MAX_LENGTH || !/^[a-z]+$/.test(word)) return null
  const known = index()
  let found: string | null = null
  const take = (candidate: string) => {
    if (candidate !== found && isSlip(word, candidate)) found = found === null ? candidate : SEVERAL
  }
  if (lexicon().vocabulary.has(word)) return null
  for (const candidate of known.get(word) ?? []) take(candidate)
  for (const form of formsWithout(word)) {
    if (form.length >= MIN_LENGTH && lexicon().vocabulary.has(form)) take(form)
    for (const candidate of known.get(form) ?? []) take(candidate)
    if (found === SEVERAL) return null
  }
  return found
}

function formsWithout(word: string): Set<string> {
  const forms = new Set<string>()
  for (let at = 0; at < word.length; at++) forms.add(word.slice(0, at) + word.slice(at + 1))
  return forms
}

/**
 * Says that a word differs from a known one as a slip does: two letters changed places, or, in longer words, one is
 * missing, doubled or another one.
 */
function isSlip(word: string, known: string): boolean {
  if (word[0] !== known[0]) return false
  let at = 0
  while (at < word.length && word[at] === known[at]) at++
  const shorter = Math.min(word.length, known.length)
  if (word.length === known.length) {
    if (word[at] === known[at + 1] && word[at + 1] === known[at]) return word.slice(at + 2) === known.slice(at + 2)
    return word.length >= 7 && word.slice(at + 1) === known.slice(at + 1)
  }
  if (Math.abs(word.length - known.length) !== 1) return false
  const [long, short] = word.length > known.length ? [word, known] : [known, word]
  if (long.slice(at + 1) !== short.slice(at)) return false
  const is_doubled = long[at] === long[at - 1] || long[at] === long[at + 1]
  if (long === word && !is_doubled) return false
  // a plural or a past at the end is another form, not a slip
  return at < short.length && shorter >= (is_doubled ? 4 : 5)
}
