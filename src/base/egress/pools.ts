import type {Dispatcher} from 'undici'
import {Refusal} from '../errors.ts'
import {connector} from './connector.ts'
import {EgressFault} from './faults.ts'
import {type HostList, NO_HOSTS} from './hosts.ts'
import {ConnectionPool} from './http1/pool.ts'
import {type Lookup, sharing, systemLookup} from './lookup.ts'
import type {ProxyChoice} from './proxy.ts'
import {type Asker, type Destination, Destinations} from './target.ts'
import {readTls, type Tls, type TlsSettings} from './tls.ts'

export interface EgressOptions {
  /** TRUSTED_CUSTOM_HOSTS, read by `readTrusted`. */
  readonly trusted?: HostList
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY, read by `readProxies`. */
  readonly proxies?: ProxyChoice
  readonly lookup?: Lookup
  readonly tls?: TlsSettings
  /** UPSTREAM_CONNECT_TIMEOUT_MS: from the lookup to the end of the TLS handshake. */
  readonly connect_timeout_ms?: number
  /** Most sockets of one pool. */
  readonly connections?: number
  /** Most calls of one pool that wait for a socket. */
  readonly waiting_calls?: number
  /** Most pools for custom hosts that callers name: in all, and of one workspace. */
  readonly custom_pools?: number
  readonly custom_pools_per_workspace?: number
  /** Most pools for the catalogue and for integrations. */
  readonly own_pools?: number
}

type Shelf = Map<string, ConnectionPool>

/**
 * The way out: everything the gateway calls, it calls through a pool from here, and every socket of a pool went through
 * the wall (`connector`). Calls share sockets only when they go to the same origin under the same trust, or for the
 * same integration, and, for custom hosts that callers name, from the same workspace. Deadlines after the connection
 * are the caller's. Redirects are replies like any other. TLS settings are one set for all pools.
 */
export class Egress {
  readonly #options: Required<Omit<EgressOptions, 'tls'>>
  readonly #tls: Tls
  readonly #destinations: Destinations
  readonly #own: Shelf = new Map()
  readonly #custom = new Map<string, Shelf>()
  readonly #retired = new Set<ConnectionPool>()
  readonly #dials = new Set<AbortController>()
  #clock = 0
  #closed = false

  constructor({tls, ...options}: EgressOptions = {}) {
    this.#options = {...DEFAULTS, ...options, lookup: sharing(options.lookup ?? systemLookup)}
    this.#tls = readTls(tls)
    this.#destinations = new Destinations(this.#options.trusted)
  }

  /**
   * The place that a base URL names, or the refusal `host.blocked` (`readDestination`). Remembered, so it may be called
   * for every call.
   */
  destination(text: string, asker: Asker): Destination {
    return this.#destinations.read(text, asker)
  }

  /**
   * The pool for calls of `workspace` to `destination`. Dispatch on it at once, without an await in between: a pool
   * without live calls may be closed when room is needed for another. EgressFault `queue_full` when there is no room
   * and none is idle.
   */
  pool(destination: Destination, workspace = ''): Dispatcher {
    const shelf = isCustom(destination) ? this.#custom.get(workspace) : this.#own
    const pool = shelf?.get(destination.key) ?? this.#open(destination, workspace)
    pool.used = ++this.#clock
    return pool
  }

  /** Takes no new calls and resolves when the live ones have come to their end. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#all().map(pool => !pool.destroyed && pool.close()))
  }

  /** Ends every call and every socket, those being opened as well. */
  async destroy(): Promise<void> {
    this.#closed = true
    for (const dial of this.#dials) dial.abort(new EgressFault('unreachable', 'the gateway is shutting down'))
    await Promise.all(this.#all().map(pool => pool.destroy()))
  }

  #open(destination: Destination, workspace: string): ConnectionPool {
    if (this.#closed) throw new Refusal('draining')
    this.#makeRoom(destination, workspace)
    const {connections, waiting_calls} = this.#options
    const dial = connector({...this.#options, destination, tls: this.#tls, dials: this.#dials})
    const pool = new ConnectionPool({dial, host: new URL(destination.origin).host, connections, waiting_calls})
    if (!isCustom(destination)) this.#own.set(destination.key, pool)
    else this.#custom.set(workspace, (this.#custom.get(workspace) ?? new Map()).set(destination.key, pool))
    return pool
  }

  #makeRoom(destination: Destination, workspace: string): void {
    const {own_pools, custom_pools, custom_pools_per_workspace} = this.#options
    if (!isCustom(destination)) {
      if (this.#own.size >= own_pools) this.#retireOneOf([this.#own])
      return
    }
    const shelf = this.#custom.get(workspace)
    const shelves = [...this.#custom.values()]
    if (shelf && shelf.size >= custom_pools_per_workspace) this.#retireOneOf([shelf])
    else if (shelves.reduce((sum, {size}) => sum + size, 0) >= custom_pools) this.#retireOneOf(shelves)
  }

  /** Closes the pool that was used longest ago and has no live call. */
  #retireOneOf(shelves: readonly Shelf[]): void {
    const idle = shelves
      .flatMap(shelf => [...shelf].map(([key, pool]) => ({shelf, key, pool})))
      .filter(({pool}) => pool.live === 0)
    if (idle.length === 0) throw new EgressFault('queue_full', 'too many hosts are called at once')
    const {shelf, key, pool} = idle.reduce((oldest, next) => (next.pool.used < oldest.pool.used ? next : oldest))
    shelf.delete(key)
    this.#retired.add(pool)
    void pool.close().finally(() => this.#retired.delete(pool))
    for (const [workspace, {size}] of this.#custom) if (size === 0) this.#custom.delete(workspace)
  }

  #all(): ConnectionPool[] {
    const shelves = [this.#own, ...this.#custom.values()]
    return [...shelves.flatMap(shelf => [...shelf.values()]), ...this.#retired]
  }
}

const DEFAULTS = {
  trusted: NO_HOSTS,
  proxies: () => null,
  connect_timeout_ms: 10_000,
  connections: 512,
  waiting_calls: 4096,
  custom_pools: 256,
  custom_pools_per_workspace: 32,
  own_pools: 4096,
} as const

function isCustom({trust}: Destination): boolean {
  return trust === 'public' || trust === 'listed'
}
