/** Nested deeper than this is not looked into: a body is not worth the stack. */
const DEEPEST = 200

/**
 * The JSON object in `body` in its canonical form: members in the order of their keys, no blanks, strings with no more
 * escapes than JSON asks for, and without the members of `left_out` at the top. Null when it is not JSON, no object, or
 * nested deeper than 200.
 *
 * Bodies that differ in a value never share a form: numbers stay as they were written (`9007199254740993` is not
 * `…992`), a key that comes twice is kept twice, in the order of the two. The text is one character a byte (latin1), so
 * that bytes that are no UTF-8 stay apart too.
 */
export function canonical(body: Buffer, left_out: ReadonlySet<string> = new Set()): string | null {
  const text = body.toString('latin1')
  const start = text.startsWith('\xef\xbb\xbf') ? 3 : 0
  const reader = new Reader(text, blank(text, start))
  if (text[reader.at] !== '{') return null
  try {
    const form = reader.object(left_out, 1)
    return blank(text, reader.at) === text.length ? form : null
  } catch (fault) {
    if (fault === NOT_JSON) return null
    throw fault
  }
}

const NOT_JSON = new Error('not JSON')
const NOTHING: ReadonlySet<string> = new Set()
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y

class Reader {
  readonly #text: string
  at: number

  constructor(text: string, at: number) {
    this.#text = text
    this.at = at
  }

  object(left_out: ReadonlySet<string>, depth: number): string {
    if (depth > DEEPEST) throw NOT_JSON
    const members: {readonly key: string; readonly value: string}[] = []
    for (let more = this.#open('}'); more; more = this.#more('}')) {
      const key = this.#string()
      this.#take(':')
      const value = this.#value(depth)
      if (!left_out.has(key)) members.push({key, value})
    }
    members.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
    return `{${members.map(({key, value}) => `${key}:${value}`).join(',')}}`
  }

  #array(depth: number): string {
    if (depth > DEEPEST) throw NOT_JSON
    const items: string[] = []
    for (let more = this.#open(']'); more; more = this.#more(']')) items.push(this.#value(depth))
    return `[${items.join(',')}]`
  }

  #value(depth: number): string {
    const first = this.#text[this.at]
    if (first === '"') return this.#string()
    if (first === '{') return this.object(NOTHING, depth + 1)
    if (first === '[') return this.#array(depth + 1)
    LITERAL.lastIndex = this.at
    const literal = LITERAL.exec(this.#text)
    if (!literal) throw NOT_JSON
    this.at += literal[0].length
    return literal[0]
  }

  /** Steps over the bracket that opens; false when the one that closes follows at once. */
  #open(close: string): boolean {
    this.at = blank(this.#text, this.at + 1)
    if (this.#text[this.at] !== close) return true
    this.at++
    return false
  }

  #more(close: string): boolean {
    this.at = blank(this.#text, this.at)
    const next = this.#text[this.at]
    if (next !== ',' && next !== close) throw NOT_JSON
    this.at = next === ',' ? blank(this.#text, this.at + 1) : this.at + 1
    return next === ','
  }

  #take(character: string) {
    this.at = blank(this.#text, this.at)
    if (this.#text[this.at] !== character) throw NOT_JSON
    this.at = blank(this.#text, this.at + 1)
  }

  #string(): string {
    const start = this.at
    if (this.#text[start] !== '"') throw NOT_JSON
    let has_escapes = false
    for (let from = start + 1; ; ) {
      const close = this.#text.indexOf('"', from)
      if (close < 0) throw NOT_JSON
      let slashes = 0
      while (this.#text[close - 1 - slashes] === '\\') slashes++
      has_escapes ||= slashes > 0
      this.at = close + 1
      if (slashes % 2 === 0) break
      from = close + 1
    }
    const written = this.#text.slice(start, this.at)
    return has_escapes || written.includes('\\') ? unescaped(written) : written
  }
}

/** `"\u0061"` as `"a"`. What is no UTF-8 stays as it was written. */
function unescaped(written: string): string {
  const bytes = Buffer.from(written, 'latin1')
  const text = bytes.toString('utf8')
  if (!Buffer.from(text).equals(bytes)) return written
  try {
    return Buffer.from(JSON.stringify(JSON.parse(text))).toString('latin1')
  } catch {
    throw NOT_JSON
  }
}

function blank(text: string, at: number): number {
  for (; ; at++) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
  }
}
