import type {Counters} from './index.ts'
import {createMemoryCounters} from './memory.ts'
import {type CounterTable, createPostgresCounters} from './postgres.ts'
import type {RemoteOptions} from './remote.ts'

export interface CountersOptions extends RemoteOptions {
  /** Shares the counters through Redis. */
  readonly redis_url?: string | undefined
  /** After so long without an answer a connection to Redis is given up. */
  readonly silence_ms?: number
  /** Shares them through PostgreSQL, where there is no Redis; null with SQLite, which one process serves. */
  readonly table: CounterTable | null
}

/**
 * The counters of this installation: in Redis where it is given, in PostgreSQL where that holds the data, else in
 * memory.
 */
export async function openCounters({redis_url, table, ...options}: CountersOptions): Promise<Counters> {
  if (redis_url) {
    const {openRedisCounters} = await import('./redis.ts') // its client is memory that few installations need
    return openRedisCounters({...options, url: redis_url})
  }
  return table ? createPostgresCounters({...options, table}) : createMemoryCounters()
}
