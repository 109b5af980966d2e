import type {After} from '../../base/delay.ts'
import type {Mark} from '../../store/journal/index.ts'
import type {ExportedRecord} from '../spans/record.ts'
import type {Delivery, ExportCounts} from './delivery.ts'
import {isBefore, type JournalReader} from './journal-reader.ts'

export interface JournalExportOptions<T> {
  readonly reader: JournalReader
  /** How far it has read. */
  readonly mark: Mark
  /** The items that are sent of records. What is only counted needs no content. */
  readonly make: (records: readonly ExportedRecord[], needs_content: boolean) => Promise<readonly T[]>
  readonly delivery: Pick<Delivery<T>, 'deliver' | 'isWaiting' | 'recheck' | 'stop'>
  readonly counts: ExportCounts
  /** Keeps the mark. A failure is reported, and made good by the next one. */
  readonly saveMark: (mark: Mark) => Promise<void>
  /** Nothing before the mark is needed any more. */
  readonly onPassed: (mark: Mark) => void
  readonly onFault: (fault: unknown) => void
  readonly delay_ms: number
  readonly most_bytes: number
  readonly most_age_ms: number
  readonly now: () => number
  readonly after: After
}

const SLICE_RECORDS = 256
const DROPPED_AT_ONCE = 32
const RETRY_MS = 1_000
/** How long a stop waits for a last request. */
const LAST_MS = 1_000

/**
 * Follows the journal behind the flusher and sends what it holds. The mark moves when a receiver has taken what is
 * before it, so that an end of the process at any moment loses nothing and at most repeats. What is too old or too much
 * is passed over, oldest first, and counted.
 */
export class JournalExport<T> {
  readonly #options: JournalExportOptions<T>
  #mark: Mark
  #until: Mark
  #turn: Promise<void> | undefined
  #cancel: (() => void) | undefined
  #closing = false
  /** There is no room for what is before it. */
  #lets_go_to: Mark = {segment: 0, position: 0}

  constructor(options: JournalExportOptions<T>) {
    this.#options = options
    this.#mark = options.mark
    this.#until = options.mark
  }

  get mark(): Mark {
    return this.#mark
  }

  /** Bytes of the journal that wait. */
  get behind_bytes(): number {
    return this.#options.reader.bytes(this.#mark, this.#until)
  }

  /** The database holds everything before `mark`: it may be sent. */
  committed(mark: Mark): void {
    if (!isBefore(this.#until, mark)) return
    const is_next_segment = mark.segment > this.#until.segment
    this.#until = mark
    // while a receiver rests for long, what is too much is passed over and counted before its segments are gone
    if (is_next_segment && this.#options.delivery.isWaiting) this.#options.delivery.recheck()
    this.#soon(this.#options.delay_ms)
  }

  /** There is no room for what waits: it is passed over, and counted. */
  passOver(): void {
    this.#lets_go_to = this.#until
    if (this.#options.delivery.isWaiting) this.#options.delivery.recheck()
    this.#cancel?.()
    this.#cancel = undefined
    if (!this.#turn && !this.#closing) this.#begin()
  }

  /** Sends what waits at once, and resolves when nothing is being sent. */
  async flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    if (!this.#turn && !this.#closing) this.#begin()
    await this.#turn
  }

  /** Sends what it can in a second, unless the receiver is waited for already; the rest is behind the mark. */
  async close(): Promise<void> {
    const {delivery, after} = this.#options
    this.#cancel?.()
    const idle = !this.#turn
    if (delivery.isWaiting) delivery.stop()
    else if (idle) this.#begin()
    this.#closing = true
    const cancel = after(LAST_MS, () => delivery.stop())
    await this.#turn
    cancel()
  }

  #soon(ms: number): void {
    if (this.#turn || this.#cancel || this.#closing) return
    this.#cancel = this.#options.after(ms, () => {
      this.#cancel = undefined
      this.#begin()
    })
  }

  #begin(): void {
    this.#turn = this.#run()
      .catch(fault => {
        this.#options.onFault(fault)
        return RETRY_MS
      })
      .then(again_ms => {
        this.#turn = undefined
        if (isBefore(this.#mark, this.#until)) this.#soon(Math.max(again_ms, 0))
      })
  }

  /** Gives when to look again. */
  async #run(): Promise<number> {
    const {reader, make, delivery, saveMark, delay_ms, counts} = this.#options
    const until = this.#until
    while (isBefore(this.#mark, until)) {
      const {records, end} = reader.read(this.#mark, until, SLICE_RECORDS)
      if (this.#isTooMuch(records)) {
        await this.#passOver()
        continue
      }
      const items = records.length > 0 ? await make(records, true) : []
      const left = await delivery.deliver(items, () => !this.#isTooMuch(records))
      // a part was taken already: what is left of it is not looked at again, and counted once
      const is_partial = left > 0 && left < items.length && !this.#closing
      if (is_partial) counts.dropped += left
      if (left === 0 || is_partial) {
        this.#move(end)
        if (records.length > 0) await saveMark(end)
      }
      if (this.#closing) return delay_ms
    }
    return delay_ms
  }

  get #isFull(): boolean {
    return isBefore(this.#mark, this.#lets_go_to) || this.behind_bytes > this.#options.most_bytes
  }

  #isTooMuch(records: readonly ExportedRecord[]): boolean {
    return records.length > 0 && (this.#isFull || this.#isOld(records[0]))
  }

  #isOld(record: ExportedRecord | undefined): boolean {
    const {now, most_age_ms} = this.#options
    return record !== undefined && Date.parse(record.entry.settled_at) < now() - most_age_ms
  }

  async #passOver(): Promise<void> {
    const {reader, make, counts, saveMark} = this.#options
    const before = this.#mark
    for (;;) {
      let slice = reader.read(this.#mark, this.#until, DROPPED_AT_ONCE)
      if (!this.#isTooMuch(slice.records)) break
      // where its last is young enough, it is looked at one by one
      if (!this.#isFull && !this.#isOld(slice.records.at(-1))) slice = reader.read(this.#mark, this.#until, 1)
      counts.dropped += (await make(slice.records, false)).length
      this.#move(slice.end)
    }
    if (isBefore(before, this.#mark)) await saveMark(this.#mark)
  }

  #move(mark: Mark): void {
    this.#mark = mark
    this.#options.onPassed(mark)
  }
}
