import {parsed} from '../../base/json-object.ts'
import {mostTokens} from '../tokens/bound.ts'

const QUOTE = 34
const COLON = 58
const BACKSLASH = 92
const LETTER_N = 110

/**
 * The bytes to search for to find a key: `usage"`. The quote before it is checked afterwards, since a search for a
 * first byte that is everywhere takes twice as long. A quoted key inside a string is escaped there and does not match.
 */
export function keyBytes(key: string): Buffer {
  return Buffer.from(`${key}"`)
}

/**
 * The index at which the value of the next `key` at or after `from` begins; -1 when there is none. Nothing is decoded.
 */
export function valueAt(json: Buffer, key: Buffer, from = 0): number {
  for (let found = json.indexOf(key, from); found >= 0; found = json.indexOf(key, found + key.length)) {
    if (json[found - 1] !== QUOTE) continue
    const colon = space(json, found + key.length)
    if (json[colon] === COLON) return space(json, colon + 1)
  }
  return -1
}

/** True when some `key` has a value other than null. */
export function hasValue(json: Buffer, key: Buffer): boolean {
  for (let at = valueAt(json, key); at >= 0; at = valueAt(json, key, at)) {
    if (json[at] !== LETTER_N) return true // of all JSON values null alone begins so
  }
  return false
}

/** The bytes inside the string values of `key`, with their escapes. */
export function stringBytes(json: Buffer, key: Buffer): number {
  let sum = 0
  for (let at = valueAt(json, key); at >= 0; at = valueAt(json, key, at)) {
    if (json[at] !== QUOTE) continue
    const end = stringEnd(json, at)
    sum += end - at - 1
    at = end
  }
  return sum
}

/** The most tokens of the string values of `key`, whatever tokenizer counts them. */
export function stringTokens(json: Buffer, key: Buffer): number {
  let sum = 0
  for (let at = valueAt(json, key); at >= 0; at = valueAt(json, key, at)) {
    if (json[at] !== QUOTE) continue
    const end = stringEnd(json, at)
    sum += mostTokens(json, at + 1, end, 1)
    at = end
  }
  return sum
}

/** The JSON object that begins at `at`, parsed; undefined when none does, or it has no end. */
export function objectAt(json: Buffer, at: number): unknown {
  if (json[at] !== 0x7b) return undefined
  let depth = 0
  for (let index = at; index < json.length; index++) {
    const byte = json[index]
    if (byte === QUOTE) index = stringEnd(json, index)
    else if (byte === 0x7b) depth++
    else if (byte === 0x7d && --depth === 0) return parsed(json.toString('utf8', at, index + 1))
  }
  return undefined
}

/** The index of the closing quote of the string opened at `open`; the end of the bytes when there is none. */
export function stringEnd(json: Buffer, open: number): number {
  for (let at = json.indexOf(QUOTE, open + 1); at >= 0; at = json.indexOf(QUOTE, at + 1)) {
    let before = at - 1
    while (json[before] === BACKSLASH) before--
    if ((at - before) % 2 === 1) return at
  }
  return json.length
}

function space(json: Buffer, from: number): number {
  let at = from
  while (json[at] === 32 || json[at] === 9 || json[at] === 10 || json[at] === 13) at++
  return at
}
