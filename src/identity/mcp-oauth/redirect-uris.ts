/** Schemes of editors, which have no dot in them (MCP_REDIRECT_SCHEMES adds others). */
const EDITORS: ReadonlySet<string> = new Set(['cursor', 'vscode', 'vscode-insiders'])
const LONGEST = 2048
/** No characters that browsers, headers or pages read differently from us. */
const PLAIN = /^[\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/
const WEB = /^(https?):\/\/([a-z0-9.-]+|\[::1\])(?::(\d{1,5}))?(?=[/?]|$)/i
const PRIVATE = /^([a-z][a-z0-9+.-]*):(?=.)/i
/** Parameters of answers: a URI that has one already would be read in two ways. */
const OWN_PARAMS = ['code', 'state', 'iss', 'error', 'error_description'] as const
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** A redirect URI as people and policies see it. */
export interface RedirectTarget {
  readonly kind: 'web' | 'loopback' | 'private'
  /** Shown to people: the host, or the scheme of an app. */
  readonly shown: string
  /** As a source of a content security policy, which has no form for IPv6 addresses. */
  readonly source: string
}

/**
 * The target of a redirect URI that a client may have: https, http to this machine, or a scheme of its own that has a
 * dot (RFC 8252, 7.1) or is known. Null for every other, and for one with a fragment or a user.
 */
export function readRedirect(uri: string, schemes: ReadonlySet<string>): RedirectTarget | null {
  if (uri.length > LONGEST || !PLAIN.test(uri) || !URL.canParse(uri)) return null
  const params = new URLSearchParams(uri.includes('?') ? uri.slice(uri.indexOf('?') + 1) : '')
  if (OWN_PARAMS.some(name => params.has(name))) return null
  const [, scheme, host, port] = WEB.exec(uri) ?? []
  if (scheme !== undefined) return webTarget(scheme.toLowerCase(), host!.toLowerCase(), port)
  const name = PRIVATE.exec(uri)?.[1]?.toLowerCase()
  if (name === undefined || !(name.includes('.') || EDITORS.has(name) || schemes.has(name))) return null
  if (/^[^:]+:\/\/[^/?]*@/.test(uri)) return null
  return {kind: 'private', shown: `${name}:`, source: `${name}:`}
}

function webTarget(scheme: string, host: string, port: string | undefined): RedirectTarget | null {
  if (port !== undefined && (Number(port) > 65_535 || Number(port) === 0)) return null
  const at = port === undefined ? host : `${host}:${port}`
  const source = host === '[::1]' ? `${scheme}:` : `${scheme}://${at}`
  if (LOOPBACK.has(host)) return {kind: 'loopback', shown: at, source}
  // what a URL parser would take for another host is none that people could judge
  if (scheme !== 'https' || URL.parse(`https://${host}/`)?.hostname !== host) return null
  return {kind: 'web', shown: at, source}
}

/** True where `requested` is the registered address: the same text; on this machine with any port. */
export function matchesRedirect(registered: string, requested: string): boolean {
  if (registered === requested) return true
  const [one, other] = [withoutPort(registered), withoutPort(requested)]
  return one !== null && one === other
}

/** A redirect URI in the form by which consents remember it. */
export function rememberedRedirect(uri: string): string {
  return withoutPort(uri) ?? uri
}

function withoutPort(uri: string): string | null {
  const [head, scheme, host] = WEB.exec(uri) ?? []
  if (head === undefined || scheme!.toLowerCase() !== 'http' || !LOOPBACK.has(host!.toLowerCase())) return null
  return `${scheme}://${host}${uri.slice(head.length)}`
}

/** The address to which a client is answered: its own, letter by letter, and the parameters behind. */
export function answerAt(redirect_uri: string, params: Readonly<Record<string, string | undefined>>): string {
  const present = Object.entries(params).filter((each): each is [string, string] => each[1] !== undefined)
  return `${redirect_uri}${redirect_uri.includes('?') ? '&' : '?'}${new URLSearchParams(present)}`
}
