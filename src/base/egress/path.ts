import {Refusal} from '../errors.ts'

/**
 * The path of a request upstream: `path` (with its query, as the client sent it) below `basePath`. Percent-encoding
 * stays as it came. Refuses with `body.invalid` what could leave the base path or the host: a path that does not begin
 * with one `/`, a `..` in any spelling, a backslash, a fragment, and anything but visible ASCII characters.
 */
export function joinPath(basePath: string, path: string): string {
  const query = path.indexOf('?')
  const place = query < 0 ? path : path.slice(0, query)
  const wrong = complaint(path, place)
  if (wrong) throw new Refusal('body.invalid', {issues: `The path ${wrong}.`})
  return basePath + path
}

/**
 * `text` in lower case, fit to be one label of a host name in a URL template: `a-z`, `0-9` and inner hyphens, 63
 * characters at most. `what` names it in the refusal (`host.blocked`): a dot, a slash or a `#` here would choose
 * another host.
 */
export function hostLabel(text: string, what: string): string {
  const label = text.toLowerCase()
  if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label) || label.startsWith('xn--')) {
    throw new Refusal('host.blocked', {reason: `${what} takes a-z, 0-9 and inner hyphens, 63 characters at most`})
  }
  return label
}

/**
 * True when a server could read `path` (no query) as one that climbs: `..` between separators, encoded or not, or
 * before a `;`.
 */
export function hasDotSegments(path: string): boolean {
  return /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){2}(?:$|[/\\;]|%2f|%5c|%3b)/i.test(path)
}

function complaint(path: string, place: string): string | undefined {
  if (place[0] !== '/') return 'must begin with /'
  if (place[1] === '/') return 'must begin with one / and not two: a base URL that ends in / doubles it'
  if (!/^[\x21-\x7e]+$/.test(path)) return 'must be visible ASCII characters; percent-encode all others'
  if (path.includes('#')) return 'must have no fragment (#)'
  if (place.includes('\\')) return 'must have no backslash'
  if (hasDotSegments(place)) return 'must not climb (..)'
  return undefined
}
