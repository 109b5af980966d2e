/** The permissions that doors ask for. */
const PLAIN = ['mcp:servers:read', 'mcp:tools:list', 'mcp:tools:call'] as const

export type McpScope = (typeof PLAIN)[number]

/** Documented words for scopes of the same meaning. */
const SYNONYMS: Readonly<Record<string, string>> = {
  mcp: 'mcp:*',
  'mcp:read': 'mcp:tools:list',
  'mcp:write': 'mcp:tools:call',
}

/** Scopes that documents name; `offline_access` is named beside them, where it does no harm. */
export const MCP_SCOPES: readonly string[] = [...PLAIN, 'mcp:servers:*', 'mcp:*', ...Object.keys(SYNONYMS)]
/** The scopes of a client that names none, and of a challenge. */
export const DEFAULT_SCOPES: readonly string[] = ['mcp:tools:list', 'mcp:tools:call']
/** Accepted without effect: refresh tokens are given in any case. */
export const OFFLINE = 'offline_access'

const LONGEST = 2048

/** True when `granted` holds what a door needs: by its own name, a synonym, or what its `:*` covers. */
export function hasMcpScope(granted: readonly string[], needed: McpScope): boolean {
  return granted.some(scope => covers(scope, needed))
}

/** True when everything in `wanted` is in `granted`. */
export function coversScopes(granted: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every(scope => granted.some(each => covers(each, scope)))
}

/**
 * The scopes that a text asks for, separated by spaces, each once: those that are known. The default ones where there
 * is no text, or `offline_access` alone; null where nothing known is left.
 */
export function readScopes(text: string | undefined): readonly string[] | null {
  if (text === undefined) return DEFAULT_SCOPES
  if (text.length > LONGEST) return null
  const words = new Set(text.split(' ').filter(Boolean))
  const known = [...words].filter(isKnown)
  if (known.length > 0) return known
  return words.size === 0 || words.has(OFFLINE) ? DEFAULT_SCOPES : null
}

/** Of `wanted`, the part that `most` allows; null allows all. */
export function boundedScopes(wanted: readonly string[], most: readonly string[] | null): readonly string[] {
  if (most === null) return wanted
  return wanted.flatMap(scope => {
    if (coversScopes(most, [scope])) return [scope]
    return most.filter(each => covers(scope, each))
  })
}

export const scopeList = (text: string): readonly string[] => text.split(' ').filter(Boolean)

function isKnown(scope: string): boolean {
  return MCP_SCOPES.includes(scope) || (scope.endsWith(':*') && PLAIN.some(each => covers(scope, each)))
}

function covers(scope: string, needed: string): boolean {
  const [held, wanted] = [plain(scope), plain(needed)]
  return held === wanted || (held.endsWith(':*') && wanted.startsWith(held.slice(0, -1)))
}

function plain(scope: string): string {
  return Object.hasOwn(SYNONYMS, scope) ? SYNONYMS[scope]! : scope
}
