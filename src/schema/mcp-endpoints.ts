/** Methods of MCP as endpoints: the log, the ledger and the counts know a message by its method. */
export const MCP_ENDPOINTS = [
  'initialize',
  'server/discover',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/update',
  'tasks/cancel',
  'mcp/other',
] as const

export type McpEndpoint = (typeof MCP_ENDPOINTS)[number]

const KNOWN: ReadonlySet<string> = new Set(MCP_ENDPOINTS)

/** The endpoint of a method; a method that is not of the protocol is `mcp/other`, for a client may invent any. */
export function mcpEndpoint(method: string): McpEndpoint {
  return KNOWN.has(method) ? (method as McpEndpoint) : 'mcp/other'
}
