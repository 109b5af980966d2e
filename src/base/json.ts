import {Refusal} from './errors.ts'
import {tooDeep} from './json-shape.ts'

/**
 * The range of a top-level value in a JSON text: the key's opening quote, the value's first byte, the byte after it.
 */
export interface Span {
  readonly key_at: number
  readonly start: number
  readonly end: number
}

/**
 * The top-level members of a JSON object in `body`, found without building the object: numbers and order stay as they
 * were sent. A key of `once` that comes twice is refused (`body.duplicate_key`), for two readers could take it for two
 * things. Nested values are skipped, not checked, but for their depth: `most_depth`, the top being the first level.
 * `long`: where those end that are long, by where they begin.
 */
export function topLevel(
  body: Buffer,
  once: ReadonlySet<string>,
  most_depth = Number.POSITIVE_INFINITY,
  long?: ReadonlyMap<number, number>,
): Map<string, Span> {
  const found = new Map<string, Span>()
  let at = space(body, body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0)
  if (body[at] !== OPEN_BRACE) throw notJson('it does not begin with {')
  at = space(body, at + 1)
  if (body[at] === CLOSE_BRACE) return ended(body, at + 1, found)
  for (;;) {
    const key_at = at
    if (body[at] !== QUOTE) throw notJson(`a key was expected at byte ${at}`)
    const key_end = string(body, at)
    const key = text(body, at, key_end)
    at = space(body, key_end)
    if (body[at] !== COLON) throw notJson(`a colon was expected at byte ${at}`)
    const start = space(body, at + 1)
    const end = long?.get(start) ?? value(body, start, most_depth)
    if (found.has(key) && once.has(key)) throw new Refusal('body.duplicate_key', {key})
    found.set(key, {key_at, start, end})
    at = space(body, end)
    if (body[at] === CLOSE_BRACE) return ended(body, at + 1, found)
    if (body[at] !== COMMA) throw notJson(`a comma was expected at byte ${at}`)
    at = space(body, at + 1)
  }
}

/**
 * The ends of long nested values at the top level, for `topLevel` to skip: of a body of many megabytes they are found
 * with pauses.
 */
export function* longValues(body: Buffer, most_depth: number): Generator<undefined, ReadonlyMap<number, number>> {
  const found = new Map<number, number>()
  let depth = 0
  let start = 0
  let pause_at = BYTES_AT_ONCE
  for (let at = 0; at < body.length; ) {
    if (at >= pause_at) {
      pause_at = at + BYTES_AT_ONCE
      yield
    }
    const byte = body[at]
    if (byte === QUOTE) {
      at = string(body, at)
      continue
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > most_depth) throw tooDeep('The request body')
      if (depth === 2) start = at
    } else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 1 && at - start > SHORT_BYTES)
      found.set(start, at + 1)
    at++
  }
  if (depth > 0) throw notJson('it is cut off')
  return found
}

const BYTES_AT_ONCE = 256 << 10
const SHORT_BYTES = 64 << 10

/** A change to a body's top level: a value set or (undefined) left out. */
export type Edits = ReadonlyMap<string, string | undefined>

/** `body` with `edits` (key → JSON text) made in place, every other byte as it was. */
export function edited(body: Buffer, members: ReadonlyMap<string, Span>, edits: Edits): Buffer {
  const inOrder = [...members].toSorted(([, one], [, other]) => one.start - other.start)
  const cuts: {from: number; to: number; put: string}[] = []
  const added = [...edits]
    .filter(([key, json]) => json !== undefined && !members.has(key))
    .map(([key, json]) => `${JSON.stringify(key)}:${json}`)
  const stays = (key: string) => !edits.has(key) || edits.get(key) !== undefined
  let kept_end: number | undefined
  inOrder.forEach(([key, {key_at, start, end}], at) => {
    const json = edits.get(key)
    if (json !== undefined) cuts.push({from: start, to: end, put: json})
    if (stays(key)) {
      kept_end = end
      return
    }
    const next = inOrder.slice(at + 1).find(([later]) => stays(later))
    if (next) cuts.push({from: key_at, to: next[1].key_at, put: ''})
    // with the commas of all that went before it
    else cuts.push({from: kept_end ?? inOrder[0]![1].key_at, to: end, put: ''})
  })
  cuts.sort((one, other) => one.from - other.from)
  const parts: Buffer[] = []
  let at = 0
  for (const {from, to, put} of cuts) {
    parts.push(body.subarray(at, Math.max(at, from)), Buffer.from(put))
    at = Math.max(at, to)
  }
  if (added.length === 0) return Buffer.concat([...parts, body.subarray(at)])
  const close = body.lastIndexOf(CLOSE_BRACE)
  const before = Buffer.concat([...parts, body.subarray(at, close)])
  const comma = kept_end === undefined ? '' : ','
  return Buffer.concat([before, Buffer.from(comma + added.join(',')), body.subarray(close)])
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

function ended<T>(body: Buffer, at: number, found: T): T {
  if (space(body, at) !== body.length) throw notJson('something follows its end')
  return found
}

function blank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function space(body: Buffer, at: number): number {
  while (blank(body[at])) at++
  return at
}

/** The byte after the string that opens at `at`. */
function string(body: Buffer, at: number): number {
  for (let from = at + 1; ; ) {
    const close = body.indexOf(QUOTE, from)
    if (close < 0) throw notJson('a string does not end')
    let slashes = 0
    while (body[close - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0 || close - slashes <= at) return close + 1
    from = close + 1
  }
}

function value(body: Buffer, start: number, most_depth: number): number {
  const first = body[start]
  if (first === QUOTE) return string(body, start)
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return nested(body, start, most_depth)
  let at = start
  while (at < body.length && LITERAL[body[at]!]) at++
  if (at === start) throw notJson(`a value was expected at byte ${start}`)
  return at
}

function nested(body: Buffer, start: number, most_depth: number): number {
  let depth = 1
  for (let at = start; at < body.length; ) {
    const byte = body[at]
    if (byte === QUOTE) {
      at = string(body, at)
      continue
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > most_depth) throw tooDeep('The request body')
    } else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 1) return at + 1
    at++
  }
  throw notJson('it is cut off')
}

/** Bytes of numbers, true, false and null. */
const LITERAL: readonly boolean[] = Array.from(
  {length: 256},
  (_, byte) => /[-+.\w]/.test(String.fromCharCode(byte)) && byte < 128,
)

function text(body: Buffer, at: number, end: number): string {
  const raw = body.toString('utf8', at + 1, end - 1)
  if (!raw.includes('\\')) return raw
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    throw notJson(`the key at byte ${at} is not a JSON string`)
  }
}

function notJson(reason: string): Refusal {
  return new Refusal('body.not_json', {reason})
}
