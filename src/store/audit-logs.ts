import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'
import {paged} from './rows.ts'
import type {AuditLogsTable} from './tables/identity.ts'

export {insertAuditLog} from './audit-chain.ts'

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
