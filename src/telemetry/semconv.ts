/**
 * The names of what is sent, by generation of the conventions (OTEL_SEMCONV): `1.40`, and `latest` of the middle of
 * 2026. The one place of each name.
 */
export const GENERATIONS = ['1.40', 'latest'] as const
export type Generation = (typeof GENERATIONS)[number]

type NamesOf = readonly string[] | Readonly<Record<Generation, readonly string[]>>

const NAMES = {
  operation: ['gen_ai.operation.name'],
  provider: {'1.40': ['gen_ai.provider.name', 'gen_ai.system'], latest: ['gen_ai.provider.name']},
  request_model: ['gen_ai.request.model'],
  response_model: ['gen_ai.response.model'],
  response_id: ['gen_ai.response.id'],
  finish_reasons: ['gen_ai.response.finish_reasons'],
  max_tokens: ['gen_ai.request.max_tokens'],
  temperature: ['gen_ai.request.temperature'],
  top_p: ['gen_ai.request.top_p'],
  top_k: ['gen_ai.request.top_k'],
  stop_sequences: ['gen_ai.request.stop_sequences'],
  frequency_penalty: ['gen_ai.request.frequency_penalty'],
  presence_penalty: ['gen_ai.request.presence_penalty'],
  seed: ['gen_ai.request.seed'],
  choice_count: ['gen_ai.request.choice.count'],
  encoding_formats: ['gen_ai.request.encoding_formats'],
  dimensions: ['gen_ai.embeddings.dimension.count'],
  output_type: ['gen_ai.output.type'],
  conversation: ['gen_ai.conversation.id'],
  input_tokens: ['gen_ai.usage.input_tokens'],
  output_tokens: ['gen_ai.usage.output_tokens'],
  cache_read_tokens: ['gen_ai.usage.cache_read.input_tokens'],
  cache_write_tokens: {
    '1.40': ['gen_ai.usage.cache_creation.input_tokens'],
    latest: ['gen_ai.usage.cache_write.input_tokens'],
  },
  reasoning_tokens: {'1.40': [], latest: ['gen_ai.usage.reasoning.output_tokens']},
  token_type: ['gen_ai.token.type'],
  input_messages: ['gen_ai.input.messages'],
  output_messages: ['gen_ai.output.messages'],
  system_instructions: ['gen_ai.system_instructions'],
  tool_definitions: ['gen_ai.tool.definitions'],
  tool_name: ['gen_ai.tool.name'],
  prompt_name: ['gen_ai.prompt.name'],
  server_address: ['server.address'],
  server_port: ['server.port'],
  error_type: ['error.type'],
  http_method: ['http.request.method'],
  http_route: ['http.route'],
  http_status: ['http.response.status_code'],
  resend_count: ['http.request.resend_count'],
  call_id: ['gateway.call.id'],
  attempt: ['gateway.attempt'],
  key_id: ['gateway.key.id'],
  workspace_id: ['gateway.workspace.id'],
  organisation_id: ['gateway.organisation.id'],
  config_id: ['gateway.config.id'],
  provider_slug: ['gateway.provider.slug'],
  cache_status: ['gateway.cache.status'],
  fallback_index: ['gateway.fallback.index'],
  policy_ids: ['gateway.policy.ids'],
  cost: ['gateway.cost.nanousd'],
  unpriced: ['gateway.cost.unpriced'],
  usage_source: ['gateway.usage.source'],
  error_message: ['gateway.error.message'],
  guardrail_id: ['gateway.guardrail.id'],
  guardrail_phase: ['gateway.guardrail.phase'],
  guardrail_verdict: ['gateway.guardrail.verdict'],
  guardrail_action: ['gateway.guardrail.action'],
  guardrail_deny: ['gateway.guardrail.deny'],
  guardrail_async: ['gateway.guardrail.async'],
  guardrail_transformed: ['gateway.guardrail.transformed'],
  check_id: ['gateway.guardrail.check.id'],
  check_verdict: ['gateway.guardrail.check.verdict'],
  check_duration_ms: ['gateway.guardrail.check.duration_ms'],
  check_error: ['gateway.guardrail.check.error'],
  mcp_method: {'1.40': ['mcp.method.name', 'mcp.request.method'], latest: ['mcp.method.name']},
  mcp_protocol: ['mcp.protocol.version'],
  mcp_session: ['mcp.session.id'],
  mcp_rpc_id: ['jsonrpc.request.id'],
  mcp_tool: {'1.40': ['gen_ai.tool.name', 'mcp.tool.name'], latest: ['gen_ai.tool.name']},
  mcp_rpc_status: ['rpc.response.status_code'],
  mcp_server: {'1.40': ['gateway.mcp.server.id', 'mcp.server.id'], latest: ['gateway.mcp.server.id']},
  mcp_workspace: {'1.40': ['mcp.workspace.id'], latest: []},
  mcp_client_transport: {'1.40': ['mcp.transport.client'], latest: []},
  mcp_upstream_transport: {'1.40': ['mcp.transport.upstream'], latest: []},
  mcp_params: {'1.40': ['gen_ai.tool.call.arguments', 'mcp.tool.params'], latest: ['gen_ai.tool.call.arguments']},
  mcp_result: {'1.40': ['gen_ai.tool.call.result', 'mcp.tool.result'], latest: ['gen_ai.tool.call.result']},
  mcp_success: {'1.40': ['mcp.request.success'], latest: []},
  mcp_duration_ms: {'1.40': ['mcp.request.duration_ms'], latest: []},
  mcp_error: {'1.40': ['mcp.request.error'], latest: []},
  mcp_auth: {'1.40': ['mcp.auth.type'], latest: []},
} as const satisfies Readonly<Record<string, NamesOf>>

export type TelemetryFact = keyof typeof NAMES
export type FactNames = Readonly<Record<TelemetryFact, readonly string[]>>

/** The names of one generation. */
export function namesOf(generation: Generation): FactNames {
  const each = Object.entries(NAMES).map(([fact, names]: [string, NamesOf]) => [
    fact,
    'latest' in names ? names[generation] : names,
  ])
  return Object.fromEntries(each) as FactNames
}

/** The namespace of the metadata of a call. */
export const METADATA_PREFIX = 'gateway.metadata.'
/** The resource attribute that names the generation. */
export const GENERATION_NAME = 'otel.semconv.version'
export const SERVER_NAME = {check_event: 'gateway.guardrail.check', call_event: 'gateway.call'} as const
