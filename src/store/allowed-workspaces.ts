import type {Db} from './database.ts'

/** Ids of the workspaces that a row which is not for all is for. */
export async function allowedWorkspaces(db: Db, resource_id: string): Promise<string[]> {
  const rows = await db
    .selectFrom('allowed_workspaces')
    .select('workspace_id')
    .where('resource_id', '=', resource_id)
    .orderBy('workspace_id')
    .execute()
  return rows.map(row => row.workspace_id)
}

/** Puts `ids` in place of those there were. */
export async function setAllowedWorkspaces(db: Db, resource_id: string, ids: readonly string[]) {
  await db.deleteFrom('allowed_workspaces').where('resource_id', '=', resource_id).execute()
  if (ids.length)
    await db
      .insertInto('allowed_workspaces')
      .values(ids.map(workspace_id => ({resource_id, workspace_id})))
      .execute()
}
