import type {IncomingMessage} from 'node:http'
import {isUnversioned} from '../proxy/inbound/routes.ts'

const SCHEME = /^https?:\/\//i

/**
 * A request line in absolute form (`POST http://host/v1/... HTTP/1.1`), which clients send that take the gateway for a
 * proxy, as if it had come in origin form; its host counts in place of the header's (RFC 9112, section 3.2.2).
 */
export function toOriginForm(request: Pick<IncomingMessage, 'url' | 'headers'>): void {
  const {url = ''} = request
  if (url.startsWith('/') || !SCHEME.test(url)) return
  const [, authority = '', path = ''] = /^[a-z]+:\/\/([^/?#]*)(.*)$/i.exec(url) ?? []
  request.url = path.startsWith('/') ? path : `/${path}`
  request.headers.host = authority.slice(authority.lastIndexOf('@') + 1)
}

/**
 * A call whose base lacks the version (`POST /chat/completions`), as if it had it: clients differ in whether they write
 * it themselves.
 */
export function toVersionedForm(request: Pick<IncomingMessage, 'url'>): void {
  const {url = ''} = request
  if (!url.startsWith('/v1') && isUnversioned(url)) request.url = `/v1${url}`
}
