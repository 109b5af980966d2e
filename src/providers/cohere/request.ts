import {object} from '../../base/json-object.ts'
import type {Json, Translated, TranslationContext} from '../translation.ts'
import {UnsupportedInputFault} from '../translation.ts'
import {
  type ChatMessage,
  imageIn,
  isThought,
  messagesIn,
  mostTokens,
  oneChoice,
  partsIn,
  pick,
  stopsIn,
  textIn,
  thoughtsIn,
  unsupportedPart,
} from '../unified/read.ts'
import {answeredIn, callOut, callsIn, choiceIn, chosenTools} from '../unified/tools.ts'

/** Members that Cohere has under these names; those after `>` are its own words for OpenAI's. */
const SAME =
  'temperature seed frequency_penalty presence_penalty top_p>p top_k>k p k documents citation_options safety_mode raw_prompting priority'

/** An OpenAI chat request in Cohere's words. Source: docs.cohere.com, API v2, chat. */
export function chatRequest(request: Json, context: TranslationContext): Translated {
  oneChoice(request)
  const tools = chosenTools(request)
  const choice = choiceIn(request)
  const must = choice === 'required' || typeof choice === 'object'
  const body = {
    model: context.model,
    messages: messagesIn(request).map(message),
    ...pick(request, SAME),
    max_tokens: mostTokens(request),
    stop_sequences: stopsIn(request) ?? stopsIn(request, 'stop_sequences'),
    response_format: format(request),
    thinking: thinking(request),
    logprobs: request.logprobs === true ? true : undefined,
    ...(tools.length > 0
      ? {
          tools: tools.map(({name, description, parameters}) => ({
            type: 'function',
            function: {name, description, parameters},
          })),
          strict_tools: request.strict_tools ?? (tools.some(({strict}) => strict) || undefined),
          tool_choice: must ? 'REQUIRED' : choice === 'none' ? 'NONE' : undefined,
        }
      : {}),
    stream: context.is_stream,
  }
  return {path: '/v2/chat', body}
}

function message(source: ChatMessage): Json {
  const {role, raw, field} = source
  const content = `${field}.content`
  if (role === 'system') return {role, content: textIn(raw.content, content)}
  if (role === 'tool') return {role, tool_call_id: answeredIn(source), content: answered(raw.content, content)}
  if (role === 'user') return {role, content: heard(raw.content, content)}
  const calls = callsIn(source)
  const text = textIn(raw.content, content)
  const thoughts = thoughtsIn(source).map(thinking => ({type: 'thinking', thinking}))
  const tool_calls = calls.map(callOut)
  // Cohere calls the text before the tool calls the plan.
  const plan = typeof raw.tool_plan === 'string' ? raw.tool_plan : text
  if (calls.length > 0)
    return {role, tool_plan: plan || undefined, content: thoughts.length > 0 ? thoughts : undefined, tool_calls}
  return {
    role,
    content: thoughts.length > 0 ? [...thoughts, {type: 'text', text}] : text,
    citations: Array.isArray(raw.citations) ? raw.citations : undefined,
  }
}

function heard(content: unknown, field: string): unknown {
  const parts = partsIn(content, field)
  if (parts.every(({type}) => type === 'text')) return textIn(content, field)
  return parts
    .filter(part => !isThought(part))
    .map(part => {
      if (part.type === 'text') return {type: 'text', text: part.raw.text}
      if (part.type === 'image_url') return {type: 'image_url', image_url: imageIn(part)}
      throw unsupportedPart(part)
    })
}

/** A tool's result: text, or the documents that citations will point at. */
function answered(content: unknown, field: string): unknown {
  const parts = partsIn(content, field)
  if (!parts.some(({type}) => type === 'document')) return textIn(content, field)
  return parts.map(part => {
    if (part.type === 'text') return {type: 'text', text: part.raw.text}
    if (part.type === 'document') return {type: 'document', document: part.raw.document}
    throw unsupportedPart(part)
  })
}

function format(request: Json): Json | undefined {
  const {response_format: given_format} = request
  if (given_format === undefined || given_format === null) return undefined
  const {type, json_schema, schema} = object(given_format)
  if (type === 'text') return undefined
  if (type === 'json_schema') return {type: 'json_object', json_schema: object(json_schema).schema ?? json_schema}
  if (type === 'json_object') return {type, json_schema: json_schema ?? schema}
  throw new UnsupportedInputFault('response_format.type', 'expected text, json_object or json_schema')
}

/** Tokens to think with, by effort. */
const BUDGET: Readonly<Record<string, number>> = {minimal: 1024, low: 1024, medium: 8192, high: 16384, xhigh: 32768}

function thinking(request: Json): Json | undefined {
  const {thinking: given_thinking, reasoning_effort: effort} = request
  if (typeof given_thinking === 'object' && given_thinking !== null) {
    const {type, token_budget, budget_tokens} = object(given_thinking)
    return {
      type: type === 'disabled' ? 'disabled' : 'enabled',
      token_budget: token_budget ?? budget_tokens ?? (typeof effort === 'string' ? BUDGET[effort] : undefined),
    }
  }
  if (typeof effort !== 'string') return undefined
  if (effort === 'none') return {type: 'disabled'}
  return Object.hasOwn(BUDGET, effort) ? {type: 'enabled', token_budget: BUDGET[effort]} : undefined
}
