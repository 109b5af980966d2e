import {sql} from 'kysely'
import type {Db} from './database.ts'

/** Notes that rows of `tables` changed, in the transaction that changed them: other processes see it and drop what they hold. */
export async function bumpRevisions(db: Db, tables: readonly string[]) {
  if (!tables.length) return
  await db
    .insertInto('revisions')
    .values([...new Set(tables)].sort().map(name => ({name, revision: 1})))
    .onConflict(conflict => conflict.column('name').doUpdateSet({revision: sql`revisions.revision + 1`}))
    .execute()
}

/** Table → how often it was changed. */
export async function revisions(db: Db): Promise<ReadonlyMap<string, number>> {
  const rows = await db.selectFrom('revisions').selectAll().execute()
  return new Map(rows.map(row => [row.name, Number(row.revision)]))
}
