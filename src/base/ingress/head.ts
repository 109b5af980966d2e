import type {IncomingHttpHeaders} from 'node:http'
import {NOT_IN_HEADER_VALUES} from '../header-values.ts'

/**
 * The head of a request that is plain: there is one way to read it, and nothing in it changes how the connection
 * continues.
 */
export interface PlainHead {
  readonly headers: IncomingHttpHeaders
  /** Bytes of the body, at least 1. */
  readonly body_bytes: number
}

const MAX_FIELDS = 100
const MAX_NAMES = 1000
const LONGEST_KEPT_NAME = 64
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const LENGTH = /^\d{1,9}$/
const SPACE = 0x20
const TAB = 0x09
/** Fields that ask for more than an answer. */
const SPECIAL: ReadonlySet<string> = new Set(['transfer-encoding', 'expect', 'upgrade', 'trailer', 'proxy-connection'])

/** Names as they came, in lower case: the same few come with every request. */
const names = new Map<string, string>()

/**
 * Reads the fields of a head: `text` is Latin-1, from behind the request line to the end of the last field's line.
 * Undefined where it is not plain, or not well-formed: then who reads all of HTTP is to judge it (RFC 9112).
 */
export function readPlainHead(text: string): PlainHead | undefined {
  const headers: Record<string, string> = {}
  let at = 0
  for (let fields = 0; at < text.length; fields++) {
    const colon = text.indexOf(':', at)
    const end = text.indexOf('\r\n', at)
    if (colon < 0 || colon > end || fields === MAX_FIELDS) return undefined
    const name = nameOf(text.slice(at, colon))
    if (name === undefined || headers[name] !== undefined || SPECIAL.has(name)) return undefined
    const value = trimmed(text, colon + 1, end)
    if (NOT_IN_HEADER_VALUES.test(value)) return undefined
    headers[name] = value
    at = end + 2
  }
  const {host, connection, 'content-length': length} = headers
  if (!host || length === undefined || !LENGTH.test(length) || Number(length) === 0) return undefined
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return undefined
  return {headers, body_bytes: Number(length)}
}

function nameOf(raw: string): string | undefined {
  const known = names.get(raw)
  if (known !== undefined) return known
  if (!TOKEN.test(raw)) return undefined
  const name = raw.toLowerCase()
  if (names.size < MAX_NAMES && raw.length <= LONGEST_KEPT_NAME) keepName(raw)
  return name
}

/** As a copy: `raw` would hold all of its head. */
function keepName(raw: string) {
  const copy = Buffer.from(raw).toString()
  names.set(copy, copy.toLowerCase())
}

function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

const isBlank = (code: number) => code === SPACE || code === TAB
