import {analytics} from './analytics/index.ts'
import {apiKeys} from './api-keys.ts'
import {auditLogs} from './audit-logs.ts'
import {cache} from './cache.ts'
import {cachePairs} from './cache-pairs.ts'
import {cacheQuestions} from './cache-questions.ts'
import {collections} from './collections.ts'
import {configs} from './configs.ts'
import {deployments} from './deployments.ts'
import {domains, operatorDomains} from './domains.ts'
import {explain} from './explain.ts'
import {feedback} from './feedback.ts'
import {guardrailMcpServers} from './guardrail-servers.ts'
import {guardrailTrials} from './guardrail-trials.ts'
import {guardrails} from './guardrails.ts'
import {identities, operatorIdentities} from './identities.ts'
import {integrationAccess} from './integrations/access.ts'
import {integrations} from './integrations/integrations.ts'
import {integrationModels} from './integrations/models.ts'
import {invites} from './invites.ts'
import {labels} from './labels.ts'
import {limits} from './limits.ts'
import {logExports} from './log-exports/index.ts'
import {logInserts} from './log-inserts.ts'
import {logs} from './logs.ts'
import {mcpCapabilities} from './mcp/capabilities.ts'
import {mcpConnections} from './mcp/connections.ts'
import {mcpIntegrations} from './mcp/integrations.ts'
import {mcpOauthClients} from './mcp/oauth-clients.ts'
import {mcpServers} from './mcp/servers.ts'
import {mcpTests} from './mcp/tests.ts'
import {mcpTokens} from './mcp/tokens.ts'
import {mcpUserAccess} from './mcp/user-access.ts'
import {mcpIntegrationWorkspaces} from './mcp/workspaces.ts'
import {members} from './members.ts'
import {withOpenapi} from './openapi.ts'
import type {AnyOperation} from './operation.ts'
import type {ById, Repeated} from './operation-types.ts'
import {operatorOrganisations} from './operator/organisations.ts'
import {operatorPeople} from './operator/people.ts'
import {organisation} from './organisation.ts'
import {organisationAuth} from './organisation-auth.ts'
import {organisationDefaultGuardrails} from './organisation-defaults.ts'
import {ratePolicies} from './policies/rates.ts'
import {usagePolicies} from './policies/usage.ts'
import {bundles} from './prices/bundles.ts'
import {priceChanges} from './prices/changes.ts'
import {pricing} from './prices/pricing.ts'
import {promptPartials} from './prompt-partials.ts'
import {promptRender} from './prompt-render.ts'
import {promptVersions} from './prompt-versions.ts'
import {prompts} from './prompts.ts'
import {providers} from './providers.ts'
import {savedFilters} from './saved-filters.ts'
import {scimGroups} from './scim-groups.ts'
import {scimMappings} from './scim-mappings.ts'
import {scimTokens} from './scim-tokens.ts'
import {secretReferences} from './secret-references.ts'
import {sessions} from './sessions.ts'
import {traces} from './traces.ts'
import {usage} from './usage.ts'
import {users} from './users.ts'
import {virtualKeys} from './virtual-keys.ts'
import {workers} from './workers.ts'
import {workspaces} from './workspaces.ts'

/** Every operation that is served: the table of contents of the administration. */
const SERVED = withOpenapi([
  ...organisation,
  ...organisationAuth,
  ...domains,
  ...scimTokens,
  ...invites,
  ...users,
  ...sessions,
  ...identities,
  ...workspaces,
  ...members,
  ...apiKeys,
  ...integrations,
  ...integrationModels,
  ...integrationAccess,
  ...providers,
  ...virtualKeys,
  ...configs,
  ...explain,
  ...guardrails,
  ...guardrailMcpServers,
  ...guardrailTrials,
  ...organisationDefaultGuardrails,
  ...limits,
  ...usagePolicies,
  ...ratePolicies,
  ...collections,
  ...labels,
  ...prompts,
  ...promptVersions,
  ...promptPartials,
  ...promptRender,
  ...secretReferences,
  ...mcpIntegrations,
  ...mcpIntegrationWorkspaces,
  ...mcpServers,
  ...mcpOauthClients,
  ...mcpCapabilities,
  ...mcpUserAccess,
  ...mcpConnections,
  ...mcpTokens,
  ...mcpTests,
  ...deployments,
  ...scimMappings,
  ...scimGroups,
  ...logs,
  ...logInserts,
  ...logExports,
  ...analytics,
  ...traces,
  ...savedFilters,
  ...cache,
  ...cacheQuestions,
  ...cachePairs,
  ...feedback,
  ...pricing,
  ...priceChanges,
  ...bundles,
  ...auditLogs,
  ...usage,
  ...workers,
])

const BY_OPERATOR = [...operatorOrganisations, ...operatorPeople, ...operatorDomains, ...operatorIdentities] as const
type All = readonly [...typeof SERVED, ...typeof BY_OPERATOR]

// Code that runs operations takes any of them; the types of each are for callers of one by its id.
export const OPERATIONS: readonly AnyOperation[] = SERVED

/** The operator's own operations, on the data directory: no server serves them. */
export const OPERATOR_OPERATIONS: readonly AnyOperation[] = BY_OPERATOR

/** Every operation by its id, with its schemas. */
export type Operations = ById<All, Repeated<All>>
