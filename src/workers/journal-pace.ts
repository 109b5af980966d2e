import type {Mark} from '../store/journal/index.ts'

const MB = 1024 * 1024
/** So much may wait for the database before new calls are refused: four segments, some 40,000 calls. */
export const MOST_WAITING_BYTES = 64 * MB

/**
 * Watches whether the ledger is written as fast as calls are recorded. Where more waits after each flush than after the
 * one before, calls outrun the thread that writes, as on a core that stays full: then the gateway takes fewer of them,
 * and the journal does not grow further. What a silent or full database leaves behind is no reason: it shrinks once the
 * database is there again, and calls continue meanwhile.
 */
export class JournalPace {
  /** True while new calls are to be refused. */
  is_outrun = false
  #end: Mark
  #written_bytes = 0
  #ordered_bytes = 0
  #flushed_bytes = 0
  /** The bytes that waited after the last flush. */
  #waited_bytes = 0

  /** `end` is the end of the journal, of which nothing waits. */
  constructor(end: Mark) {
    this.#end = end
  }

  /** Bytes that the database does not have. */
  get waiting_bytes(): number {
    return this.#written_bytes - this.#flushed_bytes
  }

  /** The journal is written up to `end`. */
  written(end: Mark): void {
    const from = end.segment === this.#end.segment ? this.#end.position : 0
    this.#written_bytes += Math.max(0, end.position - from)
    this.#end = end
  }

  /** A flush of all that is written begins; gives the bytes that no flush before was ordered for. */
  ordered(): number {
    const bytes = this.#written_bytes - this.#ordered_bytes
    this.#ordered_bytes = this.#written_bytes
    return bytes
  }

  /** The flush is over; `was_hindered`: it waited for a database that took nothing. Gives whether `is_outrun` moved. */
  flushed(was_hindered: boolean): boolean {
    const was_outrun = this.is_outrun
    const waited_bytes = this.#waited_bytes
    this.#flushed_bytes = this.#ordered_bytes
    this.#waited_bytes = this.waiting_bytes
    this.is_outrun =
      !was_hindered &&
      waited_bytes > MOST_WAITING_BYTES / 2 &&
      this.#waited_bytes > MOST_WAITING_BYTES &&
      this.#waited_bytes >= waited_bytes
    return this.is_outrun !== was_outrun
  }

  /** The database takes nothing, or its thread has ended: that calls wait says nothing of their number. */
  hindered(): void {
    this.is_outrun = false
    this.#waited_bytes = 0
  }
}
