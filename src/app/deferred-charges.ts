import type {HeldWork} from '../limits/index.ts'
import {type DeferredCharges, readDeferredCharge} from '../schema/deferred.ts'
import {heldCharges, insertBatch, settleBatch, unsettledBatches} from '../store/batches.ts'
import type {Store} from '../store/database.ts'
import {FIRST_ASK_MS} from '../workers/deferred.ts'

/** More work is not held again. */
const MAX_HELD = 10_000

/** The claims that attempts of former processes hold for work that is not charged yet. */
export async function heldWork(store: Store): Promise<readonly HeldWork[]> {
  const charges = (await heldCharges(store.db, MAX_HELD)).map(readDeferredCharge)
  return charges.flatMap(({intent: {call_id, attempt, held_keys}, held}) =>
    held_keys && held ? [{call_id, attempt, held_keys, held}] : [],
  )
}

/** Work that calls began and that is charged later, in the database. */
export function deferredBook(store: Store): DeferredCharges {
  return {
    under_way: new Map(),
    open({call_id, id, charge}, created_at) {
      const {workspace_id, provider, integration_id} = charge.intent
      const place = {workspace_id, provider, integration_id: integration_id ?? ''}
      const row = {
        call_id,
        batch_id: id,
        ...place,
        charge: JSON.stringify(charge),
        created_at,
        settled_at: null,
        asks: 0,
        next_ask_ms: Date.parse(created_at) + FIRST_ASK_MS,
      }
      return store.write(db => insertBatch(db, row))
    },
    async unsettled({workspace_id, provider, integration_id}, ids) {
      const rows = await unsettledBatches(store.db, {workspace_id, provider, integration_id: integration_id ?? ''}, ids)
      return rows.map(({charge, batch_id, ...row}) => ({...row, id: batch_id, charge: readDeferredCharge(charge)}))
    },
    settle: (call_id, now) => store.write(db => settleBatch(db, call_id, now)),
  }
}
