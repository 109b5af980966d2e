import type {Db} from './database.ts'

/** The data that is deleted in time; checks of the ledger compare with it while it exists. */
export type RetainedKind = 'logs' | 'hours'

/** From when on rows of a kind are all there; ISO 8601, or the beginning of one. */
export async function retainedSince(db: Db, kept: RetainedKind): Promise<string> {
  const row = await db.selectFrom('traffic.meta').select('value').where('key', '=', keyOf(kept)).executeTakeFirst()
  return row?.value ?? EVER
}

/** Says that rows before `at` may be missing from now on; a later time stays. */
export async function keepFrom(db: Db, kept: RetainedKind, at: string) {
  await db
    .insertInto('traffic.meta')
    .values({key: keyOf(kept), value: at})
    .onConflict(conflict => conflict.column('key').doUpdateSet({value: at}).where('traffic.meta.value', '<', at))
    .execute()
}

const EVER = '0000'
const keyOf = (kept: RetainedKind) => `kept_from/${kept}`
