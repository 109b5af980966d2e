import type {z} from 'zod'
import {readRedirect} from '../../identity/mcp-oauth/redirect-uris.ts'
import {readScopes} from '../../identity/mcp-oauth/scopes.ts'
import {hashOfWord, makeWord} from '../../identity/mcp-oauth/words.ts'
import {authorOf} from '../../identity/subject.ts'
import {
  CreatedMcpOAuthClient,
  McpOAuthClientCreate,
  McpOAuthClientParams,
  McpOAuthClientsQuery,
  McpOAuthClientUpdate,
  McpOAuthClientView,
} from '../../schema/mcp-oauth-clients.ts'
import {Empty, list, listOf} from '../../schema/paging.ts'
import * as store from '../../store/oauth-clients.ts'
import {revokeGrantsOfClient} from '../../store/oauth-grants.ts'
import type {McpOauthClientsTable} from '../../store/tables/oauth.ts'
import {type OperationCall, operation} from '../operation.ts'
import {type CallerScope, found, invalid, namedWorkspace} from '../tenancy.ts'

const tag = 'MCP OAuth Clients'
const path = '/mcp-oauth-clients'
const one = `${path}/:clientId`
const PEOPLE = ['authorization_code', 'refresh_token'] as const

/**
 * OAuth clients of MCP that an administrator makes: they may be kept to scopes and a workspace, act for themselves, and
 * be spared the page of consent. Those are decisions for the organisation, so its scopes are the ones that count.
 */
export const mcpOauthClients = [
  operation({
    id: 'mcp_oauth_clients.list',
    tag,
    method: 'GET',
    path,
    summary: 'List the OAuth clients of MCP that administrators made',
    scopes: ['organisation_mcp_integrations.read'],
    query: McpOAuthClientsQuery,
    reply: listOf(McpOAuthClientView),
    async handle({actor, db, query}) {
      return list(await store.listOAuthClients(db, {organisation_id: actor.organisation_id}, query), view)
    },
  }),
  operation({
    id: 'mcp_oauth_clients.create',
    tag,
    method: 'POST',
    path,
    summary: 'Make an OAuth client of MCP; the reply is the only one that says its secret',
    scopes: ['organisation_mcp_integrations.create'],
    audit: {resource: 'mcp-oauth-client', action: 'create'},
    body: McpOAuthClientCreate,
    reply: CreatedMcpOAuthClient,
    handle: created,
  }),
  operation({
    id: 'mcp_oauth_clients.get',
    tag,
    method: 'GET',
    path: one,
    summary: 'Show an OAuth client of MCP',
    scopes: ['organisation_mcp_integrations.read'],
    params: McpOAuthClientParams,
    reply: McpOAuthClientView,
    handle: async call => view(await ownClient(call, call.params.clientId)),
  }),
  operation({
    id: 'mcp_oauth_clients.update',
    tag,
    method: 'PUT',
    path: one,
    summary: 'Change what an OAuth client of MCP may do',
    scopes: ['organisation_mcp_integrations.update'],
    audit: {resource: 'mcp-oauth-client', action: 'update'},
    params: McpOAuthClientParams,
    body: McpOAuthClientUpdate,
    reply: McpOAuthClientView,
    handle: updated,
  }),
  operation({
    id: 'mcp_oauth_clients.delete',
    tag,
    method: 'DELETE',
    path: one,
    summary: 'Delete an OAuth client of MCP: its tokens work no longer',
    scopes: ['organisation_mcp_integrations.delete'],
    audit: {resource: 'mcp-oauth-client', action: 'delete'},
    params: McpOAuthClientParams,
    reply: Empty,
    async handle(call) {
      const {id, workspace_id} = await ownClient(call, call.params.clientId)
      await revokeGrantsOfClient(call.db, id, call.now)
      await store.deleteOAuthClients(call.db, [id])
      call.auditTarget(id, workspace_id)
      return {}
    },
  }),
] as const

async function ownClient({actor, db}: CallerScope, id: string): Promise<McpOauthClientsTable> {
  const row = await store.findOAuthClient(db, id)
  const is_own = row?.kind === 'administered' && row.organisation_id === actor.organisation_id
  return found(is_own ? row : undefined, 'OAuth client')
}

async function created(
  call: OperationCall<undefined, undefined, typeof McpOAuthClientCreate>,
): Promise<z.input<typeof CreatedMcpOAuthClient>> {
  const {actor, db, body, now} = call
  const workspace = await namedWorkspace(call, body.workspace_id ?? undefined)
  const auth_method = body.token_endpoint_auth_method
  const secret = auth_method === 'none' ? null : makeWord('secret')
  const row: McpOauthClientsTable = {
    ...{id: makeWord('client'), kind: 'administered', organisation_id: actor.organisation_id},
    ...{workspace_id: workspace?.id ?? null, name: body.name, auth_method},
    secret_hash: secret === null ? null : hashOfWord(secret),
    ...columnsOf(body),
    ...{details: '{}', created_by: authorOf(actor.subject), created_at: now, last_updated_at: now},
    ...{last_used_at: null, expires_at: null},
  }
  requireFit(row, call.app.settings.mcp_redirect_schemes)
  await store.insertOAuthClient(db, row)
  call.auditTarget(row.id, row.workspace_id)
  return {...view(row), client_secret: secret}
}

async function updated(call: OperationCall<typeof McpOAuthClientParams, undefined, typeof McpOAuthClientUpdate>) {
  const {db, body, now, params} = call
  const before = await ownClient(call, params.clientId)
  const {redirect_uris, acts_for_itself, skips_consent, scopes} = {...view(before), ...body}
  const change = {
    ...columnsOf({redirect_uris, acts_for_itself, skips_consent, scopes}),
    ...(body.name !== undefined && {name: body.name}),
    last_updated_at: now,
  }
  requireFit({...before, ...change}, call.app.settings.mcp_redirect_schemes)
  await store.updateOAuthClient(db, before.id, change)
  call.auditTarget(before.id, before.workspace_id)
  return view({...before, ...change})
}

interface Rules {
  readonly redirect_uris: readonly string[]
  readonly acts_for_itself: boolean
  readonly skips_consent: boolean
  readonly scopes?: readonly string[] | null | undefined
}

function columnsOf({redirect_uris, acts_for_itself, skips_consent, scopes = null}: Rules) {
  const grant_types = [...(redirect_uris.length ? PEOPLE : []), ...(acts_for_itself ? ['client_credentials'] : [])]
  return {
    redirect_uris: JSON.stringify(redirect_uris),
    grant_types: JSON.stringify(grant_types),
    scopes: scopes && JSON.stringify(scopes),
    skips_consent: skips_consent ? 1 : 0,
  } satisfies Partial<McpOauthClientsTable>
}

/** Refuses a client of which no one could make use, or anyone. */
function requireFit(row: McpOauthClientsTable, schemes: readonly string[]) {
  const {redirect_uris, grant_types, scopes} = {...row, ...listsOf(row)}
  const known = new Set(schemes)
  for (const [at, uri] of redirect_uris.entries())
    if (!readRedirect(uri, known))
      throw invalid(
        `redirect_uris[${at}]`,
        'must be https, http to localhost, 127.0.0.1 or [::1], or a scheme of an app, without fragment and user',
      )
  if (grant_types.length === 0) throw invalid('redirect_uris', 'must hold one, or acts_for_itself must be true')
  if (grant_types.includes('client_credentials') && row.secret_hash === null)
    throw invalid('acts_for_itself', 'needs a secret: token_endpoint_auth_method must not be none')
  for (const [at, scope] of (scopes ?? []).entries())
    if (/\s/.test(scope) || readScopes(scope)?.join() !== scope)
      throw invalid(`scopes[${at}]`, 'must be a scope of MCP')
}

function listsOf({redirect_uris, grant_types, scopes}: McpOauthClientsTable) {
  return {
    redirect_uris: JSON.parse(redirect_uris) as string[],
    grant_types: JSON.parse(grant_types) as string[],
    scopes: scopes === null ? null : (JSON.parse(scopes) as string[]),
  }
}

function view(row: McpOauthClientsTable): z.input<typeof McpOAuthClientView> {
  const {id, name, auth_method, workspace_id, created_at, last_updated_at, last_used_at} = row
  const {redirect_uris, grant_types, scopes} = listsOf(row)
  return {
    ...{id, name, redirect_uris, token_endpoint_auth_method: auth_method},
    acts_for_itself: grant_types.includes('client_credentials'),
    ...{skips_consent: Number(row.skips_consent) === 1, scopes, workspace_id},
    ...{created_at, last_updated_at, last_used_at, object: 'mcp-oauth-client'},
  }
}
