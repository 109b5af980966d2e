import {Counter, Gauge, Histogram, type Registry} from 'prom-client'
import {mcpEndpoint} from '../../schema/mcp-endpoints.ts'
import type {McpMetrics} from '../services.ts'

/** The sizes of what a process holds. */
export interface McpSizes {
  readonly connections: number
  readonly sessions: number
  readonly held_calls: number
}

/** Slugs that are labels of their own; those that come later count as `other`, so that the page stays small. */
const MOST_SERVERS = 200
const OTHER = 'other'
/** No slug has this form. */
const NO_SERVER = '-'
const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** Counts requests of MCP. Whatever clients write as a method, one that is not of the protocol is `other`. */
export function mcpMetrics(registry: Registry): McpMetrics {
  const requests = new Counter({
    name: 'mcp_requests_total',
    help: 'Requests of MCP that ended, by server, method and outcome.',
    labelNames: ['server', 'method', 'outcome'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'mcp_request_duration_seconds',
    help: 'Time from the request of a client to the end of its answer, by method.',
    labelNames: ['method'],
    buckets: BUCKETS_S,
    registers: [registry],
  })
  const servers = new Set<string>()
  const serverOf = (slug: string | null) => {
    if (slug === null) return NO_SERVER
    if (servers.size < MOST_SERVERS) servers.add(slug)
    return servers.has(slug) ? slug : OTHER
  }
  return {
    ended({server, method, outcome, duration_ms}) {
      const endpoint = mcpEndpoint(method)
      const known = endpoint === 'mcp/other' ? OTHER : endpoint
      requests.inc({server: serverOf(server), method: known, outcome})
      durations.observe({method: known}, Math.max(0, duration_ms) / 1000)
    },
  }
}

/** Shows the sizes of the moment when the page is read. */
export function mcpGauges(registry: Registry, sizes: () => McpSizes): void {
  const gauges: readonly (readonly [keyof McpSizes, string, string])[] = [
    ['connections', 'mcp_pool_connections', 'Connections to MCP servers that this process has.'],
    ['sessions', 'mcp_client_sessions', 'Sessions of MCP clients that this process has.'],
    ['held_calls', 'mcp_held_calls', 'Calls that wait for the answer of a client to a question of the server.'],
  ]
  for (const [of, name, help] of gauges)
    new Gauge({
      ...{name, help, registers: [registry]},
      collect() {
        this.set(sizes()[of])
      },
    })
}
