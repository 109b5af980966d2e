import type {Db} from './database.ts'
import type {McpErasTable} from './tables/registry.ts'

/** Found by a probe so long ago, a verdict `legacy` is no longer known: the server may have been upgraded since. */
const LEGACY_MS = 24 * 3_600_000

/** The era of an integration's server at this URL; undefined where it is to be found by a probe. */
export async function findMcpEra(
  db: Db,
  integration: {readonly id: string; readonly url: string},
  now_ms: number,
): Promise<Pick<McpErasTable, 'era' | 'transport'> | undefined> {
  const row = await db
    .selectFrom('mcp_eras')
    .selectAll()
    .where('mcp_integration_id', '=', integration.id)
    .where('url', '=', integration.url)
    .executeTakeFirst()
  if (!row) return undefined
  const is_old = row.era === 'legacy' && now_ms - Date.parse(row.found_at) >= LEGACY_MS
  return is_old ? undefined : {era: row.era, transport: row.transport}
}

/** Keeps the verdict of a probe in the place of the one before. */
export async function putMcpEra(db: Db, row: McpErasTable) {
  const {mcp_integration_id: _, ...verdict} = row
  await db
    .insertInto('mcp_eras')
    .values(row)
    .onConflict(conflict => conflict.column('mcp_integration_id').doUpdateSet(verdict))
    .execute()
}
