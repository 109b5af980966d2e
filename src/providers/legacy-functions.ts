import {isObject, list, object} from '../base/json-object.ts'
import {changed} from './as-came.ts'
import {type Json, UnsupportedInputFault} from './translation.ts'

/**
 * `functions` and `function_call` of chat, which `tools` and `tool_choice` replaced (OpenAI API reference, Create chat
 * completion, deprecated members). Providers that are translated for know tools alone.
 */

/** True where a request, or its history, has the older words. */
export function hasFunctions({functions, function_call, messages}: Json): boolean {
  const is_there = (value: unknown) => value !== undefined && value !== null
  if (is_there(functions) || is_there(function_call)) return true
  return list(messages).some(message => is_there(object(message).function_call) || object(message).role === 'function')
}

/** The same request in the words of tools. Throws `UnsupportedInputFault`. */
export function functionsToTools(request: Json): Json {
  const {functions, function_call, messages, ...rest} = request
  const described = functions === undefined || functions === null ? [] : functions
  if (!Array.isArray(described)) throw new UnsupportedInputFault('functions', 'expected an array of functions')
  const tools = described.map((each: unknown) => ({type: 'function', function: each}))
  const choice = choiceOf(function_call)
  return {
    ...rest,
    messages: Array.isArray(messages) ? historyOf(messages) : messages,
    ...(tools.length > 0 && {tools: [...list(request.tools), ...tools]}),
    ...(choice !== undefined && rest.tool_choice === undefined && {tool_choice: choice}),
  }
}

function choiceOf(function_call: unknown): unknown {
  if (function_call === undefined || function_call === null) return undefined
  if (function_call === 'auto' || function_call === 'none') return function_call
  const {name} = object(function_call)
  if (typeof name === 'string' && name !== '') return {type: 'function', function: {name}}
  throw new UnsupportedInputFault('function_call', 'expected auto, none or a function by name')
}

/** Calls get ids by their place; a result is that of the last call of its function. */
function historyOf(messages: readonly unknown[]): readonly unknown[] {
  const last_ids = new Map<unknown, string>()
  return messages.map((message, at) => {
    if (!isObject(message)) return message
    const {function_call, ...rest} = message
    if (isObject(function_call)) {
      const id = `call_f${at}`
      last_ids.set(function_call.name, id)
      return {...rest, tool_calls: [...list(rest.tool_calls), {id, type: 'function', function: function_call}]}
    }
    if (message.role !== 'function') return message
    const {name, role: _, ...result} = rest
    const id = last_ids.get(name)
    if (id === undefined)
      throw new UnsupportedInputFault(`messages[${at}].name`, 'expected a function that was called before')
    return {...result, role: 'tool', tool_call_id: id}
  })
}

/** A whole completion with its calls as clients of `functions` read them. The older words have one call. */
export function withFunctionCalls(completion: Json): Json {
  const choices = list(completion.choices).map(each => {
    const choice = object(each)
    return changed(choice, {message: inOlderWords(object(choice.message)), ...finished(choice)})
  })
  return changed(completion, {choices})
}

/** The same of a chunk: the pieces of the first call. */
export function withFunctionDeltas(chunk: Json): Json {
  if (!Array.isArray(chunk.choices)) return chunk
  const choices = chunk.choices.map(each => {
    const choice = object(each)
    return changed(choice, {delta: inOlderWords(object(choice.delta)), ...finished(choice)})
  })
  return changed(chunk, {choices})
}

/** Calls after the first stay where they are: the older words have no place for them. */
function inOlderWords(message: Json): Json {
  const calls = list(message.tool_calls).map(object)
  const first = calls.find(({index = 0}) => index === 0)
  if (!first) return message
  const {name, arguments: given} = object(first.function)
  const rest = calls.filter(call => call !== first)
  return changed(message, {
    function_call: {...(name !== undefined && {name}), arguments: given ?? ''},
    tool_calls: rest.length > 0 ? rest : undefined,
  })
}

function finished({finish_reason}: Json): Json {
  return finish_reason === 'tool_calls' ? {finish_reason: 'function_call'} : {}
}
