import type {After} from '../base/delay.ts'
import {type Log, redacted} from '../base/log.ts'
import type {Store} from '../store/database.ts'
import {claimJob, endJob, renewJob, type WorkerKey} from '../store/workers.ts'

/** Those of a log store that is not this machine. */
type LogStoreJob = 'log-upload' | 'log-objects' | 'log-spool'

/** One for each place that gets the audit log. */
type AuditSinkJob = `audit-sink ${string}`

/** The jobs in the background; a metric has a label for each. */
export type JobName =
  | 'key-expiry'
  | 'budgets'
  | 'alerts'
  | 'mail'
  | 'log-retention'
  | 'export-retention'
  | 'sign-in-retention'
  | 'mcp-oauth-retention'
  | 'mcp-session-retention'
  | 'certificates'
  | 'domain-looks'
  | 'price-refresh'
  | 'journal-flush'
  | 'reconcile'
  | 'deferred'
  | 'mcp-sync'
  | AuditSinkJob
  | LogStoreJob

/** One turn of a job. */
export interface JobRun {
  /** When it began; epoch milliseconds. */
  readonly now_ms: number
  /** Raised when the job is another process's by now, or this one ends: what is left is to be left. */
  readonly lost: AbortSignal
}

export interface Job {
  readonly name: JobName
  /** Periods are aligned to the epoch: of all processes one does the job, once in each. */
  readonly every_ms: number
  /** Each process does it for itself. */
  readonly each_process?: true
  run(turn: JobRun): Promise<void>
}

/** This process's runs of a job. */
export interface JobCounts {
  readonly name: JobName
  readonly runs: number
  readonly failures: number
  /** Epoch milliseconds of the last end without failure; null before. */
  readonly succeeded_at_ms: number | null
  readonly duration_ms: number | null
}

export interface Schedule {
  counts(): readonly JobCounts[]
  /** Starts nothing more, and waits a while for what runs. */
  close(): Promise<void>
}

export interface ScheduleOptions {
  readonly jobs: readonly Job[]
  readonly store: Store
  /** Names this process among those that share the database. */
  readonly holder: string
  readonly log: Log
  readonly now: () => number
  readonly after: After
  /** After this long another process takes over a job whose holder is silent. @default 60000 */
  readonly lease_ms?: number
  /** How long `close` waits. @default 5000 */
  readonly close_ms?: number
}

const SOONEST_MS = 20
/** Jobs of one period do not all fall on its first moment: calls continue meanwhile. */
const APART_MS = 250
const MIN_APART_MS = 60_000
const LATEST_MS = 60_000
const RETRY_MS = 5_000
const MAX_ERROR = 500

/**
 * Runs jobs in their periods. A row in the database says who has a job and until when, so that of several processes one
 * does it; a process that was killed loses its jobs when the lease ends. A job that fails is tried again in its next
 * period.
 */
export function startSchedule({
  jobs,
  store,
  holder,
  log,
  now,
  after,
  lease_ms = 60_000,
  close_ms = 5_000,
}: ScheduleOptions): Schedule {
  const runners = jobs.map((job, place) => new Runner(job, place, {store, holder, log, now, after, lease_ms}))
  for (const runner of runners) runner.start()
  return {
    counts: () => runners.map(runner => runner.counts),
    async close() {
      let cancel = () => {}
      const late = new Promise<void>(resolve => {
        cancel = after(close_ms, resolve)
      })
      await Promise.race([Promise.all(runners.map(runner => runner.stop())), late])
      cancel()
    },
  }
}

type Parts = Required<Omit<ScheduleOptions, 'jobs' | 'close_ms'>>

class Runner {
  readonly #job: Job
  readonly #on: Parts
  readonly #key: WorkerKey
  readonly #late_ms: number
  readonly #stopped = new AbortController()
  counts: JobCounts
  #cancel = () => {}
  #turn: Promise<void> = Promise.resolve()
  /** Reported once, until it works again. */
  #is_silent = false

  constructor(job: Job, place: number, on: Parts) {
    this.#job = job
    this.#on = on
    this.#late_ms = job.every_ms < MIN_APART_MS ? 0 : place * APART_MS
    this.#key = {name: job.name, process: job.each_process ? on.holder : ''}
    this.counts = {name: job.name, runs: 0, failures: 0, succeeded_at_ms: null, duration_ms: null}
  }

  start() {
    this.#lookIn(SOONEST_MS + this.#late_ms)
  }

  async stop() {
    this.#stopped.abort()
    this.#cancel()
    await this.#turn
  }

  #lookIn(ms: number) {
    if (this.#stopped.signal.aborted) return
    this.#cancel = this.#on.after(Math.min(LATEST_MS, Math.max(SOONEST_MS, ms)), () => {
      this.#turn = this.#look()
    })
  }

  async #look() {
    const {store, holder, log, now, lease_ms} = this.#on
    try {
      const now_ms = now()
      const claim = await claimJob(store, this.#key, {holder, now_ms, lease_ms, every_ms: this.#job.every_ms})
      this.#is_silent = false
      if (claim.claimed) await this.#run(now_ms)
      this.#lookIn((claim.claimed ? this.#nextAt(now_ms) : claim.again_at_ms) - now() + this.#late_ms)
    } catch (fault) {
      if (!this.#is_silent)
        log.warn({fault, worker: this.#job.name}, 'a background job could not be taken up; it is tried again')
      this.#is_silent = true
      this.#lookIn(RETRY_MS)
    }
  }

  async #run(started_ms: number) {
    const {store, holder, log, now} = this.#on
    const lost = new AbortController()
    const stopRenewing = this.#renewing(lost)
    let fault: unknown
    try {
      await this.#job.run({now_ms: started_ms, lost: AbortSignal.any([lost.signal, this.#stopped.signal])})
    } catch (thrown) {
      fault = thrown ?? new Error('It failed without a reason.')
      log.error({fault, worker: this.#job.name}, 'a background job failed; it is tried again in its next period')
    }
    await stopRenewing()
    const ended_ms = now()
    const duration_ms = Math.max(0, ended_ms - started_ms)
    const {runs, failures, succeeded_at_ms} = this.counts
    this.counts = {
      name: this.#job.name,
      runs: runs + 1,
      failures: failures + (fault === undefined ? 0 : 1),
      succeeded_at_ms: fault === undefined ? ended_ms : succeeded_at_ms,
      duration_ms,
    }
    const due_at_ms = this.#nextAt(started_ms)
    const ended_at = new Date(ended_ms).toISOString()
    const is_mine = await endJob(store, this.#key, holder, {ended_at, duration_ms, error: sentenceOf(fault), due_at_ms})
    if (!is_mine)
      log.warn(
        {worker: this.#job.name},
        'a background job took longer than its lease, and another process took it over',
      )
  }

  /** Renews the lease in thirds of it, until stopped; raises `lost` when the job is another's. */
  #renewing(lost: AbortController): () => Promise<void> {
    const {store, holder, log, now, after, lease_ms} = this.#on
    let renewal: Promise<void> = Promise.resolve()
    let done = false
    let cancel = () => {}
    const renew = async () => {
      try {
        if (!(await renewJob(store, this.#key, holder, now() + lease_ms))) lost.abort()
      } catch (fault) {
        log.warn({fault, worker: this.#job.name}, 'the lease of a background job could not be renewed')
      }
      if (!done && !lost.signal.aborted) wait()
    }
    const wait = () => {
      cancel = after(lease_ms / 3, () => {
        renewal = renew()
      })
    }
    wait()
    return () => {
      done = true
      cancel()
      return renewal
    }
  }

  #nextAt(started_ms: number): number {
    const {every_ms} = this.#job
    return (Math.floor(started_ms / every_ms) + 1) * every_ms
  }
}

function sentenceOf(fault: unknown): string | null {
  if (fault === undefined) return null
  const text = redacted(fault instanceof Error ? fault.message : String(fault))
  return text.length > MAX_ERROR ? `${text.slice(0, MAX_ERROR)}…` : text
}
