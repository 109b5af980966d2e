import {identity} from './0001_identity.ts'
import {catalog} from './0002_catalog.ts'
import {traffic} from './0003_traffic.ts'
import {counters} from './0004_counters.ts'
import {cache} from './0005_cache.ts'
import {guardrails} from './0006_guardrails.ts'
import {prices} from './0007_prices.ts'
import {policies, policyUsage} from './0008_policies.ts'
import {alerts, workers} from './0009_workers.ts'
import {people} from './0010_people.ts'
import {prompts} from './0011_prompts.ts'
import {analytics, analyticsObjects} from './0012_analytics.ts'
import {registry} from './0013_registry.ts'
import {batches} from './0014_batches.ts'
import {logObjects} from './0015_log_objects.ts'
import {keyList, logReads} from './0016_log_reads.ts'
import {secretMappings} from './0017_secret_mappings.ts'
import {logLists} from './0018_log_lists.ts'
import {auditChanges} from './0019_audit_changes.ts'
import {unpricedUnits} from './0020_unpriced_units.ts'
import {counterRevisions} from './0021_counter_revisions.ts'
import {deferredAsks} from './0022_deferred_asks.ts'
import {modelLists} from './0023_model_lists.ts'
import {boundedCounters, modelKeys, setAside} from './0024_bounded_text.ts'
import {placesOfRows} from './0025_places_of_rows.ts'
import {judgedFiles} from './0026_judged_files.ts'
import {organisationAuth} from './0027_organisation_auth.ts'
import {directories} from './0028_directories.ts'
import {signIn} from './0029_sign_in.ts'
import {providerSessions} from './0030_provider_sessions.ts'
import {lastSignIns} from './0031_last_sign_ins.ts'
import {domainProofs} from './0032_domain_proofs.ts'
import {returnedPeople} from './0033_returned_people.ts'
import {oauth} from './0034_oauth.ts'
import {mcpConnections} from './0035_mcp_connections.ts'
import {mcpSync} from './0036_mcp_sync.ts'
import {mcpSessions} from './0037_mcp_sessions.ts'
import {mcpTargets} from './0038_mcp_targets.ts'
import {virtualServers} from './0039_virtual_servers.ts'
import {mcpExternalSignIns} from './0040_mcp_external_sign_ins.ts'
import {semanticCache} from './0041_semantic_cache.ts'
import {exportMarks} from './0042_export_marks.ts'
import {auditMarks} from './0043_audit_marks.ts'
import {cacheMarks} from './0044_cache_marks.ts'
import {receivedSpans} from './0045_received_spans.ts'
import type {Migration} from './support.ts'

export type {Kind, Migration} from './support.ts'

/** In order. A bundle has no folder to scan, so the list is written here. */
export const MIGRATIONS: readonly Migration[] = [
  identity,
  catalog,
  traffic,
  counters,
  cache,
  guardrails,
  prices,
  policies,
  policyUsage,
  alerts,
  workers,
  people,
  prompts,
  analytics,
  analyticsObjects,
  registry,
  batches,
  logObjects,
  keyList,
  logReads,
  secretMappings,
  logLists,
  auditChanges,
  unpricedUnits,
  counterRevisions,
  deferredAsks,
  modelLists,
  boundedCounters,
  modelKeys,
  setAside,
  placesOfRows,
  judgedFiles,
  organisationAuth,
  directories,
  signIn,
  providerSessions,
  lastSignIns,
  domainProofs,
  returnedPeople,
  oauth,
  mcpConnections,
  mcpSync,
  mcpSessions,
  mcpTargets,
  virtualServers,
  mcpExternalSignIns,
  semanticCache,
  exportMarks,
  auditMarks,
  cacheMarks,
  receivedSpans,
]
