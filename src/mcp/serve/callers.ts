import {vouchFor} from '../../base/ingress/govern.ts'
import type {ClientRequest} from '../../base/ingress/request.ts'
import {hasScope} from '../../identity/access.ts'
import {requireLive} from '../../identity/api-keys.ts'
import {looksLikeOAuthToken} from '../../identity/mcp-oauth/caller.ts'
import type {McpServerNames} from '../../store/oauth-servers.ts'
import {credentialOf} from '../call/credential.ts'
import type {McpCaller, McpUses} from '../services.ts'
import {McpFault} from '../wire/faults.ts'
import type {McpExchange} from './exchange.ts'

/** A caller who may call MCP servers, and the kind of his credential. */
export interface AdmittedCaller {
  readonly caller: McpCaller
  readonly auth: McpExchange['auth']
}

type Services = McpUses<'findCaller' | 'findOAuthCaller' | 'findWorkspaceLimits' | 'now'>

const SCOPE = 'mcp.invoke'

/** Finds the caller of a request by its key, its token, or its token of our own authorization server. */
export async function admittedCaller(
  request: ClientRequest,
  path: McpServerNames,
  services: Services,
): Promise<AdmittedCaller> {
  const url = request.url ?? ''
  const at = url.indexOf('?')
  const credential = credentialOf(request.headers, at < 0 ? '' : url.slice(at + 1))
  if (credential.from === 'authorization' && looksLikeOAuthToken(credential.text)) {
    const caller = await oauthCaller(credential.text, path, services)
    vouchFor(request)
    return {caller, auth: 'oauth'}
  }
  const known = await services.findCaller(credential.text, request)
  if (!known) throw new McpFault('unauthenticated', {reason: 'The credential is not known here.'}, DEAD)
  const access = requireLive(known, services.now())
  vouchFor(request)
  if (!hasScope(access, SCOPE))
    throw new McpFault('forbidden', {
      reason: `The credential lacks the scope ${SCOPE}, which calls of MCP servers need.`,
    })
  if (!known.caller)
    throw new McpFault('forbidden', {
      reason: 'The credential is of no workspace. Use a key of the workspace that has the server.',
    })
  const caller = {...known.caller, email: known.caller.metadata._user ?? null, username: null, oauth: null}
  return {caller, auth: caller.kind === 'token' ? 'jwt' : 'api_key'}
}

const DEAD = {data: {error: 'invalid_token'}}

async function oauthCaller(token: string, path: McpServerNames, services: Services): Promise<McpCaller> {
  const found = await services.findOAuthCaller(token, path, services.now())
  if ('error' in found)
    throw new McpFault('unauthenticated', {reason: 'The access token is not valid for this server.'}, DEAD)
  const {client_id, user_id, organisation_id, workspace_id, scopes, email, username} = found
  return {
    ...{kind: 'oauth_client', id: client_id, organisation_id, workspace_id, workspace_slug: '', user_id},
    metadata: email === null ? {} : {_user: email},
    limits: await services.findWorkspaceLimits(organisation_id, workspace_id),
    ...{email, username, oauth: {client_id, scopes}},
  }
}
