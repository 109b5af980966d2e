import {type Pin, type PinEvent, type PinMoment, pinGone, pinSeen} from '../../schema/mcp-pin-changes.ts'
import type {Db} from '../../store/database.ts'
import {
  deleteMcpCapabilities,
  insertMcpCapabilities,
  mcpCapabilities,
  pinColumns,
  pinOf,
  switchedMcpCapabilities,
  updateMcpCapability,
} from '../../store/mcp-capabilities.ts'
import type {CapabilityType, McpCapabilitiesTable} from '../../store/tables/registry.ts'
import {type JudgedCapability, keyOf} from './judged.ts'

/** Rows of an integration that are kept of what is gone: a server may show other names each time. */
const MOST_GONE = 5_000
/** Rows of an integration, with those that are gone: lists of clients add none beyond it. */
const MOST_ROWS = 10_000

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
    const row = before.get(keyOf(each))
    if (!row && moment.by === 'list' && rows.length + written.inserted.length >= MOST_ROWS) continue
    note(written, row, each, moment)
    before.delete(keyOf(each))
  }
  for (const row of before.values()) if (whole.has(row.type)) vanish(written, row, moment.now)
  await forgetOldest(db, written, [...before.values()], moment)
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

/** Of too many that are gone the oldest are forgotten; those with a switch that is off as the last. */
async function forgetOldest(
  db: Db,
  written: Written,
  rows: readonly McpCapabilitiesTable[],
  {integration_id, now}: RowsMoment,
) {
  const changes = new Map(written.updated.map(({row, change}) => [row, change]))
  const dropped = new Set(written.deleted)
  const goneAt = (row: McpCapabilitiesTable) => changes.get(row)?.gone_at ?? row.gone_at ?? null
  const gone = rows.filter(row => !dropped.has(row) && goneAt(row) !== null)
  if (gone.length <= MOST_GONE) return
  const off = new Set((await switchedMcpCapabilities(db, integration_id)).map(keyOf))
  const rank = (row: McpCapabilitiesTable) =>
    `${row.enabled === 1 && !off.has(keyOf(row)) ? 0 : 1} ${goneAt(row) ?? now}`
  gone.sort((one, other) => (rank(one) < rank(other) ? -1 : 1))
  const forgotten = new Set(gone.slice(0, gone.length - MOST_GONE))
  written.deleted.push(...forgotten)
  const updated = written.updated.filter(({row}) => !forgotten.has(row))
  written.updated.splice(0, written.updated.length, ...updated)
}
