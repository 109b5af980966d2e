import {memberText, spliced} from '../base/json-splice.ts'
import type {Json} from './translation.ts'

/**
 * The bytes of a provider, by the object that was parsed from them. A reply that needs no translation leaves as it
 * came: parts that a translation kept keep their bytes, and only changed parts are serialised again.
 */
const came = new WeakMap<object, {readonly text: string; readonly from: Json}>()

/** `value` was read from `text`. */
export function cameAs(value: Json, text: string): void {
  came.set(value, {text, from: value})
}

/** `to` is `from` with changes. Gives `to`. */
export function changeOf(from: Json, to: Json): Json {
  const known = to === from ? undefined : came.get(from)
  if (known) came.set(to, known)
  return to
}

/** The object in a member of `parent`, which came within the same text. */
export function cameWithin(parent: Json, key: string, child: Json): void {
  const text = came.get(parent)?.text
  const part = text === undefined ? undefined : memberText(text, key)
  if (part !== undefined) cameAs(child, part)
}

/** The JSON of `value`: as it came, but for what was changed. */
export function writtenAsCame(value: unknown): string {
  const known = typeof value === 'object' && value !== null ? came.get(value) : undefined
  return known ? spliced(known.text, known.from, value) : JSON.stringify(value)
}

/** `source` with `changes`, a member that is undefined left out; `source` itself where that changes nothing. */
export function changed(source: Json, changes: Json): Json {
  const names = Object.keys(changes).filter(
    name => !Object.is(changes[name], Object.hasOwn(source, name) ? source[name] : undefined),
  )
  if (names.length === 0) return source
  const copy: Record<string, unknown> = {...source}
  for (const name of names) {
    if (changes[name] === undefined) delete copy[name]
    else copy[name] = changes[name]
  }
  return copy
}

/** `list` with each value as `change` makes it; `list` itself where that changes nothing. */
export function changedEach(
  list: readonly unknown[],
  change: (value: unknown, at: number) => unknown,
): readonly unknown[] {
  const made = list.map(change)
  return made.every((value, at) => Object.is(value, list[at])) ? list : made
}
