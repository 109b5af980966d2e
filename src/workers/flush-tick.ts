/** So long records are gathered at low load. */
const SHORTEST_MS = 50
const LONGEST_MS = 250
/** Bytes in the shortest tick up to which load is low: some two hundred calls a second. */
const LITTLE_BYTES = 16 * 1024
/** A record is in the database after so long, while its thread keeps up. */
const SEEN_MS = 500

/**
 * How long records are gathered before they are flushed. A transaction costs something whatever it holds: the more
 * records come, the longer they are gathered, and the more of them share that. A record that comes as a flush begins
 * waits for the longer of that flush and the tick, then for its own flush: the tick leaves room for two.
 */
export class FlushTick {
  /** The tick now. */
  ms = SHORTEST_MS
  /** When the first of those that are gathered came; undefined while none is. */
  #since_ms: number | undefined
  #ordered_ms = 0
  #took_ms = 0

  /** A record has come. */
  gathers(now_ms: number): void {
    this.#since_ms ??= now_ms
  }

  /** How long what was gathered still waits. */
  left(now_ms: number): number {
    const waited_ms = this.#since_ms === undefined ? 0 : Math.max(0, now_ms - this.#since_ms)
    return Math.max(0, this.ms - waited_ms)
  }

  /** A flush of what was gathered begins: so many bytes. */
  ordered(bytes: number, now_ms: number): void {
    const gathered_ms = Math.max(SHORTEST_MS, now_ms - (this.#since_ms ?? now_ms))
    const by_load_ms = (SHORTEST_MS * SHORTEST_MS * bytes) / gathered_ms / LITTLE_BYTES
    const most_ms = Math.min(LONGEST_MS, SEEN_MS - 2 * this.#took_ms)
    this.ms = Math.round(Math.max(SHORTEST_MS, Math.min(most_ms, by_load_ms)))
    this.#since_ms = undefined
    this.#ordered_ms = now_ms
  }

  /** The flush is over. `is_behind`: others were gathered meanwhile; else the load is over. */
  flushed(now_ms: number, is_behind: boolean): void {
    this.#took_ms = Math.max(0, now_ms - this.#ordered_ms)
    if (!is_behind) this.ms = SHORTEST_MS
  }
}
