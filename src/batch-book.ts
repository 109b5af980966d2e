import type {BatchBook, BatchCharge} from './schema/batches.ts'
import {insertBatch, settleBatch, unsettledBatches} from './store/batches.ts'
import type {Store} from './store/database.ts'

/** The batches that calls made, in the database. */
export function batchBook(store: Store): BatchBook {
  return {
    under_way: new Map(),
    open({call_id, batch_id, charge}, created_at) {
      const {workspace_id, provider, integration_id} = charge.intent
      const place = {workspace_id, provider, integration_id: integration_id ?? ''}
      return store.write(db => insertBatch(db, {call_id, batch_id, ...place, charge: JSON.stringify(charge), created_at, settled_at: null}))
    },
    async unsettled({workspace_id, provider, integration_id}, ids) {
      const rows = await unsettledBatches(store.db, {workspace_id, provider, integration_id: integration_id ?? ''}, ids)
      return rows.map(({charge, ...row}) => ({...row, charge: JSON.parse(charge) as BatchCharge}))
    },
    settle: (call_id, now) => store.write(db => settleBatch(db, call_id, now)),
  }
}
