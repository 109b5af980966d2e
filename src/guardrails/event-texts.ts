import {isList, isObject, type JsonObject, type JsonPath, type JsonValue, own} from './json.ts'

/**
 * A text in an event of a realtime session, as `Slot` of `texts.ts` has it. Each event is judged by itself, so that all
 * of its texts are.
 */
interface EventText {
  readonly path: JsonPath
  readonly text: string
  readonly is_judged: true
}

/** Deeper than this no event has a text. */
const DEEPEST = 6
/**
 * Members of items, parts, sessions and responses that are texts of people or models. Only checks that forbid read the
 * other members.
 */
const TEXT_KEYS: ReadonlySet<string> = new Set(['text', 'transcript', 'instructions', 'refusal', 'output'])
/** Members that hold such members. */
const HOLDERS = ['item', 'session', 'response', 'part', 'content', 'input', 'output', 'summary'] as const
/** The types of events that are a piece of sound, and of those that are a piece of JSON. */
const SOUND = /^response\.(?:output_)?audio\.delta$/
const ARGUMENTS = /arguments\.delta$/

/** The client's texts: items, instructions, results of tools. */
export function clientTexts(event: JsonObject): EventText[] {
  return within(event, [], 0)
}

/** The provider's texts: in pieces, repeated whole, and in the items of a conversation. */
export function serverTexts(event: JsonObject): EventText[] {
  const type = own(event, 'type')
  const is_piece = typeof type === 'string' && type.endsWith('.delta') && !isSound(event) && !ARGUMENTS.test(type)
  return [...(is_piece ? text(own(event, 'delta'), ['delta']) : []), ...within(event, [], 0)]
}

/** True for an event that is a piece of what a model speaks. */
export function isSound(event: JsonObject): boolean {
  return SOUND.test(String(own(event, 'type')))
}

/** Names of what cannot be read in an event of a client: sound. */
export function unreadIn(event: JsonValue): readonly string[] {
  return hasSound(event, 0) ? ['audio'] : []
}

function hasSound(value: JsonValue | undefined, depth: number): boolean {
  if (depth > DEEPEST || typeof value !== 'object' || value === null) return false
  if (isList(value)) return value.some(each => hasSound(each, depth + 1))
  const sound = own(value, 'audio')
  if (typeof sound === 'string' && sound !== '') return true
  return HOLDERS.some(key => hasSound(own(value, key), depth + 1))
}

function within(holder: JsonObject, path: JsonPath, depth: number): EventText[] {
  if (depth > DEEPEST) return []
  const found = Object.keys(holder).flatMap(name => (TEXT_KEYS.has(name) ? text(holder[name], [...path, name]) : []))
  return [...found, ...HOLDERS.flatMap(name => below(own(holder, name), [...path, name], depth + 1))]
}

function below(value: JsonValue | undefined, path: JsonPath, depth: number): EventText[] {
  if (isList(value)) return value.flatMap((each, at) => (isObject(each) ? within(each, [...path, at], depth) : []))
  return isObject(value) ? within(value, path, depth) : []
}

function text(value: JsonValue | undefined, path: JsonPath): EventText[] {
  return typeof value === 'string' && value ? [{path, text: value, is_judged: true}] : []
}
