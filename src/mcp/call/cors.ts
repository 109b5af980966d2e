import {type HeaderFields, headerValue} from '../wire/header-values.ts'

const ALLOWED_HEADERS = [
  'content-type',
  'accept',
  'authorization',
  'last-event-id',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
]
/** Names that a page may send beside them: arguments that headers repeat, and our own. */
const ALLOWED_NAMES = /^(?:mcp-param-[\w!#$%&'*+.^`|~-]+|x-(?:gateway|portkey)-[\w-]+)$/
const EXPOSED = 'WWW-Authenticate, Mcp-Session-Id, MCP-Protocol-Version'
/** A preflight is good for so long. */
const MAX_AGE_S = 600

/** Headers that let a page of an allowed origin read a reply; its origin was checked before. */
export function corsHeadersOf(headers: HeaderFields): Record<string, string> {
  const origin = headerValue(headers, 'origin')
  return origin === undefined
    ? {}
    : {'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED, vary: 'origin'}
}

/** Headers that answer a preflight: the methods and the headers that the page may send. */
export function preflightHeaders(headers: HeaderFields): Record<string, string> {
  const wanted = (headerValue(headers, 'access-control-request-headers') ?? '').toLowerCase().split(/\s*,\s*/)
  const allowed = [...ALLOWED_HEADERS, ...wanted.filter(name => name.length <= 256 && ALLOWED_NAMES.test(name))]
  return {
    ...corsHeadersOf(headers),
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': allowed.join(', '),
    'access-control-max-age': String(MAX_AGE_S),
  }
}
