import {object} from '../../base/json-object.ts'
import type {Context, Json, Translated} from '../translation.ts'
import {UnsupportedInput} from '../translation.ts'
import {
  imageIn,
  isThought,
  type Message,
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
export function chatRequest(asked: Json, context: Context): Translated {
  oneChoice(asked)
  const tools = chosenTools(asked)
  const choice = choiceIn(asked)
  const must = choice === 'required' || typeof choice === 'object'
  const body = {
    model: context.model,
    messages: messagesIn(asked).map(message),
    ...pick(asked, SAME),
    max_tokens: mostTokens(asked),
    stop_sequences: stopsIn(asked) ?? stopsIn(asked, 'stop_sequences'),
    response_format: format(asked),
    thinking: thinking(asked),
    logprobs: asked.logprobs === true ? true : undefined,
    ...(tools.length > 0
      ? {
          tools: tools.map(({name, description, parameters}) => ({type: 'function', function: {name, description, parameters}})),
          strict_tools: asked.strict_tools ?? (tools.some(({strict}) => strict) || undefined),
          tool_choice: must ? 'REQUIRED' : choice === 'none' ? 'NONE' : undefined,
        }
      : {}),
    stream: context.is_stream,
  }
  return {path: '/v2/chat', body}
}

function message(asked: Message): Json {
  const {role, said, field} = asked
  const content = `${field}.content`
  if (role === 'system') return {role, content: textIn(said.content, content)}
  if (role === 'tool') return {role, tool_call_id: answeredIn(asked), content: answered(said.content, content)}
  if (role === 'user') return {role, content: heard(said.content, content)}
  const calls = callsIn(asked)
  const text = textIn(said.content, content)
  const thoughts = thoughtsIn(asked).map(thinking => ({type: 'thinking', thinking}))
  const tool_calls = calls.map(callOut)
  // What a model says before it calls tools is its plan, in Cohere's words.
  const plan = typeof said.tool_plan === 'string' ? said.tool_plan : text
  if (calls.length > 0) return {role, tool_plan: plan || undefined, content: thoughts.length > 0 ? thoughts : undefined, tool_calls}
  return {
    role,
    content: thoughts.length > 0 ? [...thoughts, {type: 'text', text}] : text,
    citations: Array.isArray(said.citations) ? said.citations : undefined,
  }
}

function heard(content: unknown, field: string): unknown {
  const parts = partsIn(content, field)
  if (parts.every(({type}) => type === 'text')) return textIn(content, field)
  return parts
    .filter(part => !isThought(part))
    .map(part => {
      if (part.type === 'text') return {type: 'text', text: part.said.text}
      if (part.type === 'image_url') return {type: 'image_url', image_url: imageIn(part)}
      throw unsupportedPart(part)
    })
}

/** A tool's result: text, or the documents that citations will point at. */
function answered(content: unknown, field: string): unknown {
  const parts = partsIn(content, field)
  if (!parts.some(({type}) => type === 'document')) return textIn(content, field)
  return parts.map(part => {
    if (part.type === 'text') return {type: 'text', text: part.said.text}
    if (part.type === 'document') return {type: 'document', document: part.said.document}
    throw unsupportedPart(part)
  })
}

function format(asked: Json): Json | undefined {
  const {response_format: said} = asked
  if (said === undefined || said === null) return undefined
  const {type, json_schema, schema} = object(said)
  if (type === 'text') return undefined
  if (type === 'json_schema') return {type: 'json_object', json_schema: object(json_schema).schema ?? json_schema}
  if (type === 'json_object') return {type, json_schema: json_schema ?? schema}
  throw new UnsupportedInput('response_format.type', 'expected text, json_object or json_schema')
}

/** Tokens to think with, by effort (reference: thinking format). */
const BUDGET: Readonly<Record<string, number>> = {minimal: 1024, low: 1024, medium: 8192, high: 16384, xhigh: 32768}

function thinking(asked: Json): Json | undefined {
  const {thinking: said, reasoning_effort: effort} = asked
  if (typeof said === 'object' && said !== null) {
    const {type, token_budget, budget_tokens} = object(said)
    return {
      type: type === 'disabled' ? 'disabled' : 'enabled',
      token_budget: token_budget ?? budget_tokens ?? (typeof effort === 'string' ? BUDGET[effort] : undefined),
    }
  }
  if (typeof effort !== 'string') return undefined
  if (effort === 'none') return {type: 'disabled'}
  return Object.hasOwn(BUDGET, effort) ? {type: 'enabled', token_budget: BUDGET[effort]} : undefined
}
