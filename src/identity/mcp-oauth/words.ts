import {createHash, randomBytes} from 'node:crypto'

const PREFIXES = {
  access: 'mcp_at_',
  refresh: 'mcp_rt_',
  client: 'mcp_client_',
  secret: 'mcp_secret_',
  code: 'mcp_code_',
  transaction: '',
} as const

/** A new token, code, secret or id of a kind: its prefix and 32 random bytes in base64url, 43 characters. */
export function makeWord(kind: keyof typeof PREFIXES): string {
  return PREFIXES[kind] + randomBytes(32).toString('base64url')
}

/** True when a text has the form of a word of that kind; reads no row. */
export function isWord(kind: keyof typeof PREFIXES, text: string): boolean {
  const prefix = PREFIXES[kind]
  return text.startsWith(prefix) && /^[\w-]{43}$/.test(text.slice(prefix.length))
}

/** SHA-256 in 64 hex digits: words have 256 bits of chance, so a slow hash would add nothing. */
export function hashOfWord(word: string): string {
  return createHash('sha256').update(word).digest('hex')
}
