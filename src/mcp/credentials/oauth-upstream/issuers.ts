/** True for one issuer: letter by letter, but that `https://host` and `https://host/` are one. */
export function isSameIssuer(one: string, other: string): boolean {
  return bare(one) === bare(other)
}

function bare(issuer: string): string {
  return /^https?:\/\/[^/?#]+\/$/i.test(issuer) ? issuer.slice(0, -1) : issuer
}

/**
 * True where a token for `resource` is one for the server at `url`: it is that address, or one that it is below (RFC
 * 8707; a slash at the end is no difference).
 */
export function isResourceOf(resource: string, url: string): boolean {
  const [of, at] = [URL.parse(resource), URL.parse(url)]
  if (!of || !at || of.origin !== at.origin || of.hash !== '') return false
  if (of.search !== '' && of.search !== at.search) return false
  const below = (path: string) => (path.endsWith('/') ? path : `${path}/`)
  return below(at.pathname).startsWith(below(of.pathname))
}
