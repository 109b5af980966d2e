import {CHECKS, FUNCTION, TOOL, TOOL_CHOICE} from '../../admin/contract/bodies.ts'
import type {Furnished} from '../../admin/contract/rows.ts'

/**
 * Updates that no operation shows one thing of: they change rows of a list that are named in the body, or say which
 * version counts.
 */
export const WITHOUT_VIEW: ReadonlySet<string> = new Set([
  'integrations.update_models',
  'mcp_integrations.update_capabilities',
  'mcp_servers.update_capabilities',
  'mcp_servers.update_user_access',
  // what it keeps is never shown
  'mcp_servers.set_tokens',
  'prompts.publish',
  'prompt_partials.publish',
  'pricing.set',
  'domains.update',
  'guardrails.update_mcp_servers',
  // rows of a list too, which is shown: tried below by name
  'mcp_integrations.update_workspaces',
])

type Values = (place: Furnished) => readonly unknown[]
const none: Values = () => []
const guardrails: Values = ({guardrail, spare_guardrail}) => [[guardrail], [spare_guardrail], [], null]
const mode = (name: string) => ({retry: {attempts: 2}, strategy: {mode: 'fallback'}, targets: [{provider: name}]})
const rate = (unit: string, value: number) => ({type: 'requests', unit, value})

/**
 * Values of fields, by `operation way` or by way alone, where the schema does not say enough. What stands here whole is
 * one value to the operation too: a config, the checks of a guardrail.
 */
export const KNOWN: Readonly<Record<string, Values>> = {
  workspace_id: none,
  status: none,
  patch: none,
  'usage_limits.credit_limit': () => [120, 130, null],
  'usage_limits.alert_threshold': () => [50, 90, null],
  'workspaces.update usage_limits': () => [
    {type: 'cost', credit_limit: 120},
    {type: 'cost', alert_threshold: 50},
    {type: 'cost', alert_threshold: null},
    {type: 'cost', periodic_reset: 'weekly'},
    {type: 'cost', periodic_reset_days: 9},
    {type: 'tokens', credit_limit: 800},
    {type: 'tokens', enforcement: 'strict'},
    {type: 'tokens', enforcement: 'shadow'},
    {type: 'tokens', periodic_reset: null, periodic_reset_days: null},
    null,
  ],
  rate_limits: () => [
    rate('rpm', 7),
    rate('rpd', 900),
    {...rate('rpm', 8), enforcement: 'strict'},
    [rate('rph', 5), rate('rpm', 6)],
    null,
  ],
  scopes: () => [['completions.write'], ['completions.write', 'logs.list']],
  alert_emails: () => [['one@example.com'], ['two@example.com'], null],
  'defaults.config_id': ({config, spare_config}) => [config, spare_config, null],
  'defaults.metadata': () => [{team: 'red'}, {}, null],
  'defaults.input_guardrails': guardrails,
  'defaults.output_guardrails': guardrails,
  tags: () => [{team: 'red'}, {of: 'two'}],
  configurations: () => [{openai_project: 'one'}, {openai_organization: 'two'}, {}],
  'mcp_integrations.update configurations': () => [
    {custom_headers: {'x-team': 'red'}},
    {custom_headers: {'x-team': 'two'}},
  ],
  secret_mappings: none,
  pricing_adjustments: none,
  deploymentConfig: () => [[{apiVersion: '2024-10-21', deploymentName: 'gpt', is_default: true}]],
  model_config: () => [{openai_project: 'one'}, {openai_organization: 'two'}],
  config: () => [mode('openai'), mode('anthropic')],
  'deployments.update config': () => [{region: 'one'}, {region: 'two'}],
  checks: () => [CHECKS.slice(1, 2), CHECKS.slice(2, 4)],
  actions: () => [{deny: true}, {deny: false, async: false}],
  input_guardrails: guardrails,
  output_guardrails: guardrails,
  credit_limit: () => [120, 130],
  alert_threshold: () => [50, 90, null],
  reset_usage_for_value: () => ['api_key:k'],
  'labels.update name': () => ['label-one', 'label-two'],
  color_code: () => ['#112233', '#445566'],
  collection_id: ({collection, spare_collection}) => [collection, spare_collection],
  virtual_key: ({virtual_key, deployed_virtual_key}) => [virtual_key, deployed_virtual_key],
  'prompts.update string': () => [
    JSON.stringify([{role: 'user', content: 'One'}]),
    JSON.stringify([{role: 'user', content: 'Two {{name}}'}]),
  ],
  parameters: () => [{temperature: 0.1}, {temperature: 0.9, max_tokens: 5}],
  functions: () => [[FUNCTION], [{...FUNCTION, name: 'two'}], null],
  tools: () => [[TOOL], null],
  tool_choice: () => [TOOL_CHOICE, 'auto', null],
  prompt_metadata: () => [{team: 'red'}, {team: 'two'}, null],
  is_raw_template: () => [0, 1],
  label_id: ({label}) => [label, null],
  allowed_workspaces: ({workspace}) => [[workspace]],
  auth_config: none,
  manager_type: none,
  'mcp_integrations.update auth_type': none,
  'mcp_servers.update virtual': none,
  'mcp_oauth_clients.update scopes': () => [['mcp:tools:list'], ['mcp:servers:read', 'mcp:tools:call'], null],
  'mcp_oauth_clients.update redirect_uris': () => [['https://app.example.com/cb'], ['http://localhost/two'], []],
  url: () => ['https://mcp.example.com/one', 'https://mcp.example.com/two'],
  slug: none,
  filters: () => [{ai_model: 'gpt-4o'}, {status_code: '429', cost_min: 1}],
  requested_data: () => [['id'], ['id', 'cost']],
  'log_exports.update filters': none,
  // a change of one connection: its fields are those of its type
  'organisation_auth.update sso': () => [
    {
      type: 'oidc',
      enabled: false,
      oidc: {issuer: 'https://idp.example.com', client_id: 'one', client_secret: 'secret'},
    },
    {oidc: {client_id: 'two'}},
    {oidc: {scopes: ['openid', 'email']}},
    {oidc: {groups_claim: 'roles'}},
    {enabled: false},
    {required: false},
    {force: true},
  ],
  'integrations.update_workspaces workspaces': ({workspace}) => [
    [{id: workspace, enabled: true, usage_limits: [{credit_limit: 120}]}],
    [{id: workspace, enabled: true, usage_limits: [{alert_threshold: 60}]}],
    [{id: workspace, enabled: true, usage_limits: [{enforcement: 'strict'}]}],
    [{id: workspace, enabled: true, rate_limits: [{type: 'requests', unit: 'rpm', value: 9}]}],
    [{id: workspace, enabled: true}],
  ],
  'integrations.update_workspaces global_workspace_access': none,
  'integrations.update_workspaces override_existing_workspace_access': none,
  'integrations.update_workspaces create_default_provider': none,
  'integrations.update_workspaces default_provider_slug': none,
}

const PERIOD = ['usage_limits.periodic_reset', 'usage_limits.periodic_reset_days', 'usage_limits.next_usage_reset_at']
const VERSION = [
  'version',
  'version_id',
  'prompt_version_id',
  'prompt_version',
  'prompt_version_created_at',
  'prompt_version_status',
  'prompt_version_label_id',
  'prompt_version_description',
]

/** What else changes with a field because it follows from it. */
export const BESIDE: Readonly<Record<string, readonly string[]>> = {
  'usage_limits.periodic_reset': PERIOD,
  'usage_limits.periodic_reset_days': PERIOD,
  reset_usage: ['last_reset_at', 'status'],
  key: ['masked_key', 'hidden_key'],
  configurations: ['hidden_configurations'],
  model_config: ['hidden_configurations'],
  deploymentConfig: ['model_config', 'hidden_configurations'],
  expires_at: ['status'],
  'members.update role': ['scopes'],
  'usage_policies.update periodic_reset': ['next_usage_reset_at', 'last_reset_at'],
  reset_usage_for_value: ['last_reset_at'],
  prompt_metadata: ['template_metadata'],
  label_id: ['prompt_version_label_id'],
  allow_all_workspaces: ['allowed_workspaces'],
  allowed_workspaces: ['allow_all_workspaces'],
  checks: ['version_id'],
  actions: ['version_id'],
  'guardrails.update name': ['version_id'],
  'configs.update config': ['version_id', 'format'],
  'prompts.update *': VERSION,
  'prompt_partials.update *': VERSION,
}

/** What is sent with every change, where the operation needs more than the change. */
export const WITH: Readonly<Record<string, object>> = {
  'prompts.update': {patch: true},
  'log_exports.update': {filters: {time_of_generation_min: '2026-03-01T00:00:00Z'}},
}

/** What the view is asked with: it shows the published version else, and an update makes another. */
export const LOOK: Readonly<Record<string, string>> = {
  'prompts.update': 'version=latest',
  'prompt_partials.update': 'version=latest',
}

/** Fields that are refused here whatever their value, with why. */
export const REFUSED: ReadonlySet<string> = new Set([
  // nobody called, so no entity is known
  'usage_policies.update reset_usage_for_value',
  // of another kind of provider
  'virtual_keys.update deploymentConfig',
  // belongs to a new version, which the string makes
  'prompt_partials.update description',
])
