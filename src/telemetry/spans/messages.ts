import {isObject, list, object} from '../../base/json-object.ts'
import {finishReason} from './body-facts.ts'

type Json = Readonly<Record<string, unknown>>

interface Message {
  readonly role: string
  readonly parts: readonly Json[]
  readonly finish_reason?: string
}

/** The content of a call in the message schema of the conventions: `{role, parts, finish_reason}`. */
export interface CallContent {
  readonly input?: readonly Message[]
  readonly output?: readonly Message[]
  readonly system?: readonly Json[]
  readonly tools?: readonly unknown[]
}

/** `with_reasons`: messages of an answer say why they ended, which the latest generation says elsewhere alone. */
export function contentOf(request: Json | undefined, answer: Json | undefined, with_reasons: boolean): CallContent {
  const input = request ? inputOf(request) : []
  const output = answer ? outputOf(answer, with_reasons) : []
  const system = request ? partsOf(request.system ?? request.instructions) : []
  const tools = request ? list(request.tools) : []
  return {
    ...(input.length > 0 && {input}),
    ...(output.length > 0 && {output}),
    ...(system.length > 0 && {system}),
    ...(tools.length > 0 && {tools}),
  }
}

function inputOf(request: Json): readonly Message[] {
  if (Array.isArray(request.messages)) return request.messages.map(message => messageOf(object(message)))
  const given = request.input ?? request.prompt
  if (typeof given === 'string') return [{role: 'user', parts: [textPart(given)]}]
  return list(given).map(item =>
    typeof item === 'string' ? {role: 'user', parts: [textPart(item)]} : itemOf(object(item)),
  )
}

function outputOf(answer: Json, with_reasons: boolean): readonly Message[] {
  const reason = (value: unknown) =>
    with_reasons && typeof value === 'string' ? {finish_reason: finishReason(value)} : {}
  if (Array.isArray(answer.choices))
    return answer.choices.map(each => {
      const choice = object(each)
      const message =
        typeof choice.text === 'string'
          ? {role: 'assistant', parts: [textPart(choice.text)]}
          : messageOf({role: 'assistant', ...object(choice.message)})
      return {...message, ...reason(choice.finish_reason)}
    })
  if (Array.isArray(answer.content))
    return [{role: 'assistant', parts: partsOf(answer.content), ...reason(answer.stop_reason)}]
  return list(answer.output).map(item => itemOf({role: 'assistant', ...object(item)}))
}

/** A message of the chat and messages dialects. */
function messageOf(message: Json): Message {
  const role = typeof message.role === 'string' ? message.role : 'user'
  if (role === 'tool') return {role, parts: [toolResponse(message.tool_call_id, message.content)]}
  const reasoning = typeof message.reasoning_content === 'string' ? [reasoningPart(message.reasoning_content)] : []
  const calls = list(message.tool_calls).map(each => {
    const call = object(each)
    const named = object(call.function)
    return toolCall(call.id, named.name, named.arguments)
  })
  return {role, parts: [...reasoning, ...partsOf(message.content), ...calls]}
}

/** An item of the Responses dialect. */
function itemOf(item: Json): Message {
  const role = typeof item.role === 'string' ? item.role : 'user'
  if (item.type === 'function_call')
    return {role: 'assistant', parts: [toolCall(item.call_id, item.name, item.arguments)]}
  if (item.type === 'function_call_output') return {role: 'tool', parts: [toolResponse(item.call_id, item.output)]}
  if (item.type === 'reasoning') return {role: 'assistant', parts: partsOf(item.summary).map(asReasoning)}
  return {role, parts: partsOf(item.content)}
}

function partsOf(content: unknown): readonly Json[] {
  if (typeof content === 'string') return [textPart(content)]
  return list(content).flatMap(part => {
    const found = isObject(part) ? partOf(part) : undefined
    return found ? [found] : []
  })
}

function partOf(part: Json): Json | undefined {
  const {type} = part
  if (typeof part.text === 'string') return textPart(part.text)
  if (type === 'thinking' && typeof part.thinking === 'string') return reasoningPart(part.thinking)
  if (type === 'tool_use') return toolCall(part.id, part.name, part.input)
  if (type === 'tool_result') return toolResponse(part.tool_use_id, part.content)
  const address = addressOf(part)
  if (address !== undefined)
    return address.startsWith('data:')
      ? {type: 'blob', modality: 'image', content: address}
      : {type: 'uri', modality: 'image', uri: address}
  return typeof type === 'string' ? {type} : undefined
}

function addressOf({image_url, source}: Json): string | undefined {
  if (typeof image_url === 'string') return image_url
  const url = object(image_url).url ?? object(source).url
  return typeof url === 'string' ? url : undefined
}

const textPart = (content: string): Json => ({type: 'text', content})
const reasoningPart = (content: string): Json => ({type: 'reasoning', content})
const asReasoning = (part: Json): Json => ({...part, type: 'reasoning'})
const toolCall = (id: unknown, name: unknown, given: unknown): Json => ({
  type: 'tool_call',
  id: id ?? null,
  name: name ?? null,
  arguments: given ?? null,
})
const toolResponse = (id: unknown, response: unknown): Json => ({
  type: 'tool_call_response',
  id: id ?? null,
  response: response ?? null,
})
