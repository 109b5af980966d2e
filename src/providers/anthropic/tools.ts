import {isObject, object, parseJson} from '../../base/json-object.ts'
import {MAX_JSON_DEPTH} from '../../base/json-shape.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {cached} from './content.ts'
import {outputSchema} from './output-schema.ts'
import {hasStrictTools} from './thinking.ts'

export interface Tools {
  readonly tools: readonly Json[]
  readonly tool_choice: Json | null
  /** True when the model must call a tool. */
  readonly is_forced: boolean
}

/** `tools`, `tool_choice` and `parallel_tool_calls` in Anthropic's words. */
export function toolsOf(request: Json, context: TranslationContext): Tools {
  const definitions = request.tools ?? []
  if (!Array.isArray(definitions)) throw new UnsupportedInputFault('tools', 'expected an array of tools')
  const tools = definitions.map((tool: unknown, index) => toolOf(tool, `tools[${index}]`, context))
  const {choice, names} = choiceOf(request.tool_choice)
  const allowed = names ? tools.filter(({name}) => names.has(name)) : tools
  const is_forced = choice?.type === 'any' || choice?.type === 'tool'
  // Anthropic takes no choice where there is nothing to choose, except that its refusal of a forced one is the true
  // answer.
  if (allowed.length === 0 && !is_forced) return {tools: allowed, tool_choice: null, is_forced}
  if (request.parallel_tool_calls !== false || choice?.type === 'none')
    return {tools: allowed, tool_choice: choice, is_forced}
  return {tools: allowed, tool_choice: {...(choice ?? {type: 'auto'}), disable_parallel_tool_use: true}, is_forced}
}

/** The calls an assistant's message made, as `tool_use` blocks. */
export function toolUses(message: Json, at: string): readonly Json[] {
  const calls = message.tool_calls ?? []
  if (!Array.isArray(calls)) throw new UnsupportedInputFault(`${at}.tool_calls`, 'expected an array of tool calls')
  return calls.map((call: unknown, index) => {
    const place = `${at}.tool_calls[${index}]`
    const {id, type, function: made} = object(call)
    if (type !== undefined && type !== 'function') throw new UnsupportedInputFault(`${place}.type`, 'expected function')
    if (typeof id !== 'string' || id === '')
      throw new UnsupportedInputFault(`${place}.id`, 'expected the id of the call')
    const {name, arguments: given} = object(made)
    if (typeof name !== 'string')
      throw new UnsupportedInputFault(`${place}.function.name`, 'expected the name of a tool')
    return cached(
      {type: 'tool_use', id: toolId(id), name, input: argumentsIn(given, `${place}.function.arguments`)},
      object(call),
    )
  })
}

/**
 * An id as Anthropic takes it (letters, digits, `_` and `-`). Those of some other providers have more; the same id
 * gives the same.
 */
export function toolId(id: string): string {
  return id.replace(/[^\w-]/g, character => `_${character.charCodeAt(0).toString(16)}`)
}

function toolOf(tool: unknown, at: string, context: TranslationContext): Json {
  if (!isObject(tool) || typeof tool.type !== 'string')
    throw new UnsupportedInputFault(at, 'expected an object with a type')
  if (tool.type === 'function') return functionTool(tool, at, context)
  if (tool.type === 'custom' && isObject(tool.custom))
    throw new UnsupportedInputFault(`${at}.type`, 'this provider has no free-form tools')
  const named = Object.hasOwn(tool, tool.type) ? tool[tool.type] : undefined
  // {type: 'web_search', web_search: {name: 'web_search_20250305', ...}}: one of Anthropic's own, its version where the
  // name is (reference).
  if (isObject(named) && typeof named.name === 'string') {
    const {name, ...options} = named
    return cached({...options, type: name, name: tool.type}, tool)
  }
  if (typeof tool.name === 'string' || tool.type === 'mcp_toolset') return tool
  throw new UnsupportedInputFault(`${at}.type`, 'expected function, or a tool of the provider with its name')
}

function functionTool(tool: Json, at: string, context: TranslationContext): Json {
  const {name, description, parameters, strict, cache_control} = object(tool.function)
  if (typeof name !== 'string') throw new UnsupportedInputFault(`${at}.function.name`, 'expected the name of a tool')
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    throw new UnsupportedInputFault(`${at}.function.parameters`, 'expected a JSON schema')
  }
  const input_schema = {type: 'object', ...(parameters ?? {properties: {}})}
  const is_strict = strict === true && hasStrictTools(context.model)
  return {
    name,
    ...(typeof description === 'string' ? {description} : {}),
    input_schema: is_strict ? outputSchema(input_schema, `${at}.function.parameters`, context.report) : input_schema,
    ...(is_strict ? {strict} : {}),
    ...cached({}, tool.cache_control ? tool : {cache_control}),
  }
}

function choiceOf(tool_choice: unknown): {readonly choice: Json | null; readonly names?: ReadonlySet<unknown>} {
  if (tool_choice === undefined || tool_choice === null) return {choice: null}
  if (tool_choice === 'auto' || tool_choice === 'none') return {choice: {type: tool_choice}}
  if (tool_choice === 'required' || tool_choice === 'any') return {choice: {type: 'any'}}
  const {type, function: named, allowed_tools} = object(tool_choice)
  const {name} = object(named)
  if (type === 'function' && typeof name === 'string') return {choice: {type: 'tool', name}}
  const {mode, tools} = object(allowed_tools)
  if (type !== 'allowed_tools' || !Array.isArray(tools)) {
    throw new UnsupportedInputFault('tool_choice', 'expected none, auto, required, or an object that names a function')
  }
  const names = new Set(tools.map(tool => object(object(tool).function).name ?? object(tool).name))
  return {choice: {type: mode === 'required' ? 'any' : 'auto'}, names}
}

function argumentsIn(given: unknown, at: string): Json {
  if (given === undefined || given === null || given === '') return {}
  if (typeof given === 'string') {
    try {
      const input: unknown = parseJson(given)
      if (isObject(input)) return input
    } catch {
      // Reported below, with the name of its field.
    }
  }
  throw new UnsupportedInputFault(at, `expected a JSON object in a string, nested at most ${MAX_JSON_DEPTH} deep`)
}
