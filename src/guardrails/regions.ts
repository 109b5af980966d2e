import {isBase64, readString, type WalkFault, walkStrings} from '../base/json-strings.ts'
import {BASE64_KEYS} from './left-alone.ts'
import {MIN_BASE64} from './strings.ts'

/** A stretch of a body that holds strings: JSON, one text, or one text as forms of browsers write it. */
export interface Region {
  readonly form: 'json' | 'text' | 'query'
  readonly start: number
  readonly end: number
  /** The name of the field whose content it is; empty for none. */
  readonly called: string
}

/** A string and its place. */
export interface RegionString {
  readonly text: string
  readonly called: string
  readonly is_key: boolean
  readonly start: number
  readonly end: number
}

const STRINGS_AT_ONCE = 512

/** The strings of a region, and why some cannot be listed. Undefined is a place to pause at. */
export function* stringsIn(bytes: Buffer, region: Region): Generator<RegionString | undefined, WalkFault | null> {
  const {form, start, end, called} = region
  if (form === 'json') return yield* jsonStrings(bytes, region)
  const raw = bytes.toString('utf8', start, end)
  yield
  yield {text: form === 'query' ? queryText(raw) : raw, called, is_key: false, start, end}
  return null
}

function* jsonStrings(
  bytes: Buffer,
  {start: from, end: to, called: outer}: Region,
): Generator<RegionString | undefined, WalkFault | null> {
  const strings = walkStrings(bytes, from, to)
  let called = outer
  for (let count = 1; ; count++) {
    const next = strings.next()
    if (next.done) return next.value
    if (next.value === undefined || count % STRINGS_AT_ONCE === 0) yield
    if (next.value === undefined) continue
    const {start, end, is_key} = next.value
    if (end - start - 2 >= MIN_BASE64 && !is_key && (yield* isBase64(bytes, start, end))) continue
    const text = yield* readString(bytes, start, end)
    if (text === undefined) return 'not_json'
    if (is_key) called = text
    if (text !== '') yield {text, called: is_key ? '' : called, is_key, start, end}
  }
}

/** How many bytes of JSON in the words of its route are judged: pictures and sound under their own keys are not. */
export function* judgedBytes(bytes: Buffer): Generator<undefined, number> {
  let length = bytes.length
  let called = ''
  for (const string of walkStrings(bytes, 0, bytes.length)) {
    if (string === undefined) {
      yield
      continue
    }
    const {start, end, is_key} = string
    if (is_key) called = bytes.toString('latin1', start + 1, Math.min(end - 1, start + LONGEST_KEY))
    else if (end - start > MIN_PICTURE && BASE64_KEYS.has(called) && (yield* isBase64(bytes, start, end)))
      length -= end - start
  }
  return length
}

const LONGEST_KEY = 32
const MIN_PICTURE = 64 << 10

/** How a region writes a text. */
export function written(form: Region['form'], text: string): string {
  if (form === 'json') return JSON.stringify(text)
  return form === 'text' ? text : encodeURIComponent(text).replaceAll('%20', '+')
}

/**
 * A name or a value in the form of browsers (WHATWG URL, application/x-www-form-urlencoded); what stands for nothing
 * stays.
 */
export function queryText(raw: string): string {
  const spaced = raw.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  const units = Buffer.from(spaced).toString('latin1')
  return Buffer.from(
    units.replace(/%[\da-f]{2}/gi, code => String.fromCharCode(Number.parseInt(code.slice(1), 16))),
    'latin1',
  ).toString('utf8')
}
