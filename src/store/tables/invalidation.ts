import type {CacheName, TableName} from '../database.ts'

/**
 * The names by which other processes learn of a write to a table: they drop all that they hold of the tables with that
 * name. A new table has to say here whether its rows are held in memory; which caches hold them says `of` of each
 * (`Remembered`).
 */
export const INVALIDATES: Readonly<Record<TableName, readonly CacheName[]>> = {
  organisations: ['organisations'],
  workspaces: ['workspaces'],
  api_keys: ['api_keys'],
  users: ['users'],
  organisation_users: ['users'],
  workspace_users: ['users'],
  integrations: ['integrations'],
  integration_models: ['integrations'],
  integration_workspaces: ['integrations'],
  providers: ['providers'],
  configs: ['configs'],
  config_versions: ['configs'],
  guardrails: ['guardrails'],
  guardrail_versions: ['guardrails'],
  price_revisions: ['prices'],
  prices: ['prices'],
  policies: ['policies'],
  policy_resets: ['policies'],
  labels: ['prompts'],
  prompts: ['prompts'],
  prompt_versions: ['prompts'],
  prompt_labels: ['prompts'],
  prompt_partials: ['prompts'],
  prompt_partial_versions: ['prompts'],

  // Read when they are needed, each time.
  meta: [],
  revisions: [],
  audit_logs: [],
  audit_chains: [],
  invites: [],
  sessions: [],
  secret_references: [],
  allowed_workspaces: [],
  mcp_integrations: [],
  mcp_integration_workspaces: [],
  mcp_capabilities: [],
  mcp_servers: [],
  mcp_server_capabilities: [],
  mcp_server_users: [],
  deployments: [],
  domains: [],
  scim_tokens: [],
  scim_users: [],
  scim_groups: [],
  scim_group_members: [],
  scim_mappings: [],
  alerts: [],
  mails: [],
  batches: [],
  judged_files: [],
  collections: [],
  log_exports: [],
  saved_filters: [],
  'traffic.meta': [],
  'traffic.ledger_entries': [],
  'traffic.logs': [],
  'traffic.log_bodies': [],
  'traffic.log_objects': [],
  'traffic.usage_hourly': [],
  'traffic.unpriced_hourly': [],
  'traffic.log_hourly': [],
  'traffic.log_latencies': [],
  'traffic.feedback': [],
  'traffic.journal_marks': [],
  'traffic.set_aside': [],
  'traffic.policy_usage': [],
  'traffic.policy_windows': [],
  'traffic.cache_entries': [],
  'traffic.workers': [],
}

/** The names of these tables, in their order. */
export function cachesOf(tables: readonly {readonly table: TableName}[]): CacheName[] {
  return [...new Set(tables.flatMap(({table}) => INVALIDATES[table]))].sort()
}
