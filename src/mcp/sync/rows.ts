import {type Pin, type PinEvent, type PinMoment, pinGone, pinSeen} from '../../schema/mcp-pin-changes.ts'
import type {Db} from '../../store/database.ts'
import {
  deleteMcpCapabilities,
  insertMcpCapabilities,
  mcpCapabilities,
  pinColumns,
  pinOf,
  updateMcpCapability,
} from '../../store/mcp-capabilities.ts'
import type {CapabilityType, McpCapabilitiesTable} from '../../store/tables/registry.ts'
import {type JudgedCapability, keyOf} from './judged.ts'

/** A matter of a capability that people hear of. */
export interface CapabilityEvent {
  readonly event: PinEvent
  readonly type: CapabilityType
  readonly name: string
  readonly hash: string
}

export interface RowsChange {
  readonly events: readonly CapabilityEvent[]
  /** False where the rows are as they were: there is nothing to report to clients. */
  readonly is_different: boolean
}

export interface RowsMoment extends PinMoment {
  readonly integration_id: string
  readonly now: string
}

/** The rows that a sighting leads to, beside those that it does not touch. */
interface Written {
  readonly inserted: McpCapabilitiesTable[]
  readonly updated: {readonly row: McpCapabilitiesTable; readonly change: Partial<McpCapabilitiesTable>}[]
  readonly deleted: McpCapabilitiesTable[]
  readonly events: CapabilityEvent[]
  is_different: boolean
}

/**
 * Writes what was seen, in the transaction of `db`. Of the types in `whole` everything was seen: what is not there is
 * gone, and forgotten after 30 days. Rows that stay the same are not written.
 */
export async function writeSeen(
  db: Db,
  seen: readonly JudgedCapability[],
  whole: ReadonlySet<CapabilityType>,
  moment: RowsMoment,
): Promise<RowsChange> {
  const rows = await mcpCapabilities(db, moment.integration_id)
  const before = new Map(rows.map(row => [keyOf(row), row]))
  const written: Written = {inserted: [], updated: [], deleted: [], events: [], is_different: false}
  for (const each of seen) {
    note(written, before.get(keyOf(each)), each, moment)
    before.delete(keyOf(each))
  }
  for (const row of before.values()) if (whole.has(row.type)) vanish(written, row, moment.now)
  await insertMcpCapabilities(db, written.inserted)
  for (const {row, change} of written.updated) await updateMcpCapability(db, moment.integration_id, row, change)
  await deleteMcpCapabilities(db, moment.integration_id, written.deleted)
  const {events, is_different} = written
  return {events, is_different}
}

function note(written: Written, row: McpCapabilitiesTable | undefined, each: JudgedCapability, moment: RowsMoment) {
  const {now, rules} = moment
  const {type, name, uri, hash, definition, suspicions, header_schema} = each
  const was = row ? pinOf(row) : null
  const {pin, events} = pinSeen(was, {hash, at: now, definition, suspicions}, moment)
  for (const event of events) written.events.push({event, type, name, hash})
  const columns = {uri, details: JSON.stringify(each.details), header_schema, ...pinColumns(pin)}
  if (!row) {
    const is_denied = rules.new_capabilities === 'deny' && rules.tool_pinning !== 'enforce' && !moment.is_first
    written.is_different = true
    written.inserted.push({
      ...{mcp_integration_id: moment.integration_id, type, name, enabled: is_denied ? 0 : 1},
      ...{created_at: now, last_updated_at: now, ...columns},
    })
    return
  }
  const change = moment.by === 'list' ? pinColumns(pin) : columns
  const differs = (Object.keys(change) as (keyof typeof change)[]).some(key => (row[key] ?? null) !== change[key])
  if (!differs) return
  written.updated.push({row, change: {...change, last_updated_at: now}})
  written.is_different ||= was === null || isOther(was, pin) || row.details !== columns.details
}

function isOther(was: Pin, is: Pin): boolean {
  const hashes = (pin: Pin) => [...pin.approved_hashes, '', ...pin.seen.map(({hash}) => hash)].join()
  return was.state !== is.state || was.gone_at !== is.gone_at || hashes(was) !== hashes(is)
}

function vanish(written: Written, row: McpCapabilitiesTable, now: string) {
  const was = pinOf(row)
  if (was === null) {
    written.deleted.push(row) // no sync ever saw it
    written.is_different = true
    return
  }
  const pin = pinGone(was, now)
  if (pin === null) return void written.deleted.push(row)
  if (pin === was) return
  written.updated.push({row, change: {gone_at: pin.gone_at, last_updated_at: now}})
  written.is_different = true
}
