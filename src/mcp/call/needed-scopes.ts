import {hasMcpScope, type McpScope} from '../../identity/mcp-oauth/scopes.ts'
import {McpFault} from '../wire/faults.ts'
import type {RpcMessage} from '../wire/messages.ts'

/** Throws `insufficient_scope` (403) that names all that the messages need, so that a client signs in once more. */
export function checkScopes(granted: readonly string[], messages: readonly RpcMessage[]): void {
  const needed = new Set(messages.flatMap(message => (message.kind === 'request' ? [scopeOf(message.method)] : [])))
  if ([...needed].every(scope => hasMcpScope(granted, scope))) return
  const [first] = messages
  const id_text = messages.length === 1 && first?.kind === 'request' ? first.id_text : null
  throw new McpFault('insufficient_scope', {scope: [...needed, ...kept(granted, needed)].join(' ')}, {id_text})
}

function scopeOf(method: string): McpScope {
  return method === 'tools/call' ? 'mcp:tools:call' : 'mcp:tools:list'
}

/** A client that signs in for the missing scope keeps those that it has. */
function kept(granted: readonly string[], needed: ReadonlySet<string>): readonly string[] {
  return granted.filter(scope => !needed.has(scope))
}
