import {Refusal} from './errors.ts'

/** JSON of others may be nested this deep: whatever walks it may do so by calling itself. */
export const MAX_JSON_DEPTH = 256

/** Keys that a careless reader takes for an object's own workings; no document of ours has a use for them. */
const NEVER_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Refuses (400) a text that is nested too deep, before anything is made of it. `what` names it: `The request body`. */
export function checkDepth(json: string, what: string): void {
  if (isTooDeep(json)) throw tooDeep(what)
}

/** True when a text that is JSON, or may be, is nested deeper than `most` levels. */
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

/**
 * How many brackets open in a text, texts in it included, counted to a little over `most`: a search is many times as
 * fast as a walk.
 */
function opens(json: string, most: number): number {
  let count = 0
  for (let at = json.indexOf('{'); at >= 0 && count <= most; at = json.indexOf('{', at + 1)) count++
  for (let at = json.indexOf('['); at >= 0 && count <= most; at = json.indexOf('[', at + 1)) count++
  return count
}

export function tooDeep(what: string): Refusal {
  return new Refusal('json.too_deep', {what, limit: MAX_JSON_DEPTH})
}

/** A value that is still to be read, and its place. */
interface Within {
  readonly value: object
  readonly above: Within | null
  readonly key: string | number
}

/** The way to the first key of `value` that none may have, from `root` on; null where there is none. */
export function wayToNeverKey(value: unknown, root: string): string | null {
  if (typeof value !== 'object' || value === null) return null
  const open: Within[] = [{value, above: null, key: root}]
  const seen = new Set<object>() // what a program made may hold itself
  for (let next = open.pop(); next; next = open.pop()) {
    const at = next.value as Readonly<Record<string, unknown>>
    if (seen.has(at)) continue
    seen.add(at)
    const keys = Array.isArray(at) ? null : Object.keys(at)
    for (let place = (keys ?? (at as unknown as readonly unknown[])).length - 1; place >= 0; place--) {
      const key = keys ? keys[place]! : place
      if (keys && NEVER_KEYS.has(key as string)) return `${wayTo(next)}.${key}`
      const below = at[key]
      if (typeof below === 'object' && below !== null) open.push({value: below, above: next, key})
    }
  }
  return null
}

function wayTo({above, key}: Within): string {
  return above ? `${wayTo(above)}${typeof key === 'number' ? `[${key}]` : `.${key}`}` : String(key)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** The end of the string that opens at `open`; the end of the text when it does not close. */
function stringEnd(json: string, open: number): number {
  for (let close = json.indexOf('"', open + 1); close >= 0; close = json.indexOf('"', close + 1)) {
    let before = close - 1
    while (json.charCodeAt(before) === BACKSLASH) before--
    if ((close - before) % 2 === 1) return close
  }
  return json.length
}
