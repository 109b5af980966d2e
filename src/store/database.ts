import type {Kysely} from 'kysely'
import type {CacheEntriesTable} from './tables/cache.ts'
import type {
  ConfigsTable,
  ConfigVersionsTable,
  IntegrationModelsTable,
  IntegrationsTable,
  IntegrationWorkspacesTable,
  ProvidersTable,
} from './tables/catalog.ts'
import type {ApiKeysTable, AuditLogsTable, OrganisationsTable, WorkspacesTable} from './tables/identity.ts'
import type {JournalMarksTable, LedgerEntriesTable, LogBodiesTable, LogsTable, UsageHourlyTable} from './tables/traffic.ts'

/** All tables. Those of `traffic` stand in a file (SQLite) or schema (PostgreSQL) of their own. */
export interface Database {
  meta: {key: string; value: string}
  revisions: {name: string; revision: number}
  organisations: OrganisationsTable
  workspaces: WorkspacesTable
  api_keys: ApiKeysTable
  audit_logs: AuditLogsTable
  integrations: IntegrationsTable
  integration_models: IntegrationModelsTable
  integration_workspaces: IntegrationWorkspacesTable
  providers: ProvidersTable
  configs: ConfigsTable
  config_versions: ConfigVersionsTable
  'traffic.meta': {key: string; value: string}
  'traffic.ledger_entries': LedgerEntriesTable
  'traffic.logs': LogsTable
  'traffic.log_bodies': LogBodiesTable
  'traffic.usage_hourly': UsageHourlyTable
  'traffic.journal_marks': JournalMarksTable
  'traffic.cache_entries': CacheEntriesTable
}

/** A connection or a transaction: queries take either. */
export type Db = Kysely<Database>

/** An open database and what its kind does its own way. */
export interface Store {
  readonly kind: 'sqlite' | 'postgres'
  readonly db: Db
  /** Runs `work` in one write transaction, one at a time, again when another process held the lock. Nothing but the database is awaited inside. */
  write<T>(work: (transaction: Db) => Promise<T>): Promise<T>
  /** A number that moves when another process wrote; our own writes do not move it. */
  dataVersion(): Promise<number>
  close(): Promise<void>
}
