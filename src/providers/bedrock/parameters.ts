import {isObject} from '../../base/json-object.ts'
import {outputSchema} from '../anthropic/output-schema.ts'
import {claudeVersion, FIRST_ADAPTIVE} from '../anthropic/thinking.ts'
import {effortOf} from '../messages/thinking.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {defined, definedOrNone, member, numberAt, objectAt, refuse, stopAt, textAt} from './ask.ts'
import {foundationModel, vendor} from './model.ts'

/** Tokens of thinking for OpenAI's words of effort, for models that count it. */
const THINKING_TOKENS: Readonly<Record<string, number>> = {low: 1024, medium: 8192, high: 16384, xhigh: 32768}
const MIN_THINKING_TOKENS = 1024
const KNOW_EFFORT: ReadonlySet<string | null> = new Set(['anthropic', 'amazon', 'openai'])
const SERVICE_TIERS: Readonly<Record<string, string>> = {flex: 'flex', priority: 'priority', reserved: 'reserved'}

/**
 * Members of a Converse request besides its messages and tools. Source: Bedrock API reference, Converse, request
 * syntax.
 */
export function parameters(request: Json, context: TranslationContext): Json {
  refuse(request, 'n', value => value === 1, 'Amazon Bedrock gives one choice')
  refuse(request, 'logprobs', value => value === false, 'Amazon Bedrock tells no log probabilities')
  refuse(
    request,
    'functions',
    value => Array.isArray(value) && value.length === 0,
    'expected tools instead of functions',
  )
  refuse(request, 'audio', () => false, 'Amazon Bedrock speaks no answers')
  const maker = vendor(context.model)
  const temperature = numberAt(request, ['temperature'], 1)
  const top_p = numberAt(request, ['top_p'], 1)
  return defined({
    inferenceConfig: definedOrNone({
      maxTokens: numberAt(request, ['max_completion_tokens', 'max_tokens']),
      stopSequences: stopAt(request),
      temperature,
      // Newer Claude models refuse both.
      topP: maker === 'anthropic' && temperature !== undefined ? undefined : top_p,
    }),
    additionalModelRequestFields: modelFields(request, context, maker),
    additionalModelResponseFieldPaths: member(
      request,
      'additionalModelResponseFieldPaths',
      'additional_model_response_field_paths',
    )?.value,
    guardrailConfig: objectAt(request, 'guardrailConfig', 'guardrail_config'),
    performanceConfig: objectAt(request, 'performanceConfig', 'performance_config'),
    requestMetadata: objectAt(request, 'requestMetadata', 'request_metadata'),
    promptVariables: objectAt(request, 'promptVariables', 'prompt_variables'),
    serviceTier: objectAt(request, 'serviceTier') ?? serviceTier(request),
    outputConfig: objectAt(request, 'outputConfig') ?? outputConfig(request, context, maker),
  })
}

/**
 * Members that one vendor's models take and Converse does not name. Members that the caller wrote win over those
 * derived from other members.
 */
function modelFields(request: Json, context: TranslationContext, maker: string | null): Json | undefined {
  const given = objectAt(request, 'additionalModelRequestFields', 'additional_model_request_fields')
  return definedOrNone({
    ...topK(request, maker),
    ...(maker === 'anthropic' ? anthropicFields(request, context) : {}),
    ...thinking(request, context.model, maker),
    ...given,
  })
}

function topK(request: Json, maker: string | null): Json {
  const top_k = numberAt(request, ['top_k'])
  if (top_k === undefined) return {}
  if (maker === 'amazon') return {inferenceConfig: {topK: top_k}}
  return maker === 'cohere' ? {k: top_k} : {top_k}
}

/** Source: Anthropic's Messages API as Bedrock takes it; the header's betas go before the body's. */
function anthropicFields(request: Json, context: TranslationContext): Json {
  const betas = context.options.anthropic_beta ?? member(request, 'anthropic_beta')?.value
  const list: readonly unknown[] =
    typeof betas === 'string' ? betas.split(',').map(word => word.trim()) : Array.isArray(betas) ? betas : []
  const words = list.filter(word => typeof word === 'string' && word !== '')
  const version = context.options.anthropic_version
  const user_id =
    isObject(request.metadata) && typeof request.metadata.user_id === 'string' ? request.metadata.user_id : ''
  return defined({
    anthropic_beta: words.length > 0 ? words : undefined,
    // Clients of Anthropic's own API always send its version, which Bedrock does not know.
    anthropic_version: version?.startsWith('bedrock-') ? version : textAt(request, 'anthropic_version'),
    metadata: user_id ? {user_id} : undefined,
  })
}

function thinking(request: Json, model: string, maker: string | null): Json {
  const given_thinking = objectAt(request, 'thinking')
  const wished = textAt(request, 'reasoning_effort')
  if (given_thinking && (maker === null || (maker === 'anthropic' && isTaken(given_thinking, model)))) {
    return {
      thinking: given_thinking,
      ...(given_thinking.type === 'adaptive' && wished !== undefined ? {output_config: {effort: wished}} : {}),
    }
  }
  // To makers that know an effort, and to Claude where it cannot choose an amount itself, Anthropic's thinking is one.
  const effort =
    wished ??
    (given_thinking && KNOW_EFFORT.has(maker)
      ? given_thinking.type === 'adaptive'
        ? 'medium'
        : effortOf(given_thinking)
      : undefined)
  if (effort === undefined || effort === 'none' || given_thinking?.type === 'disabled') return {}
  if (maker === 'anthropic') return thinkingBudget(effort, numberAt(request, ['max_completion_tokens', 'max_tokens']))
  if (maker !== 'amazon') return {reasoning_effort: effort}
  // Of Amazon's own models the second Nova thinks; the others refuse the field.
  if (!foundationModel(model)?.startsWith('amazon.nova-2')) return {}
  return {
    reasoningConfig: {
      type: 'enabled',
      maxReasoningEffort: effort === 'minimal' ? 'low' : effort === 'xhigh' ? 'high' : effort,
    },
  }
}

/** Claude thinks as much as it sees fit from 4.6 on (Amazon Bedrock user guide, adaptive thinking). */
function isTaken({type}: Json, model: string): boolean {
  return type !== 'adaptive' || (claudeVersion(model) ?? FIRST_ADAPTIVE) >= FIRST_ADAPTIVE
}

/** Thinking is a part of the answer's tokens and must leave some of them. */
function thinkingBudget(effort: string, most_tokens: number | undefined): Json {
  if (!Object.hasOwn(THINKING_TOKENS, effort)) return {}
  const budget_tokens = Math.min(THINKING_TOKENS[effort]!, (most_tokens ?? Infinity) - 1)
  return budget_tokens < MIN_THINKING_TOKENS ? {} : {thinking: {type: 'enabled', budget_tokens}}
}

function serviceTier(request: Json): Json | undefined {
  const tier = textAt(request, 'service_tier') ?? ''
  return Object.hasOwn(SERVICE_TIERS, tier) ? {type: SERVICE_TIERS[tier]} : undefined
}

/** `response_format`. Source: Bedrock API reference, OutputConfig; it holds the schema as text. */
function outputConfig(request: Json, context: TranslationContext, maker: string | null): Json | undefined {
  const format = objectAt(request, 'response_format')
  if (format === undefined || format.type === 'text') return undefined
  const described = format.json_schema
  if (format.type !== 'json_schema' || !isObject(described) || !isObject(described.schema)) {
    throw new UnsupportedInputFault(
      'response_format',
      'Amazon Bedrock promises JSON by a schema alone: expected type "json_schema" with json_schema.schema',
    )
  }
  const {name, description, schema} = described
  const field = 'response_format.json_schema.schema'
  const jsonSchema = defined({
    schema: JSON.stringify(maker === 'anthropic' ? outputSchema(schema, field, context.report) : schema),
    name: typeof name === 'string' ? name : undefined,
    description: typeof description === 'string' && description !== '' ? description : undefined,
  })
  return {textFormat: {type: 'json_schema', structure: {jsonSchema}}}
}
