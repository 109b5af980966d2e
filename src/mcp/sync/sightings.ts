import type {JsonObject} from '../../base/json-member.ts'
import {pinRulesOf} from '../../schema/mcp-pins.ts'
import {mcpCapabilities, pinOf} from '../../store/mcp-capabilities.ts'
import type {McpCapabilitiesTable, McpIntegrationsTable} from '../../store/tables/registry.ts'
import type {ListMethod} from '../content/entries.ts'
import {type JudgedCapability, judged} from './judged.ts'
import {offeredOf, TYPE_OF} from './offered.ts'
import {alertEvents, auditReports, logReports, reportsOf} from './reports.ts'
import {writeSeen} from './rows.ts'
import type {McpSyncServices} from './services.ts'

/** Of one list; the rest is left to the sync that follows. */
const MOST_ENTRIES = 200
/** Sightings that are written at the same time; more are left to the next list. */
const MOST_AT_ONCE = 4

/**
 * Definitions in lists that clients got. Lists may differ by the client and by the person, so a sync may never see what
 * one of them does.
 */
export class Sightings {
  readonly #services: McpSyncServices
  readonly #open = new Set<string>()

  constructor(services: McpSyncServices) {
    this.#services = services
  }

  /** Writes what was seen; true where the rows were to learn something. An integration has one turn at a time. */
  async note(integration: McpIntegrationsTable, method: ListMethod, entries: readonly JsonObject[]): Promise<boolean> {
    const {id} = integration
    if (entries.length === 0 || this.#open.has(id) || this.#open.size >= MOST_AT_ONCE) return false
    this.#open.add(id)
    try {
      return await this.#write(integration, method, entries.slice(0, MOST_ENTRIES))
    } finally {
      this.#open.delete(id)
    }
  }

  async #write(
    integration: McpIntegrationsTable,
    method: ListMethod,
    entries: readonly JsonObject[],
  ): Promise<boolean> {
    const {store, upstream, audits, log, changed} = this.#services
    const rows = await mcpCapabilities(store.db, integration.id)
    if (!rows.some(({pin_state}) => pin_state)) return true // its first sync is yet to come, and it approves
    const {offered} = offeredOf(
      TYPE_OF[method],
      entries,
      rows.map(({type, name, uri}) => ({type, name, uri: uri ?? null})),
    )
    const seen = await judged(offered, rows)
    const rules = pinRulesOf(integration)
    const now_ms = upstream.wall()
    const {reports, is_different} = await store.write(async db => {
      const moment = {
        ...{rules, is_first: false, by: 'list' as const},
        ...{integration_id: integration.id, now: new Date(now_ms).toISOString()},
      }
      const {events, is_different} = await writeSeen(db, seen, new Set(), moment)
      const reports = reportsOf(events, rules.tool_pinning === 'enforce')
      if (audits) await auditReports(db, reports, integration, now_ms)
      await alertEvents(db, this.#services, events, integration)
      return {reports, is_different}
    })
    logReports(log, reports, integration)
    if (is_different) changed?.(integration.id)
    return is_different || seen.some(each => isBack(rows, each))
  }
}

/** True where a list shows what is approved, and the last sync saw something else: the next one may find it again. */
function isBack(rows: readonly McpCapabilitiesTable[], {type, name, hash}: JudgedCapability): boolean {
  const row = rows.find(each => each.type === type && each.name === name)
  const pin = row && pinOf(row)
  return pin?.state === 'changed' && pin.approved_hashes.includes(hash)
}
