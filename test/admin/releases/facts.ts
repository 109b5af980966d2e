import {test} from 'vitest'

/**
 * Facts of releases that concern administration (reference: control-plane.md §6), in its order and its words; each is a
 * test of that name.
 */
export const FACTS = {
  '1.3.0': [
    'list keys: raw value only for own keys',
    'current_usage fractional',
    'exact_name filter',
    'workspace periodic_reset nullable and settable via PUT',
    'per-workspace cap on user keys',
    'default/max expiry',
    'unknown limit keys rejected',
    'paging stable on equal created_at',
    'MCP management',
    'workspace key cache dropped when budget exhausts',
  ],
  '1.3.1': ['guardrails add-prefix, allowed-request-types'],
  '1.3.2': [
    'mcp.invoke on workspace keys',
    '255-char names/slugs on providers & integrations',
    'label delete cleans mapping',
    'workspace-grouped analytics',
    'slugs accepted by integrations API',
  ],
  '1.3.3': ['default workspace guardrails deduplicated'],
  '1.4.0': ['email branding env', 'deployments create/list/get/update'],
  '1.5.0': ['policy APIs', 'log-path-format column'],
  '1.5.1': ['logs readable by path format', 'workspace delete cleans its integrations'],
  '1.6.0': ['SCIM group mapping', 'archived policies skipped'],
  '1.6.1': [
    'request-params guardrail',
    'manager cannot add higher role',
    '/spans aggregates total tokens',
    'SCIM role case',
  ],
  '1.6.2': ['expired status worker', 'DB_SSL modes', 'scope validation on keys'],
  '1.7.0': [
    'policy entities',
    'invite accept',
    'raising workspace budget re-activates',
    'custom periodic reset for keys',
    'pricing sources',
    'AB01 messages',
    '/health service id',
  ],
  '1.7.3': ['tags + filter', 'anthropic_beta in config'],
  '1.8.0': [
    'deployment types/slugs/config/RBAC/filter',
    'new policy conditions',
    'alert mail to workspace admins+managers',
    'managers create keys with user_id',
    'skipPtuCostAttribution',
    'MCP capabilities & user access',
  ],
  '1.9.0': ['analytics settings', 'MCP metadata', 'flags default on', '90/365 display'],
  '1.10.0': [
    'prompt settings',
    'periodic_reset_days+next_usage_reset_at on workspaces, exclusive',
    'default provider fields on bulk integration workspaces',
  ],
  '1.11.0': ['data visibility', 'alert reset rules'],
  '1.11.1': ['empty workspaces array with override', 'workspace limit check uses current usage'],
  '1.11.2': [
    'groups/{groupBy}+columns',
    'workspace status filter',
    'default provider fields on integration create',
    'prompt patch',
    'azure_entra_scope',
  ],
  '1.12.0': [
    'secret references + mappings',
    'AI-guard guardrail',
    'archived workspaces in analytics for admins',
    'saved filters take slugs',
    'log_format in get-log',
  ],
} as const satisfies Record<string, readonly string[]>

/** The other facts of the same table, and what they wait for. */
export const LEFT_OUT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '1.3.0': {'JWT errors in audit': 'tokens', 'OAuth preview': 'OAuth of MCP'},
  '1.3.2': {'multi-organisation SSO': 'single sign-on'},
  '1.4.0': {'container non-root': 'packaging, not administration'},
  '1.7.0': {'SSO auto-provision': 'single sign-on', 'JWT traffic obeys workspace guardrails': 'tokens'},
  '1.7.1': {
    'organisation id optional in SSO provisioning': 'single sign-on',
    'SCIM query parsing tolerant': 'the SCIM protocol',
  },
  '1.7.3': {'introspection email/username': 'OAuth of MCP', 'JWT read/list control-plane scopes': 'tokens'},
  '1.10.0': {'SCIM user mode': 'the SCIM protocol', 'SCIM group delete without mapping works': 'the SCIM protocol'},
  '1.11.1': {OIDC_CUSTOM_SCOPES: 'single sign-on'},
  '1.12.0': {
    'federated storage auth': 'no administration: test/ports/blobs.test.ts, gcs_assume by a federation',
    'descriptive JWT errors': 'tokens',
  },
}

export type Release = keyof typeof FACTS

/** The test of one fact, under its release and its words. */
export function fact<R extends Release>(release: R, words: (typeof FACTS)[R][number], run: () => Promise<void> | void) {
  test(`${release}: ${words}`, run)
}
