import type {JsonObject} from '../base/json-member.ts'
import type {Pin, SeenDefinition, Suspicion} from '../schema/mcp-pin-changes.ts'
import type {Db} from './database.ts'
import type {CapabilityType, McpCapabilitiesTable} from './tables/registry.ts'

/** Names one capability of an integration. */
export interface CapabilityName {
  readonly type: CapabilityType
  readonly name: string
}

/** Those that an integration's server offers, or offered lately: tools first, then by name. */
export function mcpCapabilities(db: Db, integration_id: string): Promise<McpCapabilitiesTable[]> {
  return db
    .selectFrom('mcp_capabilities')
    .selectAll()
    .where('mcp_integration_id', '=', integration_id)
    .orderBy(e => e.case().when('type', '=', 'tool').then(0).else(1).end())
    .orderBy('type')
    .orderBy('name')
    .execute()
}

/** A statement holds no more rows than this: databases bound its parameters. */
const AT_ONCE = 100

export async function insertMcpCapabilities(db: Db, rows: readonly McpCapabilitiesTable[]) {
  for (let at = 0; at < rows.length; at += AT_ONCE)
    await db
      .insertInto('mcp_capabilities')
      .values(rows.slice(at, at + AT_ONCE))
      .execute()
}

export async function updateMcpCapability(
  db: Db,
  integration_id: string,
  {type, name}: CapabilityName,
  change: Partial<McpCapabilitiesTable>,
) {
  await db
    .updateTable('mcp_capabilities')
    .set(change)
    .where('mcp_integration_id', '=', integration_id)
    .where('type', '=', type)
    .where('name', '=', name)
    .execute()
}

/** Forgets capabilities, with the switches that servers have for them. */
export async function deleteMcpCapabilities(db: Db, integration_id: string, gone: readonly CapabilityName[]) {
  const servers = db.selectFrom('mcp_servers').select('id').where('mcp_integration_id', '=', integration_id)
  for (const type of new Set(gone.map(each => each.type))) {
    const names = gone.filter(each => each.type === type).map(({name}) => name)
    for (let at = 0; at < names.length; at += AT_ONCE) {
      const some = names.slice(at, at + AT_ONCE)
      await db
        .deleteFrom('mcp_capabilities')
        .where('mcp_integration_id', '=', integration_id)
        .where('type', '=', type)
        .where('name', 'in', some)
        .execute()
      await db
        .deleteFrom('mcp_server_capabilities')
        .where('mcp_server_id', 'in', servers)
        .where('type', '=', type)
        .where('name', 'in', some)
        .execute()
    }
  }
}

/** Capabilities that servers of an integration have a switch of their own for. */
export function switchedMcpCapabilities(db: Db, integration_id: string): Promise<CapabilityName[]> {
  const servers = db.selectFrom('mcp_servers').select('id').where('mcp_integration_id', '=', integration_id)
  return db
    .selectFrom('mcp_server_capabilities')
    .select(['type', 'name'])
    .where('mcp_server_id', 'in', servers)
    .where('enabled', '=', 0)
    .execute()
}

/** The pin of a row; null before a sync read it. */
export function pinOf(row: McpCapabilitiesTable): Pin | null {
  const {pin_state, approved_hashes, approved_definition, seen_definitions, suspicions, gone_at} = row
  if (!pin_state) return null
  return {
    state: pin_state,
    approved_hashes: listIn<string>(approved_hashes),
    approved_definition: approved_definition ? (JSON.parse(approved_definition) as JsonObject) : null,
    seen: listIn<SeenDefinition>(seen_definitions),
    suspicions: listIn<Suspicion>(suspicions),
    gone_at: gone_at ?? null,
  }
}

/** The columns that hold a pin. */
export function pinColumns(pin: Pin) {
  return {
    pin_state: pin.state,
    approved_hashes: textOfList(pin.approved_hashes),
    approved_definition: pin.approved_definition && JSON.stringify(pin.approved_definition),
    seen_hashes: textOfList(pin.seen.map(({hash}) => hash)),
    seen_definitions: textOfList(pin.seen),
    suspicions: textOfList(pin.suspicions),
    gone_at: pin.gone_at,
  }
}

function listIn<T>(text: string | null | undefined): readonly T[] {
  return text ? (JSON.parse(text) as T[]) : []
}

function textOfList(list: readonly unknown[]): string | null {
  return list.length > 0 ? JSON.stringify(list) : null
}
