import type {Db, Store} from './database.ts'
import {CHAIN_START} from './flush/chain.ts'
import type {Mark} from './journal/index.ts'

/**
 * How far the journal of `writer` is applied; a writer that is new begins at the beginning. In a new epoch (after a
 * restore) the chain continues and segments are numbered on, but nothing of an older epoch is read again (core rule 4).
 */
export async function openMark(store: Store, writer: string, epoch: number): Promise<Mark> {
  const known = await find(store.db, writer)
  if (known?.epoch === epoch) return {segment: known.segment, position: known.position}
  return store.write(async db => {
    await db
      .insertInto('traffic.journal_marks')
      .values({writer, epoch, segment: 0, position: 0, chain: CHAIN_START})
      .onConflict(conflict => conflict.column('writer').doUpdateSet({epoch}))
      .execute()
    const {segment, position} = (await find(db, writer))!
    return {segment, position}
  })
}

function find(db: Db, writer: string) {
  return db.selectFrom('traffic.journal_marks').selectAll().where('writer', '=', writer).executeTakeFirst()
}
