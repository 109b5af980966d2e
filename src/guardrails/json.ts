export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

/** What `value` itself holds under `key`, never what its prototype does; undefined where it holds nothing or is no container. */
export function own(value: unknown, key: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string | number, Json>>)[key]
}

/** `value` as a list: a list itself, nothing for undefined and null, one thing for anything else. */
export function listOf(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return []
  return isList(value) ? value : [value]
}

/** The way to a value: keys of objects and places of lists. */
export type Path = readonly (string | number)[]

export function at(value: Json, path: Path): Json | undefined {
  return path.reduce<Json | undefined>((within, key) => own(within, key), value)
}

/** `value` with `put` at `path`, all that is beside the path shared with it. A path that leads nowhere changes nothing. */
export function withAt(value: Json, path: Path, put: Json): Json {
  return withAll(value, [{path, put}])
}

export interface Edit {
  readonly path: Path
  readonly put: Json
}

/** `withAt` for many at once: a container is copied once, however many of its members change. */
export function withAll(value: Json, edits: readonly Edit[], depth = 0): Json {
  const whole = edits.findLast(({path}) => path.length === depth)
  if (whole) return whole.put
  const byKey = Map.groupBy(edits, ({path}) => path[depth]!)
  const changed = new Map<string, Json>()
  for (const [key, below] of byKey) {
    const held = own(value, key)
    const made = held === undefined ? undefined : withAll(held, below, depth + 1)
    if (made !== undefined && made !== held) changed.set(String(key), made)
  }
  if (!changed.size) return value
  if (isList(value)) return value.map((each, index) => (changed.has(String(index)) ? changed.get(String(index))! : each))
  return Object.fromEntries(Object.entries(value as JsonObject).map(([key, each]) => [key, changed.has(key) ? changed.get(key)! : each]))
}

/** `object` with `key` set as its own, in its place or at the end. `__proto__` is a key like any other. */
export function withKey(object: JsonObject, key: string, value: Json): JsonObject {
  const entries = Object.entries(object)
  return Object.fromEntries(
    Object.hasOwn(object, key) ? entries.map(entry => (entry[0] === key ? [key, value] : entry)) : [...entries, [key, value]],
  )
}
