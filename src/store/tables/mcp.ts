/** A session of a legacy client. A restart loses its open calls and undelivered events alone. */
export interface McpSessionsTable {
  /** SHA-256 of its id, hexadecimal. */
  id_hash: string
  principal_kind: string
  principal_id: string
  organisation_id: string
  workspace_id: string
  mcp_server_id: string
  /** The revision that was agreed. */
  version: string
  /** JSON texts, as the client declared them. */
  client_info: string
  client_capabilities: string
  log_level: string | null
  /** JSON array of addresses. */
  subscriptions: string
  /** Sealed JSON: all that it takes to continue the session of the upstream; null where it has none. */
  upstream_sealed: Uint8Array | null
  created_at: string
  /** Noted at most once a minute. */
  used_at: string
}
