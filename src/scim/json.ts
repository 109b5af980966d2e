import {isObject, type JsonObject, type JsonValue} from '../base/json-member.ts'
import {canonical} from './names.ts'

export interface MutableObject {
  [name: string]: MutableValue
}
export type MutableValue = null | boolean | number | string | MutableValue[] | MutableObject

/** The name under which an object has a member, in whatever case `name` is written. */
export function nameIn(object: JsonObject, name: string): string | undefined {
  if (Object.hasOwn(object, name)) return name
  const folded = name.toLowerCase()
  return Object.keys(object).find(each => each.toLowerCase() === folded)
}

export function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (!isObject(value)) return undefined
  const own = nameIn(value, name)
  return own === undefined ? undefined : value[own]
}

/** Sets a member under the name that the object has for it, else under the canonical one. */
export function setMember(object: MutableObject, name: string, value: MutableValue): void {
  const key = nameIn(object as JsonObject, name) ?? canonical(name)
  Object.defineProperty(object, key, {value, enumerable: true, configurable: true, writable: true})
}

export function removeMember(object: MutableObject, name: string): void {
  const key = nameIn(object as JsonObject, name)
  if (key !== undefined) delete object[key]
}

export function copyOf(value: JsonValue): MutableValue {
  return structuredClone(value) as MutableValue
}
