import type {McpUses} from '../services.ts'
import type {McpUpstream} from '../upstream/upstream.ts'
import {McpFault} from '../wire/faults.ts'

/** Connections of one key: there are several only where the upstream takes one call at a time. */
interface Slot {
  readonly upstream: McpUpstream
  readonly life: ConnectionLife
  readonly opened_ms: number
  used_ms: number
  leases: number
}

/** A connection in use. */
export interface Lease {
  readonly upstream: McpUpstream
  /** Gives it back; `is_broken` takes it out of the pool. */
  release(is_broken?: boolean): void
}

/** How long a connection may stay. */
export interface ConnectionLife {
  readonly max_idle_ms: number
  readonly max_lifetime_ms: number
}

export interface PoolBounds extends ConnectionLife {
  /** False: each connection ends with its last lease, but for those with a life of their own. */
  readonly keeps: boolean
  readonly max_connections: number
  readonly cleanup_interval_ms: number
}

/** How long a caller waits for room. */
const RETRY_AFTER_S = 5

/**
 * Connections to upstreams that several calls use one behind the other, or at once. A key names all that makes two
 * connections differ: whatever two principals must not share is in it.
 */
export class UpstreamPool {
  readonly #bounds: PoolBounds
  readonly #services: McpUses<'after' | 'steady'>
  readonly #slots = new Map<string, Slot[]>()
  readonly #opening = new Map<string, Promise<McpUpstream>>()
  #size = 0
  #is_closed = false
  #callOff: () => void = () => undefined

  constructor(bounds: PoolBounds, services: McpUses<'after' | 'steady'>) {
    this.#bounds = bounds
    this.#services = services
    this.#tick()
  }

  get size(): number {
    return this.#size
  }

  /** Gives a connection of `key`, opened where none can take another call; `life`: where it has its own. */
  async lease(key: string, open: () => Promise<McpUpstream>, life: ConnectionLife = this.#bounds): Promise<Lease> {
    if (this.#is_closed) throw new McpFault('unavailable', {reason: 'The gateway is shutting down.'})
    const free = this.#free(key)
    if (free) return this.#leased(key, free)
    const opening = this.#opening.get(key)
    if (opening) {
      await opening.catch(() => undefined)
      const shared = this.#free(key)
      if (shared) return this.#leased(key, shared)
    }
    return this.#leased(key, await this.#open(key, open, life))
  }

  /** The keys of the connections that are open. */
  get keys(): readonly string[] {
    return [...this.#slots.keys()]
  }

  /** Ends the connections of some keys: those in use end with their calls. */
  drop(isMeant: (key: string) => boolean): void {
    for (const [key, slots] of this.#slots) if (isMeant(key)) for (const slot of [...slots]) this.#remove(key, slot)
  }

  async close(): Promise<void> {
    this.#is_closed = true
    this.#callOff()
    const all = [...this.#slots.values()].flat()
    this.#slots.clear()
    this.#size = 0
    await Promise.all(all.map(({upstream}) => upstream.close().catch(() => undefined)))
  }

  #free(key: string): Slot | undefined {
    const now = this.#services.steady()
    for (const slot of [...(this.#slots.get(key) ?? [])]) {
      const is_old = now - slot.opened_ms > slot.life.max_lifetime_ms
      if (slot.upstream.is_lost || (is_old && slot.leases === 0)) this.#remove(key, slot)
      else if (!is_old && !(slot.upstream.asks_outside && slot.leases > 0)) return slot
    }
    return undefined
  }

  async #open(key: string, open: () => Promise<McpUpstream>, life: ConnectionLife): Promise<Slot> {
    if (this.#size >= this.#bounds.max_connections && !this.#displace())
      throw new McpFault('no_room', {what: 'another connection to an MCP server', retry_after_s: RETRY_AFTER_S})
    this.#size++
    const opened = open()
    this.#opening.set(key, opened)
    try {
      const upstream = await opened
      const now = this.#services.steady()
      const slot: Slot = {upstream, life, opened_ms: now, used_ms: now, leases: 0}
      if (this.#is_closed) {
        await upstream.close().catch(() => undefined)
        throw new McpFault('unavailable', {reason: 'The gateway is shutting down.'})
      }
      this.#slots.set(key, [...(this.#slots.get(key) ?? []), slot])
      return slot
    } catch (fault) {
      this.#size--
      throw fault
    } finally {
      if (this.#opening.get(key) === opened) this.#opening.delete(key)
    }
  }

  #leased(key: string, slot: Slot): Lease {
    slot.leases++
    let is_out = true
    return {
      upstream: slot.upstream,
      release: (is_broken = false) => {
        if (!is_out) return
        is_out = false
        slot.leases--
        slot.used_ms = this.#services.steady()
        const is_spent = !this.#bounds.keeps && slot.life === this.#bounds && slot.leases === 0
        if (is_broken || slot.upstream.is_lost || is_spent) this.#remove(key, slot)
      },
    }
  }

  /** Takes it out: it ends at once, or with its last call. */
  #remove(key: string, slot: Slot) {
    const slots = this.#slots.get(key)
    if (!slots?.includes(slot)) return
    const rest = slots.filter(each => each !== slot)
    if (rest.length > 0) this.#slots.set(key, rest)
    else this.#slots.delete(key)
    this.#size--
    void this.#ended(slot)
  }

  async #ended(slot: Slot) {
    // open calls come to their own end first
    while (slot.leases > 0) await new Promise<void>(resolve => this.#services.after(1000, resolve))
    await slot.upstream.close().catch(() => undefined)
  }

  /** Ends the connection that was idle for the longest; false where all are in use. */
  #displace(): boolean {
    let oldest: {readonly key: string; readonly slot: Slot} | undefined
    for (const [key, slots] of this.#slots)
      for (const slot of slots)
        if (slot.leases === 0 && (!oldest || slot.used_ms < oldest.slot.used_ms)) oldest = {key, slot}
    if (!oldest) return false
    this.#remove(oldest.key, oldest.slot)
    return true
  }

  #tick() {
    this.#callOff = this.#services.after(this.#bounds.cleanup_interval_ms, () => {
      const now = this.#services.steady()
      for (const [key, slots] of this.#slots)
        for (const slot of [...slots]) {
          const is_idle = now - slot.used_ms > slot.life.max_idle_ms
          const is_old = now - slot.opened_ms > slot.life.max_lifetime_ms
          if (slot.leases === 0 && (is_idle || is_old || slot.upstream.is_lost)) this.#remove(key, slot)
        }
      if (!this.#is_closed) this.#tick()
    })
  }
}
