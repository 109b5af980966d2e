import {EXAMPLE_KIND} from '../../providers/example.ts'
import {idOf} from './examples.ts'

const limits = {
  usage_limits: {credit_limit: 100, alert_threshold: 80, periodic_reset: 'monthly'},
  rate_limits: [{type: 'requests', unit: 'rpm', value: 500}],
}
const config = {strategy: {mode: 'fallback'}, targets: [{provider: '@openai-search'}, {provider: '@anthropic-search'}]}
const checks = [{id: 'default.wordCount', parameters: {minWords: 1, maxWords: 500}}]
const messages = [{role: 'user', content: 'Say hello in one word.'}]
const request = {body: {model: 'gpt-4o-mini', messages}}
const prices = {
  format: 'gateway-prices/1',
  providers: {
    [EXAMPLE_KIND]: {
      'gpt-4o-mini': {
        pricing_config: {pay_as_you_go: {request_token: {price: 0.000015}, response_token: {price: 0.00006}}},
      },
    },
  },
}
const bundle = {
  format: 'gateway-bundle/1',
  payload: 'H4sIAAAA',
  signatures: [{key_id: 'b94d27b9934d3e08', signature: 'c2lnbmVk'}],
}
const sso = {
  enabled: true,
  type: 'oidc',
  oidc: {issuer: 'https://idp.example.com', client_id: 'gateway', client_secret: 'SECRET'},
}
const vault = {
  vault_auth_type: 'approle',
  vault_role_id: 'gateway',
  vault_secret_id: 'SECRET',
  vault_addr: 'https://vault.example.com',
}

/** The example bodies, by the id of the operation: each is checked by the operation's own validation. */
// biome-ignore format: a table is read by its lines
export const BODIES: Readonly<Record<string, unknown>> = {
  'organisation_auth.update': {jwt: {jwks_url: 'https://idp.example.com/keys', audiences: ['gateway']}, sso},
  'domains.create': {domain: 'example.com'},
  'domains.verify': {method: 'dns'},
  'domains.update': {allow_subdomains: true},
  'scim_tokens.create': {name: 'entra', expires_at: '2030-12-31T00:00:00Z'},
  'organisation_auth.test': {part: 'jwt', token: 'eyJEXAMPLE.eyJEXAMPLE.EXAMPLE'},
  'organisation_auth.check': {connection: 'house'},
  'organisation.update': {name: 'Default', settings: {security: {logs: {membersViewLogs: false}}}},
  'workspace_settings.update': {security: {logs: {membersViewLogs: true}}},
  'invites.create': {email: 'someone@example.com', role: 'member', workspaces: [{id: 'search', role: 'member'}]},
  'invites.accept': {token: 'TOKEN', first_name: 'Given', last_name: 'Family'},
  'users.update': {role: 'admin'},
  'workspaces.create': {name: 'Search', slug: 'search', description: 'What the search page asks', usage_limits: [limits.usage_limits]},
  'workspaces.update': {description: 'What the search page asks', rate_limits: limits.rate_limits, models: {allow: ['gpt-4o*', '@openai-search/*'], deny: ['*-preview']}},
  'workspaces.delete': {name: 'Search'},
  'members.add': {users: [{id: idOf('users'), role: 'member'}]},
  'members.update': {role: 'manager'},
  'api_keys.create': {name: 'Search service', scopes: ['workspaces.list', 'logs.list'], ...limits},
  'api_keys.update': {name: 'Search service', rate_limits: [{type: 'requests', unit: 'rpm', value: 1000}]},
  'api_keys.rotate': {key_transition_period_ms: 3_600_000},
  'integrations.create': {name: 'OpenAI', slug: 'openai-main', ai_provider_id: EXAMPLE_KIND, key: 'sk-EXAMPLE', create_default_provider: true},
  'integrations.update': {key: 'sk-EXAMPLE', description: 'The key of the whole organisation'},
  'integrations.update_models': {models: [{slug: 'gpt-4o-mini', enabled: true}], allow_all_models: false},
  'integrations.update_workspaces': {workspaces: [{id: 'search', enabled: true, usage_limits: [limits.usage_limits], rate_limits: limits.rate_limits}]},
  'providers.create': {name: 'OpenAI for search', slug: 'openai-search', integration_id: 'openai-main', ...limits},
  'providers.update': {note: 'For the search page', rate_limits: limits.rate_limits},
  'virtual_keys.create': {name: 'OpenAI for search', slug: 'openai-search', provider: EXAMPLE_KIND, key: 'sk-EXAMPLE'},
  'virtual_keys.update': {note: 'For the search page', key: 'sk-EXAMPLE'},
  'configs.create': {name: 'Search, with a fallback', config},
  'configs.update': {config: {...config, retry: {attempts: 2}}},
  'configs.explain': {config, request},
  'configs.replay': {config, since: '2026-03-04T00:00:00Z'},
  'guardrails.create': {name: 'Short questions', checks, actions: {deny: true}},
  'guardrails.update': {checks, actions: {deny: false}},
  'guardrails.test': {guardrail: {checks, actions: {deny: true}}, request},
  'guardrails.coverage': {guardrail: 'pg-length-3f9a1c'},
  'guardrails.evaluate': {guardrail: {checks, actions: {deny: true}}, since: '2026-03-04T00:00:00Z'},
  'organisation_defaults.update': {input_guardrails: ['pg-length-3f9a1c'], output_guardrails: []},
  'usage_policies.create': {name: '100 dollars a month for each user', conditions: [{key: 'workspace_id', value: '*'}], group_by: [{key: 'metadata._user'}], type: 'cost', credit_limit: 100, alert_threshold: 80, periodic_reset: 'monthly'},
  'usage_policies.update': {credit_limit: 200, alert_threshold: 150},
  'rate_policies.create': {name: '60 requests a minute for each user', conditions: [{key: 'workspace_id', value: '*'}], group_by: [{key: 'metadata._user'}], type: 'requests', unit: 'rpm', value: 60},
  'rate_policies.update': {value: 120},
  'collections.create': {name: 'Search', workspace_id: 'search'},
  'collections.update': {name: 'Search'},
  'labels.create': {name: 'production', description: 'What the search page uses', color_code: '#3366cc'},
  'labels.update': {description: 'What the search page uses'},
  'prompts.create': {name: 'Answer', collection_id: 'search', string: '[{"role":"user","content":"Answer {{question}} in one sentence."}]', parameters: {temperature: 0.2}, model: 'gpt-4o-mini', virtual_key: 'openai-search', version_description: 'The first'},
  'prompts.update': {patch: true, parameters: {temperature: 0}, version_description: 'No more chance'},
  'prompts.publish': {version: 3},
  'prompts.update_version': {label_id: idOf('labels')},
  'prompts.render': {variables: {question: 'What is a gateway?'}},
  'prompt_partials.create': {name: 'Tone', string: 'Answer in one friendly sentence.'},
  'prompt_partials.update': {string: 'Answer in one short, friendly sentence.'},
  'prompt_partials.publish': {version: 2},
  'secret_references.create': {name: 'OpenAI key', manager_type: 'hashicorp_vault', auth_config: vault, secret_path: 'gateway/openai', secret_key: 'api_key'},
  'secret_references.update': {secret_path: 'gateway/openai-2'},
  'mcp_integrations.create': {name: 'Tickets', url: 'https://mcp.example.com/mcp', auth_type: 'headers', transport: 'http', configurations: {custom_headers: {authorization: 'Bearer SECRET'}}},
  'mcp_integrations.update': {url: 'https://mcp.example.com/v2/mcp'},
  'mcp_integrations.update_workspaces': {workspaces: [{id: 'search', enabled: true}]},
  'mcp_integrations.update_capabilities': {capabilities: [{name: 'create_ticket', type: 'tool', enabled: false}]},
  'mcp_oauth_clients.create': {name: 'House assistant', redirect_uris: ['https://assistant.example.com/callback']},
  'mcp_oauth_clients.update': {skips_consent: false},
  'mcp_servers.create': {name: 'Tickets for search', mcp_integration_id: 'tickets', workspace_id: 'search'},
  'mcp_servers.update': {description: 'Reads and writes tickets'},
  'mcp_servers.update_capabilities': {capabilities: [{name: 'create_ticket', type: 'tool', enabled: false}]},
  'mcp_servers.update_user_access': {default_user_access: 'deny', user_access: [{user_id: idOf('users'), enabled: true}]},
  'deployments.create': {name: 'Europe', type: 'production', config: {region: 'eu-central-1'}, allow_all_workspaces: true},
  'deployments.update': {config: {region: 'eu-west-1'}},
  'scim_mappings.create': {workspace_id: 'search', role: 'member', scim_group_name: 'search-team'},
  'logs.insert': {
    request: {url: 'https://api.openai.com/v1/chat/completions', provider: EXAMPLE_KIND, body: {model: 'gpt-4o-mini', messages}},
    response: {status: 200, response_time: 412, body: {choices: [{index: 0, message: {role: 'assistant', content: 'Hello!'}, finish_reason: 'stop'}], usage: {prompt_tokens: 13, completion_tokens: 2, total_tokens: 15}}},
    metadata: {trace_id: 'search-17', user: 'u-17'},
  },
  'log_exports.create': {filters: {time_of_generation_min: '2026-03-04T00:00:00Z', ai_model: 'gpt-4o-mini'}, requested_data: ['id', 'created_at', 'request', 'response', 'cost']},
  'log_exports.update': {filters: {time_of_generation_min: '2026-03-01T00:00:00Z'}, requested_data: ['id', 'cost']},
  'saved_filters.create': {name: 'Failed calls of today', filters: {status_code: '500,502,503', time_of_generation_min: '2026-03-04T00:00:00Z'}},
  'saved_filters.update': {name: 'Failed calls', filters: {status_code: '500,502,503'}},
  'feedback.create': {trace_id: 'search-17', value: 5, weight: 1, metadata: {said: 'Helpful'}},
  'feedback.update': {value: -5},
  'pricing.diff': {prices, origin: 'prices.json'},
  'pricing.sync': {prices, origin: 'prices.json'},
  'pricing.set': {pricing_config: {pay_as_you_go: {request_token: {price: 0.000015}, response_token: {price: 0.00006}}}},
  'pricing.unset': {},
  'pricing.rollback': {to_revision: 3},
  'bundles.verify': {bundle},
  'bundles.apply': {bundle, origin: 'gateway-bundle-7.json'},
  'bundles.rollback': {},
}
