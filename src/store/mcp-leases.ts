import type {Db} from './database.ts'
import type {McpLeasesTable} from './tables/mcp-connections.ts'

/** Takes a lease that is free, or whose holder did not end in time; false where another holds it. */
export async function takeLease(db: Db, lease: McpLeasesTable, now: string): Promise<boolean> {
  const {holder, expires_at} = lease
  const {numInsertedOrUpdatedRows} = await db
    .insertInto('mcp_leases')
    .values(lease)
    .onConflict(conflict =>
      conflict.column('name').doUpdateSet({holder, expires_at}).where('mcp_leases.expires_at', '<=', now),
    )
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export async function endLease(db: Db, {name, holder}: Pick<McpLeasesTable, 'name' | 'holder'>) {
  await db.deleteFrom('mcp_leases').where('name', '=', name).where('holder', '=', holder).execute()
}

/** Removes leases that ended before a time: a holder that ended itself left them. ISO 8601. */
export async function removeEndedLeases(db: Db, before: string) {
  await db.deleteFrom('mcp_leases').where('expires_at', '<', before).execute()
}
