import {RegexFault} from '../../base/regex.ts'
import {at, isList, isObject, type JsonObject, type JsonValue} from '../json.ts'
import {type Pattern, readPattern} from '../pattern.ts'
import {FORMATS} from './formats.ts'

/** A schema that was read: its patterns are compiled, its references lead somewhere, its keywords are well formed. */
export interface JsonSchema {
  readonly root: JsonValue
  /** By the pattern's text. */
  readonly patterns: ReadonlyMap<string, Pattern>
  target(reference: string): JsonValue | undefined
}

const MAX_NODES = 10_000
const DEEPEST = 64

/** Why a schema cannot be taken; a sentence that begins with the place. */
export class SchemaFault extends Error {}

/**
 * Reads a schema of draft 2020-12 (json-schema.org/draft/2020-12/json-schema-validation). Refused is what would
 * otherwise be passed over in silence: references out of the schema, dynamic references, `unevaluated*`, patterns that
 * need backtracking, formats that are unknown.
 */
export function readJsonSchema(root: JsonValue): JsonSchema {
  const patterns = new Map<string, Pattern>()
  const visited = new Set<JsonValue>()
  const references: {readonly to: string; readonly place: string}[] = []
  visit(root, 'schema', 0)
  for (const {to, place} of references) {
    const target = resolve(root, to)
    if (typeof target !== 'boolean' && !visited.has(target ?? null))
      throw new SchemaFault(`${place} leads to no part of this schema.`)
  }
  return {root, patterns, target: reference => resolve(root, reference)}

  function visit(schema: JsonValue, place: string, depth: number): void {
    if (typeof schema === 'boolean') return
    if (!isObject(schema)) throw new SchemaFault(`${place} must be an object, true or false.`)
    if (visited.add(schema).size > MAX_NODES || depth > DEEPEST)
      throw new SchemaFault(`${place} is too much: a schema has at most ${MAX_NODES} parts, ${DEEPEST} deep.`)
    for (const [key, value] of Object.entries(schema)) keyword(key, value, `${place}.${key}`, depth + 1)
  }

  function keyword(key: string, value: JsonValue, place: string, depth: number) {
    if (REFUSED.has(key)) throw new SchemaFault(`${place}: this keyword is not available.`)
    if (ONE.has(key)) visit(value, place, depth)
    else if (LISTS.has(key)) {
      if (!isList(value)) throw new SchemaFault(`${place} must be a list of schemas.`)
      for (const [index, each] of value.entries()) visit(each, `${place}[${index}]`, depth)
    } else if (MAPS.has(key)) {
      if (!isObject(value)) throw new SchemaFault(`${place} must be an object of schemas.`)
      for (const [name, each] of Object.entries(value)) {
        if (key === 'patternProperties') compile(name, place)
        visit(each, `${place}.${name}`, depth)
      }
    } else if (key === 'pattern') compile(value, place)
    else if (key === '$ref') {
      if (typeof value !== 'string') throw new SchemaFault(`${place} must be a text.`)
      references.push({to: value, place})
    } else if (key === 'format') {
      if (typeof value !== 'string' || !Object.hasOwn(FORMATS, value))
        throw new SchemaFault(`${place} must be one of ${Object.keys(FORMATS).join(', ')}.`)
    } else if (Object.hasOwn(SHAPES, key) && !SHAPES[key]![0](value))
      throw new SchemaFault(`${place} must be ${SHAPES[key]![1]}.`)
  }

  function compile(source: JsonValue, place: string) {
    if (typeof source !== 'string') throw new SchemaFault(`${place} must be a text.`)
    if (patterns.has(source)) return
    try {
      patterns.set(source, readPattern(source))
    } catch (fault) {
      if (fault instanceof RegexFault)
        throw new SchemaFault(`${place} is a pattern that is not available: ${fault.message}.`)
      throw fault
    }
  }
}

function resolve(root: JsonValue, reference: string): JsonValue | undefined {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let pointer: string
  try {
    pointer = decodeURIComponent(reference.slice(2))
  } catch {
    return undefined
  }
  const path = pointer.split('/').map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const found = at(root, path)
  return typeof found === 'boolean' || isObject(found) ? found : undefined
}

const REFUSED: ReadonlySet<string> = new Set([
  '$dynamicRef',
  '$recursiveRef',
  'unevaluatedProperties',
  'unevaluatedItems',
  '$anchor',
  '$dynamicAnchor',
])
const ONE: ReadonlySet<string> = new Set([
  'additionalProperties',
  'propertyNames',
  'items',
  'contains',
  'not',
  'if',
  'then',
  'else',
])
const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

const isCount = (value: JsonValue) => Number.isInteger(value) && (value as number) >= 0
const isNumber = (value: JsonValue) => typeof value === 'number'
const isTexts = (value: JsonValue) => isList(value) && value.every(each => typeof each === 'string')
const count = [isCount, 'a whole number of at least 0'] as const
const number = [isNumber, 'a number'] as const
const isType = (value: JsonValue) => typeof value === 'string' && TYPES.has(value)
const TYPES: ReadonlySet<string> = new Set(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'])

const SHAPES: Readonly<Record<string, readonly [(value: JsonValue) => boolean, string]>> = {
  type: [value => (isList(value) ? value.every(isType) : isType(value)), `one or a list of ${[...TYPES].join(', ')}`],
  enum: [value => isList(value), 'a list'],
  required: [isTexts, 'a list of texts'],
  dependentRequired: [
    value => isObject(value) && Object.values(value as JsonObject).every(isTexts),
    'an object of lists of texts',
  ],
  ...{minLength: count, maxLength: count, minItems: count, maxItems: count, minProperties: count, maxProperties: count},
  ...{minContains: count, maxContains: count},
  ...{minimum: number, maximum: number, exclusiveMinimum: number, exclusiveMaximum: number},
  multipleOf: [value => typeof value === 'number' && value > 0, 'a number above 0'],
  uniqueItems: [value => typeof value === 'boolean', 'true or false'],
}
