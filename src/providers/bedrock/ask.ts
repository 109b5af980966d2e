import {isObject} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'

/** A member of the request, by any of its spellings; null counts as absent. */
export function member(
  request: Json,
  ...names: readonly string[]
): {readonly name: string; readonly value: unknown} | null {
  for (const name of names) {
    if (Object.hasOwn(request, name) && request[name] !== null && request[name] !== undefined)
      return {name, value: request[name]}
  }
  return null
}

/** A number of the request, no greater than `most`; undefined when it has none. */
export function numberAt(request: Json, names: readonly string[], most = Infinity): number | undefined {
  const found = member(request, ...names)
  if (found === null) return undefined
  if (typeof found.value !== 'number' || !Number.isFinite(found.value))
    throw new UnsupportedInputFault(found.name, 'expected a number')
  return Math.min(found.value, most)
}

export function objectAt(request: Json, ...names: readonly string[]): Json | undefined {
  const found = member(request, ...names)
  if (found === null) return undefined
  if (!isObject(found.value)) throw new UnsupportedInputFault(found.name, 'expected an object')
  return found.value
}

export function textAt(request: Json, ...names: readonly string[]): string | undefined {
  const found = member(request, ...names)
  if (found === null) return undefined
  if (typeof found.value !== 'string') throw new UnsupportedInputFault(found.name, 'expected a string')
  return found.value
}

/** `stop`: one word or several; undefined when there is none. */
export function stopAt(request: Json): readonly string[] | undefined {
  const found = member(request, 'stop')
  if (found === null) return undefined
  const words: readonly unknown[] = Array.isArray(found.value) ? found.value : [found.value]
  if (!words.every(word => typeof word === 'string'))
    throw new UnsupportedInputFault('stop', 'expected a string or an array of strings')
  const kept = words.filter(word => word !== '')
  return kept.length > 0 ? kept : undefined
}

/** Members with a value. */
export function defined(members: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** The same; undefined when there are none. */
export function definedOrNone(members: Readonly<Record<string, unknown>>): Json | undefined {
  const kept = defined(members)
  return Object.keys(kept).length > 0 ? kept : undefined
}

/** Refuses what Bedrock cannot give and the caller would miss. */
export function refuse(request: Json, name: string, is_harmless: (value: unknown) => boolean, reason: string): void {
  const found = member(request, name)
  if (found !== null && !is_harmless(found.value)) throw new UnsupportedInputFault(name, reason)
}
