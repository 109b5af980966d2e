import {LRUCache} from 'lru-cache'
import type {Log} from '../base/log.ts'
import type {EraBook} from '../mcp/services.ts'
import type {EraFinding} from '../mcp/upstream/upstream.ts'
import type {Store} from '../store/database.ts'
import {findMcpEra, putMcpEra} from '../store/mcp-eras.ts'

const MOST = 10_000
/** A verdict of another process, or of a sync, is seen after so long. */
const KNOWN_MS = 60_000

interface Known {
  readonly finding: EraFinding | null
  readonly at_ms: number
}

/** Eras of upstreams: remembered here, and kept in the database for syncs and other processes. */
export function eraBook({
  store,
  log,
  wall,
}: {
  readonly store: Pick<Store, 'db' | 'write'>
  readonly log: Pick<Log, 'warn'>
  readonly wall: () => number
}): EraBook {
  const known = new LRUCache<string, Known>({max: MOST})
  const keyOf = ({id, url}: {readonly id: string; readonly url: string}) => `${id} ${url}`
  return {
    get: integration => known.get(keyOf(integration))?.finding ?? null,
    async find(integration) {
      const found = known.get(keyOf(integration))
      const now_ms = wall()
      if (found && now_ms - found.at_ms < KNOWN_MS) return found.finding
      const row = await findMcpEra(store.db, integration, now_ms)
      const finding = row ? {...row, at_ms: now_ms} : null
      known.set(keyOf(integration), {finding, at_ms: now_ms})
      return finding
    },
    note(integration, finding) {
      known.set(keyOf(integration), {finding, at_ms: wall()})
      const {era, transport, at_ms} = finding
      const row = {mcp_integration_id: integration.id, url: integration.url, era, transport}
      store
        .write(db => putMcpEra(db, {...row, found_at: new Date(at_ms).toISOString()}))
        .catch(fault => log.warn({fault}, 'the era of an MCP server could not be kept'))
    },
    forget: integration => void known.set(keyOf(integration), {finding: null, at_ms: wall()}),
  }
}
