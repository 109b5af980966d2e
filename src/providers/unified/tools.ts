import {isObject, object, parseJson} from '../../base/json-object.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../translation.ts'
import type {ChatMessage} from './read.ts'

/** A function the model may call. */
export interface Tool {
  readonly name: string
  readonly description: string | undefined
  /** JSON Schema of its arguments; a function without one takes none. */
  readonly parameters: Json
  /** As the client says it; undefined where it is silent. */
  readonly strict: boolean | undefined
}

/** Which tools the model may or must call: `{name}` is the one it must. */
export type ToolChoice = 'auto' | 'none' | 'required' | {readonly name: string}

/** The functions a client offers. Refuses tools of other types, which run at OpenAI. */
export function toolsIn(request: Json): readonly Tool[] {
  const tools = request.tools ?? []
  if (!Array.isArray(tools)) throw new UnsupportedInputFault('tools', 'expected an array of tools')
  return tools.map((tool: unknown, at) => {
    const {type, function: described} = object(tool)
    if (type !== 'function')
      throw new UnsupportedInputFault(`tools[${at}].type`, 'the provider takes functions alone; expected function')
    const {name, description, parameters, strict} = object(described)
    if (typeof name !== 'string' || name === '')
      throw new UnsupportedInputFault(`tools[${at}].function.name`, 'expected a name')
    return {
      name,
      description: typeof description === 'string' ? description : undefined,
      parameters: isObject(parameters) ? parameters : {type: 'object', properties: {}},
      strict: typeof strict === 'boolean' ? strict : undefined,
    }
  })
}

/**
 * The client's choice of tools; undefined when it made none. Of `allowed_tools` the mode; `allowedIn` has the names.
 */
export function choiceIn(request: Json): ToolChoice | undefined {
  const choice = request.tool_choice
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (choice === 'any') return 'required'
  const {type, function: named, allowed_tools} = object(choice)
  if (type === 'function') {
    const {name} = object(named)
    if (typeof name === 'string' && name !== '') return {name}
  }
  if (type === 'allowed_tools') return object(allowed_tools).mode === 'required' ? 'required' : 'auto'
  throw new UnsupportedInputFault('tool_choice', 'expected auto, none, required or a function')
}

/**
 * The tools that the client's choice leaves, for providers that cannot name one: the named function alone, or the
 * allowed ones.
 */
export function chosenTools(request: Json): readonly Tool[] {
  const tools = toolsIn(request)
  const choice = choiceIn(request)
  const {type, allowed_tools} = object(request.tool_choice)
  const allowed = object(allowed_tools).tools
  const names =
    typeof choice === 'object'
      ? [choice.name]
      : type === 'allowed_tools' && Array.isArray(allowed)
        ? allowed.map(tool => object(object(tool).function).name)
        : null
  return names ? tools.filter(({name}) => names.includes(name)) : tools
}

/** A call of a function, its arguments as JSON text. */
export interface FunctionCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** The calls an assistant's message made. */
export function callsIn({raw, field}: ChatMessage): readonly FunctionCall[] {
  const calls = raw.tool_calls ?? []
  if (!Array.isArray(calls)) throw new UnsupportedInputFault(`${field}.tool_calls`, 'expected an array')
  return calls.map((call: unknown, at) => {
    const {id, function: called} = object(call)
    const {name, arguments: given} = object(called)
    const place = `${field}.tool_calls[${at}]`
    if (typeof id !== 'string' || id === '') throw new UnsupportedInputFault(`${place}.id`, 'expected an id')
    if (typeof name !== 'string' || name === '')
      throw new UnsupportedInputFault(`${place}.function.name`, 'expected a function')
    return {
      id,
      name,
      arguments: typeof given === 'string' && given !== '' ? given : JSON.stringify(isObject(given) ? given : {}),
    }
  })
}

/** The call that a tool's message answers. */
export function answeredIn({raw, field}: ChatMessage): string {
  const id = raw.tool_call_id
  if (typeof id !== 'string' || id === '')
    throw new UnsupportedInputFault(`${field}.tool_call_id`, 'expected the id of the call')
  return id
}

/** The arguments of a call as an object, for providers that take no text. */
export function argumentsIn(call: FunctionCall, field: string): Json {
  let parsed: unknown
  try {
    parsed = parseJson(call.arguments)
  } catch {
    parsed = null
  }
  if (!isObject(parsed)) throw new UnsupportedInputFault(`${field}.function.arguments`, 'expected a JSON object')
  return parsed
}

/**
 * A call as a provider says it, flat or under `function`, its arguments text or an object; `id` where it has none.
 * Throws `InvalidResponseFault`.
 */
export function saidCall(value: unknown, id: string): FunctionCall {
  const call = object(value)
  const inner = isObject(call.function) ? call.function : call
  if (typeof inner.name !== 'string' || inner.name === '') throw new InvalidResponseFault('a tool call has no name')
  return {
    id: typeof call.id === 'string' && call.id !== '' && call.id !== 'null' ? call.id : id,
    name: inner.name,
    arguments: argumentText(inner.arguments),
  }
}

/**
 * Arguments as JSON text: none at all, or `null` for them, are an empty object, so that every client can parse them.
 */
export function argumentText(value: unknown): string {
  if (typeof value === 'string') return value === '' || value.trim() === 'null' ? '{}' : value
  return value === null || value === undefined ? '{}' : JSON.stringify(value)
}

/** A call in OpenAI's words. */
export function callOut({id, name, arguments: given}: FunctionCall): Json {
  return {id, type: 'function', function: {name, arguments: given}}
}
