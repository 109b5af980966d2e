import {sql} from 'kysely'
import type {CacheName, Db, Invalidation} from './database.ts'

/**
 * Notes that what `caches` hold changed, in the transaction that changed it: other processes see it and drop what they
 * hold.
 */
export async function bumpRevisions(db: Db, caches: readonly CacheName[]): Promise<Invalidation['revisions']> {
  if (!caches.length) return {}
  const rows = await db
    .insertInto('revisions')
    .values([...new Set(caches)].sort().map(name => ({name, revision: 1})))
    .onConflict(conflict => conflict.column('name').doUpdateSet({revision: sql`revisions.revision + 1`}))
    .returning(['name', 'revision'])
    .execute()
  return Object.fromEntries(rows.map(({name, revision}) => [name, Number(revision)]))
}

/** Cache → how often what it holds was changed. */
export async function revisions(db: Db): Promise<ReadonlyMap<string, number>> {
  const rows = await db.selectFrom('revisions').selectAll().execute()
  return new Map(rows.map(row => [row.name, Number(row.revision)]))
}
