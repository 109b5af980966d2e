import {isObject, list, object} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {word} from './read.ts'

/**
 * Nesting and size a schema may have once its references are resolved; beyond, one of a few lines could come to
 * gigabytes.
 */
const MAX_DEPTH = 64
const MAX_NODES = 10_000

/** Keywords that Gemini has under the same name with the same meaning (ai.google.dev/api/caching#Schema). */
const SAME = [
  'title',
  'description',
  'nullable',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'default',
  'example',
  'propertyOrdering',
]
/** Formats that Gemini knows, by type; it refuses a schema with another one. */
const FORMATS: Readonly<Record<string, ReadonlySet<unknown>>> = {
  string: new Set(['date-time']),
  number: new Set(['float', 'double']),
  integer: new Set(['int32', 'int64']),
}

interface Walk {
  readonly root: Json
  readonly field: string
  nodes: number
}

/**
 * A JSON schema in Gemini's subset of OpenAPI 3.0: keywords it does not know are left out, references are resolved in
 * place, `type: [x, null]` becomes `nullable`, `const` an `enum`, `oneOf` an `anyOf`. A reference inside of what it
 * refers to is cut to a schema of the same type without members. Throws `UnsupportedInputFault` for what is no schema,
 * for a reference to nowhere, and for a schema too large.
 */
export function cleanSchema(schema: unknown, field: string): Json {
  if (!isObject(schema)) throw new UnsupportedInputFault(field, 'expected a JSON schema')
  return clean(schema, {root: schema, field, nodes: 0}, 0, [])
}

/** `refs`: the references that led here. */
function clean(schema: unknown, walk: Walk, depth: number, refs: readonly string[]): Json {
  if (typeof schema === 'boolean') return {}
  if (!isObject(schema)) throw new UnsupportedInputFault(walk.field, 'expected a JSON schema wherever one stands')
  if (depth > MAX_DEPTH) throw new UnsupportedInputFault(walk.field, `is nested deeper than ${MAX_DEPTH}`)
  if (++walk.nodes > MAX_NODES) throw new UnsupportedInputFault(walk.field, `comes to more than ${MAX_NODES} schemas`)
  const down = (part: unknown) => clean(part, walk, depth + 1, refs)
  if (typeof schema.$ref === 'string') return resolveRef(schema, schema.$ref, walk, depth, refs)
  if (Array.isArray(schema.allOf)) {
    const {allOf, ...rest} = schema
    return withRequired([rest, ...allOf].map(down).reduce(merged), [schema, ...allOf])
  }
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray)
  if (choices && !isObject(schema.properties)) return cleanAnyOf(schema, choices, down)
  const types = list(schema.type).filter(type => type !== 'null')
  if (types.length > 1) {
    const {type: whole, ...rest} = schema
    return cleanAnyOf(
      rest,
      (whole as unknown[]).map(type => (type === 'null' ? {type} : {...rest, type})),
      down,
    )
  }
  return cleanNode(schema, types.length === 1 ? types[0] : schema.type, down)
}

function cleanNode(schema: Json, type: unknown, down: (part: unknown) => Json): Json {
  const result: Record<string, unknown> = {}
  const properties = isObject(schema.properties) ? schema.properties : null
  const items = itemsOf(schema)
  const given = word(type) ?? (properties ? 'object' : items === undefined ? null : 'array')
  if (given !== null) result.type = given
  if (formatsOf(given).has(schema.format)) result.format = schema.format
  for (const name of SAME) if (schema[name] !== undefined) result[name] = schema[name]
  if (list(schema.type).includes('null')) result.nullable = true
  if (schema.const !== undefined || Array.isArray(schema.enum))
    enumToDescription(result, schema.const === undefined ? list(schema.enum) : [schema.const])
  // Empty properties are refused, and an array must describe its items.
  if (given === 'array' && items === undefined) result.items = {type: 'string'}
  if (properties && Object.keys(properties).length > 0) {
    result.properties = Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, down(property)]))
    const required = list(schema.required).filter(name => typeof name === 'string' && Object.hasOwn(properties, name))
    if (required.length > 0) result.required = required
  }
  if (items !== undefined) result.items = down(items)
  return result
}

const NO_FORMATS: ReadonlySet<unknown> = new Set()

/** A schema without a type may have any of them. */
function formatsOf(type: string | null): ReadonlySet<unknown> {
  if (type === null) return new Set(Object.values(FORMATS).flatMap(formats => [...formats]))
  return Object.hasOwn(FORMATS, type.toLowerCase()) ? FORMATS[type.toLowerCase()]! : NO_FORMATS
}

/** Gemini's `enum` has texts alone; other values go where the model still reads them. */
function enumToDescription(result: Record<string, unknown>, values: readonly unknown[]) {
  const known = values.filter(value => value !== null && value !== '')
  if (values.includes(null)) result.nullable = true
  if (known.length > 0 && known.every(value => typeof value === 'string')) {
    result.enum = known
    result.type = 'string'
    return
  }
  if (known.length === 0) return
  const one_of = `One of: ${known.map(value => JSON.stringify(value)).join(', ')}`
  result.description = typeof result.description === 'string' ? `${result.description} (${one_of})` : one_of
  const [first] = known
  const same = known.every(value => typeof value === typeof first)
  if (result.type === undefined && same && (typeof first === 'number' || typeof first === 'boolean'))
    result.type = typeof first
}

/** One schema for the elements of an array; a tuple's places become alternatives. */
function itemsOf(schema: Json): unknown {
  const places = Array.isArray(schema.prefixItems) ? schema.prefixItems : schema.items
  if (!Array.isArray(places)) return places === true || places === false ? undefined : places
  return places.length === 0 ? undefined : places.length === 1 ? places[0] : {anyOf: places}
}

/** `anyOf` must be alone: members beside it go into each alternative, and null becomes `nullable`. */
function cleanAnyOf(schema: Json, choices: readonly unknown[], down: (part: unknown) => Json): Json {
  const others = choices.filter(choice => !(isObject(choice) && choice.type === 'null'))
  const may_be_null = others.length < choices.length || schema.nullable === true || list(schema.type).includes('null')
  const inherited = {
    ...(typeof schema.type === 'string' ? {type: schema.type} : {}),
    ...(typeof schema.description === 'string' ? {description: schema.description} : {}),
    ...(may_be_null ? {nullable: true} : {}),
  }
  const results = others.map(choice => ({...inherited, ...down(choice)}))
  return results.length === 1 ? results[0]! : results.length === 0 ? inherited : {anyOf: results}
}

function resolveRef(schema: Json, ref: string, walk: Walk, depth: number, refs: readonly string[]): Json {
  const target = resolve(walk.root, ref)
  if (target === undefined)
    throw new UnsupportedInputFault(walk.field, `the reference ${JSON.stringify(ref.slice(0, 100))} leads nowhere`)
  const beside = typeof schema.description === 'string' ? {description: schema.description} : {}
  if (refs.includes(ref)) return {type: (isObject(target) && word(target.type)) || 'object', ...beside}
  return {...clean(target, walk, depth + 1, [...refs, ref]), ...beside}
}

/**
 * Resolves a JSON pointer below `#` (RFC 6901); undefined for nothing. References to other documents are never fetched.
 */
function resolve(root: Json, ref: string): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let at: unknown = root
  for (const step of ref.slice(2).split('/')) {
    const name = unescaped(step)
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Json)[name]
  }
  return at
}

function unescaped(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

/** Two parts of an `allOf` as one: members of both, what both name as the later says. */
function merged(one: Json, other: Json): Json {
  const required = [...new Set([...list(one.required), ...list(other.required)])]
  const both = isObject(one.properties) || isObject(other.properties)
  return {
    ...one,
    ...other,
    ...(both ? {properties: {...object(one.properties), ...object(other.properties)}} : {}),
    ...(required.length > 0 ? {required} : {}),
  }
}

/** A part of an `allOf` may require what another part describes. */
function withRequired(whole: Json, parts: readonly unknown[]): Json {
  const properties = object(whole.properties)
  const named = [...list(whole.required), ...parts.flatMap(part => list(object(part).required))]
  const required = [...new Set(named)].filter(name => typeof name === 'string' && Object.hasOwn(properties, name))
  return required.length > 0 ? {...whole, required} : whole
}
