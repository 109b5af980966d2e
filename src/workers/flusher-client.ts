import type {Worker} from 'node:worker_threads'
import type {After} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import {StoreSilentFault, unwritableReason} from '../base/store-fault.ts'
import type {Mark} from '../store/journal/index.ts'
import type {BodyQueue} from './bodies.ts'
import {FlushTick} from './flush-tick.ts'
import {isBefore} from './flusher.ts'
import type {FlusherNews, FlusherOrder} from './flusher-messages.ts'
import {JournalPace} from './journal-pace.ts'

/** The flusher's thread, as the main thread sees it. */
export type FlusherThread = Pick<Worker, 'on' | 'once' | 'postMessage' | 'terminate'>

export interface FlusherLinkOptions {
  readonly start: () => FlusherThread
  /** The mark up to which the journal is applied already. */
  readonly mark: Mark
  readonly bodies: BodyQueue
  readonly log: Log
  readonly now: () => number
  readonly after: After
  /** The database holds everything before `mark`. */
  readonly onCommitted: (mark: Mark) => void
}

const RESTART_MS = 1_000
/**
 * After twice this no spare is left of a load: before memory is released, a minute after it (src/base/idle-memory.ts).
 */
const TRIM_MS = 25_000

/**
 * The main thread's end of the flusher: gathers records for 50 ms, under load for up to 250, then has them flushed, one
 * order at a time. A thread that dies is started again: the records that it had not written are in the journal.
 */
export class FlusherLink {
  readonly #options: FlusherLinkOptions
  #worker: FlusherThread | undefined
  #wanted: Mark
  #flushed: Mark
  /** True while a flush is ordered and not answered. */
  #ordered = false
  #behind_since_ms: number | undefined
  readonly #tick = new FlushTick()
  #sent_bytes = 0
  #sent_rows = 0
  #set_aside = 0
  #cancel: (() => void) | undefined
  #waiting: {readonly isDone: () => boolean; readonly done: () => void}[] = []
  /** The current fault of the database, as its thread last reported it. */
  #hindered: unknown
  readonly #pace: JournalPace
  #closing = false
  #trims = false
  #retention: PromiseWithResolvers<boolean> | undefined
  #sealing: PromiseWithResolvers<readonly string[]> | undefined

  constructor(options: FlusherLinkOptions) {
    this.#options = options
    this.#wanted = options.mark
    this.#flushed = options.mark
    this.#pace = new JournalPace(options.mark)
    this.#start()
  }

  /** How long something has been waiting for the database, in milliseconds; 0 when nothing is. */
  get lag_ms(): number {
    return this.#behind_since_ms === undefined ? 0 : Math.max(0, this.#options.now() - this.#behind_since_ms)
  }

  /** True while calls come faster than the database takes them, and the journal grows: new ones are to be refused. */
  get is_outrun(): boolean {
    return this.#pace.is_outrun
  }

  /** Bytes of the journal that the database does not have. */
  get waiting_bytes(): number {
    return this.#pace.waiting_bytes
  }

  /** Why the database takes nothing, as far as its thread reported it. */
  get hindrance(): string {
    return unwritableReason(this.#hindered) ?? 'its database takes nothing now'
  }

  /** Records that the database did not take as they are. */
  get set_aside(): number {
    return this.#set_aside
  }

  /** The journal is written up to `mark`. */
  written(mark: Mark): void {
    if (!isBefore(this.#wanted, mark)) return
    this.#wanted = mark
    this.#pace.written(mark)
    const now_ms = this.#options.now()
    this.#behind_since_ms ??= now_ms
    this.#tick.gathers(now_ms)
    this.#soon()
  }

  /** Bodies wait: a whole block goes out at once, what is less with the next tick. */
  bodiesWait(): void {
    if (this.#options.bodies.isFull && !this.#closing) this.#sendBodies()
    else this.#soon()
  }

  /** Something waits: it goes out with the next tick. */
  #soon(): void {
    if (this.#cancel || this.#closing) return
    const {after, now} = this.#options
    // while a flush is in progress only bodies can go; behind it the time is taken again
    const wait_ms = this.#ordered ? this.#tick.ms : this.#tick.left(now())
    this.#cancel = after(wait_ms, () => {
      this.#cancel = undefined
      this.#send()
    })
  }

  #again(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#soon()
  }

  /**
   * Resolves when everything before `mark` and every body handed over is written; at once when the link is closed.
   * Rejects (StoreSilent) after `most_ms`: the records are in the journal, and are written as soon as the database lets
   * it.
   */
  flush(mark: Mark, most_ms = Number.POSITIVE_INFINITY): Promise<void> {
    this.written(mark)
    this.#send()
    const isDone = () => !isBefore(this.#flushed, mark) && this.#sent_bytes === 0
    if (isDone() || this.#closing) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const wait = {
        isDone,
        done() {
          cancel()
          resolve()
        },
      }
      const late = () => {
        this.#waiting = this.#waiting.filter(each => each !== wait)
        reject(new StoreSilentFault('the ledger', this.hindrance, {cause: this.#hindered}))
      }
      const cancel = most_ms === Number.POSITIVE_INFINITY ? () => undefined : this.#options.after(most_ms, late)
      this.#waiting.push(wait)
    })
  }

  /** Deletes what is past its time, for one turn; true when all of it is gone. One turn at a time. */
  retain(): Promise<boolean> {
    if (!this.#worker || this.#closing) return Promise.reject(new Error('The thread that deletes is not there now.'))
    if (!this.#retention) {
      this.#retention = Promise.withResolvers()
      this.#post({order: 'retain', now_ms: this.#options.now()})
    }
    return this.#retention.promise
  }

  /** Has no file of bodies written to that there is now, and gives their paths. */
  seal(): Promise<readonly string[]> {
    if (!this.#worker || this.#closing)
      return Promise.reject(new Error('The thread that keeps bodies is not there now.'))
    if (!this.#sealing) {
      this.#sealing = Promise.withResolvers()
      this.#post({order: 'seal'})
    }
    return this.#sealing.promise
  }

  /**
   * Flushes up to `mark` and ends the thread; after `most_ms` without regard to what is left, which the journal then
   * keeps.
   */
  async close(mark: Mark, most_ms: number): Promise<void> {
    let cancel: (() => void) | undefined
    const late = new Promise<void>(resolve => {
      cancel = this.#options.after(most_ms, () => {
        this.#options.log.warn('the database did not take all of the journal in time; the next start applies the rest')
        resolve()
      })
    })
    // One order at a time: records behind the current one are ordered when that is answered, and only then the thread
    // may end.
    await Promise.race([this.flush(mark), late])
    this.#closing = true
    this.#cancel?.()
    const ended = new Promise<void>(resolve => this.#worker?.once('exit', () => resolve()) ?? resolve())
    this.#post({order: 'close'})
    await Promise.race([ended, late])
    cancel?.()
    await this.#worker?.terminate()
    for (const {done} of this.#waiting.splice(0)) done()
  }

  #start(): void {
    const worker = this.#options.start()
    this.#worker = worker
    worker.on('message', (news: FlusherNews) => this.#hear(news))
    worker.on('error', fault => this.#options.log.error({fault}, 'the flusher failed'))
    worker.on('exit', () => this.#ended())
  }

  #ended(): void {
    this.#worker = undefined
    this.#retention?.reject(new Error('The thread that deletes has ended.'))
    this.#retention = undefined
    this.#sealing?.reject(new Error('The thread that keeps bodies has ended.'))
    this.#sealing = undefined
    if (this.#closing) return
    const {bodies, log, after} = this.#options
    bodies.dropped += this.#sent_rows
    bodies.written(this.#sent_bytes)
    this.#sent_bytes = 0
    this.#sent_rows = 0
    this.#ordered = false
    this.#pace.hindered()
    log.error('the flusher ended and is started again; the journal keeps what it had not written')
    after(RESTART_MS, () => {
      if (this.#closing) return
      this.#start()
      this.#send()
    })
  }

  #send(): void {
    if (!this.#worker) return
    if (!this.#ordered && isBefore(this.#flushed, this.#wanted)) {
      this.#ordered = true
      this.#tick.ordered(this.#pace.ordered(), this.#options.now())
      this.#post({order: 'flush', up_to: this.#wanted})
    }
    this.#sendBodies()
  }

  #sendBodies(): void {
    const {bodies, now} = this.#options
    while (this.#worker && !bodies.isEmpty) {
      const packed = bodies.pack(now())!
      this.#sent_bytes += packed.weight_bytes
      this.#sent_rows += packed.rows
      this.#post({order: 'bodies', ...packed})
    }
  }

  #notePace(): void {
    if (!this.#pace.flushed(this.#hindered !== undefined)) return
    const {waiting_bytes, is_outrun} = this.#pace
    if (is_outrun)
      this.#options.log.warn({waiting_bytes}, 'calls come faster than the ledger takes them; new ones are refused')
    else this.#options.log.info({waiting_bytes}, 'the ledger keeps up with calls again; all are taken')
  }

  #trimLater(): void {
    const {bodies, after} = this.#options
    if (this.#trims || !bodies.blocks.hasMany) return
    this.#trims = true
    after(TRIM_MS, () => {
      this.#trims = false
      bodies.blocks.trim()
      this.#trimLater()
    })
  }

  #post(order: FlusherOrder): void {
    this.#worker?.postMessage(order)
  }

  #hear(news: FlusherNews): void {
    const {bodies, log, now, onCommitted} = this.#options
    if (news.news === 'report') {
      const {level, text, facts, fault, sets_aside} = news.report
      if (sets_aside) this.#set_aside++
      log[level]({...facts, ...(fault === undefined ? {} : {fault})}, text)
      if (level === 'error') {
        this.#hindered = fault
        this.#pace.hindered()
      }
      return
    }
    if (news.news === 'retained') {
      const {done, fault} = news
      if (fault === undefined) this.#retention?.resolve(done)
      else this.#retention?.reject(new Error((fault as Error).message, {cause: fault}))
      this.#retention = undefined
      return
    }
    if (news.news === 'sealed') {
      if (news.fault === undefined) this.#sealing?.resolve(news.packs)
      else this.#sealing?.reject(new Error((news.fault as Error).message, {cause: news.fault}))
      this.#sealing = undefined
      return
    }
    if (news.news === 'bodies') {
      this.#sent_bytes -= news.weight_bytes
      this.#sent_rows -= news.rows
      bodies.written(news.weight_bytes)
      bodies.blocks.giveBack(news.bytes)
      this.#trimLater()
      bodies.dropped += news.refused
    } else {
      this.#ordered = false
      this.#notePace()
      this.#hindered = undefined
      this.#flushed = news.up_to
      const is_behind = isBefore(this.#flushed, this.#wanted)
      const now_ms = now()
      this.#behind_since_ms = is_behind ? now_ms : undefined
      this.#tick.flushed(now_ms, is_behind)
      if (is_behind && this.#waiting.length > 0) this.#send()
      else if (is_behind) this.#again()
      onCommitted(news.committed)
    }
    this.#waiting = this.#waiting.filter(({isDone, done}) => {
      if (!isDone()) return true
      done()
      return false
    })
  }
}
