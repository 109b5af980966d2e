import {McpFault} from './faults.ts'

/** Values of `Mcp-Name` and `Mcp-Param-*` (2026-07-28, Streamable HTTP, "Value encoding"). */

/** Headers of a request as Node reads them: names in small letters. */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>

const OPEN = '=?base64?'
const CLOSE = '?='
const PLAIN = /^[\t\x20-\x7e]+$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const UTF8 = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true})
const OUTER_BLANKS = /^[\t ]+|[\t ]+$/g

/**
 * A text as the value of a header: itself, or `=?base64?…?=` of its UTF-8 where it is empty, has outer blanks or other
 * than visible ASCII, space and tab, or looks like such a value. Throws `params_invalid` for half a character.
 */
export function encodedHeaderValue(text: string): string {
  if (PLAIN.test(text) && !hasOuterBlanks(text) && !looksEncoded(text)) return text
  if (!text.isWellFormed()) throw new McpFault('params_invalid', {reason: 'a name holds half a character'})
  return `${OPEN}${Buffer.from(text, 'utf8').toString('base64')}${CLOSE}`
}

/** The text of a value; null where it opens like an encoded one and cannot be decoded. */
export function decodedHeaderValue(value: string): string | null {
  if (!looksEncoded(value)) return value
  const base64 = value.slice(OPEN.length, -CLOSE.length)
  if (value.length < OPEN.length + CLOSE.length || !BASE64.test(base64)) return null
  try {
    return UTF8.decode(Buffer.from(base64, 'base64'))
  } catch {
    return null
  }
}

/** The one value of a header without outer blanks; undefined where it is absent. One that comes twice is joined. */
export function headerValue(headers: HeaderFields, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (value === undefined) return undefined
  return (typeof value === 'string' ? value : value.join(', ')).replace(OUTER_BLANKS, '')
}

function looksEncoded(text: string): boolean {
  return text.startsWith(OPEN) && text.endsWith(CLOSE)
}

function hasOuterBlanks(text: string): boolean {
  return /^[\t ]|[\t ]$/.test(text)
}
