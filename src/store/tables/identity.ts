/** Rows of gateway.db about who may do what. Times are ISO 8601 UTC text, booleans 0/1, JSON is text. */
export interface OrganisationsTable {
  id: string
  slug: string
  name: string
  /** JSON object: guardrails. A new organisation may leave it out. */
  defaults?: string | null
  /** JSON object: what was set otherwise than it is by default. */
  settings?: string | null
  /** JSON object: how its tokens are recognised, as far as that was set (`KeptAuth`). */
  auth?: string | null
  created_at: string
  last_updated_at: string
}

export interface WorkspacesTable {
  id: string
  slug: string
  organisation_id: string
  name: string
  description: string | null
  icon: string | null
  is_default: number
  status: 'active' | 'archived'
  /** JSON object: metadata, config_id, guardrails. */
  defaults: string | null
  usage_limits: string | null
  rate_limits: string | null
  /** JSON object: allow, deny; the models that its calls may name. */
  models?: string | null
  /** JSON object: security settings of its own, which count when the organisation allows it. */
  settings?: string | null
  /** 1: a group of a directory made it by its name. */
  made_by_scim?: 0 | 1 | null
  created_at: string
  last_updated_at: string
}

export type ApiKeyKind = 'organisation-service' | 'workspace-service' | 'workspace-user'

export interface ApiKeysTable {
  id: string
  organisation_id: string
  workspace_id: string | null
  user_id: string | null
  kind: ApiKeyKind
  name: string
  description: string | null
  /** SHA-256 of the key, 64 hex digits. */
  key_hash: string
  key_masked: string
  /** JSON array of scopes. */
  scopes: string
  usage_limits: string | null
  rate_limits: string | null
  /** JSON object: allow, deny; the models that its calls may name. */
  models?: string | null
  /** JSON object: metadata, config_id, allow_config_override. */
  defaults: string | null
  alert_emails: string | null
  status: 'active' | 'exhausted' | 'expired' | 'archived'
  creation_mode: 'ui' | 'api' | 'auto'
  expires_at: string | null
  /** While a rotated key is in transition: the hash of the one before, and until when it works. */
  previous_key_hash?: string | null
  previous_key_expires_at?: string | null
  last_reset_at: string | null
  created_at: string
  last_updated_at: string
}

/** Every administrative write, in the same transaction as the write. Only ever added to. */
export interface AuditLogsTable {
  id: string
  at: string
  organisation_id: string
  workspace_id: string | null
  actor_type: 'api_key' | 'operator' | 'user' | 'token' | 'system'
  actor_id: string | null
  method: string
  uri: string
  request_id: string
  request_headers: string
  request_body: string | null
  query_params: string | null
  status: number
  resource_type: string
  resource_id: string | null
  action: string
  client_ip: string | null
  /** The fields that an update changed, `[{field, before, after}]` as JSON; null where it is no update of one thing. */
  changes?: string | null
  /** Its place in the chain of its organisation, from 1; null for rows that are older than the chain. */
  sequence?: number | null
  /** SHA-256 over the row before and this one, 64 hex digits. */
  chain?: string | null
}
