import type {Db} from './database.ts'
import type {McpSessionsTable} from './tables/mcp.ts'

/** The session whose id has this SHA-256, ended or not. */
export function findMcpSession(db: Db, id_hash: string): Promise<McpSessionsTable | undefined> {
  return db.selectFrom('mcp_sessions').selectAll().where('id_hash', '=', id_hash).executeTakeFirst()
}

export async function insertMcpSession(db: Db, row: McpSessionsTable) {
  await db.insertInto('mcp_sessions').values(row).execute()
}

/** False where there is no such session. */
export async function changeMcpSession(db: Db, id_hash: string, change: Partial<McpSessionsTable>): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('mcp_sessions')
    .set(change)
    .where('id_hash', '=', id_hash)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function removeMcpSession(db: Db, id_hash: string) {
  await db.deleteFrom('mcp_sessions').where('id_hash', '=', id_hash).execute()
}

/** Removes sessions that were last used, or begun, before these times. ISO 8601. */
export async function removeEndedMcpSessions(db: Db, before: {readonly used_at: string; readonly created_at: string}) {
  await db
    .deleteFrom('mcp_sessions')
    .where(e => e.or([e('used_at', '<', before.used_at), e('created_at', '<', before.created_at)]))
    .execute()
}
