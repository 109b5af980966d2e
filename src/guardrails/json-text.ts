import {parseJson, TooDeepFault} from '../base/json-object.ts'
import {MAX_JSON_DEPTH} from '../base/json-shape.ts'
import type {JsonValue} from './json.ts'
import type {SlicedWork} from './time-slices.ts'

/** Code units of a text, and members, between two pauses. */
const UNITS_AT_ONCE = 16_384
const MEMBERS_AT_ONCE = 1024

/** `JSON.stringify` with pauses, for plain JSON. */
export function* jsonText(value: JsonValue): SlicedWork<string> {
  const parts: string[] = []
  let written = 0
  yield* write(value)
  return parts.join('')

  function* write(value: JsonValue): SlicedWork<void> {
    if (++written % MEMBERS_AT_ONCE === 0) yield
    if (typeof value === 'string') yield* text(value)
    else if (typeof value !== 'object' || value === null) parts.push(JSON.stringify(value))
    else if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) {
        parts.push(at ? ',' : '[')
        yield* write(value[at]!)
      }
      parts.push(value.length ? ']' : '[]')
    } else {
      const entries = Object.entries(value)
      for (let at = 0; at < entries.length; at++) {
        const [key, member] = entries[at]!
        parts.push(at ? ',' : '{', JSON.stringify(key), ':')
        yield* write(member)
      }
      parts.push(entries.length ? '}' : '{}')
    }
  }

  function* text(value: string): SlicedWork<void> {
    if (value.length <= UNITS_AT_ONCE) {
      parts.push(JSON.stringify(value))
      return
    }
    parts.push('"')
    for (let at = 0; at < value.length; ) {
      let end = Math.min(value.length, at + UNITS_AT_ONCE)
      // A pair is not parted: each half alone would be written as an escape.
      if (isHigh(value.charCodeAt(end - 1)) && isLow(value.charCodeAt(end))) end++
      parts.push(JSON.stringify(value.slice(at, end)).slice(1, -1))
      at = end
      yield
    }
    parts.push('"')
  }
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00
}

/** Below so many code units a text is parsed at once. */
const SHORT = 65_536

/** JSON out of a text, undefined for what is none. With pauses. */
export function* readingJson(text: string): SlicedWork<JsonValue | undefined> {
  try {
    return yield* parsing(text)
  } catch {
    return undefined
  }
}

/** `JSON.parse` with pauses. */
export function* parsing(text: string): SlicedWork<JsonValue> {
  if (text.length <= SHORT) return parseJson(text) as JsonValue
  return yield* parsingLong(text)
}

const SPACE = /[ \t\n\r]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

interface Open {
  readonly container: JsonValue[] | Record<string, JsonValue>
  key: string
}

function* parsingLong(text: string): SlicedWork<JsonValue> {
  const open: Open[] = []
  let at = 0
  let read = 0
  for (;;) {
    if (++read % MEMBERS_AT_ONCE === 0) yield
    let value = begin()
    // A value is whole: what holds it may be as well.
    while (value !== undefined) {
      const within = open.at(-1)
      if (!within) {
        if (sign() !== '') throw fault()
        return value
      }
      put(within, value)
      const next = sign()
      at++
      value = undefined
      if (next === ',') {
        if (!Array.isArray(within.container)) within.key = key()
      } else if (next === (Array.isArray(within.container) ? ']' : '}')) value = open.pop()!.container
      else throw fault()
    }
  }

  /** A whole value, or undefined where a list or an object was opened that has members. */
  function begin(): JsonValue | undefined {
    const first = sign()
    if (first === '"') return string()
    if (first !== '[' && first !== '{') return scalar()
    if (open.length === MAX_JSON_DEPTH) throw new TooDeepFault()
    at++
    if (sign() === (first === '[' ? ']' : '}')) {
      at++
      return first === '[' ? [] : {}
    }
    open.push(first === '[' ? {container: [], key: ''} : {container: {}, key: key()})
    return undefined
  }

  /** The next character that is no white space; '' at the end. */
  function sign(): string {
    SPACE.lastIndex = at
    SPACE.test(text)
    at = SPACE.lastIndex
    return text.charAt(at)
  }

  function key(): string {
    if (sign() !== '"') throw fault()
    const key = string()
    if (sign() !== ':') throw fault()
    at++
    return key
  }

  function string(): string {
    let end = at
    let backslashes: number
    do {
      end = text.indexOf('"', end + 1)
      if (end < 0) throw fault()
      backslashes = 0
      while (text[end - 1 - backslashes] === '\\') backslashes++
    } while (backslashes % 2 === 1)
    const parsed = JSON.parse(text.slice(at, end + 1)) as string
    at = end + 1
    return parsed
  }

  function scalar(): JsonValue {
    SCALAR.lastIndex = at
    const literal = SCALAR.exec(text)?.[0]
    if (literal === undefined) throw fault()
    at += literal.length
    return JSON.parse(literal) as JsonValue
  }

  function fault(): SyntaxError {
    return new SyntaxError(`no JSON at position ${at}`)
  }
}

function put({container, key}: Open, value: JsonValue): void {
  if (Array.isArray(container)) container.push(value)
  else if (key === '__proto__')
    Object.defineProperty(container, key, {value, enumerable: true, configurable: true, writable: true})
  else container[key] = value
}
