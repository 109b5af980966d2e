import type {CapabilityDetails} from '../../../src/schema/mcp-integrations.ts'
import type {Db} from '../../../src/store/database.ts'
import {insertMcpCapabilities, mcpCapabilities} from '../../../src/store/mcp-capabilities.ts'
import type {CapabilityType} from '../../../src/store/tables/registry.ts'

export interface Discovered {
  readonly type: CapabilityType
  readonly name: string
  readonly details: CapabilityDetails
}

/** Puts capabilities in the place of those that there are, as a sync would; what is still there stays on or off. */
export async function putMcpCapabilities(db: Db, id: string, discovered: readonly Discovered[], now: string) {
  const before = new Map((await mcpCapabilities(db, id)).map(row => [`${row.type} ${row.name}`, row]))
  await db.deleteFrom('mcp_capabilities').where('mcp_integration_id', '=', id).execute()
  await insertMcpCapabilities(
    db,
    discovered.map(({type, name, details}) => ({
      ...{mcp_integration_id: id, type, name, details: JSON.stringify(details)},
      ...{enabled: before.get(`${type} ${name}`)?.enabled ?? 1, last_updated_at: now},
      created_at: before.get(`${type} ${name}`)?.created_at ?? now,
    })),
  )
}
