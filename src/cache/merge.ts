import {isDeepStrictEqual} from 'node:util'
import {isObject} from '../base/json-object.ts'
import type {JsonRecord} from './exact-json.ts'

/** A stream that cannot be put together without guessing. */
export class InexactFault extends Error {}

/** Members that arrive in pieces of text. */
const TEXTS: ReadonlySet<string> = new Set([
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'text',
  'thinking',
  'summary',
  'signature',
  'arguments',
  'partial_json',
  'transcript',
  'data',
])
/** Texts that may come again, and stay the same. */
const STEADY: ReadonlySet<string> = new Set(['role', 'id', 'type', 'name', 'format', 'object', 'model', 'status'])
/** Lists whose items have an index in the stream alone. */
const STREAM_INDEX: ReadonlySet<string> = new Set(['tool_calls', 'content_blocks'])
/** Lists that arrive item by item. */
const LISTS: ReadonlySet<string> = new Set([
  'annotations',
  'content',
  'refusal',
  'tokens',
  'token_logprobs',
  'top_logprobs',
  'text_offset',
])

/**
 * Adds `delta` to what came before it, in place. Texts grow, lists whose items have an `index` are added to item by
 * item, objects member by member; what is none of these may come again only as it was. Throws `InexactFault` where two
 * readings are possible.
 */
export function mergeDelta(before: JsonRecord, delta: JsonRecord): void {
  for (const [key, value] of Object.entries(delta)) {
    const had = Object.hasOwn(before, key) ? before[key] : undefined
    put(before, key, merged(key, had, value))
  }
}

/** Sets a member whatever its name is: `__proto__` too is only a name. */
export function put(record: JsonRecord, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(record, key, {value, enumerable: true, configurable: true, writable: true})
  else record[key] = value
}

function merged(key: string, had: unknown, value: unknown): unknown {
  if (value === null || value === undefined) return had === undefined ? value : had
  if (Array.isArray(value)) return mergedList(key, had ?? null, value)
  if (had === undefined || had === null) return isObject(value) ? mergedObject({}, value) : value
  if (typeof value === 'string' && typeof had === 'string') {
    if (TEXTS.has(key)) return had + value
    if (had === '' || value === '') return had + value
    // A piece of a text that we do not know of may look like the piece before it.
    if (value !== had || !STEADY.has(key)) throw new InexactFault(`${key} comes in several texts`)
  }
  if (isObject(value) && isObject(had)) return mergedObject(had, value)
  if (isDeepStrictEqual(had, value)) return had
  throw new InexactFault(`${key} changes within the stream`)
}

function mergedObject(had: JsonRecord, value: JsonRecord): JsonRecord {
  mergeDelta(had, value)
  return had
}

function mergedList(key: string, had: unknown, value: readonly unknown[]): unknown {
  const is_indexed = value.length > 0 && value.every(item => isObject(item) && isIndex(item.index))
  if (is_indexed && (had === null || Array.isArray(had))) {
    const list = (had ?? []) as unknown[]
    for (const item of value as readonly (JsonRecord & {readonly index: number})[])
      mergeItem(list, item, !STREAM_INDEX.has(key))
    return list
  }
  if (had === null) return [...value]
  if (!Array.isArray(had)) throw new InexactFault(`${key} changes within the stream`)
  if (LISTS.has(key)) {
    // in place: copied by each event, a long list would cost the square of its length
    for (const item of value) had.push(item)
    return had
  }
  if (value.length === 0 || isDeepStrictEqual(had, value)) return had
  if (had.length === 0) return [...value]
  throw new InexactFault(`${key} comes in several lists`)
}

/** Items are distinguished by their index. They begin in order. */
function mergeItem(list: unknown[], given: JsonRecord & {readonly index: number}, keeps_index: boolean): void {
  const {index, ...rest} = given
  if (index > list.length) throw new InexactFault('an item of a list is missing')
  const had = index === list.length ? {} : list[index]
  if (!isObject(had)) throw new InexactFault('a list changes within the stream')
  mergeDelta(had, keeps_index ? given : rest)
  list[index] = had
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
