/** Methods of the revision 2026-07-28, with the member of `params` that the header `Mcp-Name` repeats. */
const MODERN_METHODS: Readonly<Record<string, 'name' | 'uri' | 'taskId' | null>> = {
  'server/discover': null,
  'tools/list': null,
  'tools/call': 'name',
  'prompts/list': null,
  'prompts/get': 'name',
  'resources/list': null,
  'resources/templates/list': null,
  'resources/read': 'uri',
  'completion/complete': null,
  'subscriptions/listen': null,
  // of the extension io.modelcontextprotocol/tasks
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** True for each method of the revision 2026-07-28 and of its extension for tasks. */
export function isModernMethod(method: string): boolean {
  return Object.hasOwn(MODERN_METHODS, method)
}

/** The member of `params` that `Mcp-Name` repeats; null where the method has none. */
export function nameMemberOf(method: string): 'name' | 'uri' | 'taskId' | null {
  return Object.hasOwn(MODERN_METHODS, method) ? MODERN_METHODS[method]! : null
}

/** Methods that a legacy client may call without a session: each request is independent. */
const STATELESS_METHODS: ReadonlySet<string> = new Set([
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
])

export function isStatelessMethod(method: string): boolean {
  return STATELESS_METHODS.has(method)
}
