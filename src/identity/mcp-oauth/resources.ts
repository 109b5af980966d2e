import type {McpServerNames, OAuthServer} from '../../store/oauth-servers.ts'

export const RESOURCE_DOCUMENT = '/.well-known/oauth-protected-resource'

/** Slugs and ids need no other characters, so an address has one spelling. */
const PATH = /^\/(?:([\w.~-]{1,255})\/)?([\w.~-]{1,255})\/mcp\/?$/
const DOTS = /^\.{1,2}$/
const LONGEST = 2048

/**
 * The server that a `resource` names (RFC 8707): an address of MCP at this gateway. Scheme and host in any case, the
 * path exactly, one slash at its end tolerated. Null for everything else.
 */
export function readResource(text: string, base_url: string): McpServerNames | null {
  if (text.length > LONGEST) return null
  const [, origin, path] = /^(https?:\/\/[^/?#@\\\s]+)(\/[^?#\\\s]*)$/i.exec(text) ?? []
  const base = /^(https?:\/\/[^/]+)(.*)$/i.exec(base_url)
  if (origin === undefined || path === undefined || !base) return null
  if (origin.toLowerCase() !== base[1]!.toLowerCase() || !path.startsWith(base[2]!)) return null
  return readMcpPath(path.slice(base[2]!.length))
}

/** The server that a path of MCP names: `/docs/mcp` gives `{workspace: null, server: 'docs'}`. */
export function readMcpPath(path: string): McpServerNames | null {
  const [, workspace = null, server] = PATH.exec(path) ?? []
  if (server === undefined || DOTS.test(server) || (workspace !== null && DOTS.test(workspace))) return null
  return {workspace, server}
}

export function mcpPath({workspace, server}: McpServerNames): string {
  return workspace === null ? `/${server}/mcp` : `/${workspace}/${server}/mcp`
}

/** The path of the document about a server (RFC 9728), which a challenge names. */
export function protectedResourcePath(names: McpServerNames): string {
  return RESOURCE_DOCUMENT + mcpPath(names)
}

/** True when both can name one server; a workspace that only one of them names decides. */
export function isSameServer(one: McpServerNames, other: McpServerNames): boolean {
  if (one.server !== other.server) return false
  return one.workspace === null || other.workspace === null || one.workspace === other.workspace
}

/** True when the parts of an address name this server. */
export function isNamed(
  names: McpServerNames,
  {id, slug, workspace_id, workspace_slug}: Pick<OAuthServer, 'id' | 'slug' | 'workspace_id' | 'workspace_slug'>,
): boolean {
  const {workspace, server} = names
  return (server === slug || server === id) && [null, workspace_slug, workspace_id].includes(workspace)
}
