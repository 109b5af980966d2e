import {isObject, list, object} from '../../base/json-object.ts'
import type {Json} from '../translation.ts'

const MAPS = ['properties', '$defs', 'definitions'] as const
const LISTS = ['anyOf', 'allOf', 'oneOf', 'prefixItems'] as const
const SINGLES = ['items', 'additionalProperties', 'not'] as const

/** A schema with `change` applied to the schemas that are directly in it. */
export function withParts(schema: Json, change: (part: Json) => Json): Json {
  const changed: Record<string, unknown> = {...schema}
  const one = (part: unknown) => (isObject(part) ? change(part) : part)
  for (const name of MAPS) {
    if (isObject(schema[name]))
      changed[name] = Object.fromEntries(Object.entries(schema[name]).map(([key, part]) => [key, one(part)]))
  }
  for (const name of LISTS) if (Array.isArray(schema[name])) changed[name] = schema[name].map(one)
  for (const name of SINGLES) {
    const part = schema[name]
    if (isObject(part)) changed[name] = change(part)
    else if (Array.isArray(part)) changed[name] = part.map(one)
  }
  return changed
}

/** A schema whose arrays all describe their items: of any kind, where none is given. */
export function withItems(schema: Json): Json {
  const inner = withParts(schema, withItems)
  return inner.type === 'array' && inner.items === undefined ? {...inner, items: {}} : inner
}

/** True for a schema whose objects are closed and require all of their properties, as OpenAI wants a strict one. */
export function isStrictSchema(schema: unknown): boolean {
  if (!isObject(schema)) return true
  if (schema.type === 'object') {
    const required = new Set(list(schema.required))
    const is_whole = Object.keys(object(schema.properties)).every(name => required.has(name))
    if (schema.additionalProperties !== false || !is_whole) return false
  }
  let is_strict = true
  withParts(schema, part => {
    is_strict &&= isStrictSchema(part)
    return part
  })
  return is_strict
}
