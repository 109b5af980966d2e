/** Rows of gateway.db about OAuth of MCP. Times are ISO 8601 UTC text, JSON is text, hashes are SHA-256 in hex. */
export interface McpOauthClientsTable {
  /** The `client_id`: `mcp_client_…`, or the address of a client's own document. */
  id: string
  /** `registered` by itself, described by a `document` of its own, or `administered`: made by an administrator. */
  kind: 'registered' | 'document' | 'administered'
  /** Of one that is administered; of others that of the first person who let it in. */
  organisation_id: string | null
  /** Of one that is administered: the only workspace whose servers it reaches; null for all. */
  workspace_id: string | null
  name: string
  secret_hash: string | null
  auth_method: 'none' | 'client_secret_basic' | 'client_secret_post'
  /** JSON array, and so are those below. */
  redirect_uris: string
  grant_types: string
  /** The most that it may have; null: any. */
  scopes: string | null
  /** JSON object: what else it said of itself. */
  details: string
  skips_consent: 0 | 1
  created_by: string | null
  created_at: string
  last_updated_at: string
  /** The last time that it got a token. */
  last_used_at: string | null
  /** Of a document: from then on it is read again. */
  expires_at: string | null
}

/** An authorization that was begun, until its person decides. */
export interface McpOauthTransactionsTable {
  id: string
  handle_hash: string
  client_id: string
  redirect_uri: string
  /** Sealed: it is the client's, and goes back to it. */
  state: Uint8Array | null
  code_challenge: string
  /** Separated by spaces, here and below. */
  scopes: string
  /** As the request named them; null where the person chooses. */
  workspace_named: string | null
  server_named: string | null
  /** 1: the page is shown, whatever is remembered. */
  asks_again: 0 | 1
  /** Of the person who saw its page first: no other decides. */
  organisation_id: string | null
  user_id: string | null
  client_ip: string | null
  created_at: string
  expires_at: string
  used_at: string | null
}

/** A permission at a server: of a person for a client, or of a client for itself. Its code and tokens end with it. */
export interface McpOauthGrantsTable {
  id: string
  client_id: string
  /** Null: the client acts for itself. */
  user_id: string | null
  organisation_id: string
  workspace_id: string
  server_id: string
  /** The address of the server, as tokens name their audience. */
  resource: string
  scopes: string
  redirect_uri: string | null
  code_hash: string | null
  code_challenge: string | null
  code_expires_at: string | null
  code_used_at: string | null
  created_at: string
  /** The end of its last token. */
  expires_at: string
  last_used_at: string | null
  revoked_at: string | null
  revoked_for: RevokedFor | null
}

export type RevokedFor =
  | 'code_reused'
  | 'refresh_token_reused'
  | 'refresh_token_of_other_client'
  | 'revoked'
  | 'person_left'
  | 'client_deleted'

export interface McpOauthTokensTable {
  id: string
  grant_id: string
  kind: 'access' | 'refresh'
  token_hash: string
  scopes: string
  created_at: string
  expires_at: string
  /** Of a refresh token: its first use. */
  rotated_at: string | null
  /** How often it was used after that, in time. */
  reuses: number
  revoked_at: string | null
}

/** A consent that is remembered. */
export interface McpOauthConsentsTable {
  /** SHA-256 over user, client, server and redirect URI. */
  key: string
  organisation_id: string
  user_id: string
  client_id: string
  server_id: string
  scopes: string
  created_at: string
  expires_at: string
}
