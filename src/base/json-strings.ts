import {MAX_JSON_DEPTH} from './json-shape.ts'

/** Why bytes are not read as JSON. */
export type WalkFault = 'not_json' | 'deep'

/** A string and its place: from its opening quote to behind its closing one. */
export interface StringAt {
  readonly start: number
  readonly end: number
  readonly is_key: boolean
}

/** Bytes between two pauses: less than a millisecond of work. */
const BYTES_AT_ONCE = 256 << 10

/** The parser's state: a value is due, a key or the end of an object, a colon, a comma or an end. */
type Due = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end'

/**
 * Each string of JSON, keys and values, in the order of the text, without building anything of it: one pass, as deep as
 * all readers read. Undefined is a place to pause at. Values may follow one another, as in lines of JSON. What a strict
 * reader would not take for JSON is a fault: another reader could find strings in it that do not come here.
 */
export function* walkStrings(
  bytes: Buffer,
  from: number,
  to: number,
): Generator<StringAt | undefined, WalkFault | null> {
  /** For each open list and object, whether it is an object. */
  const objects: boolean[] = []
  let due: Due = 'value'
  let values = 0
  let pause_at = from + BYTES_AT_ONCE
  for (let at = from; at < to; ) {
    if (at >= pause_at) {
      pause_at = at + BYTES_AT_ONCE
      yield
    }
    const byte = bytes[at]!
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || (byte === RECORD && objects.length === 0)) {
      at++
      continue
    }
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at, to)
      const is_key: boolean = due === 'key' || due === 'key or end'
      if (end < 0 || due === 'colon' || due === 'comma or end') return 'not_json'
      yield {start: at, end, is_key}
      due = is_key ? 'colon' : after(objects)
      if (!is_key && objects.length === 0) values++
      at = end
      continue
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (due !== 'value' && due !== 'value or end') return 'not_json'
      if (objects.length === MAX_JSON_DEPTH) return 'deep'
      objects.push(byte === OPEN_BRACE)
      due = byte === OPEN_BRACE ? 'key or end' : 'value or end'
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      const can_end = due === 'comma or end' || due === (byte === CLOSE_BRACE ? 'key or end' : 'value or end')
      if (!can_end || objects.pop() !== (byte === CLOSE_BRACE)) return 'not_json'
      due = after(objects)
      if (objects.length === 0) values++
    } else if (byte === COMMA) {
      if (due !== 'comma or end') return 'not_json'
      due = objects.at(-1) ? 'key' : 'value'
    } else if (byte === COLON) {
      if (due !== 'colon') return 'not_json'
      due = 'value'
    } else {
      if (due !== 'value' && due !== 'value or end') return 'not_json'
      let end = at
      while (end < to && IN_WORDS[bytes[end]!]) end++
      if (end - at > LONGEST_WORD || !WORD.test(bytes.toString('latin1', at, end))) return 'not_json'
      due = after(objects)
      if (objects.length === 0) values++
      at = end
      continue
    }
    at++
  }
  return objects.length === 0 && values > 0 ? null : 'not_json'
}

const after = (objects: readonly boolean[]): Due => (objects.length === 0 ? 'value' : 'comma or end')

/** The byte behind the string that opens at `at`; -1: it does not end. */
function stringEnd(bytes: Buffer, at: number, to: number): number {
  for (let from = at + 1; ; ) {
    const close = bytes.indexOf(QUOTE, from)
    if (close < 0 || close >= to) return -1
    let slashes = 0
    while (bytes[close - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return close + 1
    from = close + 1
  }
}

/**
 * The text of a string at `start` to `end`, its quotes included; undefined where an escape is none. With pauses where
 * it is long.
 */
export function* readString(bytes: Buffer, start: number, end: number): Generator<undefined, string | undefined> {
  const parts: string[] = []
  for (let at = start + 1; at < end - 1; ) {
    const cut = wholeUntil(bytes, at, end - 1)
    const raw = bytes.toString('utf8', at, cut)
    try {
      // A control character is not valid in a string of JSON, but lenient readers take it for itself.
      parts.push(raw.includes('\\') ? (JSON.parse(`"${raw.replace(CONTROL, escaped)}"`) as string) : raw)
    } catch {
      return undefined
    }
    at = cut
    if (at < end - 1) yield
  }
  return parts.length === 1 ? parts[0]! : parts.join('')
}

/** The index at which a piece of a string that begins at `at` may be cut: within no character and no escape. */
function wholeUntil(bytes: Buffer, at: number, end: number): number {
  if (end - at <= BYTES_AT_ONCE) return end
  let cut = at + BYTES_AT_ONCE
  while ((bytes[cut]! & 0xc0) === 0x80) cut--
  for (let back = cut - 1; back >= cut - LONGEST_ESCAPE; back--) {
    if (bytes[back] !== BACKSLASH) continue
    let slashes = 1
    while (bytes[back - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) break
    return back + (bytes[back + 1] === LETTER_U ? LONGEST_ESCAPE : 2) > cut ? back : cut
  }
  return cut
}

/** True for a string that is base64 by its form, or a `data:` URL of it. With pauses. */
export function* isBase64(bytes: Buffer, start: number, end: number): Generator<undefined, boolean> {
  let at = start + 1
  if (bytes.toString('latin1', at, at + DATA.length) === DATA) {
    const mark = bytes.indexOf(MARK, at)
    if (mark < 0 || mark - at > LONGEST_DATA_HEAD) return false
    at = mark + MARK.length
  }
  for (let paused_at = at; at < end - 1; at++) {
    if (!IN_BASE64[bytes[at]!]) return false
    if (at - paused_at < BYTES_AT_ONCE) continue
    paused_at = at
    yield
  }
  return true
}

/** Each escape apart: a line break in it is written as two characters. */
const IN_BASE64: readonly boolean[] = tableOf(/[\w+/=-]/)
/** Bytes of numbers, true, false and null. */
const IN_WORDS: readonly boolean[] = tableOf(/[-+.\w]/)
const WORD = /^(?:-?\d[\d.eE+-]*|true|false|null|NaN|-?Infinity)$/
const LONGEST_WORD = 4096
const DATA = 'data:'
const MARK = ';base64,'
const LONGEST_DATA_HEAD = 256
const LONGEST_ESCAPE = 6
const CONTROL = /[\0-\x1f]/g
const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
/** Comes before each value of a JSON text sequence (RFC 7464). */
const RECORD = 0x1e

function tableOf(bytes: RegExp): readonly boolean[] {
  return Array.from({length: 256}, (_, byte) => byte < 128 && bytes.test(String.fromCharCode(byte)))
}

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
}
