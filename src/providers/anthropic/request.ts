import {isObject, object} from '../../base/json-object.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import type {AnthropicHost} from './endpoint.ts'
import {trimPrefill, withFewMarks} from './limits.ts'
import {conversation} from './messages.ts'
import {outputSchema} from './output-schema.ts'
import {defaultMaxTokens, thinkingOf} from './thinking.ts'
import {toolsOf} from './tools.ts'

/** Anthropic's own members that pass unchanged when a chat request has them. */
const OWN = [
  'top_k',
  'cache_control',
  'container',
  'context_management',
  'mcp_servers',
  'inference_geo',
  'speed',
] as const
/** OpenAI's tiers in Anthropic's words; of its others (flex, scale) Anthropic has none, and its own default holds. */
const TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  priority: 'auto',
  default: 'standard_only',
  standard_only: 'standard_only',
}
const JSON_ONLY = 'Answer with one valid JSON object and nothing else: no prose around it and no code fence.'

/**
 * An OpenAI chat request as a Messages request. Members that it has no word for are dropped
 * (penalties, seed, logit_bias, logprobs, store ...); what would make another answer of it is refused: several choices,
 * audio, functions in their old form.
 */
export function messagesRequest(request: Json, context: TranslationContext, place: AnthropicHost): Json {
  refuse(request)
  const {system, turns} = conversation(request, context.strict)
  const {report} = context
  const format = formatOf(request.response_format, report)
  if (format === 'json_object') system.push({type: 'text', text: JSON_ONLY})
  const {tools, tool_choice, is_forced} = toolsOf(request, context)
  const most_tokens = maxTokens(request)
  const thinking = thinkingOf(request, context.model, {turns, is_forced, max_tokens: most_tokens})
  const is_thinking = thinking.thinking !== null && thinking.thinking.type !== 'disabled'
  if (isObject(request.thinking) && thinking.thinking !== request.thinking)
    report?.(`${thinking.thinking ? 'converted' : 'dropped'} thinking: its budget does not fit max_tokens`)
  const is_unforced = is_thinking && is_forced
  if (is_unforced) report?.('converted tool_choice: auto, as the model thinks')
  trimPrefill(turns, report)
  const [fewTools, fewSystem, ...fewTurns] = withFewMarks([tools, system, ...turns.map(({content}) => content)], report)
  const output_config = {
    ...object(request.output_config),
    ...(thinking.effort ? {effort: thinking.effort} : {}),
    ...(isObject(format) ? {format} : {}),
  }
  return {
    model: context.model,
    max_tokens: most_tokens ?? defaultMaxTokens(context.model, thinking.budget_tokens),
    ...(system.length > 0 ? {system: fewSystem} : {}),
    messages: turns.map(({role}, at) => ({role, content: fewTurns[at]!})),
    ...(tools.length > 0 ? {tools: fewTools} : {}),
    ...(tool_choice ? {tool_choice: is_unforced ? unforced(tool_choice) : tool_choice} : {}),
    ...(thinking.thinking ? {thinking: thinking.thinking} : {}),
    ...(Object.keys(output_config).length > 0 ? {output_config} : {}),
    // Anthropic refuses a temperature beside thinking, which wins, as with OpenAI's own models.
    ...(is_thinking ? beside(request, thinking.is_ours, report) : sampling(request)),
    ...stops(request),
    ...userOf(request),
    ...(place === 'api' ? tierOf(request) : {}),
    ...own(request, is_thinking),
    ...(context.is_stream ? {stream: true} : {}),
  }
}

function refuse(request: Json) {
  const {n, modalities} = request
  if (n !== undefined && n !== null && n !== 1)
    throw new UnsupportedInputFault('n', 'this provider gives one choice for each request')
  if (Array.isArray(modalities) && modalities.some(one => one !== 'text')) {
    throw new UnsupportedInputFault('modalities', 'this provider answers in text only')
  }
  for (const field of ['functions', 'function_call']) {
    if (request[field] !== undefined && request[field] !== null)
      throw new UnsupportedInputFault(field, 'say it with tools and tool_choice')
  }
}

function maxTokens(request: Json): number | null {
  for (const field of ['max_completion_tokens', 'max_tokens']) {
    const value = request[field]
    if (value === undefined || value === null) continue
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      throw new UnsupportedInputFault(field, 'expected a whole number of tokens')
    }
    return value
  }
  return null
}

/** Anthropic's temperature ends at 1, and its newer models refuse a temperature and a `top_p` together. */
function sampling(request: Json): Json {
  const temperature = fraction(request, 'temperature')
  if (temperature !== null) return {temperature}
  const top_p = fraction(request, 'top_p')
  return top_p === null ? {} : {top_p}
}

function fraction(request: Json, field: string): number | null {
  const value = request[field]
  if (value === undefined || value === null) return null
  if (typeof value !== 'number' || Number.isNaN(value)) throw new UnsupportedInputFault(field, 'expected a number')
  return Math.min(1, Math.max(0, value))
}

/**
 * The sampling that Anthropic takes beside thinking: its usual temperature, or a `top_p` from 0.95 on. Beside thinking
 * that was switched on here there is none.
 */
function beside(request: Json, is_ours: boolean, report: TranslationContext['report']): Json {
  const wished = sampling(request)
  const is_taken = wished.temperature === 1 || (wished.temperature === undefined && Number(wished.top_p) >= 0.95)
  const kept = is_taken && !is_ours ? wished : {}
  for (const name of ['temperature', 'top_p', 'top_k'])
    if (request[name] !== undefined && request[name] !== null && !(name in kept))
      report?.(`dropped ${name}: the model thinks`)
  return kept
}

/** While the model thinks it can be left to choose alone. */
function unforced({disable_parallel_tool_use}: Json): Json {
  return {type: 'auto', ...(disable_parallel_tool_use === undefined ? {} : {disable_parallel_tool_use})}
}

function stops({stop}: Json): Json {
  if (stop === undefined || stop === null) return {}
  const stop_sequences = typeof stop === 'string' ? [stop] : stop
  if (!Array.isArray(stop_sequences) || !stop_sequences.every(each => typeof each === 'string')) {
    throw new UnsupportedInputFault('stop', 'expected a string or an array of strings')
  }
  return stop_sequences.length > 0 ? {stop_sequences} : {}
}

/** OpenAI's `metadata` is the caller's own notebook; of it Anthropic knows the user alone. */
function userOf(request: Json): Json {
  const users = [request.user, request.safety_identifier, object(request.metadata).user_id]
  const user_id = users.find(user => typeof user === 'string' && user !== '')
  return user_id === undefined ? {} : {metadata: {user_id}}
}

function tierOf({service_tier}: Json): Json {
  return typeof service_tier === 'string' && Object.hasOwn(TIERS, service_tier)
    ? {service_tier: TIERS[service_tier]}
    : {}
}

function own(request: Json, is_thinking: boolean): Json {
  const names = OWN.filter(
    name => request[name] !== undefined && request[name] !== null && !(is_thinking && name === 'top_k'),
  )
  return Object.fromEntries(names.map(name => [name, request[name]]))
}

/** The `output_config.format` of a JSON schema; `json_object` has no counterpart and is requested in the prompt. */
function formatOf(response_format: unknown, report: TranslationContext['report']): Json | 'json_object' | null {
  if (response_format === undefined || response_format === null) return null
  const {type, json_schema} = object(response_format)
  if (type === 'text') return null
  if (type === 'json_object') return 'json_object'
  if (type !== 'json_schema')
    throw new UnsupportedInputFault('response_format.type', 'expected text, json_object or json_schema')
  const {schema} = object(json_schema)
  if (!isObject(schema)) throw new UnsupportedInputFault('response_format.json_schema.schema', 'expected a JSON schema')
  return {type: 'json_schema', schema: outputSchema(schema, 'response_format.json_schema.schema', report)}
}
