import {newId} from '../../base/ids.ts'
import {hashOfWord, isWord, makeWord} from '../../identity/mcp-oauth/words.ts'
import {findOAuthTransaction, insertOAuthTransaction} from '../../store/oauth-transactions.ts'
import type {McpOauthTransactionsTable} from '../../store/tables/oauth.ts'
import type {OAuthServices, OAuthVisit} from '../services.ts'
import {OAuthPageFault} from '../wire/fault.ts'
import type {AnsweredAt, AuthorizationRequest} from './request.ts'

const LIFE_MS = 600_000

/** Keeps a request until its person decides, and says the handle by which his browser names it. */
export async function beginTransaction(
  {store, seal, now}: OAuthServices,
  request: AuthorizationRequest,
  {client_ip}: OAuthVisit,
): Promise<{readonly handle: string; readonly id: string}> {
  const handle = makeWord('transaction')
  const id = newId()
  const at = now()
  const {client, redirect_uri, state, code_challenge, scopes, names, asks_again} = request
  await store.write(db =>
    insertOAuthTransaction(db, {
      ...{id, handle_hash: hashOfWord(handle), client_id: client.id, redirect_uri, code_challenge},
      state: state === undefined ? null : seal.close(state, placeOf(id)),
      ...{scopes: scopes.join(' '), workspace_named: names?.workspace ?? null, server_named: names?.server ?? null},
      ...{asks_again: asks_again ? 1 : 0, organisation_id: null, user_id: null, client_ip},
      ...{created_at: at.toISOString(), expires_at: new Date(at.getTime() + LIFE_MS).toISOString(), used_at: null},
    }),
  )
  return {handle, id}
}

/** The transaction of a handle, while it may be decided. */
export async function openTransaction(
  {store, now}: OAuthServices,
  handle: string | undefined,
): Promise<McpOauthTransactionsTable> {
  const row =
    handle !== undefined && isWord('transaction', handle)
      ? await findOAuthTransaction(store.db, hashOfWord(handle))
      : undefined
  if (!row || row.expires_at <= now().toISOString())
    throw new OAuthPageFault(400, 'This request is over: it took too long. Begin again in your client.')
  if (row.used_at !== null) throw usedBefore()
  return row
}

export function usedBefore(): OAuthPageFault {
  return new OAuthPageFault(400, 'This request was decided already. Begin again in your client, if it still waits.')
}

/** The place at which the client of a transaction hears the answer. */
export function answeredAt({seal}: OAuthServices, {id, redirect_uri, state}: McpOauthTransactionsTable): AnsweredAt {
  return {redirect_uri, state: state === null ? undefined : seal.open(state, placeOf(id))}
}

function placeOf(id: string) {
  return {table: 'mcp_oauth_transactions', column: 'state', row: id, organisation_id: ''}
}
