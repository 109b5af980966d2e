import {hostList, readHostEntry} from '../../base/egress/hosts.ts'
import {isObject, parsed} from '../../base/json-object.ts'
import {putDocumentClient} from '../../store/oauth-clients.ts'
import type {McpOauthClientsTable} from '../../store/tables/oauth.ts'
import type {DocumentReply, OAuthServices} from '../services.ts'
import {OAuthFault, OAuthPageFault} from '../wire/fault.ts'
import {columnsOf, readMetadata} from './registration.ts'

const LONGEST_ID = 1024
const LEAST_S = 60
const MOST_S = 86_400
/** Members that say that a client has a secret: a document is public. */
const SECRETS = ['client_secret', 'client_secret_expires_at'] as const

/** True when a client id is the address of the client's own document. */
export function isDocumentId(client_id: string): boolean {
  return /^https:\/\//i.test(client_id)
}

/** True when MCP_CIMD_HOSTS names the host of an address: hosts, `*.domain`, or `*` for any. */
export function isHostAllowed(client_id: string, hosts: readonly string[]): boolean {
  const {hostname} = URL.parse(client_id) ?? {}
  if (hostname === undefined) return false
  if (hosts.includes('*')) return true
  return hostList(hosts.flatMap(text => readHostEntry(text) ?? [])).names(hostname.replace(/^\[(.*)\]$/, '$1'))
}

/** Reads the document of a client and keeps what it says. Refuses with the reason, for the person who waits. */
export async function readClientDocument(services: OAuthServices, client_id: string): Promise<McpOauthClientsTable> {
  if (!isDocumentAddress(client_id)) throw refused('its address is not one that a document may have')
  let reply: DocumentReply
  try {
    reply = await services.readDocument(client_id)
  } catch (cause) {
    services.log.warn({fault: cause, client_id}, 'the document of a client of MCP cannot be read')
    throw new OAuthPageFault(502, 'The client’s own description cannot be read now. Try again shortly.', {cause})
  }
  const row = rowOf(services, client_id, reply)
  await services.store.write(db => putDocumentClient(db, row))
  return row
}

/** The form of one spelling: https, a path, and nothing that a parser would write differently. */
function isDocumentAddress(client_id: string): boolean {
  const url = client_id.length <= LONGEST_ID ? URL.parse(client_id) : null
  if (url?.protocol !== 'https:' || url.username || url.password || client_id.includes('#')) return false
  return url.pathname !== '/' && url.href === client_id
}

function rowOf({settings, now}: OAuthServices, client_id: string, {status, headers, text}: DocumentReply) {
  if (status !== 200) throw refused(`it answers with status ${status}`)
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(headers['content-type'] ?? '')) throw refused('it is not JSON')
  const body = parsed(text)
  if (!isObject(body)) throw refused('it is not a JSON object')
  if (body.client_id !== client_id) throw refused('its client_id is not its own address')
  if (typeof body.client_name !== 'string' || body.client_name.trim() === '') throw refused('it has no client_name')
  const method = body.token_endpoint_auth_method ?? 'none'
  if (method !== 'none' || SECRETS.some(name => name in body))
    throw refused('it asks for a secret, and documents are public: token_endpoint_auth_method must be none')
  const at = now()
  const expires_at = new Date(at.getTime() + lifeOf(headers) * 1000).toISOString()
  try {
    const columns = columnsOf(readMetadata(body), settings)
    return {
      ...{id: client_id, kind: 'document', organisation_id: null, workspace_id: null, ...columns},
      ...{secret_hash: null, auth_method: 'none', scopes: null, skips_consent: 0, created_by: null},
      ...{created_at: at.toISOString(), last_updated_at: at.toISOString(), last_used_at: null, expires_at},
    } satisfies McpOauthClientsTable
  } catch (fault) {
    if (fault instanceof OAuthFault) throw refused(fault.message)
    throw fault
  }
}

/** Seconds for which a document may be used: as its headers say, from a minute to a day. */
function lifeOf(headers: DocumentReply['headers']): number {
  const control = headers['cache-control'] ?? ''
  if (/\bno-(?:store|cache)\b/i.test(control)) return LEAST_S
  const max_age = Number(/\bmax-age=(\d{1,9})/i.exec(control)?.[1] ?? 0)
  const age = Number(/^\d{1,9}$/.exec(headers.age ?? '')?.[0] ?? 0)
  return Math.min(MOST_S, Math.max(LEAST_S, max_age - age))
}

function refused(reason: string): OAuthPageFault {
  return new OAuthPageFault(400, `The client’s own description cannot be used: ${reason}.`)
}
