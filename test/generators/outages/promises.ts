import type {CallName} from './calls.ts'
import {DEADLINE_MS} from './world.ts'

/**
 * `served`: as if nothing were. `refused`: 503 with the time to come again, and not told as a fault of our own.
 * `unknown`: 401, as for any key that is none. `unready`: what /readyz answers by which no calls should come.
 */
export type Outcome = 'served' | 'refused' | 'unknown' | 'unready'

/** What docs/operating.md promises while a store is away ("Deadlines", "Stores that do not answer"). */
export interface Promised {
  /** While what is held in memory may be used. */
  readonly calls: Readonly<Record<CallName, Outcome>>
  /** Later than that; null: calls are the same. */
  readonly later: {readonly outcome: Outcome; readonly says: string} | null
  readonly administration: Outcome
  /** Of a call that began before the store went, and ends while it is away. */
  readonly begun: Outcome
  readonly readyz: readonly [status: number, says: string]
  /** It is 1 while the store answers, and 0 while it is away. */
  readonly metric: string
  /** A process that begins meanwhile: it serves, or its start ends with a sentence. */
  readonly start: Outcome
}

const ALL: Readonly<Record<CallName, Outcome>> = {
  'a known key': 'served',
  'a known key, streamed': 'served',
  'a known key, by a saved config': 'served',
  'a known key, with the cache': 'served',
  'a compatible limit of tokens': 'served',
  'a compatible limit of requests': 'served',
  'a strict limit': 'served',
  'a strict limit, streamed': 'served',
  'a new key': 'served',
  'a key that is none': 'unknown',
}
/** Counters are shared there, and are out of reach. */
const WITHOUT_COUNTERS = {...ALL, 'a strict limit': 'refused', 'a strict limit, streamed': 'refused'} as const

export const WELL: Pick<Promised, 'calls' | 'administration'> = {calls: ALL, administration: 'served'}

export const PROMISES: Readonly<Record<'PostgreSQL' | 'Redis', Promised>> = {
  PostgreSQL: {
    calls: {...WITHOUT_COUNTERS, 'a new key': 'refused', 'a key that is none': 'refused'},
    later: {outcome: 'refused', says: 'CALLER_CACHE_MAX_STALE_S'},
    administration: 'refused',
    begun: 'served',
    readyz: [503, 'the database does not answer'],
    metric: 'gateway_database_answers',
    start: 'refused',
  },
  Redis: {
    calls: WITHOUT_COUNTERS,
    later: null,
    administration: 'served',
    begun: 'served',
    readyz: [200, 'Redis does not answer'],
    metric: 'gateway_redis_answers',
    start: 'served',
  },
}

/** A store that is back is in use again by then: docs/operating.md says so. */
export const BACK_MS = DEADLINE_MS + 2_000
