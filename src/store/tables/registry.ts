import type {McpAuthType} from '../../schema/mcp-integrations.ts'

/** Rows of gateway.db about objects outside the gateway. Times are ISO 8601 UTC text, JSON is text. */
interface Registered {
  id: string
  organisation_id: string
  /** Free again once its row is archived. */
  slug: string
  name: string
  status: 'active' | 'archived'
  created_at: string
  last_updated_at: string
}

/** The place of a secret, and the login at its manager. */
export interface SecretReferencesTable extends Registered {
  description: string | null
  manager_type: 'aws_sm' | 'azure_kv' | 'hashicorp_vault'
  /** JSON object; a secret is there as `masked_<field>`. */
  auth_config: string
  /** Sealed JSON object: the secrets alone; null where there are none. */
  auth_config_sealed: Uint8Array | null
  secret_path: string
  secret_key: string | null
  /** 0: those of `allowed_workspaces` alone. */
  allow_all_workspaces: 0 | 1
  tags: string
  created_by: string | null
}

/** The workspaces a secret reference or a deployment is for, where it is not for all. */
export interface AllowedWorkspacesTable {
  resource_id: string
  workspace_id: string
}

export interface McpIntegrationsTable extends Registered {
  /** Null for one of the organisation. */
  workspace_id: string | null
  description: string | null
  url: string
  auth_type: McpAuthType
  transport: 'http' | 'sse'
  /** JSON object; the secrets in it are masked. */
  configurations: string
  /** Sealed JSON object: `configurations` as they are; null where they hold no secret. */
  configurations_sealed: Uint8Array | null
  /** JSON array. */
  secret_mappings: string
  /** The defaults of workspaces without a row of their own. */
  global_access_enabled: 0 | 1
  /** 1: the author of the URL may name a private host. */
  trusts_host: 0 | 1
  /** JSON object: what the server reported of itself; null before its first sync. */
  metadata: string | null
  owner_id: string | null
  /** 1: the empty integration of a virtual server, which is no integration to anybody. */
  is_virtual?: 0 | 1
}

export interface McpIntegrationWorkspacesTable {
  mcp_integration_id: string
  workspace_id: string
  enabled: 0 | 1
  created_at: string
  last_updated_at: string
}

export type CapabilityType = 'tool' | 'prompt' | 'resource' | 'resource_template'

/** The capabilities of a server, as they were discovered. */
export interface McpCapabilitiesTable {
  mcp_integration_id: string
  type: CapabilityType
  name: string
  enabled: 0 | 1
  /** JSON object: title, description, schemas and the like. */
  details: string
  created_at: string
  last_updated_at: string
  /** The address of a resource, or the pattern of a template's. */
  uri?: string | null
  /** JSON: the `inputSchema` of a tool that repeats arguments in headers. */
  header_schema?: string | null
  /** Null before its first sync. */
  pin_state?: PinState | null
  /** JSON array of the hashes of definitions that are approved. */
  approved_hashes?: string | null
  /** JSON object: the definition that was approved last. */
  approved_definition?: string | null
  /** JSON array: hashes of definitions that were seen and are not approved. */
  seen_hashes?: string | null
  /** JSON array of `SeenDefinition`: those definitions, oldest first. */
  seen_definitions?: string | null
  /** JSON array of `{path, words}`: texts of it that read like orders to a model. */
  suspicions?: string | null
  /** The time since which its server offers it no more. */
  gone_at?: string | null
}

/** `changed`: another definition than the approved one was seen. `new`: none is approved. */
export type PinState = 'approved' | 'changed' | 'new'

/** The era of an integration's server, as a probe of this URL found it. */
export interface McpErasTable {
  mcp_integration_id: string
  url: string
  era: 'modern' | 'legacy'
  transport: 'http' | 'sse'
  found_at: string
}

/** The time at which an integration's server is to be read next, and the process that reads it. */
export interface McpSyncsTable {
  mcp_integration_id: string
  due_at: string | null
  cause: 'schedule' | 'request' | 'notice'
  /** The start of the last sync that a notice caused. */
  noticed_at: string | null
  /** Syncs one after the other that a notice caused and that found no difference. */
  quiet_notices: number
  held_by: string | null
  held_until: string | null
}

/** A workspace's use of an MCP integration. */
export interface McpServersTable extends Registered {
  workspace_id: string
  mcp_integration_id: string
  description: string | null
  /** The defaults of users without a row of their own. */
  default_user_access: 'allow' | 'deny'
  owner_id: string | null
  /** JSON object (`VirtualRow`): the tools of others that it offers; null of a server of an integration. */
  virtual?: string | null
}

/** A server's own statement of a capability; the integration's setting comes first. */
export interface McpServerCapabilitiesTable {
  mcp_server_id: string
  type: CapabilityType
  name: string
  enabled: 0 | 1
}

export interface McpServerUsersTable {
  mcp_server_id: string
  user_id: string
  enabled: 0 | 1
}

export interface DeploymentsTable extends Registered {
  type: 'production' | 'non-production'
  /** JSON object. */
  config: string
  allow_all_workspaces: 0 | 1
}

/** A group of people in a directory outside. */
export interface ScimGroupsTable {
  id: string
  organisation_id: string
  name: string
  /** The name in lower case. */
  name_folded?: string | null
  created_at: string
  external_id?: string | null
  /** JSON object: the attributes that are kept as they came. */
  resource?: string | null
  /** How often a directory wrote it; 0 for one that was mapped by its name before it came. */
  version?: number | null
  last_updated_at?: string | null
  deleted_at?: string | null
}

/** The role that a group's people have in a workspace. */
export interface ScimMappingsTable {
  id: string
  organisation_id: string
  workspace_id: string
  scim_group_id: string
  role: 'admin' | 'manager' | 'member'
  status: 'active' | 'archived'
  /** 1: the name of the group says it. */
  is_automatic?: 0 | 1 | null
  created_at: string
  last_updated_at: string
}
