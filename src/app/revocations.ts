import type {After} from '../base/delay.ts'
import {Refusal} from '../base/errors.ts'
import type {Log} from '../base/log.ts'
import {StoreSilentFault} from '../base/store-fault.ts'
import type {Invalidation, Store} from '../store/database.ts'

export interface RevocationsOptions {
  readonly store: Pick<Store, 'kind' | 'dataVersion' | 'revisions' | 'watchWrites' | 'onReconnect'>
  readonly log: Pick<Log, 'warn' | 'info'>
  /** A clock that is never set; milliseconds. */
  readonly steady: () => number
  readonly after: After
  /** DB_QUERY_TIMEOUT_MS. */
  readonly query_timeout_ms: number
  /** CALLER_CACHE_MAX_STALE_S. */
  readonly max_stale_s: number
}

/**
 * Between two looks. With the patience of the first, and a second connection, a revocation is known within a second.
 */
const EVERY_MS = {sqlite: 100, postgres: 300} as const
/** Between two looks while the store reports that someone is writing, and no one is. */
const QUIET_MS = 500
/** A write is reported as it begins: it is looked for until so long behind the last, as a disk has to sync it. */
const STIR_MS = 1_000
/**
 * How long the first look at a silent store waits; each one after it that fails waits twice as long as the one before.
 */
const FIRST_PATIENCE_MS = 300
/**
 * A look ends within a second of the one before, or this process did not run: what it holds is not used before it has
 * looked again.
 */
const PAUSE_MS = 1_000

/**
 * Knows whether another process revoked or changed keys, providers, configs and guardrails. It looks several times a
 * second, less often where the store reports writes and there are none, and clears the caches whose revisions another
 * process moved. While it cannot look, cached rows may be used for CALLER_CACHE_MAX_STALE_S.
 */
export class Revocations {
  readonly #options: RevocationsOptions
  #forget: (moved: ReadonlySet<string> | null) => void = () => undefined
  #version: number | undefined
  /** Revisions up to which nothing old is held; null where nothing is known of them. */
  #known: Map<string, number> | null = null
  #own_writes = 0
  #reconnects = 0
  /** Up to then what is held may be used; of `steady`. */
  #until_ms = Number.NEGATIVE_INFINITY
  #read_ms: number
  #failures = 0
  #silence: string | null = null
  #looking: Promise<void> | undefined
  #cancel: () => void = () => undefined
  /** Ends the store's reports of writes; undefined while there are none. */
  #unwatch: (() => void) | undefined
  /** Until then someone may be writing; of `steady`. */
  #stirred_until_ms = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(options: RevocationsOptions) {
    this.#options = options
    this.#read_ms = options.steady()
  }

  /**
   * Looks from now on; resolves with the first look, whatever came of it. `forget` drops what is held under these names
   * of revisions; null: all of it.
   */
  async start(forget: (moved: ReadonlySet<string> | null) => void): Promise<void> {
    this.#forget = forget
    this.#options.store.onReconnect(() => {
      this.#reconnects++
      this.#version = undefined
      this.#until_ms = Number.NEGATIVE_INFINITY
      this.#soon(0)
    })
    this.#unwatch = this.#options.store.watchWrites?.(
      () => this.#stirred(),
      () => this.#unwatched(),
    )
    await this.#look()
  }

  /** Someone is writing: it is looked more often from now on, until what was written is sure to be seen. */
  #stirred(): void {
    const is_quiet = this.#every_ms === QUIET_MS
    this.#stirred_until_ms = this.#options.steady() + STIR_MS
    if (is_quiet && !this.#looking) this.#soon(this.#every_ms)
  }

  #unwatched(): void {
    this.#unwatch = undefined
    if (!this.#looking) this.#soon(0)
  }

  get #every_ms(): number {
    const {store, steady} = this.#options
    return this.#unwatch && steady() >= this.#stirred_until_ms ? QUIET_MS : EVERY_MS[store.kind]
  }

  /**
   * This process wrote, and has forgotten what that made old. A revision that moved further is another's, too: it stays
   * unknown, for the next look to find.
   */
  wrote({revisions}: Pick<Invalidation, 'revisions'>): void {
    this.#own_writes++
    for (const [name, revision] of Object.entries(revisions))
      if (revision === (this.#known?.get(name) ?? 0) + 1) this.#known?.set(name, revision)
  }

  /** One comparison, for every call: true while what is held may be used. */
  get holds(): boolean {
    return this.#options.steady() < this.#until_ms
  }

  /**
   * Resolves when what is held may be used. Refuses (`callers.stale`) when it was not known for too long what is
   * revoked.
   */
  async ready(): Promise<void> {
    if (this.#failures === 0 || this.#until_ms === Number.NEGATIVE_INFINITY) await this.#look()
    if (!this.holds) throw new Refusal('callers.stale', {limit_s: this.#options.max_stale_s})
  }

  /** Why the database is out of reach, as /readyz says it; null while it answers. */
  get silence(): string | null {
    if (this.#silence === null) return null
    const stale = this.holds ? '' : ', and it is not known what was revoked for longer than CALLER_CACHE_MAX_STALE_S'
    return `the database does not answer: ${this.#silence}${stale}`
  }

  /** How old what is held may be, in milliseconds. */
  get age_ms(): number {
    return Math.max(0, this.#options.steady() - this.#read_ms)
  }

  close(): void {
    this.#closed = true
    this.#unwatch?.()
    this.#cancel()
  }

  /** One look at a time: later callers wait for it. */
  #look(): Promise<void> {
    this.#cancel()
    this.#looking ??= this.#read().finally(() => {
      this.#looking = undefined
      this.#soon(this.#failures === 1 ? 0 : this.#every_ms)
    })
    return this.#looking
  }

  #soon(ms: number): void {
    this.#cancel()
    if (!this.#closed) this.#cancel = this.#options.after(ms, () => void this.#look())
  }

  async #read(): Promise<void> {
    const {store, steady, query_timeout_ms, max_stale_s} = this.#options
    const asked_ms = steady()
    try {
      const patience_ms = Math.min(query_timeout_ms, FIRST_PATIENCE_MS * 2 ** Math.min(this.#failures, 20))
      const reconnects = this.#reconnects
      const version = await store.dataVersion(patience_ms)
      if (version !== this.#version) await this.#compare(patience_ms)
      if (reconnects === this.#reconnects) this.#version = version
      this.#read_ms = asked_ms
      this.#until_ms = asked_ms + Math.max(max_stale_s * 1_000, PAUSE_MS)
      this.#answered()
    } catch (fault) {
      this.#failures++
      this.#until_ms = this.#read_ms + max_stale_s * 1_000
      this.#failed(fault)
    }
  }

  async #compare(within_ms: number): Promise<void> {
    const own_writes = this.#own_writes
    const found = await this.#options.store.revisions(within_ms)
    const known = this.#known
    // none goes back, but for a write of this process after they were read, or in another database
    const is_another =
      own_writes === this.#own_writes && [...(known ?? [])].some(([name, last]) => (found.get(name) ?? 0) < last)
    if (!known || is_another) {
      this.#known = new Map(found)
      return this.#forget(null)
    }
    const moved = [...found].filter(([name, revision]) => revision > (known.get(name) ?? 0))
    for (const [name, revision] of moved) known.set(name, revision)
    if (moved.length > 0) this.#forget(new Set(moved.map(([name]) => name)))
  }

  /** The first that fails may have met a connection that was cut; the next has another. */
  #failed(fault: unknown): void {
    if (this.#failures < 2 || this.#silence !== null) return
    this.#silence = fault instanceof StoreSilentFault ? fault.reason : 'it cannot say what was revoked'
    this.#options.log.warn(
      {fault},
      'the database does not answer; callers that are known go on for CALLER_CACHE_MAX_STALE_S',
    )
  }

  #answered(): void {
    if (this.#silence !== null) this.#options.log.info('the database answers again')
    this.#failures = 0
    this.#silence = null
  }
}
