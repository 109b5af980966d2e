/** Rows of gateway.db about where calls may go. */
export interface IntegrationsTable {
  id: string
  slug: string
  organisation_id: string
  /** Null for an integration of the organisation. */
  workspace_id: string | null
  name: string
  description: string | null
  /** The kind of provider, a slug of the catalogue. */
  ai_provider_id: string
  /** Sealed (AES-256-GCM); null when the engine takes calls without a key. */
  key_sealed: Uint8Array | null
  key_masked: string | null
  /** JSON object; its secret members are masked. */
  configurations: string
  /** Sealed JSON object: the secret members of `configurations` as they are. */
  configurations_sealed: Uint8Array | null
  tags: string
  allow_all_models: number
  /** 1 when every workspace may use it that has no row of its own. */
  global_access_enabled: number
  /** JSON object: the limits such a workspace has, and whether one that is created gets a provider, called how. */
  global_workspace_access: string | null
  /** True when an owner, an admin or the command line made it: its own host may be private. */
  trusts_host: number
  /** 1 for the integration of one virtual key, which is reached through that key alone. */
  is_hidden: number
  /** JSON list: fields that are filled from secret references, these by id. */
  secret_mappings: string
  /** The slug of an archived row is free again. */
  status: 'active' | 'archived'
  created_at: string
  last_updated_at: string
}

export interface IntegrationModelsTable {
  integration_id: string
  slug: string
  enabled: number
  is_custom: number
  is_finetune: number
  base_model_slug: string | null
  pricing_config: string | null
  /** JSON object: a host and headers of its own, the headers masked; null for none. */
  configurations: string | null
  /** Sealed JSON object: the same as they are. */
  configurations_sealed: Uint8Array | null
  /** 1 when an owner, an admin or the operator wrote its host: the integration's credentials go there. */
  names_place: number | null
  created_at: string
  last_updated_at: string
}

export interface IntegrationWorkspacesTable {
  integration_id: string
  workspace_id: string
  enabled: number
  usage_limits: string | null
  rate_limits: string | null
  /** When its usage was last set to zero by hand. */
  last_reset_at: string | null
  created_at: string
  last_updated_at: string
}

/** A workspace's use of an integration; a virtual key is the same row under its older name. */
export interface ProvidersTable {
  id: string
  slug: string
  organisation_id: string
  workspace_id: string
  integration_id: string
  name: string
  note: string | null
  /** 1 when it came as a virtual key, whose integration is its own and hidden. */
  is_virtual_key: number
  usage_limits: string | null
  rate_limits: string | null
  tags: string
  status: 'active' | 'exhausted' | 'expired' | 'archived'
  expires_at: string | null
  /** When its usage was last set to zero by hand. */
  last_reset_at: string | null
  /** JSON object: what it says beside its integration, its secrets masked; null for nothing. */
  model_config: string | null
  /** Sealed JSON object: those members of it that are settings of the kind, as they are. */
  model_config_sealed: Uint8Array | null
  /** 1 when an owner, an admin or the operator wrote where that leads: the integration's credentials go there. */
  names_place: number | null
  created_at: string
  last_updated_at: string
}

export interface ConfigsTable {
  id: string
  slug: string
  organisation_id: string
  workspace_id: string
  name: string
  is_default: number
  status: 'active' | 'archived'
  version_id: string
  version: number
  /** JSON object; the `api_key`s in it are masked. */
  config: string
  /** Sealed JSON object: path of a target → its `api_key`. */
  secrets_sealed: Uint8Array | null
  owner_id: string | null
  updated_by: string | null
  created_at: string
  last_updated_at: string
}

export interface ConfigVersionsTable {
  id: string
  config_id: string
  version: number
  config: string
  updated_by: string | null
  created_at: string
}
