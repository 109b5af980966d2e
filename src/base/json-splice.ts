import {isObject, parsed} from './json-object.ts'

/**
 * `text`, which is the JSON of `from`, with the differences of `to` changed in place: all that `to` took over from
 * `from` keeps its bytes (the form of numbers, escapes, spaces, the order of members, a member that comes twice). Added
 * members go last. `write` writes what is new.
 */
export function spliced(
  text: string,
  from: unknown,
  to: unknown,
  write: (value: unknown) => string = JSON.stringify,
): string {
  if (Object.is(from, to)) return text
  if (isObject(from) && isObject(to)) return isWide(to) ? write(to) : splicedObject(text, from, to, write)
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) return splicedList(text, from, to, write)
  return write(to)
}

/**
 * An object with more members is serialised again: to look for each in its text would delay other calls. No answer of a
 * model has so many.
 */
const WIDEST = 5_000

function isWide(object: Members): boolean {
  return Object.keys(object).length > WIDEST
}

/**
 * The text of the member `key` of an object in JSON, the last when it comes several times; undefined where there is
 * none.
 */
export function memberText(text: string, key: string): string | undefined {
  const member = membersOf(text).findLast(each => each.key === key)
  return member && text.slice(member.start, member.end)
}

interface Member {
  readonly key: string
  readonly key_at: number
  readonly start: number
  readonly end: number
}

type Members = Readonly<Record<string, unknown>>

function splicedObject(text: string, from: Members, to: Members, write: (value: unknown) => string): string {
  const members = membersOf(text)
  const lasts = new Map(members.map((member, at) => [member.key, at]))
  let out = text.slice(0, members[0]?.key_at ?? text.lastIndexOf('}'))
  let has_kept = false
  let before_end = 0
  members.forEach(({key, key_at, start, end}, at) => {
    const value = Object.hasOwn(to, key) ? to[key] : undefined
    const is_same = Object.is(value, from[key])
    // When a changed member comes twice, only one is left: a reader that takes the first would miss the change.
    if (value !== undefined && (is_same || lasts.get(key) === at)) {
      const part = text.slice(start, end)
      out +=
        (has_kept ? text.slice(before_end, key_at) : '') +
        text.slice(key_at, start) +
        (is_same ? part : spliced(part, from[key], value, write))
      has_kept = true
    }
    before_end = end
  })
  for (const key of Object.keys(to)) {
    if (lasts.has(key) || to[key] === undefined) continue
    out += `${has_kept ? ',' : ''}${JSON.stringify(key)}:${write(to[key])}`
    has_kept = true
  }
  return out + text.slice(members.length > 0 ? before_end : text.lastIndexOf('}'))
}

function splicedList(
  text: string,
  from: readonly unknown[],
  to: readonly unknown[],
  write: (value: unknown) => string,
): string {
  let out = ''
  let kept_end = 0
  let at = space(text, text.indexOf('[') + 1)
  for (const [place, value] of to.entries()) {
    const end = valueEnd(text, at)
    out += text.slice(kept_end, at) + spliced(text.slice(at, end), from[place], value, write)
    kept_end = end
    at = space(text, space(text, end) + 1)
  }
  return out + text.slice(kept_end)
}

/** The members of an object, in the order of the text. `text` is JSON. */
function membersOf(text: string): readonly Member[] {
  const members: Member[] = []
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

function keyIn(quoted: string): string {
  return quoted.includes('\\') ? String(parsed(quoted)) : quoted.slice(1, -1)
}

function space(text: string, at: number): number {
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

function valueEnd(text: string, at: number): number {
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
