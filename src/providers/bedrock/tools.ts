import {isObject, parsed} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {cachePoint, contentBlocks, type Naming} from './content.ts'

/** `toolConfig`; undefined when no tools are to be offered. `has_calls`: the conversation holds calls or results. */
export function toolConfig(request: Json, has_calls: boolean): Json | undefined {
  const {tools, tool_choice} = request
  if (tools === undefined || tools === null) return undefined
  if (!Array.isArray(tools)) throw new UnsupportedInputFault('tools', 'expected an array')
  if (tools.length === 0) return undefined
  if (tool_choice === 'none') {
    // Converse has no word for "none", and wants the tools of a conversation that holds calls.
    if (!has_calls) return undefined
    throw new UnsupportedInputFault(
      'tool_choice',
      'Amazon Bedrock cannot forbid tools in a conversation that holds tool calls',
    )
  }
  const choice = toolChoice(tool_choice)
  return {
    tools: tools.flatMap((tool: unknown, at) => toolBlocks(tool, `tools[${at}]`)),
    ...(choice ? {toolChoice: choice} : {}),
  }
}

function toolBlocks(tool: unknown, field: string): Json[] {
  if (!isObject(tool) || tool.type !== 'function' || !isObject(tool.function)) {
    throw new UnsupportedInputFault(field, 'Amazon Bedrock has tools of type "function" alone')
  }
  const {name, description, parameters} = tool.function
  if (typeof name !== 'string') throw new UnsupportedInputFault(`${field}.function.name`, 'expected a string')
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    throw new UnsupportedInputFault(`${field}.function.parameters`, 'expected a JSON schema')
  }
  const spec = {
    name,
    ...(typeof description === 'string' && description !== '' ? {description} : {}),
    inputSchema: {json: parameters ?? {type: 'object', properties: {}}},
  }
  const marks = cachePoint(tool)
  return [{toolSpec: spec}, ...(marks.length > 0 ? marks : cachePoint(tool.function))]
}

function toolChoice(tool_choice: unknown): Json | undefined {
  if (tool_choice === undefined || tool_choice === null) return undefined
  if (tool_choice === 'auto') return {auto: {}}
  if (tool_choice === 'required') return {any: {}}
  if (
    isObject(tool_choice) &&
    tool_choice.type === 'function' &&
    isObject(tool_choice.function) &&
    typeof tool_choice.function.name === 'string'
  ) {
    return {tool: {name: tool_choice.function.name}}
  }
  throw new UnsupportedInputFault('tool_choice', 'expected "auto", "none", "required" or a function by name')
}

/** An assistant's `tool_calls` as blocks. Arguments that were never written are an empty object. */
export function toolUses(calls: unknown, field: string): Json[] {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) throw new UnsupportedInputFault(field, 'expected an array')
  return calls.map((call: unknown, at) => {
    const place = `${field}[${at}]`
    if (!isObject(call) || !isObject(call.function))
      throw new UnsupportedInputFault(place, 'expected a call of a function')
    const {id} = call
    const {name, arguments: written} = call.function
    if (typeof id !== 'string') throw new UnsupportedInputFault(`${place}.id`, 'expected a string')
    if (typeof name !== 'string') throw new UnsupportedInputFault(`${place}.function.name`, 'expected a string')
    return {toolUse: {toolUseId: id, name, input: input(written, `${place}.function.arguments`)}}
  })
}

/** A message of role `tool` as a block of a user's turn, with the cache points that its parts ask for after it. */
export function toolResult(message: Json, field: string, naming: Naming): Json[] {
  const {tool_call_id: id, content} = message
  if (typeof id !== 'string') throw new UnsupportedInputFault(`${field}.tool_call_id`, 'expected a string')
  const blocks = contentBlocks(content, `${field}.content`, naming)
  const parts = blocks.filter(block => !('cachePoint' in block))
  const marks = blocks.filter(block => 'cachePoint' in block)
  const wrong = parts.find(block => 'reasoningContent' in block || 'audio' in block)
  if (wrong)
    throw new UnsupportedInputFault(`${field}.content`, 'a tool result holds text, images, documents and videos alone')
  return [{toolResult: {toolUseId: id, content: parts}}, ...marks.slice(0, 1)]
}

function input(written: unknown, field: string): Json {
  if (written === undefined || written === null || written === '') return {}
  const value = typeof written === 'string' ? parsed(written) : undefined
  if (!isObject(value)) throw new UnsupportedInputFault(field, 'expected a JSON object, as a string')
  return value
}
