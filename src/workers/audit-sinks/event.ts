import {list, object, parsed, parsedObject} from '../../base/json-object.ts'
import {cutTo} from '../../base/stored-text.ts'
import type {SinkRow} from '../../store/audit-marks.ts'

/** A row of the audit log as its lines have it, without a value of a field; named as in `GET /audit-logs`. */
export interface AuditEvent {
  readonly id: string
  readonly timestamp: string
  readonly organisation_id: string
  readonly workspace_id: string | null
  readonly user_type: string
  readonly user_id: string | null
  readonly action: string
  readonly resource_type: string
  readonly resource_id: string | null
  /** As the request named it. */
  readonly resource_name: string | null
  readonly method: string
  readonly uri: string
  readonly response_status_code: number
  readonly result: 'success' | 'failure'
  readonly request_id: string
  readonly client_ip: string | null
  /** Names of the fields that an update changed. */
  readonly changed_fields: readonly string[] | null
  readonly sequence: number
  readonly chain: string
  /** The chain of the row before; null where that row is missing. */
  readonly previous_chain: string | null
}

/** Of one text. All of a line stays below 8 KB, which every receiver takes (RFC 5425, 4.3.1). */
const MOST_BYTES = 255
const MOST_URI_BYTES = 1024
const MOST_FIELDS_BYTES = 512

export function eventOf(row: SinkRow): AuditEvent {
  const plain = (text: string) => cutTo(text.toWellFormed(), MOST_BYTES)
  const maybe = (text: string | null) => (text === null ? null : plain(text))
  return {
    id: plain(row.id),
    timestamp: row.at,
    organisation_id: plain(row.organisation_id),
    workspace_id: maybe(row.workspace_id),
    user_type: row.actor_type,
    user_id: maybe(row.actor_id),
    action: plain(row.action),
    resource_type: plain(row.resource_type),
    resource_id: maybe(row.resource_id),
    resource_name: maybe(nameIn(row.request_body)),
    method: plain(row.method),
    uri: cutTo(row.uri.toWellFormed(), MOST_URI_BYTES),
    response_status_code: Number(row.status),
    result: Number(row.status) < 400 ? 'success' : 'failure',
    request_id: plain(row.request_id),
    client_ip: maybe(row.client_ip),
    changed_fields: fieldsIn(row.changes),
    sequence: row.sequence,
    chain: row.chain,
    previous_chain: row.previous_chain,
  }
}

function nameIn(body: string | null): string | null {
  const name = body === null ? undefined : parsedObject(body)?.name
  return typeof name === 'string' && name !== '' ? name : null
}

function fieldsIn(changes: string | null): readonly string[] | null {
  if (changes === null) return null
  const names: string[] = []
  let bytes = 0
  for (const change of list(parsed(changes))) {
    const {field} = object(change)
    if (typeof field !== 'string') continue
    const name = cutTo(field.toWellFormed(), MOST_BYTES)
    bytes += Buffer.byteLength(name)
    if (bytes > MOST_FIELDS_BYTES) break
    names.push(name)
  }
  return names
}

/** A sentence for people. */
export function sentenceOf(event: AuditEvent): string {
  const {action, resource_type, resource_id, resource_name, user_type, user_id, response_status_code} = event
  const named = resource_name === null ? '' : ` "${resource_name}"`
  const id = resource_id === null ? '' : ` ${resource_id}`
  const by = user_id === null ? user_type : `${user_type} ${user_id}`
  return `${action} ${resource_type}${id}${named} by ${by}: ${response_status_code}`
}
