import {DataDirFault} from './data-dir.ts'
import type {Db, Store} from './database.ts'
import type {JournalOwner} from './journal/index.ts'

/**
 * The owner of a store: its id and epoch, made on first use. They are in both databases and in every journal segment
 * (core rule 4); refuses (DataDirFault) two databases that do not belong together.
 */
export async function readOwner(store: Store, new_id: () => string): Promise<JournalOwner> {
  const traffic = await read(store.db, 'traffic.meta')
  const control =
    (await read(store.db, 'meta')) ?? (traffic ? undefined : await give(store, 'meta', {store_id: new_id(), epoch: 1}))
  if (!control)
    throw new DataDirFault(`The control database is not the one that the ledger and the log belong to. ${CURE}`)
  const owner = traffic ?? (await give(store, 'traffic.meta', control))
  if (owner.store_id !== control.store_id)
    throw new DataDirFault(
      `The control database is of the store ${control.store_id}, the ledger and the log are of the store ${owner.store_id}. ${CURE}`,
    )
  if (owner.epoch !== control.epoch)
    throw new DataDirFault(
      `The control database is of epoch ${control.epoch}, the ledger and the log are of epoch ${owner.epoch}: one of them was restored alone. ${CURE}`,
    )
  return control
}

type MetaTable = 'meta' | 'traffic.meta'

const CURE = 'Restore both from the same backup.'

async function read(db: Db, table: MetaTable): Promise<JournalOwner | undefined> {
  const rows = await db.selectFrom(table).selectAll().where('key', 'in', ['store_id', 'epoch']).execute()
  const values = Object.fromEntries(rows.map(({key, value}) => [key, value]))
  if (values.store_id === undefined && values.epoch === undefined) return undefined
  const epoch = Number(values.epoch)
  if (values.store_id === undefined || !Number.isInteger(epoch) || epoch < 1)
    throw new DataDirFault(`The table ${table} does not say whose store it is. ${CURE}`)
  return {store_id: values.store_id, epoch}
}

/** Writes `owner` unless another process was faster; returns the stored one. */
async function give(store: Store, table: MetaTable, {store_id, epoch}: JournalOwner): Promise<JournalOwner> {
  await store.write(db =>
    db
      .insertInto(table)
      .values([
        {key: 'store_id', value: store_id},
        {key: 'epoch', value: String(epoch)},
      ])
      .onConflict(conflict => conflict.column('key').doNothing())
      .execute(),
  )
  return (await read(store.db, table))!
}
