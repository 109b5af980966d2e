import type {McpMetadata} from '../../schema/mcp-integrations.ts'
import {pinRulesOf} from '../../schema/mcp-pins.ts'
import type {Db} from '../../store/database.ts'
import {mcpCapabilities} from '../../store/mcp-capabilities.ts'
import {putMcpEra} from '../../store/mcp-eras.ts'
import {putMcpMetadata} from '../../store/mcp-integrations.ts'
import {findSyncedIntegration} from '../../store/mcp-syncs.ts'
import type {CapabilityType, McpCapabilitiesTable, McpIntegrationsTable} from '../../store/tables/registry.ts'
import type {ListMethod} from '../content/entries.ts'
import {type JudgedCapability, judged} from './judged.ts'
import {look, type NotSeenServer, type SeenServer} from './look.ts'
import {describedBy, metadataIn, sentence} from './metadata.ts'
import {type Offered, offeredOf, TYPE_OF} from './offered.ts'
import {alertEvents, auditReports, logReports, reportsOf} from './reports.ts'
import {writeSeen} from './rows.ts'
import type {McpSyncServices} from './services.ts'

/** The outcome of one sync, for the plan of the next. */
export interface Synced {
  readonly status: 'synced' | 'failed' | 'auth_required'
  readonly found_difference: boolean
  /** Its integration was changed or archived meanwhile: nothing was written. */
  readonly is_outdated: boolean
}

const METHODS = Object.keys(TYPE_OF) as ListMethod[]
const MOST_WARNINGS = 20

export interface SyncTurn {
  readonly stop: AbortSignal
  /** Its server gave notice of changes several times, and there were none. */
  readonly is_noisy: boolean
}

const NOISY = 'it announces changes that are none: its notices are followed once a minute at most'

/** Reads an integration's server once, and writes what it offers. Rejects only where the store fails. */
export async function syncOnce(
  integration: McpIntegrationsTable,
  services: McpSyncServices,
  {stop, is_noisy}: SyncTurn,
): Promise<Synced> {
  const seen = await look(integration, null, services, stop)
  if (stop.aborted) return {status: 'failed', found_difference: false, is_outdated: true}
  return seen.outcome === 'seen' ? keep(integration, seen, services, is_noisy) : keepFault(integration, seen, services)
}

/** Everything that was seen of one look, before it is written. */
interface Prepared {
  readonly seen: readonly JudgedCapability[]
  /** Types of which the whole list was read. */
  readonly whole: ReadonlySet<CapabilityType>
  readonly warnings: readonly string[]
  readonly faults: readonly string[]
}

async function prepared({walked}: SeenServer, rows: readonly McpCapabilitiesTable[]): Promise<Prepared> {
  const known = rows.map(({type, name, uri}) => ({type, name, uri: uri ?? null}))
  const offered: Offered[] = []
  const warnings = [...walked.warnings]
  const whole = new Set<CapabilityType>()
  const faults: string[] = []
  for (const method of METHODS) {
    const {entries, fault} = walked.lists[method]
    if (fault !== null) {
      faults.push(fault)
      continue
    }
    const type = TYPE_OF[method]
    whole.add(type)
    const found = offeredOf(type, entries, known)
    for (const each of found.offered) offered.push(each)
    for (const each of found.warnings) warnings.push(each)
  }
  return {seen: await judged(offered, rows), whole, warnings: warnings.slice(0, MOST_WARNINGS), faults}
}

async function keep(
  integration: McpIntegrationsTable,
  found: SeenServer,
  services: McpSyncServices,
  is_noisy: boolean,
): Promise<Synced> {
  const {store, log, audits, upstream} = services
  const {seen, whole, faults, ...rest} = await prepared(found, await mcpCapabilities(store.db, integration.id))
  const warnings = is_noisy ? [NOISY, ...rest.warnings] : rest.warnings
  const rules = pinRulesOf(integration)
  const outcome = await store.write(async db => {
    const current = await unchanged(db, integration)
    if (!current) return null
    const now_ms = upstream.wall()
    const now = new Date(now_ms).toISOString()
    const before = metadataIn(current.metadata)
    const moment = {
      ...{rules, is_first: before.last_synced_at === null, by: 'sync' as const},
      ...{integration_id: integration.id, now},
    }
    const {events, is_different} = await writeSeen(db, seen, whole, moment)
    const reports = reportsOf(events, rules.tool_pinning === 'enforce')
    if (audits) await auditReports(db, reports, integration, now_ms)
    await alertEvents(db, services, events, integration)
    await putMcpMetadata(db, integration.id, {
      ...before,
      ...describedBy(found.hello),
      ...statusOf(faults, warnings, now),
    })
    if (found.finding) {
      const {era, transport, at_ms} = found.finding
      const found_at = new Date(at_ms).toISOString()
      await putMcpEra(db, {mcp_integration_id: integration.id, url: integration.url, era, transport, found_at})
    }
    return {reports, is_different}
  })
  if (outcome) logReports(log, outcome.reports, integration)
  return {
    status: faults.length > 0 ? 'failed' : 'synced',
    found_difference: outcome?.is_different ?? false,
    is_outdated: outcome === null,
  }
}

function statusOf(faults: readonly string[], warnings: readonly string[], now: string): Partial<McpMetadata> {
  if (faults.length === 0)
    return {sync_status: 'synced', sync_error: null, sync_warnings: [...warnings], last_synced_at: now}
  return {sync_status: 'failed', sync_error: sentence(faults.join('; ')), sync_warnings: [...warnings]}
}

/** Keeps the fault beside all that was known. */
async function keepFault(
  integration: McpIntegrationsTable,
  {outcome, error}: NotSeenServer,
  {store}: McpSyncServices,
): Promise<Synced> {
  const is_kept = await store.write(async db => {
    const current = await unchanged(db, integration)
    if (!current) return false
    const before = metadataIn(current.metadata)
    const is_same = before.sync_status === outcome && before.sync_error === error
    if (!is_same) await putMcpMetadata(db, integration.id, {...before, sync_status: outcome, sync_error: error})
    return true
  })
  return {status: outcome, found_difference: false, is_outdated: !is_kept}
}

/** The row as it is now, where it still names the place that was read. */
async function unchanged(db: Db, was: McpIntegrationsTable): Promise<McpIntegrationsTable | null> {
  const row = await findSyncedIntegration(db, was.id)
  if (!row) return null
  const is_same =
    row.url === was.url &&
    row.transport === was.transport &&
    row.auth_type === was.auth_type &&
    row.configurations === was.configurations
  return is_same ? row : null
}
