import type {Worker} from 'node:worker_threads'
import type {After} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import type {Mark} from '../store/journal/index.ts'
import {isBefore} from './export/journal-reader.ts'
import type {TelemetryNews, TelemetryOrder} from './messages.ts'
import type {ExportStatus} from './run.ts'

/** The thread that sends telemetry, as the main thread sees it. */
export type TelemetryThread = Pick<Worker, 'on' | 'postMessage' | 'terminate'>

export interface TelemetryLinkOptions {
  /** Starts the thread with the marks as they are now. */
  readonly start: () => TelemetryThread
  readonly mark: Mark
  /** How many segments of the journal may wait. */
  readonly most_segments: number
  /** Segments may go that could not before. */
  readonly onPassed: () => void
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly after: After
}

const RESTART_MS = 5_000
const CLOSES_MS = 2_500

/**
 * The main thread's end of the thread that sends telemetry. It learns how far the ledger is, and is waited for by
 * nothing: a thread that dies is started again, and what it had not sent is in the journal.
 */
export class TelemetryLink {
  readonly #options: TelemetryLinkOptions
  #worker: TelemetryThread | undefined
  #passed: Mark
  #committed: Mark
  #exports: readonly ExportStatus[] = []
  #closing = false
  #onEnded: (() => void) | undefined

  constructor(options: TelemetryLinkOptions) {
    this.#options = options
    this.#passed = options.mark
    this.#committed = options.mark
    this.#start()
  }

  committed(mark: Mark): void {
    this.#committed = mark
    this.#post({order: 'committed', mark})
  }

  /** Segments before the one of this mark may go. */
  least(committed: Mark): Mark {
    const {most_segments} = this.#options
    if (!isBefore(this.#passed, committed)) return committed
    const segment = Math.max(this.#passed.segment, committed.segment - most_segments)
    return {segment, position: 0}
  }

  /** Everything that waits is passed over, and counted. */
  passOver(): void {
    this.#post({order: 'pass_over'})
  }

  /** As of the thread's last message. */
  status(): readonly ExportStatus[] {
    return this.#exports
  }

  async close(): Promise<void> {
    this.#closing = true
    const worker = this.#worker
    if (!worker) return
    const ended = new Promise<void>(resolve => {
      this.#onEnded = resolve
    })
    this.#post({order: 'close'})
    const cancel = this.#options.after(CLOSES_MS, () => void worker.terminate())
    await ended
    cancel()
  }

  #start(): void {
    const worker = this.#options.start()
    this.#worker = worker
    worker.on('message', (news: TelemetryNews) => this.#hear(news))
    worker.on('error', fault => this.#options.log.error({fault}, 'the thread that sends telemetry failed'))
    worker.on('exit', () => this.#ended())
    this.#post({order: 'committed', mark: this.#committed})
  }

  #ended(): void {
    this.#worker = undefined
    this.#onEnded?.()
    if (this.#closing) return
    this.#options.after(RESTART_MS, () => {
      if (!this.#closing) this.#start()
    })
  }

  #hear(news: TelemetryNews): void {
    if (news.news === 'passed') {
      this.#passed = news.mark
      this.#options.onPassed()
    } else if (news.news === 'status') this.#exports = news.exports
    else {
      const {level, text, facts} = news.report
      this.#options.log[level](facts, text)
    }
  }

  #post(order: TelemetryOrder): void {
    this.#worker?.postMessage(order)
  }
}
