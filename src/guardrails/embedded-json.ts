import type {JsonValue} from './json.ts'
import {parsing} from './json-text.ts'
import type {SlicedWork} from './time-slices.ts'

const MOST = 100
/** Between two pauses. */
const FENCES_AT_ONCE = 512
const UNITS_AT_ONCE = 16_384

/**
 * The JSON in a text: the content of its ```json blocks, or without such the outermost `{...}` that parse. At most a
 * hundred, found in one pass: a brace in a string inside an object counts as none.
 */
export function* embeddedJson(text: string): SlicedWork<readonly JsonValue[]> {
  const blocks = (yield* fences(text)).filter(({tag}) => tag === 'json')
  const candidates = blocks.length ? blocks.map(({body}) => body) : yield* balanced(text)
  const found: JsonValue[] = []
  for (const candidate of candidates.slice(0, MOST)) {
    yield
    try {
      found.push(yield* parsing(candidate))
    } catch {}
  }
  return found
}

export interface Fence {
  /** The word after the opening marks, in lower case. */
  readonly tag: string
  readonly body: string
}

/** The fenced code blocks of a Markdown text; one that is not closed ends with the text. */
export function* fences(text: string): SlicedWork<readonly Fence[]> {
  const found: Fence[] = []
  for (let at = text.indexOf(MARKS); at >= 0; ) {
    if (found.length % FENCES_AT_ONCE === 0) yield
    const from = at + MARKS.length
    const close = text.indexOf(MARKS, from)
    const end = close < 0 ? text.length : close
    const inner = text.slice(from, end)
    const tag = /^[^\s`{[]{0,40}/.exec(inner)?.[0] ?? ''
    found.push({tag: tag.toLowerCase(), body: inner.slice(tag.length)})
    at = close < 0 ? -1 : text.indexOf(MARKS, end + MARKS.length)
  }
  return found
}

const MARKS = '```'

function* balanced(text: string): SlicedWork<readonly string[]> {
  const open: number[] = []
  const found: {start: number; end: number}[] = []
  let in_string = false
  for (let at = 0; at < text.length; at++) {
    if (at % UNITS_AT_ONCE === 0) yield
    const sign = text[at]
    if (in_string) {
      if (sign === '\\') at++
      // A string of JSON has no line break: what looked like one began in prose.
      else if (sign === '"' || sign === '\n') in_string = false
    } else if (sign === '"') in_string = open.length > 0
    else if (sign === '{') open.push(at)
    else if (sign === '}' && open.length) {
      const start = open.pop()!
      while (found.length && found.at(-1)!.start > start) found.pop()
      found.push({start, end: at + 1})
    }
  }
  return found.map(({start, end}) => text.slice(start, end))
}
