import type {ResourceKind} from './kind.ts'
import {apiKey} from './kinds/api-keys.ts'
import {collection} from './kinds/collections.ts'
import {config} from './kinds/configs.ts'
import {defaults} from './kinds/defaults.ts'
import {deployment} from './kinds/deployments.ts'
import {group} from './kinds/groups.ts'
import {guardrail} from './kinds/guardrails.ts'
import {integration} from './kinds/integrations.ts'
import {label} from './kinds/labels.ts'
import {mcpIntegration} from './kinds/mcp-integrations.ts'
import {mcpServer} from './kinds/mcp-servers.ts'
import {member} from './kinds/members.ts'
import {organisationAuth} from './kinds/organisation-auth.ts'
import {partial} from './kinds/partials.ts'
import {ratePolicy, usagePolicy} from './kinds/policies.ts'
import {price} from './kinds/prices.ts'
import {prompt} from './kinds/prompts.ts'
import {provider, virtualKey} from './kinds/providers.ts'
import {savedFilter} from './kinds/saved-filters.ts'
import {secretReference} from './kinds/secret-references.ts'
import {organisationSettings, workspaceSettings} from './kinds/settings.ts'
import {workspace} from './kinds/workspaces.ts'

/**
 * Every kind of resource that files hold, each after what it needs. The organisation's settings are last: its rules for
 * keys hold for those made from then on.
 */
export const KINDS: readonly ResourceKind[] = [
  workspace,
  workspaceSettings,
  member,
  group,
  secretReference,
  guardrail,
  integration,
  provider,
  virtualKey,
  mcpIntegration,
  mcpServer,
  config,
  defaults,
  label,
  collection,
  partial,
  prompt,
  apiKey,
  usagePolicy,
  ratePolicy,
  deployment,
  savedFilter,
  price,
  organisationSettings,
  organisationAuth,
]
