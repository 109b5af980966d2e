import type {IncomingHttpHeaders} from 'node:http'
import {newTimeId} from '../base/ids.ts'
import type {AuditLogsTable} from '../store/tables/identity.ts'
import {cutText, masked, maskedHeaders} from './audit.ts'

/** One write of a directory. */
interface Deed {
  readonly organisation_id: string
  readonly token_id: string
  readonly request_id: string
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  readonly client_ip: string
  readonly resource: string
  readonly resource_id: string
  readonly action: string
  readonly status: number
  readonly notes: readonly string[]
}

/** The row of the audit log for a write of a directory, its secrets masked. Its actor is the token. */
export function scimAuditRow(deed: Deed, at: string, masked_headers: readonly string[]): AuditLogsTable {
  const {body, notes} = deed
  const told = notes.length > 0 ? {...(masked(body) as object | undefined), notes} : masked(body)
  return {
    id: newTimeId(Date.parse(at)),
    at,
    organisation_id: deed.organisation_id,
    workspace_id: null,
    actor_type: 'system',
    actor_id: deed.token_id,
    method: deed.method,
    uri: deed.path,
    request_id: deed.request_id,
    request_headers: JSON.stringify(maskedHeaders(deed.headers, masked_headers)),
    request_body: told === undefined ? null : cutText(JSON.stringify(told)),
    query_params: null,
    status: deed.status,
    resource_type: deed.resource,
    resource_id: deed.resource_id,
    action: deed.action,
    client_ip: deed.client_ip,
    changes: null,
  }
}
