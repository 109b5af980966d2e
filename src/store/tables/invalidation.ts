import type {CacheName, Invalidation, TableName} from '../database.ts'

/**
 * The caches that a write to a table empties. A new table has to say here what holds its rows; where a cache holds
 * something that is made from rows of several tables, each of them names it.
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
  scim_groups: [],
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

/** The caches that hold rows of these tables, in the order of their names. */
export function cachesOf(tables: readonly {readonly table: TableName}[]): CacheName[] {
  return [...new Set(tables.flatMap(({table}) => INVALIDATES[table]))].sort()
}

/** Says that any row of any table may have changed: another process wrote, and it is not known what. */
export const ANYTHING: Invalidation = {
  tables: (Object.keys(INVALIDATES) as TableName[]).flatMap(table =>
    INVALIDATES[table].length ? [{table, ids: null}] : [],
  ),
  revisions: {},
}
