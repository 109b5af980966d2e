import {LRUCache} from 'lru-cache'
import type {McpServer} from '../call/server.ts'
import {SignInNeededFault} from '../pool/source.ts'
import {faultOf} from '../serve/end.ts'
import type {ServingParts} from '../serve/exchange.ts'
import {memberClient, readingKeyOf, type VirtualClient, viewOf} from './client.ts'
import {openTools} from './meant.ts'
import {type MemberTools, readTools, storedDefinitions} from './member-tools.ts'

/** A server that has not answered by then is shown as it is stored, or left out: a list comes within two seconds. */
const PATIENCE_MS = 1_900
/** A list that was read is good for searches for so long. */
const FRESH_MS = 10_000
const MOST_BYTES = 64 * 2 ** 20
const MOST_VIEWS = 10_000

interface KnownTools {
  readonly tools: MemberTools
  readonly at_ms: number
}

/** A stream of a client that hears of servers that come back. */
export interface ReturnWatcher {
  /** Looks at a server now. */
  look(member_id: string): void
}

/** The tools of servers behind virtual ones, as each client sees them. */
export class MemberViews {
  readonly #parts: ServingParts
  readonly #known = new LRUCache<string, KnownTools>({
    maxSize: MOST_BYTES,
    sizeCalculation: ({tools}) => tools.bytes + 1_000,
  })
  readonly #reading = new Map<string, Promise<MemberTools>>()
  /** Servers that the last list of a client lacks, by its view. */
  readonly #left_out = new LRUCache<string, Set<string>>({max: MOST_VIEWS})
  readonly #watchers = new Map<string, Set<ReturnWatcher>>()

  constructor(parts: ServingParts) {
    this.#parts = parts
  }

  /** The tools of each open server, by its id; those of a server that is neither there nor stored are missing. */
  async read(client: VirtualClient, is_fresh: boolean): Promise<ReadonlyMap<string, MemberTools>> {
    const {server, caller} = client.exchange
    const members = new Map(openTools(server, caller).map(each => [each.server.id, each.server]))
    const found = await Promise.all(
      [...members.values()].map(async member => [member.id, await this.#member(member, client, is_fresh)] as const),
    )
    const left_out = new Set(found.filter(([, tools]) => tools === null).map(([id]) => id))
    this.#left_out.set(viewOf(client), left_out)
    return new Map(found.flatMap(([id, tools]) => (tools ? [[id, tools]] : [])))
  }

  /** True once for a server that the client's last list lacked: it answers now. */
  hasReturned(view: string, member_id: string): boolean {
    return this.#left_out.get(view)?.delete(member_id) ?? false
  }

  /** A call of a server's tool ended: where it had been left out, streams of the client look at it. */
  called(view: string, member_id: string): void {
    if (this.#left_out.get(view)?.has(member_id))
      for (const watcher of this.#watchers.get(view) ?? []) watcher.look(member_id)
  }

  /** Watches for a stream until the function that this gives is called. */
  watch(view: string, watcher: ReturnWatcher): () => void {
    const watchers = this.#watchers.get(view) ?? new Set()
    this.#watchers.set(view, watchers.add(watcher))
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0) this.#watchers.delete(view)
    }
  }

  /** Lists that were read are not good any more. */
  forget(member: McpServer): void {
    for (const key of this.#known.keys()) if (key.startsWith(`${member.id} `)) this.#known.delete(key)
  }

  async #member(member: McpServer, client: VirtualClient, is_fresh: boolean): Promise<MemberTools | null> {
    const {services} = this.#parts
    const known = is_fresh ? undefined : this.#known.get(readingKeyOf(client, member))
    if (known && services.steady() - known.at_ms < FRESH_MS) return known.tools
    let callOff = () => {}
    const late = new Promise<null>(resolve => {
      callOff = services.after(PATIENCE_MS, () => resolve(null))
    })
    try {
      const live = await Promise.race([this.#live(member, client), late])
      if (live) return live
    } catch (fault) {
      if (!(fault instanceof SignInNeededFault)) {
        const {reason} = faultOf(fault, services.log)
        // it is closed to this caller, whatever is stored of it
        if (reason === 'second_token' || reason === 'forbidden') return null
        services.log.warn({reason, server: member.slug}, 'the tools of a server behind a virtual one were not read')
      }
    } finally {
      callOff()
    }
    return this.#stored(member, client)
  }

  /** Reads a list from its server; one that is read already for this client is waited for. */
  #live(member: McpServer, client: VirtualClient): Promise<MemberTools> {
    const key = readingKeyOf(client, member)
    const begun = this.#reading.get(key)
    if (begun) return begun
    const {work, services} = this.#parts
    const reading = this.#read(member, client)
      .then(tools => {
        this.#known.set(key, {tools, at_ms: services.steady()})
        this.called(viewOf(client), member.id)
        return tools
      })
      .finally(() => {
        this.#reading.delete(key)
        work.delete(reading)
      })
    this.#reading.set(key, reading)
    work.add(reading)
    reading.catch(() => undefined) // those who wait for it have its fault
    return reading
  }

  async #read(member: McpServer, client: VirtualClient): Promise<MemberTools> {
    const {source, draining, services} = this.#parts
    const total_ms = services.settings.mcp_request_timeout_ms
    const {server} = client.exchange
    const chosen = new Set(server.virtual!.tools.flatMap(each => (each.server.id === member.id ? [each.tool] : [])))
    const of = {server: member, client_era: client.era, chosen}
    return source.use(await memberClient(client, member, this.#parts), draining, upstream =>
      readTools(upstream, of, this.#parts, {signal: draining, total_ms, idle_ms: total_ms}),
    )
  }

  async #stored(member: McpServer, {era}: VirtualClient): Promise<MemberTools | null> {
    const {services} = this.#parts
    const entries = await services.storedTools(member.integration_id)
    if (entries.length === 0) return null
    return storedDefinitions(entries, {client: era, upstream: services.eras.get(member.integration)?.era ?? 'legacy'})
  }
}

const views = new WeakMap<ServingParts, MemberViews>()

/** The views of a plane. */
export function viewsOf(parts: ServingParts): MemberViews {
  const known = views.get(parts) ?? new MemberViews(parts)
  views.set(parts, known)
  return known
}
