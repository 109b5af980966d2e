import {isList, isObject, type JsonObject, type JsonValue} from '../../base/json-member.ts'
import {parsedObject} from '../../base/json-object.ts'
import {copyOf, type MutableObject, type MutableValue} from '../json.ts'
import {canonical, isBoolean, isMany, isText} from '../names.ts'

/**
 * A value of an attribute in the form of the schema, whatever form its directory gives it: truth as text, a number for
 * a text, one thing for a list, an object as its JSON.
 */
export function coerced(name: string, value: JsonValue): MutableValue {
  if (isMany(name)) return (isList(value) ? value : [value]).map(each => element(name, each))
  if (isBoolean(name)) return truth(value)
  if (isText(name) && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  if (name === 'manager' && typeof value === 'string') return {value}
  return isObject(value) ? withSubs(value) : copyOf(value)
}

/** The same of `name.sub`. */
export function coercedSub(sub: string, value: JsonValue): MutableValue {
  if (isBoolean(sub)) return truth(value)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : copyOf(value)
}

function element(name: string, value: JsonValue): MutableValue {
  if (isObject(value)) {
    const inner = name === 'roles' && typeof value.value === 'string' ? objectIn(value.value) : undefined
    return withSubs(inner ? {...value, ...inner} : value)
  }
  if (typeof value !== 'string') return copyOf(value)
  return (name === 'roles' && withSubs(objectIn(value) ?? {value})) || {value}
}

/** Entra writes roles as JSON in a text. */
function objectIn(text: string): JsonObject | undefined {
  return text.trimStart().startsWith('{') ? (parsedObject(text) as JsonObject | undefined) : undefined
}

function withSubs(value: JsonObject): MutableObject {
  const named = Object.entries(value).map(([name, inner]) => {
    const own = canonical(name)
    if (own === 'manager' && typeof inner === 'string') return [own, {value: inner}] as const
    return [own, isBoolean(own) ? truth(inner) : copyOf(inner)] as const
  })
  return Object.fromEntries(named)
}

function truth(value: JsonValue): MutableValue {
  if (typeof value === 'string' && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true'
  return copyOf(value)
}
