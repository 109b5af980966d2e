import {parsed} from './json-object.ts'

/** Finds the parts of a text that is JSON, so that one can be changed and the others keep their bytes. */

/** A member of an object in JSON: where the quote of its key is, and where its value begins and ends. */
export interface TextMember {
  readonly key: string
  readonly key_at: number
  readonly start: number
  readonly end: number
}

/** An element of a list in JSON: where it begins and ends. */
export interface TextElement {
  readonly start: number
  readonly end: number
}

/** The members of an object, in the order of the text. `text` is JSON. */
export function membersOf(text: string): readonly TextMember[] {
  const members: TextMember[] = []
  let at = space(text, text.indexOf('{') + 1)
  while (text[at] === '"') {
    const key_at = at
    const key_end = stringEnd(text, at)
    const start = space(text, space(text, key_end) + 1)
    const end = valueEnd(text, start)
    members.push({key: keyIn(text.slice(key_at, key_end)), key_at, start, end})
    at = space(text, end)
    if (text[at] === ',') at = space(text, at + 1)
  }
  return members
}

/** The value of the first member `key`, looked for no further than to it; null where there is none. */
export function placeOf(text: string, key: string): TextElement | null {
  let at = space(text, text.indexOf('{') + 1)
  while (text[at] === '"') {
    const key_end = stringEnd(text, at)
    const start = space(text, space(text, key_end) + 1)
    const end = valueEnd(text, start)
    if (keyIn(text.slice(at, key_end)) === key) return {start, end}
    at = space(text, end)
    if (text[at] === ',') at = space(text, at + 1)
  }
  return null
}

/** The elements of a list, in the order of the text. `text` is JSON. */
export function elementsOf(text: string): readonly TextElement[] {
  const elements: TextElement[] = []
  let at = space(text, text.indexOf('[') + 1)
  while (at < text.length && text[at] !== ']') {
    const end = valueEnd(text, at)
    elements.push({start: at, end})
    at = space(text, end)
    if (text[at] === ',') at = space(text, at + 1)
    else break
  }
  return elements
}

function keyIn(quoted: string): string {
  return quoted.includes('\\') ? String(parsed(quoted)) : quoted.slice(1, -1)
}

/** The first place from `at` on that is no white space. */
export function space(text: string, at: number): number {
  let next = at
  while (SPACES.has(text.charCodeAt(next))) next++
  return next
}

const SPACES: ReadonlySet<number> = new Set([0x20, 0x0a, 0x0d, 0x09])
const QUOTE = 0x22
const [OPEN_BRACE, CLOSE_BRACE] = [0x7b, 0x7d]
const [OPEN_BRACKET, CLOSE_BRACKET] = [0x5b, 0x5d]
const WORD = /[-+.\w]*/y

/** Behind the string that opens at `at`. */
function stringEnd(text: string, at: number): number {
  for (let from = at + 1; ; ) {
    const close = text.indexOf('"', from)
    if (close < 0) return text.length
    let slashes = 0
    while (text[close - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return close + 1
    from = close + 1
  }
}

/** Behind the value that begins at `at`. */
export function valueEnd(text: string, at: number): number {
  const first = text[at]
  if (first === '"') return stringEnd(text, at)
  if (first !== '{' && first !== '[') {
    WORD.lastIndex = at
    return WORD.test(text) ? WORD.lastIndex : at
  }
  let depth = 0
  for (let next = at; next < text.length; next++) {
    const code = text.charCodeAt(next)
    if (code === QUOTE) next = stringEnd(text, next) - 1
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return next + 1
  }
  return text.length
}
