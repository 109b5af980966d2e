const SHAPE = 'informative: which shape the rest has'
const SVG = 'to be read: drawing in SVG has tokens of its own'
const IMAGE_TOOL = 'to be read: the image tool of a response has tokens of its own'
const EVALS = 'to be read: the models of a run of evals, each by itself'
const ITERATIONS = 'to be read: each hop at its own model'
const LIVE = 'to be read: sessions of the Live API'
const STEPS = 'to be read: what a step of an interaction used so far'
const SESSIONS = 'to be read: sessions of managed agents'

/**
 * Members of usage in the clients' types that are neither read nor named as unknown, by client and by their place in a reply. What is to be
 * read is charged at nothing today; an entry that a reader knows by now fails the test.
 */
export const UNKNOWN_USAGE: Readonly<Record<string, string>> = {
  'openai usage.type': SHAPE,
  'openai tool_usage.image_gen.input_tokens': IMAGE_TOOL,
  'openai tool_usage.image_gen.input_tokens_details.image_tokens': IMAGE_TOOL,
  'openai tool_usage.image_gen.input_tokens_details.text_tokens': IMAGE_TOOL,
  'openai tool_usage.image_gen.output_tokens': IMAGE_TOOL,
  'openai tool_usage.image_gen.output_tokens_details.image_tokens': IMAGE_TOOL,
  'openai tool_usage.image_gen.output_tokens_details.text_tokens': IMAGE_TOOL,
  'openai tool_usage.image_gen.cached_tokens': IMAGE_TOOL,
  'openai tool_usage.image_gen.cached_tokens_details.cached_image_tokens': IMAGE_TOOL,
  'openai tool_usage.image_gen.cached_tokens_details.cached_text_tokens': IMAGE_TOOL,
  'openai tool_usage.image_gen.total_tokens': IMAGE_TOOL,
  'openai tool_usage.web_search.num_requests': 'to be read: searches are counted by the items of the answer',
  'openai svg_usage.input_tokens': SVG,
  'openai svg_usage.output_tokens': SVG,
  'openai svg_usage.reasoning_tokens': SVG,
  'openai svg_usage.total_tokens': SVG,
  'openai per_model_usage.prompt_tokens': EVALS,
  'openai per_model_usage.completion_tokens': EVALS,
  'openai per_model_usage.cached_tokens': EVALS,
  'openai per_model_usage.total_tokens': EVALS,
  'openai per_model_usage.invocation_count': EVALS,
  'anthropic usage.iterations.type': ITERATIONS,
  'anthropic usage.iterations.model': ITERATIONS,
  'anthropic usage.fallback_credit.status.type': 'to be read: a credit that was redeemed makes the call cheaper',
  'anthropic usage.list_cost.currency': 'informative: the currency of what the vendor says it costs',
  'anthropic model_usage.input_tokens': SESSIONS,
  'anthropic model_usage.output_tokens': SESSIONS,
  'anthropic model_usage.cache_creation_input_tokens': SESSIONS,
  'anthropic model_usage.cache_read_input_tokens': SESSIONS,
  'anthropic model_usage.speed': SESSIONS,
  'google usageMetadata.responseTokensDetails.modality': LIVE,
  'google usageMetadata.serviceTier': LIVE,
  ...ofSteps('total_usage'),
  ...ofSteps('step_usage'),
}

function ofSteps(place: string): Record<string, string> {
  const totals = ['cached', 'input', 'output', 'thought', 'tool_use'].map(name => `total_${name}_tokens`)
  const by_modality = ['cached', 'input', 'output', 'tool_use'].map(name => `${name}_tokens_by_modality.tokens`)
  const members = [...totals, ...by_modality, 'total_tokens', 'initial_input_tokens', 'grounding_tool_count.count']
  return Object.fromEntries(members.map(member => [`google ${place}.${member}`, STEPS]))
}
