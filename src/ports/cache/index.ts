import type {MaybePromise} from '../../base/maybe-promise.ts'
import type {KeptEntry, KeptFilter} from '../../schema/cache.ts'
import type {Page, Paged} from '../../schema/paging.ts'

/**
 * The place of an answer. The workspace is part of the digest, too: it is separate so that its answers can be purged.
 */
export interface CacheKey {
  readonly workspace_id: string
  /** 64 hex digits. */
  readonly digest: string
  /** Kept beside the answer, for those who list and clear; it is part of the digest already. */
  readonly about?: AnswerMarks
}

/** The marks by which kept answers are listed and cleared; null where the request has no such thing. */
export interface AnswerMarks {
  readonly model: string | null
  readonly namespace: string | null
}

/** An answer that is kept. Its bytes are shared: they must not be written to. */
export interface CacheEntry {
  /** The whole answer as JSON, in the gateway's format. */
  readonly body: Buffer
  readonly stored_at_ms: number
}

/** An answer that was found, and until when it may be given. */
export interface FoundEntry extends CacheEntry {
  readonly expires_at_ms: number
}

/**
 * Answers kept for a time. Whatever is in here may be gone at any moment: that is a miss. Times are epoch milliseconds
 * of the clock the store was given; of processes that share a store the clocks should agree within a second or so.
 */
export interface Cache {
  /** As `get`, as far as it is known at once: undefined also where the store would have to be queried. */
  peek(key: CacheKey): FoundEntry | undefined
  /** Undefined when there is none, or its time is over. */
  get(key: CacheKey): MaybePromise<FoundEntry | undefined>
  /**
   * Keeps the answer for `ttl_ms`, in place of what was there. One too large for the store is not kept, nor is what it
   * replaces.
   */
  set(key: CacheKey, entry: CacheEntry, ttl_ms: number): MaybePromise<void>
  delete(key: CacheKey): MaybePromise<void>
  /** Forgets every answer of a workspace. */
  purge(workspace_id: string): MaybePromise<void>
  close(): Promise<void>
}

/** Kept answers as the administration sees them. Unlike those of calls, its faults reject. */
export interface KeptAnswers {
  /** The newest first. */
  list(filter: KeptFilter, page: Page): Promise<Paged<KeptEntry>>
  /** Forgets answers; how many there were. */
  clear(filter: KeptFilter): Promise<number>
}
