/** Rows of gateway.db about people. Times are ISO 8601 UTC text, JSON is text. */
export interface UsersTable {
  id: string
  /** In lower case. */
  email: string
  first_name: string | null
  last_name: string | null
  created_at: string
  last_updated_at: string
}

export type OrganisationRole = 'owner' | 'admin' | 'member'
export type WorkspaceRole = 'admin' | 'manager' | 'member'

/** The members of organisations. One who was removed is archived, and can come back. */
export interface OrganisationUsersTable {
  organisation_id: string
  user_id: string
  role: OrganisationRole
  /** The giver of the role: `scim`, `invite`, `mapping` of a provider's groups; null for people here. */
  role_source?: string | null
  status: 'active' | 'archived'
  /** The last time that he was taken out or back: sign-ins that began before it let him in no more. */
  status_changed_at?: string | null
  created_at: string
  last_updated_at: string
}

/** The members of workspaces. */
export interface WorkspaceUsersTable {
  workspace_id: string
  user_id: string
  organisation_id: string
  role: WorkspaceRole
  /** The giver of the membership: `scim`, a group of a directory; null for people here. */
  source?: string | null
  created_at: string
  last_updated_at: string
}

export interface InvitesTable {
  id: string
  organisation_id: string
  /** In lower case. */
  email: string
  role: 'admin' | 'member'
  /** JSON list of `{id, role}`: the workspaces to be a member of. */
  workspaces: string
  /** JSON list: scopes of the key that is made in each workspace; null for none. */
  key_scopes: string | null
  /** SHA-256 of the token in the link, 64 hex digits. */
  token_hash: string
  /** One that is pending past its time is expired. */
  status: 'pending' | 'accepted' | 'cancelled'
  invited_by: string | null
  created_at: string
  expires_at: string
  accepted_at: string | null
}

export interface SessionsTable {
  id: string
  organisation_id: string
  user_id: string
  /** SHA-256 of the token, 64 hex digits. */
  token_hash: string
  created_at: string
  expires_at: string
  revoked_at: string | null
  kind?: SessionKind | null
  method?: SessionMethod | null
  /** The connection that it was opened by; `environment` for the one of the settings. */
  connection_id?: string | null
  client_ip?: string | null
  /** At most 200 characters. */
  user_agent?: string | null
  /** Noted once a minute at most. */
  last_seen_at?: string | null
  /** Without use for so long it ends; null: only at `expires_at`. */
  idle_timeout_s?: number | null
  /** Sealed: to be shown at the logout of its provider. */
  id_token?: Uint8Array | null
  /** SHA-256 of the session at the provider, by whose end it ends. */
  idp_session?: string | null
  /** SHA-256 of the person at the provider. */
  idp_subject?: string | null
}

export type SessionKind = 'browser' | 'cli' | 'operator' | 'invite'
export type SessionMethod = 'oidc' | 'saml' | 'ldap' | 'password' | 'operator' | 'invite' | 'setup'

/** The end of an organisation's chain of audit rows. */
export interface AuditChainsTable {
  organisation_id: string
  sequence: number
  chain: string
}

/** The last row of an organisation's chain that a sink took. */
export interface AuditMarksTable {
  /** Its place: `syslog+tls://host:6514`, `file:/path`. */
  sink: string
  organisation_id: string
  sequence: number
  chain: string
}
