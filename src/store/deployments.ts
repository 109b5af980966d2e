import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {called, paged, slugFirst} from './rows.ts'
import type {DeploymentsTable} from './tables/registry.ts'

export async function insertDeployment(db: Db, row: DeploymentsTable) {
  await db.insertInto('deployments').values(row).execute()
}

export async function updateDeployment(db: Db, id: string, change: Partial<DeploymentsTable>) {
  await db.updateTable('deployments').set(change).where('id', '=', id).execute()
}

/** The deployment of the organisation whose slug or id is `named`. Archived ones are not found. */
export function findDeployment(db: Db, organisation_id: string, named: string): Promise<DeploymentsTable | undefined> {
  return active(db, organisation_id).where(called(named)).orderBy(slugFirst(named)).executeTakeFirst()
}

/** Newest first. */
export function listDeployments(
  db: Db,
  {organisation_id, type}: {readonly organisation_id: string; readonly type?: DeploymentsTable['type'] | undefined},
  page: Page,
): Promise<Paged<DeploymentsTable>> {
  const rows = active(db, organisation_id)
  return paged((type ? rows.where('type', '=', type) : rows).orderBy('created_at', 'desc').orderBy('id'), page)
}

function active(db: Db, organisation_id: string) {
  return db
    .selectFrom('deployments')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .where('status', '=', 'active')
}
