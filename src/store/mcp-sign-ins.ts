import type {Db} from './database.ts'
import type {McpSignInsTable} from './tables/mcp-connections.ts'

/** Links of one person for one server that are valid together. */
const MOST_OPEN = 5
const KEPT_MS = 86_400_000

/** Begins a sign-in. The oldest links of the same person for the same server end where there are too many. */
export async function insertMcpSignIn(db: Db, row: McpSignInsTable) {
  const long_ago = new Date(Date.parse(row.created_at) - KEPT_MS).toISOString()
  await db.deleteFrom('mcp_sign_ins').where('expires_at', '<', long_ago).execute()
  await db.insertInto('mcp_sign_ins').values(row).execute()
  const open = await db
    .selectFrom('mcp_sign_ins')
    .select('id')
    .where('user_id', '=', row.user_id)
    .where('mcp_server_id', '=', row.mcp_server_id)
    .where('step', '=', 'issued')
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .offset(MOST_OPEN)
    .limit(100)
    .execute()
  for (const {id} of open) if (id !== row.id) await db.deleteFrom('mcp_sign_ins').where('id', '=', id).execute()
}

export function findMcpSignIn(db: Db, state_hash: string): Promise<McpSignInsTable | undefined> {
  return db.selectFrom('mcp_sign_ins').selectAll().where('state_hash', '=', state_hash).executeTakeFirst()
}

/** Takes a sign-in from the step it was read in to another; false where another request was faster. */
export async function stepMcpSignIn(
  db: Db,
  {id, step, state_hash}: Pick<McpSignInsTable, 'id' | 'step' | 'state_hash'>,
  change: Pick<McpSignInsTable, 'step' | 'secrets'> & Partial<Pick<McpSignInsTable, 'state_hash' | 'registrations'>>,
): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('mcp_sign_ins')
    .set(change)
    .where('id', '=', id)
    .where('step', '=', step)
    .where('state_hash', '=', state_hash)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
