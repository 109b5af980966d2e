import {type CacheTable, createDatabaseCache} from './database.ts'
import {lenient} from './fail-open.ts'
import type {Cache, KeptAnswers} from './index.ts'
import {type LayeredCache, layered} from './layered.ts'
import {createMemoryCache} from './memory.ts'

export interface CacheOptions {
  readonly now: () => number
  /** Shares the answers through Redis, in place of the database. */
  readonly redis_url?: string | undefined
  /** After so long without an answer a connection to Redis is given up. */
  readonly silence_ms?: number
  /** The table of answers; null where there is none, so that they live in memory alone. */
  readonly table: CacheTable | null
  /** Other processes use the table, too. */
  readonly is_shared: boolean
  readonly memory_bytes?: number | undefined
  readonly database_bytes?: number | undefined
  readonly redis_bytes?: number | undefined
  readonly entry_bytes?: number | undefined
  /** Called with faults of the store, once a minute at most; `times` there were since the last. */
  readonly onFault: (fault: unknown, times: number) => void
}

/** An answer that another process refreshed is given for no longer than this. */
const SHARED_NEAR_MS = 60_000

/** The cache of calls, and its answers as the administration sees them. */
export type OpenedCache = LayeredCache & {readonly kept: KeptAnswers}

/**
 * The cache of this installation: memory in front of Redis where it is given, else of the database. Its faults are
 * misses.
 */
export async function openCache(options: CacheOptions): Promise<OpenedCache> {
  const {now, redis_url, table, is_shared, entry_bytes, onFault} = options
  const size = entry_bytes === undefined ? {} : {most_entry_bytes: entry_bytes}
  const silence = options.silence_ms === undefined ? {} : {silence_ms: options.silence_ms}
  const bound = (most_bytes: number | undefined) => (most_bytes === undefined ? size : {...size, most_bytes})
  const near = createMemoryCache({now, ...bound(options.memory_bytes)})
  const within = (far: Cache & KeptAnswers, shared: boolean): OpenedCache => {
    const cautious = lenient(far, {now, onFault})
    const cache = layered({near, far: cautious, now, ...(shared ? {most_near_ms: SHARED_NEAR_MS} : {})})
    return {...cache, kept: far}
  }
  if (redis_url) {
    const {openRedisCache} = await import('./redis.ts') // its client is memory that few installations need
    const far = await openRedisCache({url: redis_url, now, ...bound(options.redis_bytes), ...silence})
    return within(far, true)
  }
  // there is no other copy that could be dropped
  if (!table) return {...near, drop: () => undefined, kept: near}
  const far = createDatabaseCache({table, now, onFault: fault => onFault(fault, 1), ...bound(options.database_bytes)})
  return within(far, is_shared)
}
