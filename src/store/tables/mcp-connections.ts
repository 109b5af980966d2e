/** Rows of gateway.db about the gateway as a client of MCP servers. Times are ISO 8601 UTC text. */

/** Tokens for an MCP server. Those of the integration itself name neither a server nor a user. */
export interface McpConnectionsTable {
  mcp_integration_id: string
  /** Empty for tokens of the integration itself. */
  mcp_server_id: string
  /** Empty for tokens of the integration itself. */
  user_id: string
  organisation_id: string
  /** The origin that the tokens are for: no other gets them. */
  upstream: string
  /** Null where the authorization server has no name. */
  issuer: string | null
  /** Sealed JSON object. */
  tokens: Uint8Array
  scope: string | null
  /** Null: the authorization server said nothing. */
  expires_at: string | null
  /** From then on the token is renewed before it is used. */
  refresh_at: string | null
  /** The authorization server wants no request before. */
  held_off_until: string | null
  revision: number
  /** The last call that its server answered, to the hour; null: none. */
  last_used_at?: string | null
  created_at: string
  last_updated_at: string
}

/** A client that the gateway registered at an authorization server. */
export interface McpRegistrationsTable {
  mcp_integration_id: string
  issuer: string
  organisation_id: string
  redirect_uri: string
  /** Sealed JSON object. */
  client: Uint8Array
  expires_at: string | null
  created_at: string
}

/** A person's sign-in at an MCP server. */
export interface McpSignInsTable {
  id: string
  organisation_id: string
  mcp_integration_id: string
  mcp_server_id: string
  user_id: string
  /** Of the state that is valid in this step. */
  state_hash: string
  /** `issued`: its link was given out; `sent`: the person is at the authorization server. */
  step: 'issued' | 'sent' | 'used'
  /** Sealed JSON object; null but while it is `sent`. */
  secrets: Uint8Array | null
  /** JSON object: the refusal that it came from; null where there was none. */
  challenge: string | null
  /** A path of this gateway, where the person continues. */
  return_to: string | null
  /** How often the gateway registered for it. */
  registrations: number
  created_at: string
  expires_at: string
}

/** The right of one process to do what one process alone may do. */
export interface McpLeasesTable {
  name: string
  holder: string
  expires_at: string
}

/** A person's sign-in at the provider of an integration, on the way of a client's authorization. */
export interface McpExternalSignInsTable {
  id: string
  organisation_id: string
  mcp_integration_id: string
  mcp_server_id: string
  /** The authorization that it belongs to: it is good for no other. */
  transaction_id: string
  state_hash: string
  /** SHA-256 of the word in the cookie of the browser that began. */
  browser_hash: string
  /** `sent`: the person is at the provider; `done`: he is known as `user_id`; `used`: it failed. */
  step: 'sent' | 'done' | 'used'
  /** Sealed JSON object; null but while it is `sent`. */
  secrets: Uint8Array | null
  user_id: string | null
  created_at: string
  expires_at: string
}

/** The user who a subject of an integration's provider is. Good for that integration alone. */
export interface McpExternalPeopleTable {
  mcp_integration_id: string
  subject: string
  user_id: string
  created_at: string
}
