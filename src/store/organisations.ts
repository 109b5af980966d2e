import type {Db} from './database.ts'
import type {OrganisationsTable} from './tables/identity.ts'

export async function insertOrganisation(db: Db, row: OrganisationsTable) {
  await db.insertInto('organisations').values(row).execute()
}

/** All organisations, the oldest first. */
export function organisations(db: Db): Promise<OrganisationsTable[]> {
  return db.selectFrom('organisations').selectAll().orderBy('created_at').orderBy('id').execute()
}

/** The column `defaults`; null also where there is no such organisation. */
export async function organisationDefaults(db: Db, id: string): Promise<string | null> {
  return (
    (await db.selectFrom('organisations').select('defaults').where('id', '=', id).executeTakeFirst())?.defaults ?? null
  )
}

/** The organisation whose id or slug is `named`. */
export function findOrganisation(db: Db, named: string): Promise<OrganisationsTable | undefined> {
  return db
    .selectFrom('organisations')
    .selectAll()
    .where(e => e.or([e('id', '=', named), e('slug', '=', named)]))
    .executeTakeFirst()
}

export async function updateOrganisation(db: Db, id: string, change: Partial<OrganisationsTable>) {
  await db.updateTable('organisations').set(change).where('id', '=', id).execute()
}
