import {isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import type {EditPath, TextEdit} from '../wire/edits.ts'

/**
 * JSON Schemas of tools across the eras. 2026-07-28 allows any root in `outputSchema`, and booleans for the schemas of
 * properties; revisions before it have objects alone, and their clients refuse a whole list for one other tool.
 */

/** The member that holds the value in a result for legacy clients. */
const RESULT = 'result'
const BELOW = `#/properties/${RESULT}`

/** Keywords with values that are data, where `$ref` is a member like any other. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples'])
/** Keywords with schemas under names, which may be those of keywords. */
const NAMED: ReadonlySet<string> = new Set(
  '$defs definitions dependencies dependentSchemas patternProperties properties'.split(' '),
)

/** True where an `outputSchema` is not one of an object: legacy clients see it, and its values, under `result`. */
export function isWrapped(schema: JsonObject): boolean {
  return own(schema, 'type') !== 'object'
}

/**
 * Edits that make an object's schema of the one at a path: `{type: "object", properties: {result: SCHEMA}, required:
 * ["result"]}`. References from its root on are led to the new place; those below a `$id` have a root of their own.
 */
export function wrappedSchema(schema: JsonObject, at: EditPath): readonly TextEdit[] {
  const dialect = own(schema, '$schema')
  const head = typeof dialect === 'string' ? `"$schema":${JSON.stringify(dialect)},` : ''
  const wrap = [`{${head}"type":"object","properties":{"${RESULT}":`, `},"required":["${RESULT}"]}`] as const
  if (hasOwnBase(schema)) return [{path: at, wrap}]
  const edits: TextEdit[] = [{path: at, wrap}]
  if (head !== '') edits.push({path: [...at, '$schema'], set: undefined})
  const is_2019 = typeof dialect === 'string' && dialect.includes('2019-09')
  for (const {path, schema: part} of schemasIn(schema))
    for (const edit of movedReferences(part, [...at, ...path], is_2019)) edits.push(edit)
  return edits
}

/** A schema, or a list of schemas, or schemas by name, and the way to it. */
interface SchemaPart {
  readonly path: EditPath
  readonly value: JsonValue | undefined
  readonly is_named: boolean
}

/** Each object of a schema that is a schema itself and resolves its references from the root of the whole. */
function* schemasIn(root: JsonObject): Generator<{readonly path: EditPath; readonly schema: JsonObject}> {
  const open: SchemaPart[] = [{path: [], value: root, is_named: false}]
  for (let next = open.pop(); next; next = open.pop()) {
    const {path, value, is_named} = next
    if (Array.isArray(value)) {
      for (const [at, each] of (value as readonly JsonValue[]).entries())
        open.push({path: [...path, at], value: each, is_named: false})
      continue
    }
    if (!isObject(value)) continue
    if (!is_named) {
      if (hasOwnBase(value)) continue
      yield {path, schema: value}
    }
    for (const key of Object.keys(value)) {
      if (!is_named && DATA.has(key)) continue
      open.push({path: [...path, key], value: own(value, key), is_named: !is_named && NAMED.has(key)})
    }
  }
}

/** Since draft 4 a fragment alone is a name, no base. */
function hasOwnBase(schema: JsonObject): boolean {
  const id = own(schema, '$id')
  return typeof id === 'string' && !id.startsWith('#')
}

function movedReferences(schema: JsonObject, at: EditPath, is_2019: boolean): TextEdit[] {
  const edits: TextEdit[] = []
  for (const key of ['$ref', '$dynamicRef']) {
    const moved = movedReference(own(schema, key))
    if (moved !== null) edits.push({path: [...at, key], set: JSON.stringify(moved)})
  }
  // In one schema without bases of its own, the outermost place that `#` may mean is its root.
  if (!is_2019 || own(schema, '$recursiveRef') !== '#') return edits
  const reference = `{"$ref":"${BELOW}"}`
  edits.push({path: [...at, '$recursiveRef'], set: undefined})
  if (own(schema, '$ref') === undefined) edits.push({path: [...at, '$ref'], set: `"${BELOW}"`})
  else edits.push({path: [...at, 'allOf'], append: reference})
  return edits
}

function movedReference(reference: JsonValue | undefined): string | null {
  if (typeof reference !== 'string') return null
  if (reference === '#' || reference === '') return BELOW
  return reference.startsWith('#/') ? BELOW + reference.slice(1) : null
}

/**
 * Edits that write the schemas of properties at the top of an object's schema as objects: `true` as `{}`, `false` as
 * `{"not":{}}`. Revisions before 2026-07-28 have no booleans there.
 */
export function withoutBooleans(schema: JsonObject, at: EditPath): readonly TextEdit[] {
  const properties = own(schema, 'properties')
  if (!isObject(properties)) return []
  return Object.keys(properties).flatMap(key => {
    const value = own(properties, key)
    return typeof value === 'boolean' ? [{path: [...at, 'properties', key], set: value ? '{}' : '{"not":{}}'}] : []
  })
}
