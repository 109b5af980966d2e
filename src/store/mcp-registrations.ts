import type {Seal} from '../base/seal.ts'
import type {Db} from './database.ts'
import type {McpRegistrationsTable} from './tables/mcp-connections.ts'

type Registered = Pick<McpRegistrationsTable, 'mcp_integration_id' | 'issuer' | 'organisation_id'>

export function sealMcpClient(seal: Seal, of: Registered, client: object): Buffer {
  return seal.close(JSON.stringify(client), place(of))
}

/** JSON of the client of a row. */
export function openMcpClient(seal: Seal, row: Registered & Pick<McpRegistrationsTable, 'client'>): string {
  return seal.open(row.client, place(row))
}

function place({mcp_integration_id, issuer, organisation_id}: Registered) {
  const row = JSON.stringify([mcp_integration_id, issuer])
  return {table: 'mcp_registrations', column: 'client', row, organisation_id}
}

export function findMcpRegistration(
  db: Db,
  {mcp_integration_id, issuer}: Omit<Registered, 'organisation_id'>,
): Promise<McpRegistrationsTable | undefined> {
  return db
    .selectFrom('mcp_registrations')
    .selectAll()
    .where('mcp_integration_id', '=', mcp_integration_id)
    .where('issuer', '=', issuer)
    .executeTakeFirst()
}

/** The latest of an integration, at whichever authorization server. */
export function findLatestMcpRegistration(
  db: Db,
  mcp_integration_id: string,
): Promise<McpRegistrationsTable | undefined> {
  return db
    .selectFrom('mcp_registrations')
    .selectAll()
    .where('mcp_integration_id', '=', mcp_integration_id)
    .orderBy('created_at', 'desc')
    .orderBy('issuer')
    .limit(1)
    .executeTakeFirst()
}

/** Writes a registration in place of the one that was there. */
export async function putMcpRegistration(db: Db, row: McpRegistrationsTable) {
  const {mcp_integration_id: _, issuer: __, ...change} = row
  await db
    .insertInto('mcp_registrations')
    .values(row)
    .onConflict(conflict => conflict.columns(['mcp_integration_id', 'issuer']).doUpdateSet(change))
    .execute()
}

/** Forgets a registration that is still the one of `created_at`. */
export async function deleteMcpRegistration(
  db: Db,
  {mcp_integration_id, issuer, created_at}: Pick<McpRegistrationsTable, 'mcp_integration_id' | 'issuer' | 'created_at'>,
) {
  await db
    .deleteFrom('mcp_registrations')
    .where('mcp_integration_id', '=', mcp_integration_id)
    .where('issuer', '=', issuer)
    .where('created_at', '=', created_at)
    .execute()
}
