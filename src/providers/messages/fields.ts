import {isObject} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'

/** `value` as an object; refused, naming `field`, when it is none. */
export function objectAt(value: unknown, field: string): Json {
  if (!isObject(value)) throw new UnsupportedInputFault(field, 'expected an object')
  return value
}

export function stringAt(value: unknown, field: string): string {
  if (typeof value !== 'string') throw new UnsupportedInputFault(field, 'expected a string')
  return value
}

export function arrayAt(value: unknown, field: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnsupportedInputFault(field, 'expected an array')
  return value
}

/** `members` without those that are null or absent: a null is how some clients leave a field out. */
export function given(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null))
}
