import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import {openServer} from '../mcp/call/open-server.ts'
import type {McpServer} from '../mcp/call/server.ts'
import type {McpServices} from '../mcp/services.ts'
import type {McpServerForCall, mcpServersForCalls} from '../store/mcp-for-call.ts'

/** Finds servers for calls, each opened once from its rows; a virtual one with the servers behind it. */
export function openedServers({
  servers,
  seal,
  log,
}: {
  readonly servers: ReturnType<typeof mcpServersForCalls>
  readonly seal: Seal
  readonly log: Log
}): McpServices['findServer'] {
  const opened = new WeakMap<McpServerForCall, McpServer>()
  const open = (found: McpServerForCall) => {
    const known = opened.get(found) ?? openServer(seal, found)
    opened.set(found, known)
    return known
  }
  const membersOf = async ({members, server}: McpServerForCall) => {
    const all = new Map<string, McpServer>()
    for (const {id, slug} of members ?? []) {
      const {organisation_id, workspace_id: workspace} = server
      const found = await servers.find({organisation_id, workspace, server: slug})
      if (!found?.is_granted || found.server.id !== id || found.members) continue
      try {
        all.set(id, open(found))
      } catch (fault) {
        log.warn({fault, server: slug}, 'a server of a virtual MCP server cannot be called')
      }
    }
    return all
  }
  return async ({organisation_id, workspace, workspace_id, server}) => {
    const found = await servers.find({organisation_id, workspace: workspace ?? workspace_id, server})
    if (!found?.is_granted) return null
    return found.members ? openServer(seal, found, await membersOf(found)) : open(found)
  }
}
