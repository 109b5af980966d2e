import type {Kysely} from 'kysely'
import type {AlertsTable, MailsTable} from './tables/alerts.ts'
import type {LogExportsTable, SavedFiltersTable} from './tables/analytics.ts'
import type {BatchesTable} from './tables/batches.ts'
import type {CacheEntriesTable} from './tables/cache.ts'
import type {
  ConfigsTable,
  ConfigVersionsTable,
  IntegrationModelsTable,
  IntegrationsTable,
  IntegrationWorkspacesTable,
  ProvidersTable,
} from './tables/catalog.ts'
import type {DomainsTable, ScimGroupMembersTable, ScimTokensTable, ScimUsersTable} from './tables/directories.ts'
import type {GuardrailMcpServersTable, GuardrailsTable, GuardrailVersionsTable} from './tables/guardrails.ts'
import type {ApiKeysTable, AuditLogsTable, OrganisationsTable, WorkspacesTable} from './tables/identity.ts'
import type {JudgedFilesTable} from './tables/judged-files.ts'
import type {McpSessionsTable} from './tables/mcp.ts'
import type {
  McpConnectionsTable,
  McpExternalPeopleTable,
  McpExternalSignInsTable,
  McpLeasesTable,
  McpRegistrationsTable,
  McpSignInsTable,
} from './tables/mcp-connections.ts'
import type {
  McpOauthClientsTable,
  McpOauthConsentsTable,
  McpOauthGrantsTable,
  McpOauthTokensTable,
  McpOauthTransactionsTable,
} from './tables/oauth.ts'
import type {
  AuditChainsTable,
  AuditMarksTable,
  InvitesTable,
  OrganisationUsersTable,
  SessionsTable,
  UsersTable,
  WorkspaceUsersTable,
} from './tables/people.ts'
import type {PoliciesTable, PolicyResetsTable, PolicyUsageTable} from './tables/policies.ts'
import type {PriceRevisionsTable, PricesTable} from './tables/prices.ts'
import type {
  CollectionsTable,
  LabelsTable,
  PartialVersionsTable,
  PromptLabelsTable,
  PromptPartialsTable,
  PromptsTable,
  PromptVersionsTable,
} from './tables/prompts.ts'
import type {
  AllowedWorkspacesTable,
  DeploymentsTable,
  McpCapabilitiesTable,
  McpErasTable,
  McpIntegrationsTable,
  McpIntegrationWorkspacesTable,
  McpServerCapabilitiesTable,
  McpServersTable,
  McpServerUsersTable,
  McpSyncsTable,
  ScimGroupsTable,
  ScimMappingsTable,
  SecretReferencesTable,
} from './tables/registry.ts'
import type {SemanticEntriesTable} from './tables/semantic.ts'
import type {
  ConnectionsTable,
  IdentitiesTable,
  LastSignInsTable,
  LoginCodesTable,
  SeenAssertionsTable,
  SignInFailuresTable,
  SignInsTable,
  UserPasswordsTable,
} from './tables/sign-in.ts'
import type {
  ExportMarksTable,
  FeedbackTable,
  JournalMarksTable,
  LedgerEntriesTable,
  LogBodiesTable,
  LogHourlyTable,
  LogLatenciesTable,
  LogObjectsTable,
  LogsTable,
  SetAsideTable,
  UnpricedHourlyTable,
  UsageHourlyTable,
  WorkersTable,
} from './tables/traffic.ts'

/** All tables. Those of `traffic` are in a file (SQLite) or schema (PostgreSQL) of their own. */
export interface Database {
  meta: {key: string; value: string}
  revisions: {name: string; revision: number}
  organisations: OrganisationsTable
  workspaces: WorkspacesTable
  api_keys: ApiKeysTable
  audit_logs: AuditLogsTable
  audit_chains: AuditChainsTable
  audit_marks: AuditMarksTable
  users: UsersTable
  organisation_users: OrganisationUsersTable
  workspace_users: WorkspaceUsersTable
  invites: InvitesTable
  sessions: SessionsTable
  integrations: IntegrationsTable
  integration_models: IntegrationModelsTable
  integration_workspaces: IntegrationWorkspacesTable
  providers: ProvidersTable
  configs: ConfigsTable
  config_versions: ConfigVersionsTable
  guardrails: GuardrailsTable
  guardrail_versions: GuardrailVersionsTable
  guardrail_mcp_servers: GuardrailMcpServersTable
  secret_references: SecretReferencesTable
  allowed_workspaces: AllowedWorkspacesTable
  mcp_integrations: McpIntegrationsTable
  mcp_integration_workspaces: McpIntegrationWorkspacesTable
  mcp_capabilities: McpCapabilitiesTable
  mcp_servers: McpServersTable
  mcp_server_capabilities: McpServerCapabilitiesTable
  mcp_server_users: McpServerUsersTable
  mcp_eras: McpErasTable
  mcp_sessions: McpSessionsTable
  mcp_syncs: McpSyncsTable
  mcp_connections: McpConnectionsTable
  mcp_registrations: McpRegistrationsTable
  mcp_sign_ins: McpSignInsTable
  mcp_external_sign_ins: McpExternalSignInsTable
  mcp_external_people: McpExternalPeopleTable
  mcp_leases: McpLeasesTable
  mcp_oauth_clients: McpOauthClientsTable
  mcp_oauth_transactions: McpOauthTransactionsTable
  mcp_oauth_grants: McpOauthGrantsTable
  mcp_oauth_tokens: McpOauthTokensTable
  mcp_oauth_consents: McpOauthConsentsTable
  deployments: DeploymentsTable
  domains: DomainsTable
  connections: ConnectionsTable
  identities: IdentitiesTable
  last_sign_ins: LastSignInsTable
  sign_ins: SignInsTable
  seen_assertions: SeenAssertionsTable
  sign_in_failures: SignInFailuresTable
  user_passwords: UserPasswordsTable
  login_codes: LoginCodesTable
  scim_tokens: ScimTokensTable
  scim_users: ScimUsersTable
  scim_groups: ScimGroupsTable
  scim_group_members: ScimGroupMembersTable
  scim_mappings: ScimMappingsTable
  price_revisions: PriceRevisionsTable
  prices: PricesTable
  alerts: AlertsTable
  mails: MailsTable
  batches: BatchesTable
  judged_files: JudgedFilesTable
  policies: PoliciesTable
  policy_resets: PolicyResetsTable
  collections: CollectionsTable
  labels: LabelsTable
  prompts: PromptsTable
  prompt_versions: PromptVersionsTable
  prompt_labels: PromptLabelsTable
  prompt_partials: PromptPartialsTable
  prompt_partial_versions: PartialVersionsTable
  log_exports: LogExportsTable
  saved_filters: SavedFiltersTable
  'traffic.meta': {key: string; value: string}
  'traffic.ledger_entries': LedgerEntriesTable
  'traffic.logs': LogsTable
  'traffic.log_bodies': LogBodiesTable
  'traffic.log_objects': LogObjectsTable
  'traffic.usage_hourly': UsageHourlyTable
  'traffic.unpriced_hourly': UnpricedHourlyTable
  'traffic.log_hourly': LogHourlyTable
  'traffic.log_latencies': LogLatenciesTable
  'traffic.feedback': FeedbackTable
  'traffic.journal_marks': JournalMarksTable
  'traffic.export_marks': ExportMarksTable
  'traffic.set_aside': SetAsideTable
  'traffic.policy_usage': PolicyUsageTable
  'traffic.policy_windows': PolicyUsageTable
  'traffic.cache_entries': CacheEntriesTable
  'traffic.semantic_entries': SemanticEntriesTable
  'traffic.workers': WorkersTable
}

/** A connection or a transaction: queries take either. */
export type Db = Kysely<Database>

/**
 * The caches of the data plane, by the tables they are made of (`INVALIDATES`). Each has a row in `revisions` with the
 * number of times that a row of these tables changed: other processes learn from it which caches to clear.
 */
export type CacheName =
  | 'workspaces'
  | 'api_keys'
  | 'integrations'
  | 'providers'
  | 'configs'
  | 'guardrails'
  | 'organisations'
  | 'users'
  | 'prices'
  | 'policies'
  | 'prompts'
  | 'mcp'
  | 'secret_references'
  | 'mcp_connections'
  | 'answers'

export type TableName = keyof Database

/**
 * The changes of a committed write. Plain data: it can go to another thread or process as JSON. An example, the update
 * of one config: `{tables: [{table: 'configs', ids: ['c1']}, {table: 'config_versions', ids: ['v2']}], revisions:
 * {configs: 7}}`.
 */
export interface Invalidation {
  /** The written tables that a cache holds rows of. */
  readonly tables: readonly WrittenTable[]
  /** The number that each name has from this write on. */
  readonly revisions: Readonly<Partial<Record<CacheName, number>>>
}

export interface WrittenTable {
  readonly table: TableName
  /** No other row of the table changed; null: any may have. */
  readonly ids: readonly string[] | null
}

/** An open database and what its kind does its own way. */
export interface Store {
  readonly kind: 'sqlite' | 'postgres'
  readonly db: Db
  /**
   * Runs `work` in one write transaction, one at a time, again when another process held the lock. Nothing but the
   * database is awaited inside. Which caches it empties follows from the tables that it writes (`INVALIDATES`); raw SQL
   * that writes is refused.
   */
  write<T>(work: (transaction: Db) => Promise<T>): Promise<T>
  /** Calls `listener` with what each `write` of this process changed, where a cache holds it, once it is committed. */
  onWrite(listener: (invalidation: Invalidation) => void): void
  /** A transaction that may run any statement and notes nothing: for migrations, before anything is remembered. */
  migrate<T>(work: (transaction: Db) => Promise<T>): Promise<T>
  /**
   * A number that moves when anyone wrote: a look that costs little, so that `revisions` are read only then. Waits no
   * longer than `within_ms`.
   */
  dataVersion(within_ms?: number): Promise<number>
  /**
   * How often rows changed that caches hold, by name (`CacheName`); waits no longer than `within_ms`. PostgreSQL adds
   * `server_started`, which differs where another server answers.
   */
  revisions(within_ms?: number): Promise<ReadonlyMap<string, number>>
  /**
   * Calls `onWriting` when someone is writing, shortly before it can be seen, until it calls `onLost`; what it gives
   * ends that. Undefined where the system does not report it: then it has to be looked for.
   */
  watchWrites?(onWriting: () => void, onLost: () => void): (() => void) | undefined
  /** Calls `listener` when a server answers again that did not: others may have written meanwhile. */
  onReconnect(listener: () => void): void
  /** How many waits for an answer were given up, each with its connection. */
  givenUp(): number
  /** Why the last `write` could not be made, as the disk or a lock was in its way; null once one was made. */
  unwritable(): string | null
  close(): Promise<void>
}
