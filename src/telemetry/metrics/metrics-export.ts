import {type After, soon} from '../../base/delay.ts'
import type {Mark} from '../../store/journal/index.ts'
import type {Delivery} from '../export/delivery.ts'
import {isBefore, type JournalReader} from '../export/journal-reader.ts'
import type {OtlpMetric} from '../otlp/model.ts'
import type {ExportedRecord} from '../spans/record.ts'
import type {MetricSums} from './sums.ts'

export interface MetricsExportOptions {
  readonly reader: JournalReader
  /** Everything before it was in metrics that a receiver took. */
  readonly mark: Mark
  readonly sums: MetricSums
  readonly addTo: (sums: MetricSums, record: ExportedRecord) => void
  readonly delivery: Pick<Delivery<OtlpMetric>, 'deliver' | 'isWaiting' | 'stop'>
  readonly saveMark: (mark: Mark) => Promise<void>
  readonly onPassed: (mark: Mark) => void
  readonly onFault: (fault: unknown) => void
  readonly interval_ms: number
  readonly now: () => number
  readonly after: After
}

const SLICE_RECORDS = 256
const LAST_MS = 1_000

/**
 * Follows the journal and sends what its records sum up to, in each interval. The mark moves when a receiver has taken
 * sums that have all before it: after an end of the process the sums begin at zero, with the records behind the mark,
 * so that what receivers add up has each record once.
 */
export class MetricsExport {
  readonly #options: MetricsExportOptions
  #mark: Mark
  /** Everything before it is in the sums. */
  #read: Mark
  #until: Mark
  #turn: Promise<void> | undefined
  #summing: Promise<void> | undefined
  #cancel: () => void
  #closing = false

  constructor(options: MetricsExportOptions) {
    this.#options = options
    this.#mark = options.mark
    this.#read = options.mark
    this.#until = options.mark
    this.#cancel = this.#later()
  }

  get mark(): Mark {
    return this.#mark
  }

  get behind_bytes(): number {
    return this.#options.reader.bytes(this.#mark, this.#until)
  }

  committed(mark: Mark): void {
    if (isBefore(this.#until, mark)) this.#until = mark
  }

  /** Sums take no room: what is read into them is lost only with the process. */
  passOver(): void {
    this.#sum()
      .then(() => this.#passed(this.#read))
      .catch(this.#options.onFault)
  }

  async flush(): Promise<void> {
    this.#begin()
    await this.#turn
  }

  /** Sends the last sums in a second, unless the receiver is waited for already. */
  async close(): Promise<void> {
    const {delivery, after} = this.#options
    this.#cancel()
    if (delivery.isWaiting) delivery.stop()
    const cancel = after(LAST_MS, () => delivery.stop())
    await this.#turn
    this.#closing = true
    this.#begin()
    await this.#turn
    cancel()
  }

  #later(): () => void {
    const {after, interval_ms, onFault} = this.#options
    return after(interval_ms, () => {
      // the journal does not wait for a receiver that is down
      if (this.#turn) this.#sum().catch(onFault)
      this.#begin()
      this.#cancel = this.#later()
    })
  }

  /** One at a time: while a receiver is down, the sums that it will get grow. */
  #begin(): void {
    this.#turn ??= this.#run()
      .catch(fault => this.#options.onFault(fault))
      .finally(() => {
        this.#turn = undefined
      })
  }

  async #run(): Promise<void> {
    const {sums, delivery, now} = this.#options
    await this.#sum()
    const read = this.#read
    const metrics = sums.metrics(now() * 1000)
    if (metrics.length === 0) return
    if ((await delivery.deliver(metrics, () => !this.#closing)) > 0) return
    await this.#passed(read)
  }

  async #passed(read: Mark): Promise<void> {
    const {onPassed, saveMark} = this.#options
    if (!isBefore(this.#mark, read)) return
    this.#mark = read
    onPassed(read)
    await saveMark(read)
  }

  #sum(): Promise<void> {
    this.#summing ??= this.#sumUp().finally(() => {
      this.#summing = undefined
    })
    return this.#summing
  }

  async #sumUp(): Promise<void> {
    const {reader, sums, addTo} = this.#options
    const until = this.#until
    while (isBefore(this.#read, until)) {
      const {records, end} = reader.read(this.#read, until, SLICE_RECORDS)
      for (const record of records) addTo(sums, record)
      this.#read = end
      // other exports have their turn
      await new Promise<void>(resolve => soon(resolve))
    }
  }
}
