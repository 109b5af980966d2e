import {isMemberName} from './left-alone.ts'

type By = (text: string, called: string) => string

/** Characters that may be between the strings of JSON. */
const BETWEEN: ReadonlySet<string> = new Set(' \t\n\r{}[],:')
const SCALAR = /(?:true|false|null|-?\d[\d.eE+-]*|[-a-z]{1,5}$)/y
const MIN_DIGITS = 7
/** An escape that is not whole yet, and how long one is at most. */
const CUT_ESCAPE = /\\u[\dA-Fa-f]{0,3}$/
const LONGEST_CUT = 5

/**
 * A JSON text with each string in it put through `by`, keys that are no names among them, and numbers that may be
 * personal. Every other sign stays as it is, and so does the beginning of a string up to the first change in it: JSON
 * that is still incomplete gets the same result as the beginning of the whole. A text that is no JSON is treated as one
 * string.
 */
export function mapJsonStrings(json: string, by: By): string {
  if (!/^\s*["{[]/.test(json)) return by(json, '')
  const parts: string[] = []
  const open: {readonly is_object: boolean; readonly called: string}[] = []
  let kept = 0
  let called = ''
  let is_key = false
  for (let at = 0; at < json.length; ) {
    const sign = json[at]!
    if (sign === '"') {
      const end = endOf(json, at)
      const raw = json.slice(at + 1, end < 0 ? json.length : end)
      const read = decoded(raw, end < 0)
      if (!read) return by(json, '')
      const {text, rest} = read
      if (is_key) called = text
      const put = text === '' || (is_key && isMemberName(text)) ? text : by(text, is_key ? '' : called)
      if (put !== text) {
        parts.push(json.slice(kept, at + 1), spliced(raw, text, put), rest)
        kept = end < 0 ? json.length : end
      }
      at = end < 0 ? json.length : end + 1
      continue
    }
    if (!BETWEEN.has(sign)) {
      SCALAR.lastIndex = at
      const scalar = SCALAR.exec(json)?.[0]
      if (scalar === undefined) return by(json, '')
      const put = scalar.length < MIN_DIGITS ? scalar : by(scalar, called)
      if (put !== scalar) {
        parts.push(json.slice(kept, at), JSON.stringify(put))
        kept = at + scalar.length
      }
      at += scalar.length
      continue
    }
    if (sign === '{' || sign === '[') {
      open.push({is_object: sign === '{', called})
      is_key = sign === '{'
    } else if (sign === '}' || sign === ']') {
      called = open.pop()?.called ?? ''
      is_key = false
    } else if (sign === ':') is_key = false
    else if (sign === ',') {
      const within = open.at(-1)
      is_key = within?.is_object ?? false
      if (!is_key) called = within?.called ?? ''
    }
    at++
  }
  return kept ? parts.join('') + json.slice(kept) : json
}

/** The index of the closing quote of the string that opens at `at`; -1 for none. */
function endOf(json: string, at: number): number {
  for (let from = at + 1; ; ) {
    const close = json.indexOf('"', from)
    if (close < 0) return -1
    if (slashesBefore(json, close) % 2 === 0) return close
    from = close + 1
  }
}

/** The number of backslashes right before `end`. An expression would begin again at each of them. */
function slashesBefore(text: string, end: number): number {
  let slashes = 0
  while (text[end - 1 - slashes] === '\\') slashes++
  return slashes
}

/** The text of a string, and the rest that cannot be read yet; undefined for anything but a string of JSON. */
function decoded(raw: string, is_cut: boolean): {readonly text: string; readonly rest: string} | undefined {
  if (!raw.includes('\\')) return {text: raw, rest: ''}
  const rest = !is_cut ? '' : slashesBefore(raw, raw.length) % 2 === 1 ? '\\' : cutUnicode(raw)
  try {
    // A line break is not valid in a string of JSON, but models write some.
    const text = JSON.parse(`"${raw.slice(0, raw.length - rest.length).replace(/[\0-\x1f]/g, escaped)}"`) as string
    return {text, rest}
  } catch {
    return undefined
  }
}

/** `\u00` at the end of what there is, where its backslash is itself no second half of an escape. */
function cutUnicode(raw: string): string {
  const cut = CUT_ESCAPE.exec(raw.slice(-LONGEST_CUT))?.[0] ?? ''
  return slashesBefore(raw, raw.length - cut.length) % 2 === 0 ? cut : ''
}

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** `raw`, which says `text`, as far as `put` says the same, and the rest of `put` written as JSON. */
function spliced(raw: string, text: string, put: string): string {
  let same = 0
  while (same < text.length && same < put.length && text[same] === put[same]) same++
  const last = put.charCodeAt(same - 1)
  if (last >= 0xd800 && last < 0xdc00) same--
  let at = 0
  for (let units = 0; units < same; units++) at += raw[at] === '\\' ? (raw[at + 1] === 'u' ? 6 : 2) : 1
  return raw.slice(0, at) + JSON.stringify(put.slice(same)).slice(1, -1)
}
