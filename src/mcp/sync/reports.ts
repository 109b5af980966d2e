import {pinRulesOf} from '../../schema/mcp-pins.ts'
import {insertGatewayDeed} from '../../store/audit-logs.ts'
import type {Db} from '../../store/database.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import type {CapabilityEvent} from './rows.ts'
import type {McpSyncServices} from './services.ts'

/** Reports of what happened to capabilities: rows of the audit log, and lines of the log. */

type Owner = Pick<McpIntegrationsTable, 'id' | 'slug' | 'organisation_id' | 'workspace_id'>

interface Report {
  readonly action: string
  readonly sentence: string
  readonly events: readonly CapabilityEvent[]
}

/** Of so many capabilities a row says the name. */
const MOST_NAMED = 100

/** One report for each kind of event. With `enforce` what changed or is new is quarantined. */
export function reportsOf(events: readonly CapabilityEvent[], enforces: boolean): readonly Report[] {
  const of = (...kinds: readonly CapabilityEvent['event'][]) => events.filter(({event}) => kinds.includes(event))
  const reports = [
    enforces
      ? {
          action: 'quarantine',
          sentence: 'capabilities of an MCP server are hidden and refused until they are approved',
          events: of('changed', 'new'),
        }
      : {
          action: 'definition-change',
          sentence: 'capabilities of an MCP server are defined otherwise than they were',
          events: of('changed'),
        },
    {
      action: 'suspicion',
      sentence: 'texts of capabilities of an MCP server read like orders to a model',
      events: of('suspicious'),
    },
  ]
  return reports.filter(each => each.events.length > 0)
}

/** Writes reports into the audit log, in the transaction that wrote the rows. */
export async function auditReports(db: Db, reports: readonly Report[], owner: Owner, now_ms: number): Promise<void> {
  for (const {action, events} of reports) {
    const body = {
      integration: owner.slug,
      capabilities: events.slice(0, MOST_NAMED).map(({type, name, hash}) => ({type, name, hash})),
      total: events.length,
    }
    const {organisation_id, workspace_id, id} = owner
    const deed = {
      ...{organisation_id, workspace_id, status: 200, client_ip: null, action, body},
      ...{resource_type: 'mcp-integration', resource_id: id},
    }
    await insertGatewayDeed(db, deed, now_ms)
  }
}

/** Sends mail of events, in the transaction that wrote the rows: once of each, as it is one at first sight only. */
export async function alertEvents(
  db: Db,
  {alert, upstream}: Pick<McpSyncServices, 'alert' | 'upstream'>,
  events: readonly CapabilityEvent[],
  owner: McpIntegrationsTable,
): Promise<void> {
  if (!alert || events.length === 0) return
  const of = (...kinds: readonly CapabilityEvent['event'][]) =>
    events.filter(({event}) => kinds.includes(event)).map(({name}) => name)
  const is_quarantined = pinRulesOf(owner).tool_pinning === 'enforce'
  const {id, slug, organisation_id, workspace_id} = owner
  const integration = {id, slug, organisation_id, workspace_id}
  const changed = is_quarantined ? of('changed', 'new') : of('changed')
  const suspicious = of('suspicious')
  if (changed.length + suspicious.length > 0)
    await alert(db, {integration, changed, suspicious, is_quarantined}, upstream.wall())
}

/** Writes them into the log, once they are committed. */
export function logReports(log: McpSyncServices['log'], reports: readonly Report[], owner: Owner): void {
  for (const {sentence, events} of reports) {
    const capabilities = events.slice(0, 10).map(({type, name}) => `${type} ${name}`)
    log.warn(
      {integration: owner.slug, organisation_id: owner.organisation_id, capabilities, total: events.length},
      sentence,
    )
  }
}
