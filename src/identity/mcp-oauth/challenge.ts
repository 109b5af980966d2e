import type {McpServerNames} from '../../store/oauth-servers.ts'
import {protectedResourcePath} from './resources.ts'

/** The things that a challenge says; `error` only where the request came with a token. */
export interface ChallengeFacts {
  readonly base: string
  /** The server that the request was for. */
  readonly path: McpServerNames
  readonly error?: 'invalid_token' | 'insufficient_scope' | undefined
  readonly error_description?: string | undefined
  /** All that the request needs, so that a client asks once. */
  readonly scopes: readonly string[]
}

/** The value of `WWW-Authenticate` (RFC 6750, RFC 9728) by which a client of MCP begins OAuth. */
export function challengeOf({base, path, error, error_description, scopes}: ChallengeFacts): string {
  const params: readonly (readonly [string, string | undefined])[] = [
    ['realm', 'gateway'],
    ['error', error],
    ['error_description', error_description],
    ['resource_metadata', base + protectedResourcePath(path)],
    ['scope', scopes.join(' ')],
  ]
  const present = params.filter((each): each is readonly [string, string] => each[1] !== undefined)
  return `Bearer ${present.map(([name, value]) => `${name}=${quotedText(value)}`).join(', ')}`
}

/** A quoted string (RFC 9110, 5.6.4). Characters that no header may have are left out. */
function quotedText(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, '').replace(/["\\]/g, character => `\\${character}`)}"`
}
