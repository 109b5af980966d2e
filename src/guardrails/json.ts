import {isList, isObject, type JsonObject, type JsonValue, listOf, own} from '../base/json-member.ts'

export {isList, isObject, type JsonObject, type JsonValue, listOf, own}

/** The way to a value: keys of objects and places of lists. */
export type JsonPath = readonly (string | number)[]

export function at(value: JsonValue, path: JsonPath): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((within, key) => own(within, key), value)
}

/**
 * `value` with `put` at `path`, all that is beside the path shared with it. A path that leads nowhere changes nothing.
 */
export function withAt(value: JsonValue, path: JsonPath, put: JsonValue): JsonValue {
  return withAll(value, [{path, put}])
}

export interface Edit {
  readonly path: JsonPath
  readonly put: JsonValue
}

/** A container on the way of an edit: what it was, and what it is becoming. */
interface Copied {
  readonly from: JsonValue
  readonly to: JsonValue[] | Record<string, JsonValue>
  readonly within: Map<string | number, Copied>
}

/**
 * `withAt` for many at once: a container is copied once, however many of its members change. Of two at one path the
 * last counts.
 */
export function withAll(value: JsonValue, edits: readonly Edit[]): JsonValue {
  let root: Copied | undefined
  for (const {path, put} of edits) {
    if (path.length === 0) return put
    if (at(value, path) === undefined) continue
    root ??= copied(value)
    let node = root
    for (const key of path.slice(0, -1)) node = copiedWithin(node, key)
    set(node.to, path[path.length - 1]!, put)
  }
  return root ? root.to : value
}

function copiedWithin(node: Copied, key: string | number): Copied {
  const known = node.within.get(key)
  if (known) return known
  const made = copied(own(node.from, key)!)
  node.within.set(key, made)
  set(node.to, key, made.to)
  return made
}

function copied(from: JsonValue): Copied {
  return {from, to: isList(from) ? [...from] : {...(from as JsonObject)}, within: new Map()}
}

export function set(container: JsonValue[] | Record<string, JsonValue>, key: string | number, value: JsonValue): void {
  if (key === '__proto__')
    Object.defineProperty(container, key, {value, enumerable: true, configurable: true, writable: true})
  else (container as Record<string | number, JsonValue>)[key] = value
}

/** `object` with `key` set as its own, in its place or at the end. `__proto__` is a key like any other. */
export function withKey(object: JsonObject, key: string, value: JsonValue): JsonObject {
  const entries = Object.entries(object)
  return Object.fromEntries(
    Object.hasOwn(object, key)
      ? entries.map(entry => (entry[0] === key ? [key, value] : entry))
      : [...entries, [key, value]],
  )
}
