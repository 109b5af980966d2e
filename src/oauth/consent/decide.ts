import {newId} from '../../base/ids.ts'
import {mcpPath} from '../../identity/mcp-oauth/resources.ts'
import {hashOfWord, makeWord} from '../../identity/mcp-oauth/words.ts'
import type {Db} from '../../store/database.ts'
import {putConsent} from '../../store/oauth-consents.ts'
import {insertOAuthGrant} from '../../store/oauth-grants.ts'
import type {OAuthServer} from '../../store/oauth-servers.ts'
import {useTransaction} from '../../store/oauth-transactions.ts'
import type {McpOauthGrantsTable, McpOauthTransactionsTable} from '../../store/tables/oauth.ts'
import {findOrganisationUser} from '../../store/users.ts'
import {noteGrant} from '../audit.ts'
import type {OAuthClient} from '../clients/client.ts'
import type {ConsentPerson} from '../person.ts'
import type {OAuthServices, OAuthVisit} from '../services.ts'
import {OAuthPageFault} from '../wire/fault.ts'
import {consentKey, serversFor} from './choices.ts'
import {answerTo} from './request.ts'
import {answeredAt, usedBefore} from './transactions.ts'

const CODE_MS = 60_000
const REMEMBERED_MS = 90 * 86_400_000

/** A person in front of an open transaction. */
export interface ConsentCase {
  readonly session: ConsentPerson
  readonly transaction: McpOauthTransactionsTable
  readonly client: OAuthClient
  readonly visit: OAuthVisit
}

/** Lets the client in and says where its browser goes with the code. `remembered`: the page was skipped. */
export async function approve(
  services: OAuthServices,
  of: ConsentCase,
  {server_id, remembered}: {readonly server_id: string; readonly remembered: boolean},
): Promise<string> {
  const {session, transaction, client, visit} = of
  const at = answeredAt(services, transaction)
  const code = makeWord('code')
  await services.store.write(async db => {
    const now = services.now()
    await requireMember(db, session)
    const server = (await serversFor(db, session, transaction, client)).find(({id}) => id === server_id)
    if (!server) throw new OAuthPageFault(403, 'You may not use this server. Begin again in your client.')
    if (!(await useTransaction(db, transaction.id, now.toISOString()))) throw usedBefore()
    const grant = grantOf(services, of, {server, code, now})
    await insertOAuthGrant(db, grant)
    if (!remembered) await remember(db, of, server, now)
    const event = remembered ? 'consent_remembered' : 'consent_given'
    const more = {client: client.name, redirect_uri: transaction.redirect_uri}
    const deed = {event, action: 'create', status: 200, more} as const
    await noteGrant(db, services, {grant, deed, user_id: session.user_id}, visit)
  })
  return answerTo(at, services, {code})
}

/** Refuses the client and says where its browser goes. */
export async function deny(
  services: OAuthServices,
  {session, transaction, client, visit}: ConsentCase,
): Promise<string> {
  const at = answeredAt(services, transaction)
  await services.store.write(async db => {
    if (!(await useTransaction(db, transaction.id, services.now().toISOString()))) throw usedBefore()
    const {organisation_id} = session
    const grant = {id: transaction.id, client_id: client.id, organisation_id, scopes: transaction.scopes}
    const deed = {event: 'consent_denied', action: 'create', status: 403, more: {client: client.name}} as const
    await noteGrant(db, services, {grant, deed, user_id: session.user_id}, visit)
  })
  return answerTo(at, services, {error: 'access_denied', error_description: 'The person did not allow it.'})
}

/** Read again in the transaction: the session was read before it. */
async function requireMember(db: Db, {organisation_id, user_id}: ConsentPerson) {
  const user = await findOrganisationUser(db, organisation_id, user_id)
  if (user?.status !== 'active') throw new OAuthPageFault(403, 'You have no access here any more.')
}

function grantOf(
  {base_url}: OAuthServices,
  {session, transaction}: ConsentCase,
  {server, code, now}: {readonly server: OAuthServer; readonly code: string; readonly now: Date},
): McpOauthGrantsTable {
  const {workspace_named, client_id, scopes, redirect_uri, code_challenge} = transaction
  const {organisation_id, user_id} = session
  const expires_at = new Date(now.getTime() + CODE_MS).toISOString()
  return {
    ...{id: newId(), client_id, user_id, organisation_id, workspace_id: server.workspace_id, server_id: server.id},
    resource: base_url + mcpPath({workspace: workspace_named && server.workspace_slug, server: server.slug}),
    ...{scopes, redirect_uri, code_hash: hashOfWord(code), code_challenge},
    ...{code_expires_at: expires_at, code_used_at: null, created_at: now.toISOString(), expires_at},
    ...{last_used_at: null, revoked_at: null, revoked_for: null},
  }
}

function remember(db: Db, {session, transaction}: ConsentCase, server: OAuthServer, now: Date) {
  const {organisation_id, user_id} = session
  return putConsent(db, {
    ...{key: consentKey(session, transaction, server), organisation_id, user_id, client_id: transaction.client_id},
    ...{server_id: server.id, scopes: transaction.scopes, created_at: now.toISOString()},
    expires_at: new Date(now.getTime() + REMEMBERED_MS).toISOString(),
  })
}
