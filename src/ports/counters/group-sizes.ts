import type {CounterBounds} from './bounded.ts'

interface GroupSizesOptions extends CounterBounds {
  readonly table: {
    sizes(): Promise<ReadonlyMap<string, number>>
    makeRoom(ended_before_ms: number, restorable: number, group: string | null): Promise<void>
  }
  readonly now: () => number
  readonly onFault?: (fault: unknown) => void
}

/** Clocks differ a little: a counter is over so long after its end. */
const LINGER_MS = 60_000
/** The pause between checks of the store's room. */
const PAUSE_MS = 1_000
/** From so much of a bound on, room is made before it is needed. */
const NEARLY = 0.9

/**
 * How many counters each policy has in a store that processes share: as it counted last (once a minute, and each time
 * that room is made), and what this process made since. Counting in each claim would cost every new entity a walk over
 * all of them.
 */
export class GroupSizes {
  readonly #options: GroupSizesOptions
  #sizes = new Map<string, number>()
  #total = 0
  #asked_at_ms = Number.NEGATIVE_INFINITY
  #is_counted = false

  constructor(options: GroupSizesOptions) {
    this.#options = options
  }

  /** True when a group gets no further counter now. */
  isFull(group: string | undefined): boolean {
    if (group === undefined) return false
    const {most_counters, most_of_group} = this.#options
    const size = this.#sizes.get(group) ?? 0
    if (!this.#is_counted || size >= most_of_group * NEARLY || this.#total >= most_counters * NEARLY) this.refresh()
    return size >= most_of_group || this.#total >= most_counters
  }

  /** A counter was made for it, here. */
  made(group: string | undefined): void {
    if (group === undefined) return
    this.#sizes.set(group, (this.#sizes.get(group) ?? 0) + 1)
    this.#total++
  }

  /** Counts again, behind the calls, and makes room where a bound is near. */
  refresh(): void {
    const now_ms = this.#options.now()
    if (now_ms < this.#asked_at_ms + PAUSE_MS) return
    this.#asked_at_ms = now_ms
    this.#is_counted = true
    this.#makeRoom(now_ms).catch(fault => this.#options.onFault?.(fault))
  }

  async #makeRoom(now_ms: number): Promise<void> {
    const {table, most_counters, most_of_group} = this.#options
    await this.#count()
    const near = [...this.#sizes].filter(([, size]) => size >= most_of_group * NEARLY)
    const ended_ms = now_ms - LINGER_MS
    for (const [group, size] of near) await table.makeRoom(ended_ms, Math.ceil(size - most_of_group * NEARLY), group)
    const over = Math.ceil(this.#total - most_counters * NEARLY)
    if (over >= 0) await table.makeRoom(ended_ms, over, null)
    if (near.length > 0 || over >= 0) await this.#count()
  }

  async #count(): Promise<void> {
    this.#sizes = new Map(await this.#options.table.sizes())
    this.#total = [...this.#sizes.values()].reduce((sum, size) => sum + size, 0)
  }
}
