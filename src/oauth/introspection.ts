import type {IncomingHttpHeaders} from 'node:http'
import {Refusal} from '../base/errors.ts'
import {sentKey} from '../identity/keys.ts'
import {deadBecause, nameOf} from '../identity/mcp-oauth/caller.ts'
import {hashOfWord, isWord} from '../identity/mcp-oauth/words.ts'
import {isKeyOf} from '../identity/subject.ts'
import {findCallerRow, type OAuthCallerRow} from '../store/oauth-callers.ts'
import {authenticatedClient, triesBasic} from './clients/authentication.ts'
import type {OAuthClient} from './clients/client.ts'
import type {OAuthServices, OAuthVisit} from './services.ts'
import {OAuthFault} from './wire/fault.ts'
import type {OAuthFields} from './wire/fields.ts'

interface IntrospectionRequest {
  readonly headers: IncomingHttpHeaders
  readonly fields: OAuthFields
  readonly visit: OAuthVisit
}

const DEAD = {active: false} as const

/**
 * Says what a token is (RFC 7662). A client with a secret hears of its own, one that an administrator made of all of
 * its organisation, and so does a key of the organisation. All others are as dead as an unknown one.
 */
export async function introspect(services: OAuthServices, request: IntrospectionRequest) {
  const may = await reachOf(services, request)
  const token = request.fields.required('token')
  const row = isWord('access', token) ? await findCallerRow(services.store.db, hashOfWord(token)) : undefined
  if (!row || deadBecause(row, services.now().getTime()) !== null || !may(row)) return DEAD
  return {
    ...{active: true, scope: row.token_scopes, client_id: row.client_id, username: nameOf(row)},
    ...(row.email !== null && {email: row.email}),
    ...{sub: row.user_id ?? row.client_id, aud: row.resource, iss: services.base_url, token_type: 'Bearer'},
    ...{exp: secondsOf(row.token_expires_at), iat: secondsOf(row.token_created_at)},
    ...{workspace_id: row.workspace_id, workspace_slug: row.workspace_slug, workspace_name: row.workspace_name},
    ...{organisation_id: row.organisation_id, organisation_name: row.organisation_name, server_id: row.server_id},
  }
}

/** The tokens that a caller may hear of. */
async function reachOf(
  services: OAuthServices,
  {headers, fields, visit}: IntrospectionRequest,
): Promise<(row: OAuthCallerRow) => boolean> {
  const {key} = sentKey(headers)
  if (key !== undefined) {
    const organisation_id = await organisationOfKey(services, key, visit)
    return row => row.organisation_id === organisation_id
  }
  if (!triesBasic(headers) && fields.text('client_secret') === undefined)
    throw new OAuthFault('invalid_client', 'Send the secret of a client, or a key of the organisation.')
  const client = await authenticatedClient(services.store.db, services, {headers, fields})
  if (client.secret_hash === null) throw new OAuthFault('invalid_client', 'This client has no secret.')
  return row => isOf(row, client)
}

function isOf(row: OAuthCallerRow, {id, kind, organisation_id, workspace_id}: OAuthClient): boolean {
  if (row.client_id === id) return true
  if (kind !== 'administered' || row.organisation_id !== organisation_id) return false
  return workspace_id === null || workspace_id === row.workspace_id
}

async function organisationOfKey({accessByKey, now}: OAuthServices, key: string, {client_ip}: OAuthVisit) {
  try {
    const {subject, organisation_id} = await accessByKey(key, {now: now().toISOString(), client_ip})
    if (isKeyOf(subject, 'organisation-service')) return organisation_id
  } catch (fault) {
    if (!(fault instanceof Refusal) || fault.status >= 500) throw fault
  }
  throw new OAuthFault('invalid_client', 'The key is not one of an organisation, or is not known.')
}

function secondsOf(at: string): number {
  return Math.floor(Date.parse(at) / 1000)
}
