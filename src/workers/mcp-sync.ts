import type {Job} from './schedule.ts'

/** Reads the MCP servers that are due. */
export interface McpTurns {
  turn(lost: AbortSignal): Promise<void>
}

const EVERY_MS = 30_000

/** Reads MCP servers in their intervals, and those that another process was to read and did not. */
export function mcpSyncJob(mcp: McpTurns): Job {
  return {name: 'mcp-sync', every_ms: EVERY_MS, run: ({lost}) => mcp.turn(lost)}
}
