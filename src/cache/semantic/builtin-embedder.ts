import {BUILTIN_THRESHOLD, BUILTIN_TOKENS, type Embedder} from './embedder.ts'
import {unitVector} from './vector.ts'

/** The name of the embedder in a partition. Another way of hashing is another name. */
export const BUILTIN_EMBEDDER = 'builtin/1'
export const BUILTIN_DIMENSIONS = 512

/** Needs no service, and no time: nothing leaves the machine. */
export const BUILTIN: Embedder = {
  identity: BUILTIN_EMBEDDER,
  name: BUILTIN_EMBEDDER,
  service: null,
  threshold: BUILTIN_THRESHOLD,
  max_tokens: BUILTIN_TOKENS,
  embed: text => unitVector(embedBuiltin(text)),
}

const MASK = BUILTIN_DIMENSIONS - 1
const PRIME = 0x01000193
const START = 0x811c9dc5
const EDGE = 0x20
/** A longer word counts by its first characters: their trigrams are enough to find it again. */
const MAX_WORD = 64

const UNKNOWN = 0
const SPACE = 1
const LETTER = 2
/** A character of a script that has no spaces between words, or of none. */
const RUN = 3
const kinds = new Uint8Array(0x10000)

/**
 * A vector of length 1 without a model: every word and its trigrams (`^word$`) are hashed with a sign into one of 512
 * places. A word weighs 1, and so do its trigrams together. Text in a script without spaces counts by its trigrams.
 */
export function embedBuiltin(text: string): Float32Array {
  const folded = text.normalize('NFKC').toLowerCase()
  const vector = new Float32Array(BUILTIN_DIMENSIONS)
  let start = 0
  let kind = SPACE
  for (let at = 0; at <= folded.length; at++) {
    const next = at === folded.length ? SPACE : kindOf(folded.charCodeAt(at))
    if (next === kind) continue
    if (kind === LETTER) addWord(vector, folded, start, at)
    else if (kind === RUN) addRun(vector, folded, start, at)
    start = at
    kind = next
  }
  return toUnit(vector)
}

function addWord(vector: Float32Array, text: string, start: number, end: number) {
  const last = Math.min(end, start + MAX_WORD)
  const weight = 1 / Math.sqrt(last - start)
  let whole = START
  let before = EDGE
  let here = text.charCodeAt(start)
  for (let at = start; at < last; at++) {
    const after = at + 1 < last ? text.charCodeAt(at + 1) : EDGE
    whole = Math.imul(whole ^ here, PRIME)
    add(vector, hashOf(before, here, after), weight)
    before = here
    here = after
  }
  add(vector, whole, 1)
}

function addRun(vector: Float32Array, text: string, start: number, end: number) {
  for (let at = start; at < Math.max(start + 1, end - 2); at++) {
    const second = at + 1 < end ? text.charCodeAt(at + 1) : EDGE
    const third = at + 2 < end ? text.charCodeAt(at + 2) : EDGE
    add(vector, hashOf(text.charCodeAt(at), second, third), 1)
  }
}

function hashOf(first: number, second: number, third: number): number {
  return Math.imul(Math.imul(Math.imul(START ^ 3 ^ first, PRIME) ^ second, PRIME) ^ third, PRIME)
}

/** Bits of an FNV hash are weak at the bottom: it is mixed before place and sign are taken. */
function add(vector: Float32Array, hash: number, weight: number) {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  mixed ^= mixed >>> 16
  const place = mixed & MASK
  vector[place] = vector[place]! + (mixed < 0 ? -weight : weight)
}

function toUnit(vector: Float32Array): Float32Array {
  let sum = 0
  for (const value of vector) sum += value * value
  if (sum === 0) vector[0] = 1
  else {
    const factor = 1 / Math.sqrt(sum)
    for (let at = 0; at < vector.length; at++) vector[at] = vector[at]! * factor
  }
  return vector
}

function kindOf(code: number): number {
  const known = kinds[code]!
  return known === UNKNOWN ? learn(code) : known
}

function learn(code: number): number {
  const character = String.fromCharCode(code)
  const unspaced =
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u
  const kind =
    unspaced.test(character) || (code >= 0xd800 && code <= 0xdfff)
      ? RUN
      : /[\p{L}\p{N}\p{M}_]/u.test(character)
        ? LETTER
        : SPACE
  kinds[code] = kind
  return kind
}
