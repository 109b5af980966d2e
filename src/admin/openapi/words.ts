import {EXAMPLE_KIND} from '../../providers/example.ts'

const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

/** The example values of fields, by their name. */
// biome-ignore format: a table is read by its lines
export const WORDS: Readonly<Record<string, unknown>> = {
  // who and where
  ...{name: 'Search', slug: 'search', description: 'What the search page asks', note: 'For the search page', title: 'Search'},
  ...{email: 'someone@example.com', alert_email: 'alerts@example.com', first_name: 'Given', last_name: 'Family'},
  ...{organisation_name: 'Default', workspace_name: 'Search', workspace_slug: 'search', workspace: 'search', scim_group: 'search-team'},
  ...{key: 'gw-EXAMPLE', masked_key: 'sk-•••••••••••••1234', api_key: 'Search service', token: 'gws-EXAMPLE', scope: 'completions.write'},
  ...{type: 'workspace-service', creation_mode: 'api', client_ip: '192.0.2.17', user: 'u-17', color_code: '#3366cc'},
  ...{config: 'pc-search-3f9a1c', provider: EXAMPLE_KIND, ai_provider_id: EXAMPLE_KIND, ai_org: EXAMPLE_KIND, ai_service: EXAMPLE_KIND, virtual_key: 'openai-search'},
  ...{model: 'gpt-4o-mini', ai_model: 'gpt-4o-mini', ai_models: 'gpt-4o-mini', base_model_slug: 'gpt-4o-mini', aliase: 'gpt-4o-mini-latest', endpoint: 'chatComplete'},
  ...{input_guardrail: 'pg-length-3f9a1c', output_guardrail: 'pg-length-3f9a1c', tags: {team: 'search'}, updated_by: null, created_by: null},
  ...{prompt_slug: 'pp-answer-3f9a1c', prompt: 'pp-answer-3f9a1c', prompt_version: 3, version: 3, version_description: 'Shorter answers'},
  ...{prompt_version_description: 'Shorter answers', prompt_description: 'Shorter answers', label: 'Search: 500 requests a minute'},
  ...{string: '[{"role":"user","content":"Answer {{question}} in one sentence."}]', parameters: {temperature: 0.2}, functions: [], tools: []},
  ...{tool_choice: 'auto', function_call: 'auto', template_metadata: {}},
  // limits
  ...{credit_limit: 100, alert_threshold: 80, periodic_reset: 'monthly', periodic_reset_days: null, reset_usage: null, limit: 500, used: 128, remaining: 372},
  ...{unit: 'rpm', value: 5, weight: 1, weighted: 5, value_key: 'metadata._user:u-17', current_usage: 12.5},
  ...{default_expiry_days: 90, max_expiry_days: 365, max_user_keys_per_workspace: 5, excludes: ['u-18'], exclude: 'u-18'},
  // calls
  ...{cost: 0.0125, cost_usd: '0.000125', cost_currency: 'USD', price: 0, rate: 0.5, success_rate: 99.5, cache_hit_rate: 12.5, cache_speedup: 85},
  ...{status: 'active', status_code: 200, response_status_code: 200, outcome: 'completed', error: null, warning: null, last_error: null, sync_error: null},
  ...{method: 'POST', request_method: 'POST', request_url: 'https://api.openai.com/v1/chat/completions', url: 'https://api.openai.com/v1/chat/completions'},
  ...{mode: 'single', cache_status: 'MISS', lastUsedOptionJsonPath: 'config', is_success: true, error_count: 0, failures: 0, retry_success_count: 0},
  ...{req_units: 96, res_units: 32, total_units: 128, prompt_tokens: 96, completion_tokens: 32, total_tokens: 128, usage_source: 'provider', stream_mode: 0},
  ...{last_used_option_index: 0, auth: 0.2, plan: 0.1, connect: 12, first_byte: 180, last_byte: 412, overhead: 0.9, is_proxy_call: false},
  ...{gateway_processing_time: 1, request_parsing_time: 0, pre_processing_time: 0, cache_processing_time: 0, response_parsing_time: 0},
  ...{avg: 412, p50: 390, p90: 560, p99: 910, avg_latency: 412, p95_latency: 700, p99_latency: 910, span_name: 'answer', metadata_value: 'u-17'},
  ...{avg_tokens: 128, avg_input_tokens: 96, avg_output_tokens: 32, requests: 1024, total_requests: 1024, hits: 128, metadata: {_user: 'u-17'}},
  // prices, in US cents a token
  ...{request_token: {price: 0.000015}, response_token: {price: 0.00006}, tiers: [], aliases: ['gpt-4o-mini-latest']},
  ...{change: 'added', before: null, added: 1, changed: 0, removed: 0, revision: 3, 'content-type': 'application/json'},
  // exports
  ...{filters: {time_of_generation_min: '2026-03-04T00:00:00.000Z', ai_model: 'gpt-4o-mini'}},
  ...{requested_data: ['id', 'created_at', 'request', 'response', 'cost'], signed_url: 'https://gateway.example.com/v1/logs/exports/EXPORT/file?signature=SIGNATURE'},
  // administration
  ...{action: 'create', resource_type: 'config', uri: '/v1/configs', request_body: '{"name":"Search"}', query_params: '{}', request_headers: '{}', chain: 'b94d27b9934d3e08', text: 'row 17 does not follow row 16'},
  ...{holder: 'gateway-1', source: 'genai-prices', origin: 'prices.json', digest: 'sha256:b94d27b9934d3e08', content: 'prices', serial: 7, sequence: 17},
  ...{hour: '2026-03-04T05:00:00.000Z', day: '2026-03-04', month: '2026-03', kind: EXAMPLE_KIND, breaks: [], invite_link: 'https://gateway.example.com/invites/TOKEN', inviteLink: 'https://gateway.example.com/invites/TOKEN'},
  ...{secret_path: 'gateway/openai', secret_key: 'api_key', target_field: 'key', auth_type: 'headers', transport: 'http'},
  ...{mcp_integration_slug: 'tickets', mcp_integration_url: 'https://mcp.example.com/mcp', mime_type: 'text/plain', protocol_version: '2025-06-18', server_name: 'tickets', server_version: '1.0.0', uri_template: 'tickets://{id}', sync_status: 'pending'},
  ...{website_url: 'https://mcp.example.com', sync_warning: 'tools/list: an entry of tools (x): no inputSchema'},
  ...{seen_hash: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752'},
  ...{approved_hash: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752'},
  ...{other_seen_hashe: HASH, was: 'Finds tickets'},
  ...{is: 'Finds and sends tickets', suspicion: {path: '/description', rules: ['override']}},
  ...{jwks_url: 'https://idp.example.com/keys', jwks: null, issuer: 'https://idp.example.com', audience: 'gateway'},
  ...{revoked_before: null, max_lifetime_s: 3600, default_workspace: 'search', default_scope: 'completions.write'},
  ...{allowed_workspace: 'search', allowed_subject: 'app-1', detail: '1 key: main (RSA)'},
  ...{openapi: '3.0.3', explanation: 'The text has 42 words.', excerpt: 'How do I …'},
  ...{country: null, user_agent: null, invited_by: null, accepted_at: null, withdrawn_at: null, key_transition_expires_at: null, expires_at: '2026-06-02T05:06:07.000Z'},
}

/** Members that may be left out, as they say little and would be repeated for every operation. */
export const LEFT_OUT: ReadonlySet<string> = new Set([
  'batch_config',
  'calculate',
  'finetune_config',
  'enforcement',
  'users',
])

/** The same, for what an operation is about: the noun of its id. */
// biome-ignore format: a table is read by its lines
export const NOUNS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  organisation: {name: 'Default', slug: 'default'},
  api_keys: {name: 'Search service', type: 'workspace-service'},
  integrations: {name: 'OpenAI', slug: 'openai-main', status: 'active', type: 'organisation', description: 'The key of the whole organisation'},
  providers: {name: 'OpenAI for search', slug: 'openai-search'},
  virtual_keys: {name: 'OpenAI for search', slug: 'openai-search'},
  configs: {path: 'config.targets[0]', from: '@openai-search/gpt-4o-mini', to: '@anthropic-search/claude-haiku-4-5', code: 'upstream.timeout', message: 'The provider openai did not answer within 10000 ms.', target: 'config.targets[0]', at: '2026-03-04T05:06:07.000Z', next: null, name: 'Search, with a fallback', slug: 'pc-search-3f9a1c', config: {strategy: {mode: 'fallback'}, targets: [{provider: '@openai-search'}, {provider: '@anthropic-search'}]}},
  guardrails: {next: null, type: 'guardrail', name: 'Short questions', slug: 'pg-length-3f9a1c', explanation: 'The text has 42 words.'},
  usage_policies: {name: '100 dollars a month for each user', value: 'u-17', key: 'metadata._user', type: 'cost'},
  rate_policies: {name: '60 requests a minute for each user', value: 60, key: 'metadata._user', type: 'requests'},
  collections: {name: 'Search', slug: 'search'},
  labels: {name: 'production', description: 'What the search page uses'},
  prompts: {name: 'Answer', slug: 'pp-answer-3f9a1c'},
  prompt_partials: {name: 'Tone', slug: 'pl-tone-3f9a1c', string: 'Answer in one friendly sentence.'},
  secret_references: {name: 'OpenAI key', slug: 'openai-key', description: 'Kept in AWS Secrets Manager'},
  mcp_integrations: {hash: HASH, path: '/description', name: 'Tickets', slug: 'tickets', url: 'https://mcp.example.com/mcp', description: 'Reads and writes tickets', type: 'workspace'},
  mcp_servers: {hash: HASH, path: '/description', name: 'Tickets for search', slug: 'tickets-search', url: 'https://mcp.example.com/mcp', description: 'Reads and writes tickets', type: 'workspace'},
  deployments: {name: 'Europe', slug: 'europe', type: 'production'},
  cache: {
    ...{kind: 'semantic', digest: HASH, partition: HASH, text: HASH, json: HASH, namespace: 'faq', next: null},
    ...{vector: 'AACAPwAAAAA=', classes: {numbers: 'NXuKc3F1bQk2Bw'}, words: 'u2BdDA', fillers: '', gate: 'strict'},
    ...{embedder: 'builtin/1', cost_usd: 0.000125, expected: 'miss'},
    ...{a: 'Convert 5 km to miles', b: 'Convert 6 km to miles'},
  },
  saved_filters: {name: 'Failed calls of today'},
  workers: {name: 'log-retention', status: 'running'},
  feedback: {status: 'success', message: 'Feedback saved'},
}
