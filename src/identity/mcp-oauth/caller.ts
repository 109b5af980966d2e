import type {Store} from '../../store/database.ts'
import {findCallerRow, type OAuthCallerRow} from '../../store/oauth-callers.ts'
import type {McpServerNames} from '../../store/oauth-servers.ts'
import {isNamed} from './resources.ts'
import {scopeList} from './scopes.ts'
import {hashOfWord, isWord} from './words.ts'

/** The one who calls a server of MCP with an access token. */
export interface OAuthCaller {
  readonly token_id: string
  readonly client_id: string
  /** Null: the client acts for itself, as a service. */
  readonly user_id: string | null
  readonly organisation_id: string
  readonly workspace_id: string
  readonly server_id: string
  readonly scopes: readonly string[]
  readonly email: string | null
  /** The name of the person, else his address, else the id of the client. */
  readonly username: string
}

/** A token that lets no one in, here or at all. `detail` is for the log alone. */
export interface OAuthRefusal {
  readonly error: 'invalid_token'
  readonly detail: string
}

/** True for what has the form of an access token of this gateway; reads no row. */
export function looksLikeOAuthToken(credential: string): boolean {
  return isWord('access', credential)
}

/**
 * The caller who has a token, at the server that the address of his request names. Everything is read at each call, so
 * that a revocation, the end of a membership and an archived workspace act at once, in every process.
 */
export async function findOAuthCaller(
  {db}: Pick<Store, 'db'>,
  token: string,
  {resource, now_ms}: {readonly resource: McpServerNames; readonly now_ms: number},
): Promise<OAuthCaller | OAuthRefusal> {
  const row = isWord('access', token) ? await findCallerRow(db, hashOfWord(token)) : undefined
  const detail = row ? (deadBecause(row, now_ms) ?? strangeBecause(row, resource)) : 'the token is unknown'
  if (!row || detail !== null) return {error: 'invalid_token', detail: detail ?? 'the token is unknown'}
  const {token_id, client_id, user_id, organisation_id, workspace_id, server_id, email} = row
  const scopes = scopeList(row.token_scopes)
  return {token_id, client_id, user_id, organisation_id, workspace_id, server_id, scopes, email, username: nameOf(row)}
}

/** Why a token is good for nothing now; null for a live one. */
export function deadBecause(row: OAuthCallerRow, now_ms: number): string | null {
  if (row.kind !== 'access') return 'it is no access token'
  if (row.token_expires_at <= new Date(now_ms).toISOString()) return `it expired at ${row.token_expires_at}`
  if (row.token_revoked_at !== null || row.grant_revoked_at !== null) return 'it was revoked'
  if (row.workspace_status !== 'active') return 'its workspace is archived'
  if (row.server_status !== 'active') return 'its server is archived'
  if (row.user_id === null) return null
  if (row.user_status !== 'active') return 'its person has left'
  if ((row.status_changed_at ?? '') > row.grant_created_at) return 'its person has left since, and came back'
  if (row.user_role === 'member' && row.member_role === null) return 'its person has left the workspace'
  return null
}

export function nameOf({first_name, last_name, email, client_id}: OAuthCallerRow): string {
  return [first_name, last_name].filter(Boolean).join(' ') || email || client_id
}

function strangeBecause(row: OAuthCallerRow, resource: McpServerNames) {
  const {server_id, server_slug, workspace_id, workspace_slug} = row
  const server = {id: server_id, slug: server_slug, workspace_id, workspace_slug}
  return isNamed(resource, server) ? null : 'it is for another server'
}
