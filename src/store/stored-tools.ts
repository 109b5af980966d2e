import {type JsonObject, own} from '../base/json-member.ts'
import {parsed} from '../base/json-object.ts'
import type {Db} from './database.ts'
import {pinOf} from './mcp-capabilities.ts'
import type {McpCapabilitiesTable} from './tables/registry.ts'

/**
 * The tools of an integration as entries of a list, as they were read last: the newest definition that was seen, else
 * the one that was approved. Those that are gone are left out.
 */
export async function storedTools(db: Db, integration_id: string): Promise<readonly JsonObject[]> {
  const rows = await db
    .selectFrom('mcp_capabilities')
    .selectAll()
    .where('mcp_integration_id', '=', integration_id)
    .where('type', '=', 'tool')
    .execute()
  return rows.filter(({gone_at}) => !gone_at).map(entryOf)
}

function entryOf(row: McpCapabilitiesTable): JsonObject {
  const pin = pinOf(row)
  const definition = pin?.state === 'changed' ? pin.seen.at(-1)?.definition : pin?.approved_definition
  const known = definition ?? pin?.seen.at(-1)?.definition
  if (known) return known
  const details = parsed(row.details)
  const members = [
    ['name', row.name],
    ['title', own(details, 'title')],
    ['description', own(details, 'description')],
    ['inputSchema', own(details, 'input_schema') ?? {type: 'object'}],
    ['outputSchema', own(details, 'output_schema')],
    ['annotations', own(details, 'annotations')],
  ] as const
  return Object.fromEntries(members.filter(([, value]) => value !== undefined && value !== null)) as JsonObject
}
