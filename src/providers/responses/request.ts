import {arrayAt, given, objectAt, stringAt} from '../messages/fields.ts'
import {noWord} from '../messages/parts.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {chatMessages} from './input.ts'

/** Members that only a service that keeps answers, or runs tools itself, can do. */
const REFUSED: Readonly<Record<string, string>> = {
  previous_response_id: 'answers are not kept, so that the whole conversation has to be in input',
  conversation: 'conversations are not kept, so that the whole conversation has to be in input',
  prompt: 'stored prompts of the Responses API are not known here',
  background: 'an answer is given at once or streamed',
  top_logprobs: 'log probabilities are not translated',
}
const CHOICES: ReadonlySet<unknown> = new Set(['auto', 'none', 'required'])

/**
 * A Responses request in chat's words (data-plane digest 7.7). Left out without a word: `store` and `metadata`, which
 * are about keeping the answer (the metadata is shown in it), and hints that only guide OpenAI's own service
 * (`include`, `truncation`, `service_tier`, `prompt_cache_key`, `text.verbosity` ...).
 */
export function responsesToChat(request: Json, context: TranslationContext): Json {
  for (const [name, reason] of Object.entries(REFUSED)) {
    const value = request[name]
    if (value !== undefined && value !== null && value !== false && value !== 0)
      throw new UnsupportedInputFault(name, reason)
  }
  const text = optional(request.text, 'text')
  const reasoning = optional(request.reasoning, 'reasoning')
  return given({
    model: context.model || request.model,
    messages: chatMessages(request, context),
    max_tokens: request.max_output_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    ...toolMembers(request, context),
    user: request.user,
    response_format: formatOf(text.format),
    reasoning_effort: reasoning.effort,
    ...(context.is_stream || request.stream === true ? {stream: true, stream_options: {include_usage: true}} : {}),
  })
}

function optional(value: unknown, field: string): Json {
  return value === undefined || value === null ? {} : objectAt(value, field)
}

function formatOf(value: unknown): Json | null {
  const {type, name, description, schema, strict} = optional(value, 'text.format')
  if (type === undefined || type === 'text') return null
  if (type === 'json_object') return {type}
  if (type !== 'json_schema')
    throw new UnsupportedInputFault('text.format.type', 'expected text, json_object or json_schema')
  const json_schema = {
    name: stringAt(name, 'text.format.name'),
    description,
    schema: objectAt(schema, 'text.format.schema'),
    strict,
  }
  return {type, json_schema: given(json_schema)}
}

/** `tools`, `tool_choice` and `parallel_tool_calls`; without tools chat takes none of them. */
function toolMembers(request: Json, context: TranslationContext): Json {
  const listed = request.tools === undefined || request.tools === null ? [] : arrayAt(request.tools, 'tools')
  const all = listed.map((tool, at) => toolOf(objectAt(tool, `tools[${at}]`), `tools[${at}]`, context))
  const {tools, tool_choice} = chosen(all, request.tool_choice, context)
  if (tools.length === 0) return {}
  return {tools, tool_choice, parallel_tool_calls: request.parallel_tool_calls}
}

function toolOf(tool: Json, field: string, context: TranslationContext): Json {
  const {type, name, description, parameters, strict} = tool
  if (type !== 'function') throw noWord(type, `${field}.type`, context)
  const definition = {name: stringAt(name, `${field}.name`), description, parameters, strict}
  return {type: 'function', function: given(definition)}
}

/**
 * The tools that may be called and how: `allowed_tools` are those alone, for chat's own word for it is OpenAI's only.
 */
function chosen(
  tools: readonly Json[],
  choice: unknown,
  context: TranslationContext,
): {readonly tools: readonly Json[]; readonly tool_choice: unknown} {
  if (choice === undefined || choice === null) return {tools, tool_choice: null}
  if (CHOICES.has(choice)) return {tools, tool_choice: choice}
  if (typeof choice === 'string')
    throw new UnsupportedInputFault('tool_choice', 'expected auto, none, required or an object')
  const {type, name, mode, tools: allowed} = objectAt(choice, 'tool_choice')
  if (type === 'function') return {tools, tool_choice: {type, function: {name: stringAt(name, 'tool_choice.name')}}}
  if (type !== 'allowed_tools') throw noWord(type, 'tool_choice.type', context)
  if (mode !== 'auto' && mode !== 'required')
    throw new UnsupportedInputFault('tool_choice.mode', 'expected auto or required')
  const names = new Set(
    arrayAt(allowed, 'tool_choice.tools').map((tool, at) => allowedName(tool, `tool_choice.tools[${at}]`, context)),
  )
  const left = tools.filter(tool => names.has((tool.function as Json).name as string))
  return {tools: left, tool_choice: mode}
}

function allowedName(tool: unknown, field: string, context: TranslationContext): string {
  const {type, name} = objectAt(tool, field)
  if (type !== 'function') throw noWord(type, `${field}.type`, context)
  return stringAt(name, `${field}.name`)
}
