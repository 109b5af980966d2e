import {createHash} from 'node:crypto'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {arrayAt, given, objectAt, stringAt} from './fields.ts'
import {chatMessages} from './history.ts'
import {noWord} from './parts.ts'

const CHOICES: Readonly<Record<string, string>> = {auto: 'auto', any: 'required', none: 'none'}
const EFFORTS: ReadonlySet<unknown> = new Set(['low', 'medium', 'high', 'xhigh', 'max'])
/** OpenAI's limit on `user`. */
const LONGEST_USER = 64

/**
 * A Messages request as a chat request (docs/architecture.md, Providers and dialects). `thinking` stays as it is, for
 * dialects that read it; others get an effort (`withEffort`). Left out without an error, as they only guide Anthropic's
 * own service: `top_k`, `container`, `mcp_servers`, `service_tier`, `anthropic_beta` and all members that are not known
 * here.
 */
export function messagesToChat(request: Json, context: TranslationContext): Json {
  const output =
    request.output_config === undefined || request.output_config === null
      ? {}
      : objectAt(request.output_config, 'output_config')
  const tools = toolsOf(request.tools, context)
  return given({
    model: context.model || request.model,
    messages: chatMessages(request, context),
    max_completion_tokens: request.max_tokens,
    stop: stopOf(request.stop_sequences),
    temperature: request.temperature,
    top_p: request.top_p,
    ...(tools.length > 0 ? {tools, ...choiceOf(request.tool_choice)} : {}),
    user: userOf(request.metadata),
    // `output_format` is the name that the member had in beta.
    response_format: formatOf(
      output.format ?? request.output_format,
      output.format ? 'output_config.format' : 'output_format',
    ),
    reasoning_effort: effortOf(output.effort),
    thinking:
      request.thinking === undefined || request.thinking === null ? null : objectAt(request.thinking, 'thinking'),
    ...(context.is_stream || request.stream === true ? {stream: true, stream_options: {include_usage: true}} : {}),
  })
}

function stopOf(sequences: unknown): readonly unknown[] | null {
  if (sequences === undefined || sequences === null) return null
  const found = arrayAt(sequences, 'stop_sequences')
  return found.length > 0 ? found : null
}

function toolsOf(tools: unknown, context: TranslationContext): readonly Json[] {
  if (tools === undefined || tools === null) return []
  return arrayAt(tools, 'tools').map((tool, at) => toolOf(objectAt(tool, `tools[${at}]`), `tools[${at}]`, context))
}

function toolOf(tool: Json, field: string, context: TranslationContext): Json {
  const {type, name, description, input_schema, strict, cache_control} = tool
  if (type !== undefined && type !== null && type !== 'custom') throw noWord(type, `${field}.type`, context)
  const parameters = objectAt(input_schema, `${field}.input_schema`)
  const definition = given({name: stringAt(name, `${field}.name`), description, parameters, strict})
  return given({type: 'function', function: definition, cache_control})
}

function choiceOf(choice: unknown): Json {
  if (choice === undefined || choice === null) return {}
  const {type, name, disable_parallel_tool_use} = objectAt(choice, 'tool_choice')
  const parallel = disable_parallel_tool_use === true ? {parallel_tool_calls: false} : {}
  if (type === 'tool')
    return {tool_choice: {type: 'function', function: {name: stringAt(name, 'tool_choice.name')}}, ...parallel}
  if (typeof type === 'string' && Object.hasOwn(CHOICES, type)) return {tool_choice: CHOICES[type], ...parallel}
  throw new UnsupportedInputFault('tool_choice.type', 'expected auto, any, none or tool')
}

/**
 * The end user. A longer name than OpenAI takes goes as its SHA-256: still one name for one user, and still no secret.
 */
function userOf(metadata: unknown): string | null {
  if (metadata === undefined || metadata === null) return null
  const {user_id} = objectAt(metadata, 'metadata')
  if (user_id === undefined || user_id === null) return null
  const user = stringAt(user_id, 'metadata.user_id')
  return user.length > LONGEST_USER ? createHash('sha256').update(user).digest('hex') : user
}

function formatOf(format: unknown, field: string): Json | null {
  if (format === undefined || format === null) return null
  const {type, schema} = objectAt(format, field)
  if (type !== 'json_schema') throw new UnsupportedInputFault(`${field}.type`, 'expected json_schema')
  return {type: 'json_schema', json_schema: {name: 'output', schema: objectAt(schema, `${field}.schema`), strict: true}}
}

function effortOf(effort: unknown): unknown {
  if (effort === undefined || effort === null || EFFORTS.has(effort)) return effort
  throw new UnsupportedInputFault('output_config.effort', `expected one of ${[...EFFORTS].join(', ')}`)
}
