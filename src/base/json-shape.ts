import {Refusal} from './errors.ts'

/** JSON of others may be nested this deep: whatever walks it may do so by calling itself. */
export const MAX_JSON_DEPTH = 256

/** Keys that a careless reader takes for an object's own workings; no document of ours has a use for them. */
const NEVER_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Refuses (400) a text that is nested too deep, before anything is made of it. `what` names it: `The request body`. */
export function checkDepth(json: string, what: string): void {
  if (isTooDeep(json)) throw tooDeep(what)
}

/** Whether a text that is JSON, or may be, is nested deeper than `most` levels. */
export function isTooDeep(json: string, most = MAX_JSON_DEPTH): boolean {
  if (json.length <= most || opens(json, most) <= most) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at)
    if (unit === QUOTE) at = stringEnd(json, at)
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      if (++depth > most) return true
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) depth--
  }
  return false
}

/** How many brackets open in a text, texts in it included, counted to a little over `most`: a search is many times as fast as a walk. */
function opens(json: string, most: number): number {
  let count = 0
  for (let at = json.indexOf('{'); at >= 0 && count <= most; at = json.indexOf('{', at + 1)) count++
  for (let at = json.indexOf('['); at >= 0 && count <= most; at = json.indexOf('[', at + 1)) count++
  return count
}

export function tooDeep(what: string): Refusal {
  return new Refusal('json.too_deep', {what, limit: MAX_JSON_DEPTH})
}

/** The way to the first key of `value` that none may have, from `root` on; null where there is none. */
export function wayToNeverKey(value: unknown, root: string): string | null {
  const open: (readonly [value: unknown, way: string])[] = [[value, root]]
  const seen = new Set<object>() // what a program made may hold itself
  for (let next = open.pop(); next; next = open.pop()) {
    const [at, way] = next
    if (typeof at !== 'object' || at === null || seen.has(at)) continue
    seen.add(at)
    for (const [key, below] of Object.entries(at).toReversed()) {
      if (NEVER_KEYS.has(key)) return `${way}.${key}`
      if (typeof below === 'object') open.push([below, Array.isArray(at) ? `${way}[${key}]` : `${way}.${key}`])
    }
  }
  return null
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** Where the string that opens at `open` closes; the end of the text where it does not. */
function stringEnd(json: string, open: number): number {
  for (let close = json.indexOf('"', open + 1); close >= 0; close = json.indexOf('"', close + 1)) {
    let before = close - 1
    while (json.charCodeAt(before) === BACKSLASH) before--
    if ((close - before) % 2 === 1) return close
  }
  return json.length
}
