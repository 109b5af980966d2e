import type {IncomingMessage} from 'node:http'
import {Refusal} from '../../base/errors.ts'
import {ENDPOINTS, type Endpoint} from '../../schema/endpoints.ts'
import {pathBelow, plainPath} from './doors.ts'

/** The kind of a call: an endpoint of the table, or any other path of the provider's. */
export interface Route {
  readonly endpoint: Endpoint | undefined
  /** The path after `/v1`, as it came, without the query. */
  readonly path: string
  /** The query with its question mark, or an empty string. */
  readonly query: string
}

const METHODS: ReadonlySet<string> = new Set(['POST', 'GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])
const fixed = new Map(
  ENDPOINTS.filter(({path}) => !/[:*]/.test(path)).map(each => [`${each.method} ${each.path}`, each]),
)
/** Fixed paths that are posted to, with their `/v1`: nearly every request is one of these. */
const posted = new Map(
  [...fixed.values()].filter(({method}) => method === 'POST').map(each => [`/v1${each.path}`, each]),
)
const patterned = ENDPOINTS.filter(({path}) => /[:*]/.test(path)).map(each => ({...each, pattern: pattern(each.path)}))

/**
 * Reads method and URL (decisions: paths). `/v1/proxy/…` always proxies; a path of the administration (`administered`)
 * with a method that is not served there is refused (405); everything else is the provider's, a path of the table with
 * another method too.
 */
export function route(method: string, url: string, administered: (path: string) => readonly string[]): Route {
  const mark = url.indexOf('?')
  const whole = mark < 0 ? url : url.slice(0, mark)
  const query = mark < 0 ? '' : url.slice(mark)
  const path = pathBelow(whole)
  const direct = method === 'POST' ? posted.get(whole) : undefined
  const known = direct ?? fixed.get(`${method} ${path}`)
  if (known) return {endpoint: later(known, path), path, query}
  if (!METHODS.has(method)) throw notServed(method, whole, path, administered(path))
  if (path.startsWith('/proxy/')) return {endpoint: undefined, path: path.slice(6), query}
  // first, for an id may have slashes in it, and would take one at the end
  const plain = rewritten(method, path, query)
  if (plain) return plain
  const endpoint = patterned.find(each => each.method === method && each.pattern.test(path))
  if (endpoint) return {endpoint: later(endpoint, path), path, query}
  const ours = administered(path)
  if (ours.length > 0 || OURS.test(path)) throw notServed(method, whole, path, ours)
  return {endpoint: undefined, path, query}
}

/** A refusal (405) that says what is served there: of a path that is a provider's, every method that passes. */
function notServed(method: string, whole: string, path: string, ours: readonly string[]): Refusal {
  const here = ENDPOINTS.filter(({path: at}) => pattern(at).test(path)).map(each => each.method)
  const methods = new Set([...ours, ...here])
  return new Refusal('route.method', {
    method,
    path: whole,
    rest: path,
    allow: [...(methods.size > 0 ? methods : METHODS)].join(', '),
  })
}

/** Routes of our own, which no provider has: a foreign method there means nothing. */
const OURS = /^\/(?:prompts\/[^/]+\/completions|otel\/.+)$/

/** A unified route whose path repeats the base's own prefix, or has a slash at its end. */
function rewritten(method: string, path: string, query: string): Route | null {
  const plain = plainPath(path)
  if (plain === path) return null
  const endpoint =
    fixed.get(`${method} ${plain}`) ?? patterned.find(each => each.method === method && each.pattern.test(plain))
  return endpoint ? {endpoint: later(endpoint, plain), path: plain, query} : null
}

const UNVERSIONED = new Set(ENDPOINTS.filter(({path}) => !/[:*]/.test(path)).map(({path}) => path))
/** Bedrock's clients write no version, and take the gateway's address as it is. */
const OF_BEDROCK = /^\/model\/(?:@[^/]+\/)?[^/]+\/(?:converse|converse-stream|invoke|invoke-with-response-stream)\/?$/

/** True for a path of the table, or of Bedrock's clients, that lacks its `/v1`. */
export function isUnversioned(url: string): boolean {
  const path = url.split('?', 1)[0]!
  if (UNVERSIONED.has(path) || OF_BEDROCK.test(path)) return true
  const plain = plainPath(path)
  return UNVERSIONED.has(plain) || patterned.some(each => each.pattern.test(plain))
}

/** True for a request line that the table has letter by letter and that is the data plane's alone. */
export function isUnified(method: string | undefined, url: string | undefined): boolean {
  if (method !== 'POST' || url === undefined) return false
  const endpoint = posted.get(url)
  return endpoint !== undefined && !endpoint.later
}

/** True for a path of the table whose calls hold JSON, and so are read whole before anything else is done. */
export function isReadWhole(path: string): boolean {
  const endpoint = posted.get(path)
  return endpoint !== undefined && !endpoint.later && endpoint.body === 'json'
}

/**
 * True for an offer to open a session where sessions are; any other is passed over, and the request served as it is.
 */
export function opensSession({method, url, headers}: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean {
  return (
    method === 'GET' &&
    /^\/v1\/realtime(\?|$)/.test(url ?? '') &&
    /(^|,)\s*websocket\s*(,|$)/i.test(headers.upgrade ?? '')
  )
}

function later(endpoint: Endpoint, path: string): Endpoint {
  if (endpoint.later) throw new Refusal('route.later', {path: `/v1${path}`})
  return endpoint
}

/** A path of the table as an expression: `:x` is one segment, `*` one or more. */
export function pattern(path: string): RegExp {
  const body = path
    .replace(/[.+?^$()[\]{}|\\]/g, '\\$&')
    .replace(/:[A-Za-z_-]+/g, '[^/]+')
    .replace(/\*/g, '.+')
  return new RegExp(`^${body}$`)
}
