import {isObject} from '../../base/json-object.ts'
import {claudeVersion, FIRST_ADAPTIVE} from '../anthropic/thinking.ts'
import {effortOf} from '../messages/thinking.ts'
import {type Context, type Json, UnsupportedInput} from '../translation.ts'
import {member, numberAt, objectAt, refuse, said, saidOr, stopAt, textAt} from './ask.ts'
import {foundationModel, vendor} from './model.ts'

/** Tokens of thinking for OpenAI's words of effort, for models that count it (reference: thinking format). */
const THINKING_TOKENS: Readonly<Record<string, number>> = {low: 1024, medium: 8192, high: 16384, xhigh: 32768}
const LEAST_THINKING_TOKENS = 1024
const KNOW_EFFORT: ReadonlySet<string | null> = new Set(['anthropic', 'amazon', 'openai'])
const SERVICE_TIERS: Readonly<Record<string, string>> = {flex: 'flex', priority: 'priority', reserved: 'reserved'}

/** Members of a Converse request besides its messages and tools. Source: Bedrock API reference, Converse, request syntax. */
export function parameters(asked: Json, context: Context): Json {
  refuse(asked, 'n', value => value === 1, 'Amazon Bedrock gives one choice')
  refuse(asked, 'logprobs', value => value === false, 'Amazon Bedrock tells no log probabilities')
  refuse(asked, 'functions', value => Array.isArray(value) && value.length === 0, 'expected tools instead of functions')
  refuse(asked, 'audio', () => false, 'Amazon Bedrock speaks no answers')
  const maker = vendor(context.model)
  const temperature = numberAt(asked, ['temperature'], 1)
  const top_p = numberAt(asked, ['top_p'], 1)
  return said({
    inferenceConfig: saidOr({
      maxTokens: numberAt(asked, ['max_completion_tokens', 'max_tokens']),
      stopSequences: stopAt(asked),
      temperature,
      // Newer Claude models refuse both.
      topP: maker === 'anthropic' && temperature !== undefined ? undefined : top_p,
    }),
    additionalModelRequestFields: modelFields(asked, context, maker),
    additionalModelResponseFieldPaths: member(asked, 'additionalModelResponseFieldPaths', 'additional_model_response_field_paths')?.value,
    guardrailConfig: objectAt(asked, 'guardrailConfig', 'guardrail_config'),
    performanceConfig: objectAt(asked, 'performanceConfig', 'performance_config'),
    requestMetadata: objectAt(asked, 'requestMetadata', 'request_metadata'),
    promptVariables: objectAt(asked, 'promptVariables', 'prompt_variables'),
    serviceTier: objectAt(asked, 'serviceTier') ?? serviceTier(asked),
    outputConfig: objectAt(asked, 'outputConfig') ?? outputConfig(asked),
  })
}

/** What one vendor's models take and Converse does not name. What the caller wrote for them wins over what is made of other members. */
function modelFields(asked: Json, context: Context, maker: string | null): Json | undefined {
  const given = objectAt(asked, 'additionalModelRequestFields', 'additional_model_request_fields')
  return saidOr({
    ...topK(asked, maker),
    ...(maker === 'anthropic' ? anthropicFields(asked, context) : {}),
    ...thinking(asked, context.model, maker),
    ...given,
  })
}

function topK(asked: Json, maker: string | null): Json {
  const top_k = numberAt(asked, ['top_k'])
  if (top_k === undefined) return {}
  if (maker === 'amazon') return {inferenceConfig: {topK: top_k}}
  return maker === 'cohere' ? {k: top_k} : {top_k}
}

/** Source: Anthropic's Messages API as Bedrock takes it; the header's betas go before the body's. */
function anthropicFields(asked: Json, context: Context): Json {
  const betas = context.options.anthropic_beta ?? member(asked, 'anthropic_beta')?.value
  const list: readonly unknown[] = typeof betas === 'string' ? betas.split(',').map(word => word.trim()) : Array.isArray(betas) ? betas : []
  const words = list.filter(word => typeof word === 'string' && word !== '')
  const version = context.options.anthropic_version
  const user_id = isObject(asked.metadata) && typeof asked.metadata.user_id === 'string' ? asked.metadata.user_id : ''
  return said({
    anthropic_beta: words.length > 0 ? words : undefined,
    // Clients of Anthropic's own API always send its version, which Bedrock does not know.
    anthropic_version: version?.startsWith('bedrock-') ? version : textAt(asked, 'anthropic_version'),
    metadata: user_id ? {user_id} : undefined,
  })
}

function thinking(asked: Json, model: string, maker: string | null): Json {
  const told = objectAt(asked, 'thinking')
  const wished = textAt(asked, 'reasoning_effort')
  if (told && (maker === null || (maker === 'anthropic' && isTaken(told, model)))) {
    return {thinking: told, ...(told.type === 'adaptive' && wished !== undefined ? {output_config: {effort: wished}} : {})}
  }
  // To makers that know an effort, and to Claude where it cannot choose an amount itself, Anthropic's thinking is one.
  const effort = wished ?? (told && KNOW_EFFORT.has(maker) ? (told.type === 'adaptive' ? 'medium' : effortOf(told)) : undefined)
  if (effort === undefined || effort === 'none' || told?.type === 'disabled') return {}
  if (maker === 'anthropic') return thinkingBudget(effort, numberAt(asked, ['max_completion_tokens', 'max_tokens']))
  if (maker !== 'amazon') return {reasoning_effort: effort}
  // Of Amazon's own models the second Nova thinks; the others refuse to be told of it.
  if (!foundationModel(model)?.startsWith('amazon.nova-2')) return {}
  return {reasoningConfig: {type: 'enabled', maxReasoningEffort: effort === 'minimal' ? 'low' : effort === 'xhigh' ? 'high' : effort}}
}

/** Claude thinks as much as it sees fit from 4.6 on (Amazon Bedrock user guide, adaptive thinking). */
function isTaken({type}: Json, model: string): boolean {
  return type !== 'adaptive' || (claudeVersion(model) ?? FIRST_ADAPTIVE) >= FIRST_ADAPTIVE
}

/** Thinking is a part of the answer's tokens and must leave some of them. */
function thinkingBudget(effort: string, most_tokens: number | undefined): Json {
  if (!Object.hasOwn(THINKING_TOKENS, effort)) return {}
  const budget_tokens = Math.min(THINKING_TOKENS[effort]!, (most_tokens ?? Infinity) - 1)
  return budget_tokens < LEAST_THINKING_TOKENS ? {} : {thinking: {type: 'enabled', budget_tokens}}
}

function serviceTier(asked: Json): Json | undefined {
  const tier = textAt(asked, 'service_tier') ?? ''
  return Object.hasOwn(SERVICE_TIERS, tier) ? {type: SERVICE_TIERS[tier]} : undefined
}

/** `response_format`. Source: Bedrock API reference, OutputConfig; the schema stands there as text. */
function outputConfig(asked: Json): Json | undefined {
  const format = objectAt(asked, 'response_format')
  if (format === undefined || format.type === 'text') return undefined
  const described = format.json_schema
  if (format.type !== 'json_schema' || !isObject(described) || !isObject(described.schema)) {
    throw new UnsupportedInput(
      'response_format',
      'Amazon Bedrock promises JSON by a schema alone: expected type "json_schema" with json_schema.schema',
    )
  }
  const {name, description, schema} = described
  const jsonSchema = said({
    schema: JSON.stringify(schema),
    name: typeof name === 'string' ? name : undefined,
    description: typeof description === 'string' && description !== '' ? description : undefined,
  })
  return {textFormat: {type: 'json_schema', structure: {jsonSchema}}}
}
