import {parsed} from '../../../src/base/json-object.ts'

/** A string of a body: a value or a key, perhaps of JSON that stands as a text. */
export interface BodyString {
  readonly path: readonly (string | number)[]
  readonly is_key: boolean
  /** Where it stands in the JSON of the text at `path`. */
  readonly within?: BodyString
  readonly name: string
}

type Value = unknown

/** Keys whose objects callers and tools fill, and schemas: their keys are free. */
const FREE = new Set(['metadata', 'variables', 'input', 'arguments', 'partial_json'])

/** Every string of a value that is not empty, and every key of what callers and tools fill. */
export function leavesOf(value: Value, path: BodyString['path'] = [], is_free = false): readonly BodyString[] {
  if (typeof value === 'string') {
    if (!value) return []
    const key = path.at(-1)
    if (key !== 'arguments' && key !== 'partial_json') return [leaf(path)]
    const json = parsed(value)
    if (json === undefined) return [leaf(path)]
    return leavesOf(json, [], true).map(within => ({...leaf(path), within, name: `${path.join('.')}: ${within.name}`}))
  }
  if (typeof value !== 'object' || value === null) return []
  const is_list = Array.isArray(value)
  return Object.entries(value).flatMap(([name, each]) => {
    const at = [...path, is_list ? Number(name) : name]
    const below = is_free || (!is_list && FREE.has(name) && !Array.isArray(each))
    return [
      ...(is_free && !is_list ? [{...leaf(at), is_key: true, name: `${at.join('.')} (key)`}] : []),
      ...leavesOf(each, at, below),
    ]
  })
}

const leaf = (path: BodyString['path']): BodyString => ({path, is_key: false, name: path.join('.')})

/** The value with `text` in the place of a leaf; as a part of what stands there where `is_part`. */
export function withLeaf<T>(value: T, {path, is_key, within}: BodyString, text: string): T {
  const made = structuredClone(value) as Record<string | number, unknown>
  let holder = made
  for (const key of path.slice(0, -1)) holder = holder[key] as typeof made
  const last = path.at(-1)!
  if (is_key) {
    const entries = Object.entries(holder).map(([key, each]) => [key === last ? text : key, each] as const)
    for (const key of Object.keys(holder)) delete holder[key]
    Object.assign(holder, Object.fromEntries(entries))
  } else holder[last] = within ? JSON.stringify(withLeaf(JSON.parse(holder[last] as string), within, text)) : text
  return made as T
}

/** The last key of a leaf that is no place in a list. */
export function keyOf({path}: BodyString): string {
  return String(path.findLast(key => typeof key === 'string'))
}
