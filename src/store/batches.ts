import type {Db} from './database.ts'
import {anyOf} from './rows.ts'
import type {BatchesTable} from './tables/batches.ts'

/** The scope in which a provider's ids of batches and responses are unique. */
export type BatchPlace = Pick<BatchesTable, 'workspace_id' | 'provider' | 'integration_id'>

/** A provider that gives one id twice speaks of one batch, or one response: the first call that made it is charged. */
export async function insertBatch(db: Db, row: BatchesTable): Promise<void> {
  await db
    .insertInto('batches')
    .values(row)
    .onConflict(conflict => conflict.columns(['workspace_id', 'batch_id', 'provider', 'integration_id']).doNothing())
    .execute()
}

/**
 * Those of the ids that are not charged yet, as far as it is known; and whether the ledger has the entry all the same.
 */
export async function unsettledBatches(
  db: Db,
  {workspace_id, provider, integration_id}: BatchPlace,
  ids: readonly string[],
) {
  const rows = await db
    .selectFrom('batches as b')
    .leftJoin('traffic.ledger_entries as e', join => join.onRef('e.call_id', '=', 'b.call_id').on('e.attempt', '=', 1))
    .select(['b.call_id', 'b.batch_id', 'b.charge', 'e.call_id as entry'])
    .where('b.workspace_id', '=', workspace_id)
    .where('b.provider', '=', provider)
    .where('b.integration_id', '=', integration_id)
    .where('b.batch_id', 'in', anyOf(ids))
    .where('b.settled_at', 'is', null)
    .execute()
  return rows.map(({entry, ...row}) => ({...row, has_entry: entry !== null}))
}

/** Work that is to be polled: not charged, made by an integration, and its time has come; the longest due first. */
export async function dueBatches(db: Db, now_ms: number, most: number) {
  const rows = await db
    .selectFrom('batches as b')
    .leftJoin('traffic.ledger_entries as e', join => join.onRef('e.call_id', '=', 'b.call_id').on('e.attempt', '=', 1))
    .select(['b.call_id', 'b.batch_id', 'b.charge', 'b.created_at', 'b.asks', 'e.call_id as entry'])
    .where('b.settled_at', 'is', null)
    .where('b.integration_id', '!=', '')
    .where('b.next_ask_ms', '<=', now_ms)
    .orderBy('b.next_ask_ms')
    .orderBy('b.call_id')
    .limit(most)
    .execute()
  return rows.map(({entry, asks, ...row}) => ({...row, asks: Number(asks), has_entry: entry !== null}))
}

/** Charges of work that continues and is not in the ledger yet, as far as strict limits hold something for it. */
export async function heldCharges(db: Db, most: number): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('batches as b')
    .leftJoin('traffic.ledger_entries as e', join => join.onRef('e.call_id', '=', 'b.call_id').on('e.attempt', '=', 1))
    .select('b.charge')
    .where('b.settled_at', 'is', null)
    .where('b.charge', 'like', '%"held":{%')
    .where('e.call_id', 'is', null)
    .orderBy('b.next_ask_ms')
    .limit(most)
    .execute()
  return rows.map(({charge}) => charge)
}

/** Notes that it was polled, and when it is to be next. */
export async function noteAsked(db: Db, call_id: string, asks: number, next_ask_ms: number): Promise<void> {
  await db
    .updateTable('batches')
    .set({asks, next_ask_ms})
    .where('call_id', '=', call_id)
    .where('settled_at', 'is', null)
    .execute()
}

/** Marks it as charged; false when another process did. */
export async function settleBatch(db: Db, call_id: string, settled_at: string): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('batches')
    .set({settled_at})
    .where('call_id', '=', call_id)
    .where('settled_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0
}
