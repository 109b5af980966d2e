import {newId, newTimeId} from '../base/ids.ts'
import type {Page, Paged} from '../schema/paging.ts'
import {insertAuditLog} from './audit-chain.ts'
import type {Db} from './database.ts'
import {paged} from './rows.ts'
import type {AuditLogsTable} from './tables/identity.ts'

export {insertAuditLog}

/** A deed of the gateway itself, which no request of the administration asked for. `body`: its facts. */
export interface GatewayDeed
  extends Pick<
    AuditLogsTable,
    'organisation_id' | 'workspace_id' | 'status' | 'resource_type' | 'resource_id' | 'action' | 'client_ip'
  > {
  readonly body: object
}

export function insertGatewayDeed(db: Db, {body, ...deed}: GatewayDeed, now_ms: number): Promise<void> {
  return insertAuditLog(db, {
    ...deed,
    id: newTimeId(now_ms),
    at: new Date(now_ms).toISOString(),
    actor_type: 'system',
    actor_id: null,
    method: '',
    uri: '',
    request_id: newId(),
    request_headers: '{}',
    request_body: JSON.stringify(body),
    query_params: null,
  })
}

/** Rows of one organisation from `start_at` to `end_at`, both included; the rest narrows. */
export interface AuditFilter {
  readonly organisation_id: string
  readonly start_at: string
  readonly end_at: string
  /** Columns that must hold exactly these values. */
  readonly where: Partial<Pick<AuditLogsTable, AuditColumn>>
}

export type AuditColumn =
  | 'method'
  | 'uri'
  | 'request_id'
  | 'actor_id'
  | 'actor_type'
  | 'workspace_id'
  | 'status'
  | 'resource_type'
  | 'action'
  | 'client_ip'

/** Newest first. */
export async function listAuditLogs(db: Db, filter: AuditFilter, page: Page): Promise<Paged<AuditLogsTable>> {
  let matching = db
    .selectFrom('audit_logs')
    .where('organisation_id', '=', filter.organisation_id)
    .where('at', '>=', filter.start_at)
    .where('at', '<=', filter.end_at)
  for (const [column, value] of Object.entries(filter.where) as [AuditColumn, string | number | undefined][]) {
    if (value !== undefined) matching = matching.where(column, '=', value)
  }
  return paged(matching.selectAll().orderBy('at', 'desc').orderBy('id', 'desc'), page)
}
