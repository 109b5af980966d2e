import type {Log} from '../base/log.ts'
import {type AskAgain, type Deferred, readDeferredCharge} from '../schema/deferred.ts'
import {dueBatches, noteAsked, settleBatch} from '../store/batches.ts'
import type {Store} from '../store/database.ts'
import type {Job} from './schedule.ts'

/** So long after it was begun work is polled first: by then its client has polled, if it ever does. */
export const FIRST_ASK_MS = 120_000
/** Twice as long each time, up to this. */
const MAX_BETWEEN_MS = 6 * 3_600_000
/** Providers keep batches and responses for 30 days. */
const GIVEN_UP_MS = 35 * 86_400_000
/**
 * A provider that only ever failed to say is polled for so long, and at least so often: it may have been down, or its
 * login.
 */
const SAYS_NOTHING_MS = 2 * GIVEN_UP_MS
const MIN_ASKS = 5
/** In one turn. */
const MAX_ASKED = 50

/**
 * Charges batches, and responses made in the background, that ended and that no client polls again: polls the provider
 * itself, ever more seldom, until it reports the result. The time of each next poll is in the database, so that no
 * restart begins again.
 */
export function deferredJob({
  store,
  ask,
  log,
}: {
  readonly store: Store
  readonly ask: AskAgain
  readonly log: Log
}): Job {
  return {
    name: 'deferred',
    every_ms: 60_000,
    async run({now_ms, lost}) {
      for (const {call_id, batch_id: id, charge: text, created_at, asks, has_entry} of await dueBatches(
        store.db,
        now_ms,
        MAX_ASKED,
      )) {
        if (lost.aborted) return
        const charge = readDeferredCharge(text)
        const work: Deferred = {call_id, id, charge, has_entry}
        // noted before the poll: one that ends the process is not polled at once again
        const next_ask_ms = now_ms + Math.min(FIRST_ASK_MS * 2 ** (asks + 1), MAX_BETWEEN_MS)
        await store.write(db => noteAsked(db, call_id, asks + 1, next_ask_ms))
        const came = await ask(work, lost).catch((fault: unknown) => fault)
        const facts = {call_id, id, provider: charge.intent.provider, workspace_id: charge.intent.workspace_id}
        if (came === 'charged') log.info(facts, 'work that nobody asked for again was charged')
        if (lost.aborted) return // what was cut off says nothing of the work
        const age_ms = now_ms - Date.parse(created_at)
        const is_known = came === 'gone' || came === 'unknown'
        if (came !== 'charged' && came !== 'under_way' && !is_known)
          log.warn({...facts, fault: came}, 'work that goes on at a provider could not be asked for')
        if (came === 'charged' || came === 'under_way') continue
        if (is_known ? age_ms <= GIVEN_UP_MS : age_ms <= SAYS_NOTHING_MS || asks + 1 < MIN_ASKS) continue
        await store.write(db => settleBatch(db, call_id, new Date(now_ms).toISOString()))
        log.warn(facts, 'work of more than 35 days ago is not asked for any more, and was not charged')
      }
    },
  }
}
