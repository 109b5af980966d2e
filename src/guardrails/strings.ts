import type {EndpointName} from '../schema/endpoints.ts'
import type {Side} from '../schema/guardrails.ts'
import {CheckFault} from './fault.ts'
import {isList, isObject, type JsonObject, type JsonValue, own, set} from './json.ts'
import {mapJsonStrings} from './json-strings.ts'
import {isLeftAlone, isMemberName} from './left-alone.ts'

/**
 * The function that maps each string. `called`: the key that holds it in data of the caller's own, or nothing.
 * `is_echo`: the provider repeats the request.
 */
export type ByString = (text: string, called: string, is_echo: boolean) => string

/**
 * The position of a walk: of a given string, its path; of a key, of a number and of a string inside JSON, the path of
 * its holder.
 */
export interface Trail {
  readonly path: (string | number)[]
  /** A text that is JSON, before its strings are given one by one. */
  onJson(text: string): void
}

/** How the strings below a value are read. */
type Form = 'body' | 'data' | 'schema'

/**
 * Objects that callers, tools and models fill as they like: every string in them is a text, and so are keys that are no
 * names.
 */
export const DATA_KEYS: ReadonlySet<string> = new Set(['metadata', 'variables', 'input', 'arguments'])
/** Schemas: as the rest of a body, but for keys that are no names. */
const SCHEMA_KEYS: ReadonlySet<string> = new Set(['parameters', 'input_schema', 'schema', 'output_schema'])
/** The string values of these keys are JSON. */
export const JSON_KEYS: ReadonlySet<string> = new Set(['arguments', 'partial_json'])
/** The conversation grows from call to call: it comes last, so that strings beside it are numbered as before. */
const CONVERSATION: ReadonlySet<string> = new Set(['messages', 'input', 'prompt'])
/** The parts of a response that repeat its request. They are redacted, and are not judged as an answer. */
export const ECHOED: ReadonlySet<string> = new Set([
  ...[
    'instructions',
    'tools',
    'tool_choice',
    'metadata',
    'user',
    'safety_identifier',
    'prompt_cache_key',
    'prompt',
    'text',
    'reasoning',
  ],
])
/** Deeper than this no body is read. */
export const DEEPEST = 500
/** A number of fewer digits is not personal. */
const MIN_DIGITS = 7
/** Signs that providers refuse in the name of a participant. */
const NOT_IN_NAMES = /[\s<|\\/>]+/g

/**
 * The body with every string of it put through `by`, whatever its dialect, but for those in `LEFT_ALONE`; the same body
 * when `by` changes none. Strings of a text that is JSON are put through it one by one, so that it stays JSON. `trail`
 * follows the walk.
 */
export function mapStrings(
  body: JsonValue,
  endpoint: EndpointName,
  side: Side,
  by: ByString,
  trail?: Trail,
): JsonValue {
  let depth = 0
  const repeats = (endpoint === 'createModelResponse' || endpoint === 'realtime') && side === 'output'
  const repeating = repeats ? (own(body, 'object') === 'response' ? body : own(body, 'response')) : undefined
  return isObject(body) ? members(body, 'body', false) : value(body, '', undefined, 'body', false)

  function value(
    node: JsonValue,
    key: string,
    holder: JsonObject | undefined,
    form: Form,
    is_echo: boolean,
  ): JsonValue {
    if (typeof node === 'string') return node === '' ? node : text(node, key, holder, form, is_echo)
    if (typeof node === 'number') return form === 'data' ? number(node, key, is_echo) : node
    if (typeof node !== 'object' || node === null) return node
    if (!isList(node)) return members(node as JsonObject, formOf(key, form), is_echo)
    let made: JsonValue[] | undefined
    deeper()
    for (let at = 0; at < node.length; at++) {
      const each = node[at]!
      trail?.path.push(at)
      const put = isObject(each) ? members(each, form, is_echo) : value(each, key, holder, form, is_echo)
      trail?.path.pop()
      if (put === each) continue
      made ??= [...node]
      made[at] = put
    }
    depth--
    return made ?? node
  }

  function members(object: JsonObject, form: Form, is_echo: boolean): JsonValue {
    let changed: Map<string, {key: string; value: JsonValue}> | undefined
    deeper()
    for (const key of object === body ? inTurn(object) : Object.keys(object)) {
      const before = object[key]!
      const echoes = is_echo || (object === repeating && ECHOED.has(key))
      const name = form === 'body' || isMemberName(key) ? key : by(key, '', echoes)
      trail?.path.push(key)
      const put = value(before, key, object, form, echoes)
      trail?.path.pop()
      if (put === before && name === key) continue
      changed ??= new Map()
      changed.set(key, {key: name, value: put})
    }
    depth--
    return changed ? rebuilt(object, changed) : object
  }

  function deeper() {
    if (++depth > DEEPEST) throw new CheckFault('The body is nested too deep to be judged.')
  }

  function text(raw: string, key: string, holder: JsonObject | undefined, form: Form, is_echo: boolean): string {
    if (form === 'data') return by(raw, key, is_echo)
    if (JSON_KEYS.has(key)) {
      trail?.onJson(raw)
      return mapJsonStrings(raw, (each, name) => by(each, name, is_echo))
    }
    if (isLeftAlone(raw, key, holder)) return raw
    const put = by(raw, '', is_echo)
    return put !== raw && key === 'name' ? put.replace(NOT_IN_NAMES, '') : put
  }

  function number(raw: number, called: string, is_echo: boolean): JsonValue {
    const digits = String(raw)
    if (digits.length < MIN_DIGITS) return raw
    const put = by(digits, called, is_echo)
    return put === digits ? raw : put
  }
}

/**
 * A string that is base64 by its form, or a `data:` URL of it, is left alone from this length on, whatever its key is.
 */
export const MIN_BASE64 = 1024
const BASE64 = /^(?:data:[\w.+/;=-]{0,200};base64,)?[\w+/=-]*$/

/**
 * The same of a body in an unknown dialect: every string but long base64 is a text. Keys are passed on, those that are
 * plain names apart, and stay; so does all else.
 */
export function mapEveryString(body: JsonValue, by: ByString, key?: (text: string) => void, trail?: Trail): JsonValue {
  let depth = 0
  return value(body, '')

  function value(node: JsonValue, called: string): JsonValue {
    if (typeof node === 'string') {
      if (node === '' || (node.length >= MIN_BASE64 && BASE64.test(node))) return node
      if (!JSON_TEXT.test(node)) return by(node, called, false)
      trail?.onJson(node)
      return mapJsonStrings(node, (text, name) => by(text, name, false))
    }
    if (typeof node !== 'object' || node === null) return node
    if (++depth > DEEPEST) throw new CheckFault('The body is nested too deep to be judged.')
    const put = isList(node) ? list(node, called) : members(node as JsonObject)
    depth--
    return put
  }

  function list(nodes: readonly JsonValue[], called: string): JsonValue {
    let made: JsonValue[] | undefined
    for (let at = 0; at < nodes.length; at++) {
      trail?.path.push(at)
      const put = value(nodes[at]!, called)
      trail?.path.pop()
      if (put === nodes[at]) continue
      made ??= [...nodes]
      made[at] = put
    }
    return made ?? nodes
  }

  function members(object: JsonObject): JsonValue {
    let made: Record<string, JsonValue> | undefined
    for (const name of Object.keys(object)) {
      if (key && name !== '' && !isMemberName(name)) key(name)
      trail?.path.push(name)
      const put = value(object[name]!, name)
      trail?.path.pop()
      if (put === object[name]) continue
      made ??= {...object}
      set(made, name, put)
    }
    return made ?? object
  }
}

/** A text that is JSON. */
const JSON_TEXT = /^\s*[{[]/

function formOf(key: string, form: Form): Form {
  if (form !== 'body') return form
  if (DATA_KEYS.has(key)) return 'data'
  return SCHEMA_KEYS.has(key) ? 'schema' : 'body'
}

function inTurn(body: JsonObject): string[] {
  const keys = Object.keys(body)
  return [...keys.filter(key => !CONVERSATION.has(key)), ...keys.filter(key => CONVERSATION.has(key))]
}

/**
 * The object with other values, and keys, in the places of its own. What would say a text again otherwise goes with it.
 */
function rebuilt(
  object: JsonObject,
  changed: ReadonlyMap<string, {readonly key: string; readonly value: JsonValue}>,
): JsonObject {
  const made: Record<string, JsonValue> = {}
  const counts = new Map<string, number>()
  for (const key of Object.keys(object)) {
    const {key: name, value} = changed.get(key) ?? {key, value: object[key]!}
    set(made, name === key ? name : free(name, made, object, counts), key === 'logprobs' ? withoutTokens(value) : value)
  }
  return made
}

/** Tokens are the text in pieces, too small to be matched. */
function withoutTokens(logprobs: JsonValue): JsonValue {
  return isList(logprobs) ? [] : null
}

/**
 * A key that was redacted, with a number where another has it already. `counts`: by name, the last number that was
 * tried.
 */
function free(name: string, made: JsonObject, object: JsonObject, counts: Map<string, number>): string {
  let count = counts.get(name) ?? 1
  let free = count === 1 ? name : `${name}_${count}`
  while (own(made, free) !== undefined || own(object, free) !== undefined) free = `${name}_${++count}`
  counts.set(name, count)
  return free
}
