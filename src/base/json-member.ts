import {isObject as isAnyObject} from './json-object.ts'

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** `isObject` for what was parsed: its members are JSON as well. */
export const isObject = isAnyObject as (value: unknown) => value is JsonObject

export function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/**
 * The own member `key` of `value`, never one of its prototype; undefined when it is missing or `value` is no container.
 */
export function own(value: unknown, key: string | number): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string | number, JsonValue>>)[key]
}

/** `value` as a list: a list itself, nothing for undefined and null, one thing for anything else. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined || value === null) return []
  return isList(value) ? value : [value]
}
