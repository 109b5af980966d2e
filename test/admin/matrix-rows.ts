import {newId} from '../../src/base/ids.ts'

/**
 * Who may use a scope: letters of those who may with the settings as they come, then of those who may when every
 * security setting is turned over. O owner, A admin of the organisation; W admin, G manager, M member of a workspace; K
 * an admin key, S a workspace's service key, each with all scopes of its kind; U where a key of a user can hold it.
 * From the matrix of roles of the reference, and its list of scopes.
 */
// biome-ignore format: a table is read by its lines
const SCOPES: readonly (readonly [scopes: string, usual: string, turned: string])[] = [
  ['organisation_settings.read organisation_settings.update', 'OAK', 'OAK'],
  ['organisation_users.create organisation_users.read organisation_users.update organisation_users.delete organisation_users.list', 'OAK', 'OAK'],
  ['organisation_service_api_keys.create organisation_service_api_keys.read organisation_service_api_keys.update', 'OAK', 'OAK'],
  ['organisation_service_api_keys.delete organisation_service_api_keys.list organisation_service_api_keys.rotate', 'OAK', 'OAK'],
  ['organisation_guardrails.create organisation_guardrails.read organisation_guardrails.update organisation_guardrails.delete organisation_guardrails.list', 'OAK', 'OAK'],
  ['organisation_exclusions.update organisation_exclusions.list', 'OAK', 'OAK'],
  ['audit_logs.list', 'OAK', 'OAK'],
  ['plugins.create plugins.update plugins.list', 'OAK', 'OAK'],
  ['deployments.create deployments.read deployments.update deployments.delete deployments.list', 'OAK', 'OAK'],
  ['secret_references.create secret_references.read secret_references.update secret_references.delete secret_references.list', 'OAK', 'OAK'],
  ['workspaces.create workspaces.delete', 'OAK', 'OAK'],
  ['workspaces.read workspaces.list', 'OAWGMKSU', 'OAWGMKSU'],
  ['workspaces.update', 'OAWKSU', 'OAWGKSU'],
  ['workspace_users.create workspace_users.update workspace_users.delete', 'OAWGKSU', 'OAWGKSU'],
  ['workspace_users.read workspace_users.list', 'OAWGMKSU', 'OAWGMKSU'],
  ['workspace_service_api_keys.create workspace_service_api_keys.update workspace_service_api_keys.delete workspace_service_api_keys.rotate', 'OAWGKS', 'OAWKS'],
  ['workspace_service_api_keys.read workspace_service_api_keys.list', 'OAWGKS', 'OAWKS'],
  ['workspace_user_api_keys.create workspace_user_api_keys.update workspace_user_api_keys.delete workspace_user_api_keys.rotate', 'OAWGKS', 'OAWMKS'],
  ['workspace_user_api_keys.read workspace_user_api_keys.list', 'OAWGMKS', 'OAWKS'],
  ['prompts.create prompts.update prompts.delete prompts.publish', 'OAWGKSU', 'OAWMKSU'],
  ['prompts.read prompts.list', 'OAWGMKSU', 'OAWKSU'],
  ['prompts.render', 'OAWGMSU', 'OAWGMSU'],
  ['configs.create configs.update configs.delete', 'OAWGKSU', 'OAWMKSU'],
  ['configs.read configs.list', 'OAWGMKSU', 'OAWKSU'],
  ['guardrails.create guardrails.update guardrails.delete', 'OAWGKSU', 'OAWKSU'],
  ['guardrails.read guardrails.list', 'OAWGMKSU', 'OAWKSU'],
  ['guardrails.invoke completions.write logs.write mcp.invoke agents.invoke', 'OAWGMSU', 'OAWGMSU'],
  ['virtual_keys.create virtual_keys.update virtual_keys.delete virtual_keys.duplicate virtual_keys.copy', 'OAWGKSU', 'OAWKSU'],
  ['virtual_keys.read virtual_keys.list', 'OAWGMKSU', 'OAWKSU'],
  ['providers.create providers.update providers.delete', 'OAWGKSU', 'OAWKSU'],
  ['providers.read providers.list', 'OAWGMKSU', 'OAWKSU'],
  ['policies.create policies.update policies.delete', 'OAWGKSU', 'OAWGKSU'],
  ['policies.read policies.list', 'OAWGMKSU', 'OAWGMKSU'],
  ['organisation_integrations.create organisation_integrations.read organisation_integrations.update organisation_integrations.delete', 'OAK', 'OAK'],
  ['organisation_mcp_integrations.create organisation_mcp_integrations.read organisation_mcp_integrations.update organisation_mcp_integrations.delete', 'OAK', 'OAK'],
  ['organisation_agent_integrations.create organisation_agent_integrations.read organisation_agent_integrations.update organisation_agent_integrations.delete', 'OAK', 'OAK'],
  ['organisation_integrations.list organisation_mcp_integrations.list organisation_agent_integrations.list', 'OAWGMKSU', 'OAWGMKSU'],
  ['workspace_integrations.create workspace_integrations.update workspace_integrations.delete', 'OAWGKSU', 'OAWKSU'],
  ['workspace_integrations.read workspace_integrations.list', 'OAWGMKSU', 'OAWGMKSU'],
  ['workspace_mcp_integrations.create workspace_mcp_integrations.update workspace_mcp_integrations.delete', 'OAWGKSU', 'OAWKSU'],
  ['workspace_agent_integrations.create workspace_agent_integrations.update workspace_agent_integrations.delete', 'OAWGKSU', 'OAWKSU'],
  ['workspace_mcp_integrations.read workspace_mcp_integrations.list workspace_agent_integrations.read workspace_agent_integrations.list', 'OAWGMKSU', 'OAWGMKSU'],
  ['mcp_servers.create mcp_servers.update mcp_servers.delete agent_servers.create agent_servers.update agent_servers.delete', 'OAWGKSU', 'OAWKSU'],
  ['mcp_servers.read mcp_servers.list agent_servers.read agent_servers.list', 'OAWGMKSU', 'OAWGMKSU'],
  ['analytics.view', 'OAWGMKSU', 'OAWKSU'],
  ['logs.list logs.view logs.export', 'OAWGMKSU', 'OAWKSU'],
]

/** Scope → letters, with the settings as they come and turned over. */
export const EXPECTED: ReadonlyMap<string, {readonly usual: string; readonly turned: string}> = new Map(
  SCOPES.flatMap(([scopes, usual, turned]) =>
    scopes.split(' ').map((scope): [string, {usual: string; turned: string}] => [scope, {usual, turned}]),
  ),
)

/** Where one of several scopes would let in whom the setting for this one shuts out, this one decides. */
export const DECIDES: Readonly<Record<string, string>> = {'logs.get': 'logs.view'}

/** Of its workspace's rows a user's key finds here those of its user alone. */
export const OF_ITS_USER: ReadonlySet<string> = new Set(['api_keys.get', 'log_exports.get', 'log_exports.download'])

/** What no one of several organisations that share a gateway may do, whatever his role: prices are everybody's. */
export const OF_ALL: ReadonlySet<string> = new Set([
  'pricing.sync',
  'pricing.set',
  'pricing.unset',
  'pricing.rollback',
  'bundles.apply',
  'bundles.rollback',
])

/** Ids of rows in one workspace; names of what a call is about. */
export interface Place {
  readonly organisation: string
  readonly workspace: string
  readonly user: string
  readonly invite: string
  readonly key: string
  readonly config: string
  readonly integration: string
  readonly provider: string
  readonly virtual_key: string
  readonly guardrail: string
  readonly usage_policy: string
  readonly rate_policy: string
  readonly collection: string
  readonly label: string
  readonly prompt: string
  readonly prompt_version: string
  readonly partial: string
  readonly log: string
  readonly trace: string
  readonly feedback: string
  readonly log_export: string
  readonly saved_filter: string
  readonly secret_reference: string
  readonly mcp_integration: string
  readonly mcp_server: string
  readonly deployment: string
  readonly scim_mapping: string
  readonly domain: string
  readonly scim_token: string
  readonly mcp_oauth_client: string
  readonly session: string
  readonly identity: string
}

export interface Asked {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const one = (query: keyof Place | '', slug: keyof Place) => (p: Place) => ({
  params: {slug: p[slug]},
  ...(query && {query: {workspace_id: p.workspace}}),
})
const inWorkspace = (p: Place): Asked => ({query: {workspace_id: p.workspace}})
const CONFIG = {provider: 'openai'}
const CALL = {body: {model: 'gpt-4o', messages: []}}
export const CHECKS = [{id: 'default.contains', parameters: {words: ['internal'], operator: 'none'}}]
const PRICES = {format: 'gateway-prices/1', providers: {}}
export const COVERS = {conditions: [{key: 'api_key', value: '*'}], group_by: [{key: 'api_key'}]}
export const PROMPT = {string: '[{"role":"user","content":"Hi"}]', parameters: {}, model: 'gpt-4o'}
export const EXPORT = {filters: {}, requested_data: ['id']}
const measured = (p: Place): Asked => ({
  query: {
    workspace_id: p.workspace,
    time_of_generation_min: '2026-03-01T00:00:00Z',
    time_of_generation_max: '2026-03-31T00:00:00Z',
  },
})
export const SECRET = {
  name: 'Kept',
  manager_type: 'azure_kv',
  auth_config: {azure_auth_mode: 'default', azure_vault_url: 'https://keys.vault.azure.net'},
  secret_path: 'models',
}
export const MCP = {name: 'Kept', url: 'https://mcp.example.com/mcp', auth_type: 'none', transport: 'http'}
export const DEPLOYMENT = {name: 'Kept', type: 'production'}
export const CAPABILITIES = (name = 'none') => ({capabilities: [{name, type: 'tool', enabled: true}]})
const TIMES = {start_time: '2026-03-01T00:00:00Z', end_time: '2026-03-31T00:00:00Z'}

/**
 * How each operation is asked about a place. Bodies are good ones that change nothing which other calls of the test
 * need. An operation that is not here fails the test.
 */
export const ASKED: Readonly<Record<string, (p: Place) => Asked>> = {
  'organisation.get': () => ({}),
  'organisation.update': () => ({body: {name: 'Organisation'}}),
  'organisation_auth.get': () => ({}),
  'organisation_auth.update': () => ({body: {jwt: {enabled: false}}}),
  'organisation_auth.test': () => ({body: {part: 'jwt'}}),
  'organisation_auth.check': () => ({body: {connection: 'house'}}),
  'domains.list': () => ({}),
  'domains.create': () => ({body: {domain: `${newId()}.example.com`}}),
  'domains.verify': p => ({params: {domainId: p.domain}, body: {method: 'dns'}}),
  'domains.update': p => ({params: {domainId: p.domain}, body: {allow_subdomains: false}}),
  'domains.delete': p => ({params: {domainId: p.domain}}),
  'sessions.list': () => ({}),
  'sessions.revoke': p => ({params: {sessionId: p.session}}),
  'sessions.revoke_of_user': p => ({params: {userId: p.user}}),
  'identities.list': () => ({}),
  'identities.delete': p => ({params: {identityId: p.identity}}),
  'identities.relink': () => ({query: {issuer: 'https://idp.example.com'}}),
  'scim_tokens.list': () => ({}),
  'scim_tokens.create': () => ({body: {name: 'Made'}}),
  'scim_tokens.delete': p => ({params: {scimTokenId: p.scim_token}}),
  'workspace_settings.get': p => ({params: {workspaceId: p.workspace}}),
  'workspace_settings.update': p => ({params: {workspaceId: p.workspace}, body: {security: {}}}),
  'invites.list': () => ({}),
  'invites.create': p => ({
    body: {email: `${newId()}@example.com`, role: 'member', workspaces: [{id: p.workspace, role: 'member'}]},
  }),
  'invites.get': p => ({params: {inviteId: p.invite}}),
  'invites.delete': p => ({params: {inviteId: p.invite}}),
  'invites.resend': p => ({params: {inviteId: p.invite}}),
  'invites.accept': () => ({body: {token: 'none'}}),
  'users.list': () => ({}),
  'users.get': p => ({params: {userId: p.user}}),
  'users.update': p => ({params: {userId: p.user}, body: {role: 'member'}}),
  'users.delete': p => ({params: {userId: p.user}}),
  'workspaces.list': () => ({}),
  'workspaces.list_short': () => ({}),
  'workspaces.create': () => ({body: {name: 'Made'}}),
  'workspaces.get': p => ({params: {workspaceId: p.workspace}}),
  'workspaces.update': p => ({params: {workspaceId: p.workspace}, body: {description: 'Changed'}}),
  'workspaces.delete': p => ({params: {workspaceId: p.workspace}, body: {name: 'not its name'}}),
  'members.list': p => ({params: {workspaceId: p.workspace}}),
  'members.add': p => ({params: {workspaceId: p.workspace}, body: {users: [{id: p.user, role: 'member'}]}}),
  'members.get': p => ({params: {workspaceId: p.workspace, userId: p.user}}),
  'members.update': p => ({params: {workspaceId: p.workspace, userId: p.user}, body: {role: 'member'}}),
  'members.remove': p => ({params: {workspaceId: p.workspace, userId: p.user}}),
  'api_keys.create': p => ({
    params: {type: 'workspace', subtype: 'user'},
    body: {name: 'Made', workspace_id: p.workspace, scopes: ['completions.write']},
  }),
  'api_keys.self': () => ({}),
  'api_keys.list': inWorkspace,
  'api_keys.get': p => ({params: {id: p.key}}),
  'api_keys.update': p => ({params: {id: p.key}, body: {name: 'Changed'}}),
  'api_keys.delete': p => ({params: {id: p.key}}),
  'api_keys.rotate': p => ({params: {id: p.key}}),
  'integrations.list': inWorkspace,
  'integrations.create': p => ({body: {name: 'Made', ai_provider_id: 'openai', workspace_id: p.workspace}}),
  'integrations.get': one('', 'integration'),
  'integrations.update': p => ({...one('', 'integration')(p), body: {name: 'Changed'}}),
  'integrations.delete': one('', 'integration'),
  'integrations.list_models': one('', 'integration'),
  'integrations.update_models': p => ({
    ...one('', 'integration')(p),
    body: {models: [{slug: 'gpt-4o', enabled: true}]},
  }),
  'integrations.delete_models': p => ({...one('', 'integration')(p), query: {slugs: 'none'}}),
  'integrations.list_workspaces': one('', 'integration'),
  'integrations.update_workspaces': p => ({
    ...one('', 'integration')(p),
    body: {workspaces: [{id: p.workspace, enabled: true}], create_default_provider: false},
  }),
  'providers.list': inWorkspace,
  'providers.create': p => ({body: {name: 'Made', integration_id: p.integration, workspace_id: p.workspace}}),
  'providers.get': one('workspace', 'provider'),
  'providers.update': p => ({...one('workspace', 'provider')(p), body: {name: 'Changed'}}),
  'providers.delete': one('workspace', 'provider'),
  'virtual_keys.list': inWorkspace,
  'virtual_keys.create': p => ({
    body: {name: 'Made', provider: 'openai', key: 'sk-0123456789', workspace_id: p.workspace},
  }),
  'virtual_keys.get': one('workspace', 'virtual_key'),
  'virtual_keys.update': p => ({...one('workspace', 'virtual_key')(p), body: {name: 'Changed'}}),
  'virtual_keys.delete': one('workspace', 'virtual_key'),
  'configs.list': inWorkspace,
  'configs.create': p => ({body: {name: 'Made', config: CONFIG, workspace_id: p.workspace}}),
  'configs.get': one('workspace', 'config'),
  'configs.update': p => ({...one('workspace', 'config')(p), body: {name: 'Changed'}}),
  'configs.delete': one('workspace', 'config'),
  'configs.list_versions': one('workspace', 'config'),
  'configs.explain': p => ({body: {config: CONFIG, request: CALL, workspace_id: p.workspace}}),
  'configs.replay': p => ({body: {config: CONFIG, since: '2026-03-01T00:00:00Z', workspace_id: p.workspace}}),
  'guardrails.list': inWorkspace,
  'guardrails.create': p => ({body: {name: 'Made', checks: CHECKS, actions: {}, workspace_id: p.workspace}}),
  'guardrails.get': p => ({params: {guardrailId: p.guardrail}}),
  'guardrails.update': p => ({params: {guardrailId: p.guardrail}, body: {name: 'Changed'}}),
  'guardrails.delete': p => ({params: {guardrailId: p.guardrail}}),
  'guardrails.list_versions': p => ({params: {guardrailId: p.guardrail}}),
  'guardrails.get_mcp_servers': p => ({params: {guardrailId: p.guardrail}}),
  'guardrails.update_mcp_servers': p => ({params: {guardrailId: p.guardrail}, body: {mcp_servers: []}}),
  'guardrails.test': p => ({body: {guardrail: p.guardrail, request: CALL, workspace_id: p.workspace}}),
  'guardrails.coverage': p => ({body: {guardrail: p.guardrail, workspace_id: p.workspace}}),
  'guardrails.evaluate': p => ({
    body: {guardrail: p.guardrail, since: '2026-03-01T00:00:00Z', workspace_id: p.workspace},
  }),
  'organisation_defaults.get': () => ({}),
  'organisation_defaults.update': () => ({body: {input_guardrails: []}}),
  'limits.status': inWorkspace,
  'usage_policies.list': inWorkspace,
  'usage_policies.create': p => ({body: {...COVERS, type: 'cost', credit_limit: 1, workspace_id: p.workspace}}),
  'usage_policies.get': p => ({params: {policyUsageLimitsId: p.usage_policy}}),
  'usage_policies.update': p => ({params: {policyUsageLimitsId: p.usage_policy}, body: {name: 'Changed'}}),
  'usage_policies.delete': p => ({params: {policyUsageLimitsId: p.usage_policy}}),
  'usage_policies.list_entities': p => ({params: {policyUsageLimitsId: p.usage_policy}}),
  'usage_policies.reset_entity': p => ({params: {policyUsageLimitsId: p.usage_policy, entityId: 'none'}}),
  'rate_policies.list': inWorkspace,
  'rate_policies.create': p => ({
    body: {...COVERS, type: 'requests', unit: 'rpm', value: 60, workspace_id: p.workspace},
  }),
  'rate_policies.get': p => ({params: {rateLimitsPolicyId: p.rate_policy}}),
  'rate_policies.update': p => ({params: {rateLimitsPolicyId: p.rate_policy}, body: {name: 'Changed'}}),
  'rate_policies.delete': p => ({params: {rateLimitsPolicyId: p.rate_policy}}),
  'rate_policies.list_entities': p => ({params: {rateLimitsPolicyId: p.rate_policy}}),
  'collections.list': inWorkspace,
  'collections.create': p => ({body: {name: 'Made', workspace_id: p.workspace}}),
  'collections.get': p => ({params: {collectionId: p.collection}}),
  'collections.update': p => ({params: {collectionId: p.collection}, body: {name: 'Changed'}}),
  'collections.delete': p => ({params: {collectionId: p.collection}}),
  'labels.list': inWorkspace,
  'labels.create': p => ({body: {name: 'made', workspace_id: p.workspace}}),
  'labels.get': p => ({params: {labelId: p.label}, query: {workspace_id: p.workspace}}),
  'labels.update': p => ({params: {labelId: p.label}, body: {description: 'Changed'}}),
  'labels.delete': p => ({params: {labelId: p.label}}),
  'prompts.list': inWorkspace,
  'prompts.create': p => ({body: {...PROMPT, name: 'Made', collection_id: p.collection, virtual_key: p.virtual_key}}),
  'prompts.get': p => ({params: {promptId: p.prompt}}),
  'prompts.update': p => ({params: {promptId: p.prompt}, body: {name: 'Changed'}}),
  'prompts.delete': p => ({params: {promptId: p.prompt}}),
  'prompts.publish': p => ({params: {promptId: p.prompt}, body: {version: 1}}),
  'prompts.render': p => ({params: {promptId: p.prompt}, body: {variables: {}}}),
  'prompts.list_versions': p => ({params: {promptId: p.prompt}}),
  'prompts.get_version': p => ({params: {promptId: p.prompt, versionId: p.prompt_version}}),
  'prompts.update_version': p => ({params: {promptId: p.prompt, versionId: p.prompt_version}, body: {label_id: null}}),
  'prompt_partials.list': () => ({}),
  'prompt_partials.create': p => ({body: {name: 'Made', string: 'Be kind.', workspace_id: p.workspace}}),
  'prompt_partials.get': p => ({params: {promptPartialId: p.partial}}),
  'prompt_partials.update': p => ({params: {promptPartialId: p.partial}, body: {name: 'Changed'}}),
  'prompt_partials.delete': p => ({params: {promptPartialId: p.partial}}),
  'prompt_partials.list_versions': p => ({params: {promptPartialId: p.partial}}),
  'prompt_partials.publish': p => ({params: {promptPartialId: p.partial}, body: {version: 1}}),
  'secret_references.list': () => ({}),
  'secret_references.create': () => ({body: SECRET}),
  'secret_references.get': p => ({params: {secretReferenceId: p.secret_reference}}),
  'secret_references.update': p => ({params: {secretReferenceId: p.secret_reference}, body: {name: 'Changed'}}),
  'secret_references.test': p => ({params: {secretReferenceId: p.secret_reference}}),
  'secret_references.delete': p => ({params: {secretReferenceId: p.secret_reference}}),
  'mcp_integrations.list': inWorkspace,
  'mcp_integrations.create': p => ({body: {...MCP, workspace_id: p.workspace}}),
  'mcp_integrations.get': p => ({params: {mcpIntegrationId: p.mcp_integration}}),
  'mcp_integrations.update': p => ({params: {mcpIntegrationId: p.mcp_integration}, body: {name: 'Changed'}}),
  'mcp_integrations.delete': p => ({params: {mcpIntegrationId: p.mcp_integration}}),
  'mcp_integrations.get_metadata': p => ({params: {mcpIntegrationId: p.mcp_integration}}),
  'mcp_integrations.list_workspaces': p => ({params: {mcpIntegrationId: p.mcp_integration}}),
  'mcp_integrations.update_workspaces': p => ({
    params: {mcpIntegrationId: p.mcp_integration},
    body: {workspaces: [{id: p.workspace, enabled: true}]},
  }),
  'mcp_integrations.list_capabilities': p => ({params: {mcpIntegrationId: p.mcp_integration}}),
  'mcp_integrations.update_capabilities': p => ({params: {mcpIntegrationId: p.mcp_integration}, body: CAPABILITIES()}),
  'mcp_oauth_clients.list': () => ({}),
  'mcp_oauth_clients.create': () => ({body: {name: 'Made', redirect_uris: ['http://localhost/cb']}}),
  'mcp_oauth_clients.get': p => ({params: {clientId: p.mcp_oauth_client}}),
  'mcp_oauth_clients.update': p => ({params: {clientId: p.mcp_oauth_client}, body: {name: 'Changed'}}),
  'mcp_oauth_clients.delete': p => ({params: {clientId: p.mcp_oauth_client}}),
  'mcp_servers.list': inWorkspace,
  'mcp_servers.create': p => ({body: {name: 'Made', mcp_integration_id: p.mcp_integration, workspace_id: p.workspace}}),
  'mcp_servers.get': p => ({params: {mcpServerId: p.mcp_server}}),
  'mcp_servers.update': p => ({params: {mcpServerId: p.mcp_server}, body: {name: 'Changed'}}),
  'mcp_servers.delete': p => ({params: {mcpServerId: p.mcp_server}}),
  'mcp_servers.get_metadata': p => ({params: {mcpServerId: p.mcp_server}}),
  'mcp_servers.list_capabilities': p => ({params: {mcpServerId: p.mcp_server}}),
  'mcp_servers.update_capabilities': p => ({params: {mcpServerId: p.mcp_server}, body: CAPABILITIES()}),
  'mcp_servers.list_user_access': p => ({params: {mcpServerId: p.mcp_server}}),
  'mcp_servers.update_user_access': p => ({params: {mcpServerId: p.mcp_server}, body: {default_user_access: 'allow'}}),
  'mcp_servers.list_connections': p => ({params: {mcpServerId: p.mcp_server}, query: {user_id: p.user}}),
  'mcp_servers.delete_connection': p => ({params: {mcpServerId: p.mcp_server}, query: {user_id: p.user}}),
  'mcp_servers.get_tokens': p => ({params: {mcpServerId: p.mcp_server}, query: {user_id: p.user}}),
  'mcp_servers.set_tokens': p => ({params: {mcpServerId: p.mcp_server}, body: {access_token: 'canary-access-token'}}),
  'mcp_servers.delete_tokens': p => ({params: {mcpServerId: p.mcp_server}, query: {user_id: p.user}}),
  'mcp_servers.get_client_info': p => ({params: {mcpServerId: p.mcp_server}}),
  'mcp_servers.check_user_access': p => ({params: {mcpServerId: p.mcp_server}}),
  'mcp_integrations.test': p => ({params: {mcpIntegrationId: p.mcp_integration}}),
  'mcp_integrations.sync': p => ({params: {mcpIntegrationId: p.mcp_integration}}),
  'mcp_servers.test': p => ({params: {mcpServerId: p.mcp_server}}),
  'mcp_servers.sync_capabilities': p => ({params: {mcpServerId: p.mcp_server}}),
  'mcp_servers.sync_metadata': p => ({params: {mcpServerId: p.mcp_server}}),
  'deployments.list': () => ({}),
  'deployments.create': () => ({body: DEPLOYMENT}),
  'deployments.get': p => ({params: {deploymentId: p.deployment}}),
  'deployments.update': p => ({params: {deploymentId: p.deployment}, body: {name: 'Changed'}}),
  'deployments.delete': p => ({params: {deploymentId: p.deployment}}),
  'scim_groups.list': inWorkspace,
  'scim_mappings.list': inWorkspace,
  'scim_mappings.create': p => ({body: {workspace_id: p.workspace, role: 'member', scim_group_name: 'Made'}}),
  'scim_mappings.delete': p => ({params: {scimWorkspaceGroupId: p.scim_mapping}}),
  'logs.list': inWorkspace,
  'logs.insert': () => ({
    body: {request: {url: 'https://api.openai.com/v1/chat/completions', body: {}}, response: {body: {}}},
  }),
  'logs.groups': p => ({params: {groupBy: 'model'}, ...measured(p)}),
  'log_exports.create': p => ({body: {...EXPORT, workspace_id: p.workspace}}),
  'log_exports.list': inWorkspace,
  'log_exports.get': p => ({params: {exportId: p.log_export}}),
  'log_exports.update': p => ({params: {exportId: p.log_export}, body: {filters: {}}}),
  'log_exports.start': p => ({params: {exportId: p.log_export}}),
  'log_exports.cancel': p => ({params: {exportId: p.log_export}}),
  'log_exports.download': p => ({params: {exportId: p.log_export}}),
  'log_exports.file': p => ({params: {exportId: p.log_export}, query: {signature: 'none'}}),
  'analytics.requests': measured,
  'analytics.cost': measured,
  'analytics.latency': measured,
  'analytics.tokens': measured,
  'analytics.users': measured,
  'analytics.users_requests': measured,
  'analytics.errors': measured,
  'analytics.errors_rate': measured,
  'analytics.errors_stacks': measured,
  'analytics.errors_status_codes': measured,
  'analytics.requests_rescued': measured,
  'analytics.cache_hit_rate': measured,
  'analytics.cache_latency': measured,
  'analytics.feedbacks': measured,
  'analytics.feedbacks_scores': measured,
  'analytics.feedbacks_weighted': measured,
  'analytics.feedbacks_ai_models': measured,
  'analytics.summary_cache': measured,
  'analytics.groups_users': measured,
  'analytics.groups_ai_models': measured,
  'analytics.groups_metadata': p => ({params: {metadataKey: 'team'}, ...measured(p)}),
  'analytics.groups': p => ({params: {groupBy: 'model'}, ...measured(p)}),
  'traces.list': inWorkspace,
  'traces.get': p => ({params: {traceId: p.trace}, query: {workspace_id: p.workspace}}),
  'spans.list': inWorkspace,
  'cache.list': inWorkspace,
  'cache.clear': p => ({body: {model: 'gpt-4o', workspace_id: p.workspace}}),
  'cache.questions': p => ({body: {since: '2026-03-01T00:00:00Z', workspace_id: p.workspace}}),
  'cache.pairs': p => ({body: {since: '2026-03-01T00:00:00Z', workspace_id: p.workspace}}),
  'saved_filters.create': p => ({body: {name: 'Made', filters: {}, workspace_id: p.workspace}}),
  'saved_filters.list': inWorkspace,
  'saved_filters.get': p => ({params: {id: p.saved_filter}}),
  'saved_filters.update': p => ({params: {id: p.saved_filter}, body: {filters: {}}}),
  'saved_filters.delete': p => ({params: {id: p.saved_filter}}),
  'feedback.create': p => ({body: {trace_id: 'trace-1', value: 1, workspace_id: p.workspace}}),
  'feedback.update': p => ({params: {id: p.feedback}, body: {value: 1}}),
  'logs.get': p => ({params: {logId: p.log}, query: {workspace_id: p.workspace}}),
  'pricing.get': () => ({params: {provider: 'openai', model: 'gpt-4o'}}),
  'pricing.list': () => ({}),
  'pricing.capabilities': () => ({params: {provider: 'openai'}}),
  'pricing.unpriced': inWorkspace,
  'pricing.diff': () => ({body: {prices: PRICES}}),
  'pricing.sync': () => ({body: {prices: PRICES}}),
  'pricing.set': () => ({params: {provider: 'openai', model: 'gpt-4o'}, body: {pricing_config: {}}}),
  'pricing.unset': () => ({params: {provider: 'openai', model: 'gpt-4o'}, body: {}}),
  'pricing.revisions': () => ({}),
  'pricing.rollback': () => ({body: {}}),
  'bundles.verify': () => ({body: {bundle: {}}}),
  'bundles.apply': () => ({body: {bundle: {}}}),
  'bundles.rollback': () => ({body: {}}),
  'usage.list': p => ({query: {by: 'key', since: '2026-03-01T00:00:00Z', workspace_id: p.workspace}}),
  'workers.list': () => ({}),
  'audit_logs.list': p => ({query: {...TIMES, organisation_id: p.organisation}}),
  'audit_logs.verify': () => ({}),
  'openapi.get': () => ({}),
}
