import {performance} from 'node:perf_hooks'
import {newId, newTimeId} from '../../../src/base/ids.ts'
import type {Store} from '../../../src/store/database.ts'
import type {StoreOptions} from '../../../src/store/dialect/index.ts'
import {insertFeedback} from '../../../src/store/feedback.ts'
import {callAt, openFlush} from '../../support/flushed.ts'

export const DAYS = 30
export const DAY_MS = 86_400_000
/** The last whole days, which retention leaves alone. */
export const FROM_MS = (Math.floor(Date.now() / DAY_MS) - DAYS) * DAY_MS
export const SPAN_MS = DAYS * DAY_MS
export const KEYS = Array.from(
  {length: 20},
  (_, n) => `7c1d9a52-2b90-4c55-9a39-3ad4d17c8b${String(n).padStart(2, '0')}`,
)
const MODELS = ['gpt-5', 'gpt-5-mini', 'claude-sonnet', 'gemini-pro', 'mistral-large']
const SLICE = 2000
/** Every so many traces somebody says what he thinks of. */
const THOUGHT_OF = 100

export interface Place {
  readonly organisation_id: string
  readonly workspace_id: string
}

export const iso = (ms: number) => new Date(ms).toISOString()

/**
 * Writes the calls of 30 days as the flusher does, at even distances: rows, entries of the ledger and sums; and
 * feedback on some.
 */
export async function fillLog(store: Store, options: StoreOptions, place: Place, count: number): Promise<void> {
  const flush = await openFlush({store, options})
  const began = performance.now()
  for (let n = 0; n < count; ) {
    const slice = []
    for (const end = Math.min(count, n + SLICE); n < end; n++) slice.push(call(place, n, count))
    await flush.apply(...slice)
    const thoughts = slice
      .filter((_, at) => at % THOUGHT_OF === 0)
      .map(({trace_id, admitted_at}) => thoughtOf(place, trace_id, admitted_at))
    await store.write(db => insertFeedback(db, thoughts))
  }
  await flush.close()
  console.log(`${count} rows written in ${((performance.now() - began) / 1000).toFixed(1)} s`)
}

function call(place: Place, n: number, count: number) {
  const at_ms = FROM_MS + Math.floor((n / count) * SPAN_MS)
  const failed = n % 37 === 0
  return callAt({
    ...place,
    at: iso(at_ms),
    api_key_id: KEYS[(n * 7) % KEYS.length]!,
    model: MODELS[(n * 3) % MODELS.length]!,
    outcome: failed ? 'failed' : 'ok',
    cost_nanousd: (n * 7919) % 1_000_000,
    trace_id: newTimeId(at_ms),
    log: {
      response_status: failed ? 429 : 200,
      cache_status: n % 11 === 0 ? 'HIT' : 'MISS',
      retry_count: n % 53 === 0 ? 1 : 0,
      last_byte_ms: 50 + ((n * 104_729) % 9_000),
      metadata: {_user: `user-${n % 500}`, team: n % 2 ? 'blue' : 'red'},
    },
  })
}

function thoughtOf(place: Place, trace_id: string, created_at: string) {
  const said = {api_key_id: null, user_id: null, source: 'api' as const, value: 5, weight: 1, metadata: '{}'}
  return {...place, ...said, id: newId(), trace_id, created_at, last_updated_at: created_at}
}
