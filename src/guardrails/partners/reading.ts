import {isList, isObject, type JsonValue, own} from '../json.ts'
import type {Redaction} from './partner.ts'

/** The value at a path of keys; undefined where it leads nowhere. */
export function dig(value: JsonValue | undefined, ...path: readonly (string | number)[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((within, key) => own(within, key), value)
}

/** The entries of a list, and none of anything else. */
export function entriesOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isList(value) ? value : []
}

/** Names whose value is `true`, or for which `holds`. */
export function namesOf(
  value: JsonValue | undefined,
  holds: (value: JsonValue) => boolean = each => each === true,
): string[] {
  return isObject(value) ? Object.keys(value).filter(name => holds(own(value, name)!)) : []
}

/** Texts among values. */
export function textsIn(values: readonly (JsonValue | undefined)[]): string[] {
  return values.filter(each => typeof each === 'string')
}

export interface FindingSpan {
  readonly start: JsonValue | undefined
  readonly end: JsonValue | undefined
  readonly label: string
}

/**
 * `text` with its spans masked by `[LABEL]`, those that touch or overlap as one. Null when a span is none of this text:
 * then the places of the others are unknown.
 */
export function masked(text: string, spans: readonly FindingSpan[]): string | null {
  const good: {start: number; end: number; label: string}[] = []
  for (const {start, end, label} of spans) {
    if (!Number.isInteger(start) || !Number.isInteger(end)) return null
    const [from, to] = [start as number, end as number]
    if (from < 0 || to > text.length || from >= to) return null
    good.push({start: from, end: to, label})
  }
  let made = ''
  let kept = 0
  for (const {start, end, label} of good.sort((one, other) => one.start - other.start)) {
    if (start >= kept)
      made += `${text.slice(kept, start)}[${label
        .toUpperCase()
        .replace(/[^A-Z0-9_]+/g, '_')
        .slice(0, 40)}]`
    kept = Math.max(kept, end)
  }
  return made + text.slice(kept)
}

/** Each text with its replacement; null where one is missing or no text. */
export function pairs(texts: readonly string[], redacted: readonly (JsonValue | undefined)[]): Redaction[] | null {
  const made: Redaction[] = []
  for (const [index, from] of texts.entries()) {
    const to = redacted[index]
    if (typeof to !== 'string') return null
    made.push({from, to})
  }
  return made
}

export function bearer(token: string): Readonly<Record<string, string>> {
  return {authorization: `Bearer ${token}`}
}
