import {isObject} from './json-object.ts'
import {membersOf, space, valueEnd} from './json-text.ts'

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
