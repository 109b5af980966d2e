import type {Store} from '../store/database.ts'
import {removeEndedLeases} from '../store/mcp-leases.ts'
import {removeEndedMcpSessions} from '../store/mcp-sessions.ts'
import type {Job} from './schedule.ts'

/** Longer than a session may be idle: the use of one is noted once a minute. */
const IDLE_MS = 45 * 60_000
const LIFE_MS = 24 * 3_600_000

/** Deletes the sessions of MCP clients that are over, and leases that their holders left. */
export function mcpSessionJob(store: Pick<Store, 'write'>): Job {
  return {
    name: 'mcp-session-retention',
    every_ms: 3_600_000,
    async run({now_ms}) {
      const used_at = new Date(now_ms - IDLE_MS).toISOString()
      const created_at = new Date(now_ms - LIFE_MS).toISOString()
      await store.write(async db => {
        await removeEndedMcpSessions(db, {used_at, created_at})
        await removeEndedLeases(db, new Date(now_ms).toISOString())
      })
    },
  }
}
