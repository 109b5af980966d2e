import type {IncomingHttpHeaders} from 'node:http'
import {newTimeId} from '../base/ids.ts'
import {isSecretMember, maskedUrl} from '../base/masked-url.ts'
import {SECRET_HEADERS} from '../schema/headers.ts'
import type {AuditLogsTable} from '../store/tables/identity.ts'
import type {AnyOperation} from './operation.ts'
import type {Actor} from './services.ts'

/** One administrative write that was done, and who did it. */
export interface Deed {
  readonly operation: Pick<AnyOperation, 'audit'>
  readonly actor: Actor
  readonly request_id: string
  readonly method: string
  /** Without its query. */
  readonly path: string
  readonly query: unknown
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  readonly client_ip: string | null
  readonly resource_id: string | null
  readonly workspace_id: string | null
  readonly status: number
  /** JSON of the fields that it changed. */
  readonly changes?: string | null
  /** Headers masked beside those that always are. */
  readonly masked_headers: readonly string[]
}

/** The row of the audit log for a deed, its secrets masked. */
export function auditRow(deed: Deed, at: string): AuditLogsTable {
  const {actor, operation} = deed
  return {
    id: newTimeId(Date.parse(at)),
    at,
    organisation_id: actor.organisation_id,
    workspace_id: deed.workspace_id,
    actor_type: actorTypeOf(actor),
    actor_id: actor.subject.id,
    method: deed.method,
    uri: deed.path,
    request_id: deed.request_id,
    request_headers: JSON.stringify(maskedHeaders(deed.headers, deed.masked_headers)),
    request_body: deed.body === undefined ? null : cutText(JSON.stringify(masked(deed.body))),
    query_params: isEmpty(deed.query) ? null : cutText(JSON.stringify(maskedQuery(deed.query))),
    status: deed.status,
    resource_type: operation.audit?.resource ?? 'unknown',
    resource_id: deed.resource_id,
    action: operation.audit?.action ?? 'manage',
    client_ip: deed.client_ip,
    changes: deed.changes ?? null,
  }
}

/** An open operation that writes says who did it (`auditActor`). */
function actorTypeOf({subject}: Actor): AuditLogsTable['actor_type'] {
  if (subject.kind === 'anonymous') throw new Error('a write of nobody cannot be recorded')
  return subject.kind
}

const MASK = '***'
const MAX_CHARACTERS = 65_536
const SECRET_NAME =
  /^(custom_)?headers$|^passthrough_headers?$|(^|[_-])(api|access|private|secret)?[_-]?key$|secret|token$|password|passphrase|credential|private|authorization|cookie|access_key|service_account|^(jwks|metadata_xml|samlresponse|code|user_code|device_code|code_verifier|x-gateway-csrf)$/i
/** True for names of fields that hold secrets. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

const USER_IN_URL = /(:\/\/)[^/\s@]+@/g
const IS_URL = /^\s*[a-z][a-z\d+.-]*:\/\//i

/** A text without the users of URLs in it; of one that is a URL, without the secrets of its query. */
function plainOf(text: string): string {
  const bare = text.replace(USER_IN_URL, `$1${MASK}@`)
  return IS_URL.test(bare) ? maskedUrl(bare) : bare
}

/** Headers with the values of secret ones masked: those of the list, those named like one, those that `also` names. */
export function maskedHeaders(headers: IncomingHttpHeaders, also: readonly string[]): Record<string, string> {
  const hidden = new Set(also.map(name => name.toLowerCase()))
  const secret = (name: string) =>
    SECRET_HEADERS.has(name) || hidden.has(name) || SECRET_NAME.test(name) || name.endsWith('-config')
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secret(name) ? MASK : plainOf(String(value))]),
  )
}

/**
 * A copy in which every text under a name that speaks of a secret is masked, however deep, and so are users in URLs.
 */
export function masked(value: unknown, hides = false): unknown {
  if (typeof value === 'string') return hides ? MASK : plainOf(value)
  if (Array.isArray(value)) return value.map(each => masked(each, hides))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, masked(inner, hides || SECRET_NAME.test(name))]),
  )
}

/** The same of a parsed query, whose names are those of URLs. */
function maskedQuery(query: unknown): unknown {
  if (typeof query !== 'object' || query === null) return masked(query)
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, masked(value, SECRET_NAME.test(name) || isSecretMember(name))]),
  )
}

function isEmpty(query: unknown): boolean {
  return typeof query !== 'object' || query === null || Object.keys(query).length === 0
}

/** At most as much of a text as a row keeps. */
export function cutText(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text
}
