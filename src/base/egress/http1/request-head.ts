import {type Dispatcher, errors} from 'undici'
import {NOT_IN_HEADER_VALUES} from '../../header-values.ts'

/** The part of a request before its body. */
export interface RequestHead {
  /** All lines but those that tell the body's length, and the empty one. */
  readonly text: string
  /** The length that the caller says its body has. */
  readonly length: number | null
  /** True when no other request may follow on the line. */
  readonly closes: boolean
}

/**
 * Reads a request's head; `host` is used where the headers name none. What could end a line early is an
 * `InvalidArgumentError`.
 */
export function readHead(
  {method, path, headers, upgrade, reset}: Dispatcher.DispatchOptions,
  host: string,
): RequestHead {
  if (typeof path !== 'string' || !path.startsWith('/') || NOT_IN_PATHS.test(path)) throw wrong('request path')
  if (typeof method !== 'string' || (!METHODS.has(method) && !TOKEN.test(method))) throw wrong('request method')
  if (method === 'CONNECT') throw new errors.NotSupportedError('CONNECT is not supported')
  if (upgrade && (typeof upgrade !== 'string' || NOT_IN_HEADER_VALUES.test(upgrade))) throw wrong('upgrade header')
  const head: HeadFacts = {lines: '', host: null, length: null, closes: method === 'HEAD' || reset === true}
  if (headers) addAll(head, headers)
  const connection = upgrade ? `upgrade\r\nupgrade: ${upgrade}` : head.closes ? 'close' : 'keep-alive'
  return {
    text: `${method} ${path} HTTP/1.1\r\nhost: ${head.host ?? host}\r\nconnection: ${connection}\r\n${head.lines}`,
    length: head.length,
    closes: head.closes || Boolean(upgrade),
  }
}

interface HeadFacts {
  lines: string
  host: string | null
  length: number | null
  closes: boolean
}

function addAll(head: HeadFacts, headers: NonNullable<Dispatcher.DispatchOptions['headers']>): void {
  if (Array.isArray(headers)) {
    if (headers.length % 2 !== 0) throw wrong('headers array')
    for (let at = 0; at < headers.length; at += 2) add(head, String(headers[at]), headers[at + 1])
  } else if (Symbol.iterator in headers) {
    for (const [name, value] of headers as Iterable<[string, string | string[] | undefined]>) add(head, name, value)
  } else {
    for (const name of Object.keys(headers)) add(head, name, (headers as Record<string, unknown>)[name])
  }
}

/**
 * The last value of each plain header, and its line: most come with the same value again, and a comparison costs less
 * than a check.
 */
const lastLines = new Map<string, {value: string; line: string}>()
const MAX_LAST_LINES = 200
const MAX_LAST_CHARS = 512

function add(head: HeadFacts, name: string, value: unknown): void {
  if (value === undefined) return
  const last = lastLines.get(name)
  if (last?.value === value) {
    head.lines += last!.line
    return
  }
  const meaning = NAMES.get(name) ?? meaningOf(name)
  if (Array.isArray(value) && meaning === 'plain')
    for (const one of value) head.lines += `${name}: ${textOf(name, one)}\r\n`
  else if (meaning === 'plain') head.lines += plainLine(name, value, last)
  else addMeant(head, meaning, name, textOf(name, value))
}

function plainLine(name: string, value: unknown, last: {value: string; line: string} | undefined): string {
  const line = `${name}: ${textOf(name, value)}\r\n`
  if (typeof value !== 'string' || value.length > MAX_LAST_CHARS) return line
  if (last) {
    last.value = value
    last.line = line
  } else if (lastLines.size < MAX_LAST_LINES) lastLines.set(name, {value, line})
  return line
}

function addMeant(head: HeadFacts, meaning: Exclude<Meaning, 'plain'>, name: string, text: string): void {
  if (meaning === 'refused') throw wrong(`${name} header`)
  if (meaning === 'expect') throw new errors.NotSupportedError('expect header not supported')
  if (meaning === 'host') {
    if (head.host !== null) throw wrong('second host header')
    head.host = text
  } else if (meaning === 'content-length') {
    if (head.length !== null || !/^\d{1,15}$/.test(text)) throw wrong('content-length header')
    head.length = Number(text)
  } else {
    for (const token of text.toLowerCase().split(',')) {
      if (!TOKEN.test(token.trim())) throw wrong('connection header')
      if (token.trim() === 'close') head.closes = true
    }
  }
}

function textOf(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : value === null ? '' : typeof value === 'object' ? '\n' : `${value}`
  if (NOT_IN_HEADER_VALUES.test(text)) throw wrong(`${name} header`)
  return text
}

function meaningOf(name: string): Meaning {
  const meaning = NAMES.get(name.toLowerCase())
  if (meaning) return meaning
  if (!TOKEN.test(name)) throw wrong('header key')
  return 'plain'
}

function wrong(what: string): Error {
  return new errors.InvalidArgumentError(`invalid ${what}`)
}

type Meaning = 'plain' | 'host' | 'content-length' | 'connection' | 'refused' | 'expect'

const NAMES: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ...[
    'accept',
    'accept-encoding',
    'authorization',
    'api-key',
    'content-encoding',
    'content-type',
    'traceparent',
    'user-agent',
    'x-api-key',
  ].map(name => [name, 'plain'] as const),
  ['host', 'host'],
  ['content-length', 'content-length'],
  ['connection', 'connection'],
  ['transfer-encoding', 'refused'],
  ['keep-alive', 'refused'],
  ['upgrade', 'refused'],
  ['expect', 'expect'],
])
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'])
const TOKEN = /^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/
const NOT_IN_PATHS = /[^\x21-\xff]/
