import type {Worker} from 'node:worker_threads'
import {type After, after} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import {startWorker} from '../base/runtime.ts'
import type {Db} from '../store/database.ts'
import type {StoreOptions} from '../store/dialect/index.ts'
import {remoteSqlite} from '../store/dialect/remote.ts'
import {StatementTimeoutFault} from '../store/statement-timeout.ts'
import type {ReaderNews, ReaderOrder, ReaderSetup, ReaderTold} from './reader-messages.ts'

/** The reader for queries that take time. */
export interface Reads {
  readonly db: Db
  close(): Promise<void>
}

/** The reader's thread, as the main thread sees it. */
export type ReaderThread = Pick<Worker, 'on' | 'postMessage' | 'terminate'>

export interface ReaderOptions {
  readonly start: () => ReaderThread
  /** How long a statement may take, its wait for others included. */
  readonly most_ms: number
  readonly after: After
  readonly log: Pick<Log, 'error'>
}

const MAX_MS = 30_000
/** How long a thread may take to end by itself. */
const CLOSES_MS = 5000
const MAX_WAITING = 200
const POSTGRES_CONNECTIONS = 2

/** Opens a thread with a connection of its own beside SQLite, a small pool with a bound on time on PostgreSQL. */
export async function openReads(options: StoreOptions, log: Pick<Log, 'error'>): Promise<Reads> {
  if (options.kind === 'postgres') {
    const {openPostgres} = await import('../store/dialect/postgres.ts')
    const {db, close} = await openPostgres({...options, pool_size: POSTGRES_CONNECTIONS}, 'lists')
    return {db, close}
  }
  const setup: ReaderSetup = {target: {folder: options.folder}}
  const reader = new ReaderClient({start: () => startWorker('reader', setup), most_ms: MAX_MS, after, log})
  return {db: remoteSqlite((sql, parameters) => reader.ask({sql, parameters})), close: () => reader.close()}
}

interface PendingOrder {
  readonly order: ReaderOrder
  readonly done: (rows: readonly unknown[]) => void
  readonly failed: (fault: Error) => void
  readonly cancel: () => void
}

/**
 * The main thread's end: one statement after the other. SQLite cannot be interrupted, so one that takes too long is
 * given up with its thread; the next waits until that has ended, so that there is never more than one.
 */
export class ReaderClient {
  readonly #options: ReaderOptions
  #worker: ReaderThread | undefined
  #under_way: PendingOrder | undefined
  #waiting: PendingOrder[] = []
  #closed = false

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  ask(order: ReaderOrder): Promise<readonly unknown[]> {
    const {after, most_ms} = this.#options
    if (this.#closed) return Promise.reject(new Error('The reader is closed.'))
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(new StatementTimeoutFault(most_ms))
    return new Promise((done, failed) => {
      const request: PendingOrder = {order, done, failed, cancel: after(most_ms, () => this.#giveUp(request))}
      this.#waiting.push(request)
      this.#next()
    })
  }

  /**
   * Lets the thread end by itself: one that is stopped while its native code loads, or runs, can take the process with
   * it.
   */
  async close(): Promise<void> {
    this.#closed = true
    const left = [...(this.#under_way ? [this.#under_way] : []), ...this.#waiting.splice(0)]
    this.#under_way = undefined
    for (const {cancel, failed} of left) {
      cancel()
      failed(new Error('The reader was closed.'))
    }
    const worker = this.#worker
    if (!worker) return
    const ended = new Promise<void>(resolve => worker.on('exit', () => resolve()))
    const message: ReaderTold = 'close'
    worker.postMessage(message)
    const cancel = this.#options.after(CLOSES_MS, () => void worker.terminate())
    await ended
    cancel()
  }

  #next(): void {
    if (this.#under_way || this.#closed) return
    const request = this.#waiting.shift()
    if (!request) return
    this.#under_way = request
    this.#worker ??= this.#start()
    this.#worker.postMessage(request.order)
  }

  #start(): ReaderThread {
    const worker = this.#options.start()
    worker.on('message', (news: ReaderNews) => this.#hear(news))
    worker.on('error', fault => this.#options.log.error({fault}, 'the reader failed'))
    worker.on('exit', () => this.#ended())
    return worker
  }

  #hear(news: ReaderNews): void {
    const request = this.#under_way
    this.#under_way = undefined
    request?.cancel()
    if ('rows' in news) request?.done(news.rows)
    else request?.failed(Object.assign(new Error(news.fault.message), {code: news.fault.code}))
    this.#next()
  }

  #giveUp(request: PendingOrder): void {
    request.failed(new StatementTimeoutFault(this.#options.most_ms))
    if (request === this.#under_way) void this.#worker?.terminate()
    else this.#waiting = this.#waiting.filter(each => each !== request)
  }

  #ended(): void {
    const request = this.#under_way
    this.#worker = undefined
    this.#under_way = undefined
    request?.cancel()
    request?.failed(new Error('The reader ended before it had answered.'))
    this.#next()
  }
}
