import type {Db} from './database.ts'
import type {ConnectionsTable} from './tables/sign-in.ts'

/** Those of an organisation in their order, or of all organisations. */
export function listConnections(db: Db, organisation_id?: string): Promise<ConnectionsTable[]> {
  const all = db.selectFrom('connections').selectAll().orderBy('position').orderBy('id')
  return (organisation_id === undefined ? all : all.where('organisation_id', '=', organisation_id)).execute()
}

export function findConnection(db: Db, id: string): Promise<ConnectionsTable | undefined> {
  return db.selectFrom('connections').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function insertConnection(db: Db, row: ConnectionsTable) {
  await db.insertInto('connections').values(row).execute()
}

export async function updateConnection(db: Db, id: string, change: Partial<ConnectionsTable>) {
  await db.updateTable('connections').set(change).where('id', '=', id).execute()
}

export async function deleteConnection(db: Db, id: string) {
  await db.deleteFrom('connections').where('id', '=', id).execute()
}
