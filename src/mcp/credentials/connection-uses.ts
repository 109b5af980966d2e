import {LRUCache} from 'lru-cache'
import {type McpConnectionKey, noteMcpConnectionUse} from '../../store/mcp-connections.ts'
import type {CredentialServices} from './services.ts'

/** A use is written once in so long: by it a sync finds a connection that works. */
const HOUR_MS = 3_600_000
const MOST_KNOWN = 10_000

/** Notes the connections of people with which calls succeed. */
export class ConnectionUses {
  readonly #services: Pick<CredentialServices, 'store' | 'wall' | 'log'>
  readonly #noted = new LRUCache<string, number>({max: MOST_KNOWN})

  constructor(services: Pick<CredentialServices, 'store' | 'wall' | 'log'>) {
    this.#services = services
  }

  /** Does not wait for the database, and fails no call. */
  note(key: McpConnectionKey): void {
    const {store, wall, log} = this.#services
    const name = JSON.stringify([key.mcp_server_id, key.user_id])
    const now_ms = wall()
    if (now_ms - (this.#noted.get(name) ?? Number.NEGATIVE_INFINITY) < HOUR_MS) return
    this.#noted.set(name, now_ms)
    void store
      .write(db => noteMcpConnectionUse(db, key, new Date(now_ms).toISOString()))
      .catch(fault => {
        this.#noted.delete(name)
        log.warn({fault}, 'the use of a connection with an MCP server was not noted')
      })
  }
}
