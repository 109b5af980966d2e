import {isObject, type JsonValue} from './json-member.ts'

/** One value that differs. `was` or `is` is missing where that side has no such member. */
export interface JsonDifference {
  /** A JSON Pointer (RFC 6901). */
  readonly path: string
  readonly was?: JsonValue
  readonly is?: JsonValue
}

export interface DifferenceBounds {
  readonly most: number
  readonly most_characters: number
}

const USUAL: DifferenceBounds = {most: 50, most_characters: 1_000}

/**
 * The differences from one JSON value to another, by the path of the smallest values that differ; none where they are
 * equal. There are at most `most`, and a value with more than `most_characters` is cut, an object or list as its text.
 */
export function jsonDifference(was: JsonValue, is: JsonValue, bounds: DifferenceBounds = USUAL): JsonDifference[] {
  const found: JsonDifference[] = []
  compare('', was, is)
  return found

  function compare(path: string, before: JsonValue | undefined, after: JsonValue | undefined): void {
    if (found.length >= bounds.most || before === after) return
    if (isObject(before) && isObject(after)) {
      for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
        compare(`${path}/${escaped(key)}`, ownOf(before, key), ownOf(after, key))
      return
    }
    if (Array.isArray(before) && Array.isArray(after)) {
      const length = Math.max(before.length, after.length)
      for (let at = 0; at < length && found.length < bounds.most; at++) compare(`${path}/${at}`, before[at], after[at])
      return
    }
    found.push({
      path: cut(path),
      ...(before !== undefined && {was: shown(before)}),
      ...(after !== undefined && {is: shown(after)}),
    })
  }

  function shown(value: JsonValue): JsonValue {
    if (typeof value === 'string') return cut(value)
    if (typeof value !== 'object' || value === null) return value
    const text = JSON.stringify(value)
    return text.length > bounds.most_characters ? cut(text) : value
  }

  function cut(text: string): string {
    return text.length > bounds.most_characters ? `${text.slice(0, bounds.most_characters).toWellFormed()}…` : text
  }
}

function ownOf(value: Readonly<Record<string, JsonValue>>, key: string): JsonValue | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
