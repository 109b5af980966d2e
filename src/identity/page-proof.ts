import {createHmac, timingSafeEqual} from 'node:crypto'
import type {IncomingHttpHeaders} from 'node:http'
import {Refusal} from '../base/errors.ts'

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const PURPOSE = 'gateway page proof 1'

/** The facts by which a request proves that a page of this gateway made it. */
export interface PageProofRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** Refuses with `page.foreign` a write with a session of a cookie that no page of this gateway made. */
export function requireOwnPage(
  request: PageProofRequest,
  {base_url, token}: {readonly base_url: string; readonly token: string},
): void {
  if (!isFromOwnPage(request, {origin: new URL(base_url).origin, token})) throw new Refusal('page.foreign')
}

/**
 * True where a request came of a page of this gateway: by what the browser adds, or because it carries the token of the
 * session. A browser sends our cookies with requests of other sites' pages, too.
 */
function isFromOwnPage(
  request: PageProofRequest,
  {origin, token}: {readonly origin: string; readonly token: string | null},
): boolean {
  if (READS.has(request.method)) return true
  if (isSameOrigin(request.headers, origin)) return true
  const sent = request.headers['x-gateway-csrf']
  return typeof sent === 'string' && token !== null && isEqual(sent, token)
}

/** By what browsers send and no page can change: `Sec-Fetch-Site`, or `Origin` where there is none. */
export function isSameOrigin(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site']
  return site === undefined ? headers.origin === origin : site === 'same-origin'
}

/** True where the browser says nothing of where a request came from: it is no browser, or an old one. */
export function hasNoOrigin(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-site'] === undefined && headers.origin === undefined
}

/** The token of a session for pages, 43 characters: the same in every process that has the sealing key. */
export function pageToken(key: Buffer, session_id: string): string {
  return createHmac('sha256', key).update(`${PURPOSE}\0${session_id}`).digest('base64url')
}

/** In the same time whatever differs. */
export function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
