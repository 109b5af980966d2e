import type {Db} from './database.ts'
import type {PriceRevisionsTable, PricesTable} from './tables/prices.ts'

/** A price with what decides when it holds. */
export interface InstalledPrice extends Omit<PricesTable, 'revision'> {
  readonly revision: number
  readonly kind: PriceRevisionsTable['kind']
  readonly effective_at: string
  readonly withdrawn_at: string | null
}

const ROWS_A_STATEMENT = 500

/** Every installed price, of withdrawn revisions too: calls of before may still be settled. */
export async function installedPrices(db: Db): Promise<readonly InstalledPrice[]> {
  const rows = await db
    .selectFrom('prices as p')
    .innerJoin('price_revisions as r', 'r.revision', 'p.revision')
    .select(['p.revision', 'p.provider', 'p.model', 'p.price', 'r.kind', 'r.effective_at', 'r.withdrawn_at'])
    .execute()
  return rows.map(row => ({...row, revision: Number(row.revision)}))
}

/** How often prices were changed here: a number to compare. */
export async function pricesRevision(db: Db): Promise<number> {
  const row = await db.selectFrom('revisions').select('revision').where('name', '=', 'prices').executeTakeFirst()
  return Number(row?.revision ?? 0)
}

/** Writes a revision with its prices; gives its number. */
export async function insertPriceRevision(
  db: Db,
  revision: Omit<PriceRevisionsTable, 'revision'>,
  prices: readonly Omit<PricesTable, 'revision'>[],
): Promise<number> {
  const last = await db
    .selectFrom('price_revisions')
    .select('revision')
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst()
  const number = Number(last?.revision ?? 0) + 1
  await db
    .insertInto('price_revisions')
    .values({revision: number, ...revision})
    .execute()
  for (let at = 0; at < prices.length; at += ROWS_A_STATEMENT) {
    const rows = prices.slice(at, at + ROWS_A_STATEMENT).map(row => ({revision: number, ...row}))
    await db.insertInto('prices').values(rows).execute()
  }
  return number
}

export async function priceRevisions(
  db: Db,
  {current_page, page_size}: {readonly current_page: number; readonly page_size: number},
): Promise<{readonly total: number; readonly rows: readonly PriceRevisionsTable[]}> {
  const {total} = await db.selectFrom('price_revisions').select(db.fn.countAll().as('total')).executeTakeFirstOrThrow()
  const rows = await db
    .selectFrom('price_revisions')
    .selectAll()
    .orderBy('revision', 'desc')
    .limit(page_size)
    .offset(current_page * page_size)
    .execute()
  return {total: Number(total), rows: rows.map(numbered)}
}

export async function findPriceRevision(db: Db, revision: number): Promise<PriceRevisionsTable | undefined> {
  const row = await db.selectFrom('price_revisions').selectAll().where('revision', '=', revision).executeTakeFirst()
  return row && numbered(row)
}

/** The last revision that still holds, of one kind where one is named. */
export async function lastPriceRevision(
  db: Db,
  kind?: PriceRevisionsTable['kind'],
): Promise<PriceRevisionsTable | undefined> {
  let query = db
    .selectFrom('price_revisions')
    .selectAll()
    .where('withdrawn_at', 'is', null)
    .orderBy('revision', 'desc')
    .limit(1)
  if (kind) query = query.where('kind', '=', kind)
  const row = await query.executeTakeFirst()
  return row && numbered(row)
}

/** The bundle with the greatest number that was ever installed, withdrawn or not. */
export async function newestBundle(db: Db): Promise<PriceRevisionsTable | undefined> {
  const row = await db
    .selectFrom('price_revisions')
    .selectAll()
    .where('serial', 'is not', null)
    .orderBy('serial', 'desc')
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && numbered(row)
}

export async function withdrawPriceRevision(db: Db, revision: number, withdrawn_at: string): Promise<void> {
  await db.updateTable('price_revisions').set({withdrawn_at}).where('revision', '=', revision).execute()
}

/** PostgreSQL gives its large integers as text. */
function numbered(row: PriceRevisionsTable): PriceRevisionsTable {
  const {revision, serial, added, changed, removed} = row
  return {
    ...row,
    revision: Number(revision),
    serial: serial === null ? null : Number(serial),
    added: Number(added),
    changed: Number(changed),
    removed: Number(removed),
  }
}

/** The kinds of provider that integrations in use name. */
export async function integrationKinds(db: Db): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('integrations')
    .select('ai_provider_id')
    .distinct()
    .where('status', '=', 'active')
    .execute()
  return rows.map(row => row.ai_provider_id)
}
