import {type AuditEvent, sentenceOf} from './event.ts'

/** The sender of lines. */
export interface LineSource {
  readonly host: string
  readonly app: string
}

/** Log audit (RFC 5424, 6.2.1). */
const FACILITY = 13
const INFORMATIONAL = 6
const WARNING = 4
/** The enterprise number of RFC 5612, which anyone may use: the gateway has none of its own. */
const ELEMENT = 'audit@32473'
const NIL = '-'

/** A message of RFC 5424 with the facts in its structured data, and a sentence for people. */
export function toRfc5424(event: AuditEvent, source: LineSource): string {
  return `${header(event, source)} ${structured(event)} ${plain(sentenceOf(event))}`
}

/** A message that carries a line of another format. */
export function wrapped(line: string, event: AuditEvent, source: LineSource): string {
  return `${header(event, source)} ${NIL} ${line}`
}

function header({timestamp, action, result}: AuditEvent, {host, app}: LineSource): string {
  const priority = FACILITY * 8 + (result === 'success' ? INFORMATIONAL : WARNING)
  // no process id: a line that is sent again is the same line
  return `<${priority}>1 ${timestamp} ${name(host, 255)} ${name(app, 48)} ${NIL} ${name(action, 32)}`
}

function structured(event: AuditEvent): string {
  const parameters: readonly (readonly [string, string | number | null])[] = [
    ['id', event.id],
    ['organisation', event.organisation_id],
    ['workspace', event.workspace_id],
    ['actorType', event.user_type],
    ['actor', event.user_id],
    ['resource', event.resource_type],
    ['resourceId', event.resource_id],
    ['name', event.resource_name],
    ['result', event.result],
    ['status', event.response_status_code],
    ['method', event.method || null],
    ['uri', event.uri || null],
    ['requestId', event.request_id],
    ['clientIp', event.client_ip],
    ['changedFields', event.changed_fields?.join(',') ?? null],
    ['sequence', event.sequence],
    ['chain', event.chain],
    ['previousChain', event.previous_chain ?? 'missing'],
  ]
  const texts = parameters
    .filter(([, value]) => value !== null)
    .map(([key, value]) => ` ${key}="${plain(String(value)).replace(/["\\\]]/g, '\\$&')}"`)
  return `[${ELEMENT}${texts.join('')}]`
}

/** PRINTUSASCII of a length, or nothing. */
function name(text: string, most: number): string {
  return text.replace(/[^\x21-\x7e]/g, '_').slice(0, most) || NIL
}

/** A line has no line breaks and nothing that moves a cursor. */
function plain(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, ' ')
}
