import {SignInFault} from '../identity/sign-in-fault.ts'

const LONGEST = 2048
/** A backslash is a slash to browsers, and control characters vanish in them. */
const REFUSED = /[\\\x00-\x1f\x7f]/
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** The path on this gateway at which a sign-in ends; `/` in place of what leads elsewhere, however it is spelled. */
export function returnPath(text: unknown, base_url: string): string {
  if (typeof text !== 'string' || text.length > LONGEST || !/^\/(?![/\\])/.test(text)) return '/'
  const decoded = decodedOnce(text)
  if (decoded === undefined || REFUSED.test(text) || REFUSED.test(decoded) || decoded.startsWith('//')) return '/'
  const url = URL.parse(text, base_url)
  if (!url || url.origin !== new URL(base_url).origin || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search + url.hash
}

/**
 * The address to which a browser is sent before it gets a cookie: it reached us by another name than people do. Null
 * where it is right, and for a browser that was sent there already.
 */
export function movedTo(
  {host, url}: {readonly host: string | undefined; readonly url: string},
  base_url: string,
): string | null {
  const base = new URL(base_url)
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  const params = new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
  if (host === base.host || params.get('moved') === '1') return null
  params.set('moved', '1')
  return `${base.origin}${path}?${params}`
}

/** Refuses a place at which browsers keep no session: they drop secure cookies over http, but on their own machine. */
export function requireSecure(host: string | undefined, base_url: string, is_secure: boolean): void {
  const base = new URL(base_url)
  const is_local = LOOPBACK.test(base.hostname)
  if (base.protocol === 'http:' && !is_local && is_secure)
    throw new SignInFault('insecure', `CONTROL_PLANE_URL is ${base.origin}, which is plain http`)
  const came_to = URL.parse(`http://${host ?? ''}`)?.hostname ?? ''
  if (is_local && host !== undefined && !LOOPBACK.test(came_to))
    throw new SignInFault('insecure', `the browser came to ${came_to.slice(0, 100)}, and CONTROL_PLANE_URL is not set`)
}

function decodedOnce(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
