import {isObject} from '../../base/json-object.ts'
import {type Json, UnsupportedInput} from '../translation.ts'

/** A member of what was asked, by any of its spellings; null counts as not said. */
export function member(asked: Json, ...names: readonly string[]): {readonly name: string; readonly value: unknown} | null {
  for (const name of names) {
    if (Object.hasOwn(asked, name) && asked[name] !== null && asked[name] !== undefined) return {name, value: asked[name]}
  }
  return null
}

/** A number that was asked for, no greater than `most`; undefined when none was. */
export function numberAt(asked: Json, names: readonly string[], most = Infinity): number | undefined {
  const said = member(asked, ...names)
  if (said === null) return undefined
  if (typeof said.value !== 'number' || !Number.isFinite(said.value)) throw new UnsupportedInput(said.name, 'expected a number')
  return Math.min(said.value, most)
}

export function objectAt(asked: Json, ...names: readonly string[]): Json | undefined {
  const said = member(asked, ...names)
  if (said === null) return undefined
  if (!isObject(said.value)) throw new UnsupportedInput(said.name, 'expected an object')
  return said.value
}

export function textAt(asked: Json, ...names: readonly string[]): string | undefined {
  const said = member(asked, ...names)
  if (said === null) return undefined
  if (typeof said.value !== 'string') throw new UnsupportedInput(said.name, 'expected a string')
  return said.value
}

/** `stop`: one word or several; undefined when there is none. */
export function stopAt(asked: Json): readonly string[] | undefined {
  const said = member(asked, 'stop')
  if (said === null) return undefined
  const words: readonly unknown[] = Array.isArray(said.value) ? said.value : [said.value]
  if (!words.every(word => typeof word === 'string')) throw new UnsupportedInput('stop', 'expected a string or an array of strings')
  const kept = words.filter(word => word !== '')
  return kept.length > 0 ? kept : undefined
}

/** Members with a value. */
export function said(members: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** The same; undefined when there are none. */
export function saidOr(members: Readonly<Record<string, unknown>>): Json | undefined {
  const kept = said(members)
  return Object.keys(kept).length > 0 ? kept : undefined
}

/** Refuses what Bedrock cannot give and the caller would miss. */
export function refuse(asked: Json, name: string, is_harmless: (value: unknown) => boolean, reason: string): void {
  const found = member(asked, name)
  if (found !== null && !is_harmless(found.value)) throw new UnsupportedInput(name, reason)
}
