import {isList, isObject} from '../base/json-member.ts'
import {badRequest} from './fault.ts'
import type {MutableObject, MutableValue} from './json.ts'
import {isMany, isText} from './names.ts'

/**
 * The attributes of a resource in the shapes of its schema: directories read their own values back. Null is the same as
 * absent (RFC 7643 §2.5), and of several primary values the last is it. Refuses with `invalidValue` what has no such
 * shape.
 */
export function inForm(resource: MutableObject): MutableObject {
  const formed: MutableObject = {}
  for (const [name, value] of Object.entries(resource)) {
    if (value === null || value === undefined) continue
    formed[name] = formOf(name, value)
  }
  return formed
}

function formOf(name: string, value: MutableValue): MutableValue {
  if (isMany(name)) return isList(value) ? elements(name, value as MutableValue[]) : value
  if (isText(name)) return typeof value === 'string' ? value : refuse(name, 'a text')
  if (name === 'name' && typeof value === 'string') return {formatted: value}
  if (name !== 'name' && !/^urn:/i.test(name)) return value
  return isObject(value) ? withoutNulls(value as MutableObject) : refuse(name, 'an object')
}

function elements(name: string, list: readonly MutableValue[]): MutableValue[] {
  const objects = list.map(each =>
    isObject(each) ? withoutNulls(each as MutableObject) : refuse(name, 'a list of objects'),
  )
  const last = objects.findLast(each => each.primary === true)
  return objects.map(each => (each.primary === true && each !== last ? {...each, primary: false} : each))
}

function withoutNulls(object: MutableObject): MutableObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
}

function refuse(name: string, expected: string): never {
  throw badRequest('invalidValue', `${name.slice(0, 100)}: expected ${expected}.`)
}
