/**
 * The values that a literal of data can have. A number is read as a double; its shortest decimal text is the text that
 * was written.
 */
export type Literal = null | boolean | number | string | readonly Literal[] | {readonly [key: string]: Literal}

/**
 * The value of the JavaScript literal in `text` at `start`: objects, arrays, strings of all three quotes, numbers,
 * `true`, `!0`, `null`, `void 0`. Nothing is executed, so that data is read out of a package without running it. Throws
 * on anything that is not data.
 */
export function readLiteral(text: string, start: number): Literal {
  let at = start

  function fail(expected: string): never {
    const line = text.slice(0, at).split('\n').length
    throw new Error(`line ${line}: expected ${expected}, found ${JSON.stringify(text.slice(at, at + 20))}`)
  }

  function skip(): void {
    const gap = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y
    gap.lastIndex = at
    at += gap.exec(text)![0].length
  }

  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }

  function expect(sign: string): void {
    skip()
    if (!text.startsWith(sign, at)) fail(sign)
    at += sign.length
  }

  function list<T>(end: string, item: () => T): T[] {
    const items: T[] = []
    for (;;) {
      skip()
      if (text.startsWith(end, at)) break
      items.push(item())
      skip()
      if (!text.startsWith(',', at)) break
      at++
    }
    expect(end)
    return items
  }

  function key(): string {
    skip()
    if (text[at] === '"' || text[at] === "'") return string()
    return take(/[\w$]+/y) ?? fail('a key')
  }

  function string(): string {
    const raw =
      take(/"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|`(?:[^`\\$]|\\[\s\S]|\$(?!\{))*`/y) ?? fail('a string')
    return raw
      .slice(1, -1)
      .replace(/\\(u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|\r?\n|[\s\S])/gi, (_, written: string) => unescaped(written))
  }

  function value(): Literal {
    skip()
    const sign = text[at]
    if (sign === '{') {
      at++
      const entries = list('}', () => {
        const name = key()
        expect(':')
        return [name, value()] as const
      })
      return Object.fromEntries(entries)
    }
    if (sign === '[') {
      at++
      return list(']', value)
    }
    if (sign === '"' || sign === "'" || sign === '`') return string()
    const number = take(/-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy)
    if (number !== undefined) return Number(number)
    const word = take(/!0|!1|true|false|null|void 0|undefined/y)
    if (word !== undefined)
      return word === '!0' || word === 'true' ? true : word === '!1' || word === 'false' ? false : null
    return fail('data')
  }

  return value()
}

/** The literal that follows the first match of `opening` in `text`. */
export function readLiteralAfter(text: string, opening: RegExp): Literal {
  const match = opening.exec(text)
  if (!match) throw new Error(`nothing matches ${opening}: the package is laid out in another way than it was`)
  return readLiteral(text, match.index + match[0].length)
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
  '\n': '',
  '\r\n': '',
}

function unescaped(written: string): string {
  const code = /^[ux]\{?([\da-f]{2,6})\}?$/i.exec(written)?.[1]
  return code !== undefined ? String.fromCodePoint(Number.parseInt(code, 16)) : (ESCAPES[written] ?? written)
}
