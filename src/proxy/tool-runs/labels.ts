import {hash} from 'node:crypto'

/** Before the ids of calls in the answers of runs: a later request finds the call of the model by them. */
export const CALL_PREFIX = 'mcp_'
/** The same in Messages, as its clients know such ids. */
export const USE_PREFIX = 'mcptoolu_'

const LABEL = /^@(?:gateway|portkey)-mcp\/(.*)$/s
const SLUG = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,254})$/

/** The slug in a label such as `@gateway-mcp/tickets`; null for a label that is a provider's own. */
export function slugOfLabel(label: unknown): string | null {
  return typeof label === 'string' ? (LABEL.exec(label)?.[1] ?? null) : null
}

/** False for a text that no server can have as its slug. */
export function isSlug(slug: string): boolean {
  return SLUG.test(slug)
}

/** Providers take no longer names of functions. */
const MOST_CHARS = 64
const TAIL_CHARS = 7
const FOREIGN = /[^A-Za-z0-9_-]/g

/**
 * The name of a tool as a function: `mcp__SLUG__TOOL`. One that was changed, cut or `is_taken` by another tool ends in
 * a hash of server and tool, so that it is the same in each request.
 */
export function functionName(slug: string, tool: string, is_taken = false): string {
  const plain = `${functionPrefix(slug)}${tool}`
  const name = plain.replace(FOREIGN, '_')
  if (name === plain && name.length <= MOST_CHARS && !is_taken) return name
  const tail = hash('sha256', `${slug}\n${tool}`).slice(0, TAIL_CHARS - 1)
  return `${name.slice(0, MOST_CHARS - TAIL_CHARS)}_${tail}`
}

/** The beginning of the names of all functions of a server. */
export function functionPrefix(slug: string): string {
  return `mcp__${slug.replace(FOREIGN, '_')}__`
}
