import type {z} from 'zod'
import {AuditQuery, type AuditRecord, AuditRecords, AuditVerdict} from '../schema/audit-logs.ts'
import {verifyAuditChain} from '../store/audit-chain.ts'
import {listAuditLogs} from '../store/audit-logs.ts'
import type {AuditLogsTable} from '../store/tables/identity.ts'
import {findWorkspace} from '../store/workspaces.ts'
import {changesOf} from './changes.ts'
import {type OperationCall, operation} from './operation.ts'
import {found} from './tenancy.ts'

/** The audit log: every administrative write, for admin keys to read; no one can change it. */
export const auditLogs = [
  operation({
    id: 'audit_logs.list',
    tag: 'Audit Logs',
    method: 'GET',
    path: '/audit-logs',
    always_paged: true,
    summary: 'List administrative writes',
    scopes: ['audit_logs.list'],
    query: AuditQuery,
    reply: AuditRecords,
    handle: listed,
  }),
  operation({
    id: 'audit_logs.verify',
    tag: 'Audit Logs',
    method: 'GET',
    path: '/audit-logs/verify',
    summary: 'Check the chain of the audit log: a row altered, taken away or moved shows',
    scopes: ['audit_logs.list'],
    reply: AuditVerdict,
    handle: verified,
  }),
] as const

async function listed({
  actor,
  app,
  db,
  query,
}: OperationCall<undefined, typeof AuditQuery>): Promise<z.input<typeof AuditRecords>> {
  const {organisation_id} = actor
  found(query.organisation_id === undefined || query.organisation_id === organisation_id || undefined, 'organisation')
  const none = !app.settings.audit_logs_enabled || query.country !== undefined
  if (none) return {records: [], total: 0, object: 'analytics-graph'}
  // Archived workspaces have a past too.
  const workspace =
    query.workspace_id === undefined
      ? undefined
      : found(await findWorkspace(db, organisation_id, query.workspace_id), 'workspace')
  const where = {
    method: query.method,
    uri: query.uri,
    request_id: query.request_id,
    actor_id: query.user_id,
    actor_type: query.user_type,
    workspace_id: workspace?.id,
    status: query.response_status_code,
    resource_type: query.resource_type,
    action: query.action,
    client_ip: query.client_ip,
  }
  const {total, rows} = await listAuditLogs(
    db,
    {organisation_id, start_at: query.start_time, end_at: query.end_time, where},
    query,
  )
  return {records: rows.map(view), total, object: 'analytics-graph'}
}

async function verified({actor, db}: OperationCall): Promise<z.input<typeof AuditVerdict>> {
  const {breaks, ...counts} = await verifyAuditChain(db, actor.organisation_id)
  return {holds: !breaks.length, ...counts, breaks: [...breaks], object: 'audit-chain'}
}

function view(row: AuditLogsTable): z.input<typeof AuditRecord> {
  return {
    id: row.id,
    timestamp: row.at,
    method: row.method,
    uri: row.uri,
    request_id: row.request_id,
    request_body: row.request_body,
    query_params: row.query_params,
    request_headers: row.request_headers,
    user_id: row.actor_id,
    user_type: row.actor_type,
    organisation_id: row.organisation_id,
    workspace_id: row.workspace_id,
    response_status_code: row.status,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    action: row.action,
    client_ip: row.client_ip,
    country: null,
    changes: changesOf(row.changes),
    sequence: row.sequence ?? null,
    chain: row.chain ?? null,
  }
}
