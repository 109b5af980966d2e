/** True for a text that a person may bind as: an empty name would be an anonymous bind, which any password fits. */
export function isEntryName(dn: string): boolean {
  return /^[^=]+=./.test(dn)
}

/**
 * The value of the first part of a distinguished name, unescaped (RFC 4514, 2.4): `Sales, EMEA` of
 * `cn=Sales\, EMEA,ou=groups`. Undefined where there is none, or where it is written as bytes (`#04…`).
 */
export function firstValueOf(dn: string): string | undefined {
  const [, raw] = /^\s*(?:[A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)\s*=\s*((?:\\[\s\S]|[^\\,;+])*)/.exec(dn) ?? []
  if (raw === undefined || raw.startsWith('#')) return undefined
  const value = unescaped(raw.replace(/(?<!\\) +$/, ''))
  return value === '' ? undefined : value
}

/** Undefined where an escape is none, or where its bytes are not UTF-8. */
function unescaped(text: string): string | undefined {
  const bytes: Buffer[] = []
  for (const [part, hex, other] of text.matchAll(/\\([0-9A-Fa-f]{2})|\\([\s\S])|[^\\]+|\\$/g)) {
    if (part === '\\') return undefined
    bytes.push(hex === undefined ? Buffer.from(other ?? part) : Buffer.from(hex, 'hex'))
  }
  return utf8(Buffer.concat(bytes))
}

/** The text of `bytes`; undefined where they are not UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return STRICT.decode(bytes)
  } catch {
    return undefined
  }
}

const STRICT = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true})
