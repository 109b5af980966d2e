import {isObject, type JsonObject, type JsonValue} from '../base/json-member.ts'
import {wayToNeverKey} from '../base/json-shape.ts'
import {findNul} from '../schema/nul.ts'
import {badRequest} from './fault.ts'
import type {MutableObject} from './json.ts'
import {canonical} from './names.ts'
import {coerced} from './patch/coerce.ts'

/** A body of POST or PUT: its attributes by their canonical names, in the form of the schema. */
export function readResource(body: unknown): MutableObject {
  const given = readBody(body)
  const resource: MutableObject = {}
  for (const [name, value] of Object.entries(given)) {
    const own = canonical(name)
    if (value !== null) resource[own] = coerced(own, value)
  }
  return resource
}

/** A body that is an object, holds no NUL, which no database keeps, and no key of an object's own workings. */
export function readBody(body: unknown): JsonObject {
  if (!isObject(body)) throw badRequest('invalidSyntax', 'The body is no JSON object.')
  const never = wayToNeverKey(body, '')
  if (never) throw badRequest('invalidSyntax', `${never.slice(1)}: is a key that is not taken.`)
  if (findNul(body)) throw badRequest('invalidValue', 'A text of the body holds a NUL character.')
  return body as Record<string, JsonValue>
}
