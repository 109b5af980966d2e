import type {JsonObject} from '../../base/json-member.ts'
import type {TriedMcpServer} from '../../schema/mcp-tests.ts'
import {
  claimMcpSync,
  dueMcpSyncs,
  endMcpSync,
  findSyncedIntegration,
  requestMcpSync,
  type SyncCause,
  type SyncHold,
  unplannedMcpSyncs,
} from '../../store/mcp-syncs.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import type {ListMethod} from '../content/entries.ts'
import {LOOK_MS} from './look.ts'
import type {McpSyncServices} from './services.ts'
import {Sightings} from './sightings.ts'
import {type Synced, syncOnce} from './sync.ts'
import {tryServer} from './try-server.ts'

/** Reads the servers of integrations: when a row is due, when someone asks, and when a server gives notice. */

/** A process that holds a sync for longer has ended. */
const HOLD_MS = 2 * LOOK_MS
/** Of one process. */
const MOST_AT_ONCE = 8
const MOST_TIMERS = 10_000
/** A turn of the job takes so many. */
const MOST_A_TURN = 200
/** A server that failed is tried again after this time, where the interval is longer. */
const RETRY_MS = 900_000
const BUSY_MS = 1_000
/** Later ones are left to the job. */
const SOON_MS = 60_000
/** The share by which intervals differ, so that servers are not all read at once. */
const JITTER = 0.1

export class McpSyncs {
  readonly #services: McpSyncServices
  readonly #stop = new AbortController()
  readonly #running = new Map<string, Promise<void>>()
  /** By integration: when this process reads it next, and how that is called off. */
  readonly #timers = new Map<string, {readonly at_ms: number; readonly callOff: () => void}>()
  /** Integrations whose server gave notice while it was read. */
  readonly #noticed = new Set<string>()
  readonly #sightings: Sightings

  constructor(services: McpSyncServices) {
    this.#services = services
    this.#sightings = new Sightings(services)
  }

  /**
   * Has an integration's server read soon: `request` at once, `notice` no more often than every 5 s, and every minute
   * where notices came without a difference. Resolves when that is noted, whether this process does it or another.
   */
  async request(integration_id: string, cause: SyncCause): Promise<void> {
    if (this.#stop.signal.aborted) return
    if (cause === 'notice') {
      if (this.#timers.has(integration_id)) return // the last notice of many counts, and it is read after it
      if (this.#running.has(integration_id)) return void this.#noticed.add(integration_id)
    }
    await this.#plan(integration_id, cause)
  }

  /** Reads a server now, where its row says that it is due. */
  wake(integration_id: string): void {
    if (!this.#stop.signal.aborted) this.#runIn(integration_id, 0)
  }

  /**
   * Takes entries of a list that passed by and that `judgePin` called news: rows learn of their definitions, and the
   * server is read. Known ones cost nothing.
   */
  async sighted(integration: McpIntegrationsTable, method: ListMethod, entries: readonly JsonObject[]): Promise<void> {
    if (this.#stop.signal.aborted) return
    if (await this.#sightings.note(integration, method, entries)) await this.request(integration.id, 'notice')
  }

  /** Probes a server and reads its lists, as a user where one is named; whatever happens is in what it gives. */
  tried(integration: McpIntegrationsTable, user_id: string | null): Promise<TriedMcpServer> {
    return tryServer(integration, user_id, this.#services, this.#stop.signal)
  }

  /** One turn of the job: plans what no one planned, and reads what is due. Ends early once `lost` is aborted. */
  async turn(lost: AbortSignal): Promise<void> {
    const {store, upstream} = this.#services
    for (const id of await unplannedMcpSyncs(store.db, MOST_A_TURN))
      await store.write(db => requestMcpSync(db, id, 'schedule', upstream.wall()))
    const due = [...(await dueMcpSyncs(store.db, upstream.wall(), MOST_A_TURN))]
    const worker = async () => {
      for (let id = due.shift(); id !== undefined && !lost.aborted; id = due.shift()) await this.#run(id)
    }
    await Promise.all(Array.from({length: MOST_AT_ONCE / 2}, worker))
  }

  /** Resolves when nothing runs. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** Ends what runs; it is read again by another process. */
  async close(): Promise<void> {
    this.#stop.abort()
    for (const {callOff} of this.#timers.values()) callOff()
    this.#timers.clear()
    await this.settled()
  }

  async #plan(id: string, cause: SyncCause): Promise<void> {
    const {store, upstream} = this.#services
    const now_ms = upstream.wall()
    const due_ms = await store.write(db => requestMcpSync(db, id, cause, now_ms))
    this.#runIn(id, due_ms - now_ms)
  }

  #runIn(id: string, ms: number) {
    const {after, wall} = this.#services.upstream
    const at_ms = wall() + Math.max(0, ms)
    const before = this.#timers.get(id)
    if (before && before.at_ms <= at_ms) return
    if (!before && this.#timers.size >= MOST_TIMERS) return // the job finds it
    before?.callOff()
    const callOff = after(Math.max(0, ms), () => {
      this.#timers.delete(id)
      void this.#run(id)
    })
    this.#timers.set(id, {at_ms, callOff})
  }

  /** Reads a server, where it is due and no process reads it. Rejects never. */
  async #run(id: string): Promise<void> {
    const {signal} = this.#stop
    if (signal.aborted || this.#running.has(id)) return
    if (this.#running.size >= MOST_AT_ONCE) return this.#runIn(id, BUSY_MS)
    const running = this.#readAndFollow(id)
      .catch(fault => this.#services.log.warn({fault, mcp_integration_id: id}, 'an MCP server could not be read'))
      .finally(() => this.#running.delete(id))
    this.#running.set(id, running)
    await running
  }

  async #readAndFollow(id: string): Promise<void> {
    await this.#claimed(id)
    if (this.#noticed.delete(id) && !this.#stop.signal.aborted) await this.#plan(id, 'notice')
  }

  async #claimed(id: string): Promise<void> {
    const {store, upstream, holder, changed} = this.#services
    const now_ms = upstream.wall()
    const hold: SyncHold = {mcp_integration_id: id, holder, now_ms}
    const claimed = await store.write(db => claimMcpSync(db, hold, now_ms + HOLD_MS))
    if (claimed === null) return
    const {cause, is_noisy} = claimed
    const integration = await findSyncedIntegration(store.db, id)
    const synced = integration && (await syncOnce(integration, this.#services, {stop: this.#stop.signal, is_noisy}))
    const found_difference = synced?.found_difference ?? false
    const next_ms = upstream.wall() + this.#pause(synced)
    const due_ms = await store.write(db => endMcpSync(db, hold, {cause, found_difference, next_ms}))
    if (found_difference) changed?.(id)
    const wait_ms = due_ms - upstream.wall()
    if (wait_ms < SOON_MS && !this.#stop.signal.aborted) this.#runIn(id, wait_ms)
  }

  #pause(synced: Synced | undefined): number {
    const {interval_ms, random} = this.#services
    if (synced?.is_outdated) return 0
    const whole = synced?.status === 'failed' ? Math.min(RETRY_MS, interval_ms) : interval_ms
    return Math.round(whole * (1 - JITTER + 2 * JITTER * random()))
  }
}
