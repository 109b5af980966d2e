import type {IncomingMessage} from 'node:http'

const SCHEME = /^https?:\/\//i

/**
 * A request line in absolute form (`POST http://host/v1/... HTTP/1.1`), which clients send that take the gateway for a proxy, as if it had come
 * in origin form; its host counts in place of the header's (RFC 9112, section 3.2.2).
 */
export function toOriginForm(request: Pick<IncomingMessage, 'url' | 'headers'>): void {
  const {url = ''} = request
  if (url.startsWith('/') || !SCHEME.test(url)) return
  const [, authority = '', path = ''] = /^[a-z]+:\/\/([^/?#]*)(.*)$/i.exec(url) ?? []
  request.url = path.startsWith('/') ? path : `/${path}`
  request.headers.host = authority.slice(authority.lastIndexOf('@') + 1)
}
