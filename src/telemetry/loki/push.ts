import type {After} from '../../base/delay.ts'
import type {Delivery, ExportCounts} from '../export/delivery.ts'
import type {FailureMeaning} from '../export/outcome.ts'
import type {LokiLine} from './log-line.ts'

/** A line with the time that no other of its stream has. */
export interface LokiEntry {
  readonly level: string
  /** Nanoseconds since 1970. */
  readonly at_ns: string
  readonly text: string
}

export interface LokiPushOptions {
  readonly delivery: Pick<Delivery<LokiEntry>, 'deliver' | 'isWaiting' | 'stop'>
  readonly counts: ExportCounts
  readonly after: After
  /** Most that wait in memory. @default 16 MB */
  readonly most_bytes?: number
}

const MOST_BYTES = 16 << 20
/** Of the bound, where lines had to be dropped. */
const KEPT_SHARE = 15 / 16
const BATCH_BYTES = 1 << 20
const DELAY_MS = 2_000
const LAST_MS = 1_000
/** An entry in memory, beside its text of two bytes a character. */
const ENTRY_BYTES = 256
/** A clock that is set back by less continues where it was. */
const MAX_BACK_MS = 60_000

/**
 * Sends lines to Loki from memory: 1 MB or 2 s together, in the order in which they were written. Where Loki takes too
 * little, the oldest lines are left out and counted. Nothing waits for it.
 */
export class LokiPush {
  readonly #options: LokiPushOptions
  readonly #times = new Map<string, {ms: number; next: number}>()
  #waiting: LokiEntry[] = []
  #waiting_bytes = 0
  #sending_bytes = 0
  #cancel: (() => void) | undefined
  #turn: Promise<void> | undefined
  #closing = false

  constructor(options: LokiPushOptions) {
    this.#options = options
  }

  get waiting_bytes(): number {
    return this.#waiting_bytes + this.#sending_bytes
  }

  add({level, at_ms, text}: LokiLine): void {
    if (this.#closing) return
    const {most_bytes = MOST_BYTES, counts} = this.#options
    this.#waiting.push({level, at_ns: this.#timeOf(level, at_ms), text})
    this.#waiting_bytes += sizeOf(text)
    if (this.waiting_bytes > most_bytes) counts.dropped += this.#dropTo(most_bytes * KEPT_SHARE)
    this.#soon(this.#waiting_bytes >= BATCH_BYTES ? 0 : DELAY_MS)
  }

  /** Drops the oldest, many at once: each time all that is left moves. */
  #dropTo(bytes: number): number {
    let count = 0
    while (this.waiting_bytes > bytes && count < this.#waiting.length)
      this.#waiting_bytes -= sizeOf(this.#waiting[count++]!.text)
    this.#waiting = this.#waiting.slice(count)
    return count
  }

  /** Sends what it can in a second, unless Loki is waited for already; the rest is counted. */
  async close(): Promise<void> {
    const {delivery, after, counts} = this.#options
    if (delivery.isWaiting) delivery.stop()
    this.#closing = true
    this.#cancel?.()
    const cancel = after(LAST_MS, () => delivery.stop())
    if (!this.#turn) this.#begin()
    await this.#turn
    cancel()
    counts.dropped += this.#waiting.length
    this.#waiting = []
    this.#waiting_bytes = 0
  }

  /** Loki drops one of two entries of a stream with one time and one text: the digits below a millisecond count up. */
  #timeOf(level: string, at_ms: number): string {
    const last = this.#times.get(level)
    const continues = last !== undefined && at_ms <= last.ms && last.ms - at_ms < MAX_BACK_MS
    const ms = continues ? last.ms : at_ms
    const next = continues ? last.next : 0
    this.#times.set(level, {ms, next: next + 1})
    return `${ms}${String(next).padStart(6, '0')}`
  }

  #soon(ms: number): void {
    if (this.#turn || this.#closing) return
    if (this.#cancel && ms > 0) return
    this.#cancel?.()
    this.#cancel = this.#options.after(ms, () => this.#begin())
  }

  #begin(): void {
    this.#cancel = undefined
    this.#turn = this.#send().finally(() => {
      this.#turn = undefined
      if (this.#waiting.length > 0) this.#soon(DELAY_MS)
    })
  }

  async #send(): Promise<void> {
    const {delivery, counts} = this.#options
    while (this.#waiting.length > 0) {
      const batch = this.#take()
      const left = await delivery.deliver(batch, () => !this.#closing).catch(() => batch.length)
      counts.dropped += left
      this.#sending_bytes = 0
      if (left > 0) return
      // less than a batch waits for more of it
      if (this.#waiting_bytes < BATCH_BYTES && !this.#closing) return
    }
  }

  #take(): LokiEntry[] {
    let count = 0
    let bytes = 0
    while (count < this.#waiting.length && bytes < BATCH_BYTES) bytes += sizeOf(this.#waiting[count++]!.text)
    const batch = this.#waiting.slice(0, count)
    this.#waiting = this.#waiting.slice(count)
    this.#waiting_bytes -= bytes
    this.#sending_bytes = bytes
    return batch
  }
}

const sizeOf = (text: string): number => text.length * 2 + ENTRY_BYTES

/** The body of a push: a stream for each level. */
export function lokiBody(labels: Readonly<Record<string, string>>, entries: readonly LokiEntry[]): Buffer {
  const streams = [...Map.groupBy(entries, ({level}) => level)].map(([level, of]) => ({
    stream: {...labels, level},
    values: of.map(({at_ns, text}) => [at_ns, text]),
  }))
  return Buffer.from(JSON.stringify({streams}))
}

/** 400 says that some were taken: those of the rest are never. A proxy before Loki may bound the size. */
export function lokiMeaning(status: number): FailureMeaning {
  if (status === 429 || status >= 500) return 'later'
  return status === 413 ? 'too_large' : 'refused'
}
