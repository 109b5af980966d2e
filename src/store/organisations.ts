import type {Db} from './database.ts'
import type {OrganisationsTable} from './tables/identity.ts'

export async function insertOrganisation(db: Db, row: OrganisationsTable) {
  await db.insertInto('organisations').values(row).execute()
}

/** All organisations, the oldest first. */
export function organisations(db: Db): Promise<OrganisationsTable[]> {
  return db.selectFrom('organisations').selectAll().orderBy('created_at').orderBy('id').execute()
}
