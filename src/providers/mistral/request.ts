import {createHash} from 'node:crypto'
import {object} from '../../base/json-object.ts'
import type {Json, Translated, TranslationContext} from '../translation.ts'
import {
  type ChatMessage,
  imageIn,
  isThought,
  messagesIn,
  mostTokens,
  type Part,
  partsIn,
  textIn,
  thoughtsIn,
  unsupportedPart,
} from '../unified/read.ts'
import {answeredIn, callOut, callsIn, choiceIn, chosenTools, type ToolChoice, toolsIn} from '../unified/tools.ts'
import {fillRequest} from './complete.ts'

/**
 * OpenAI's words that Mistral refuses as unknown (422, "extra inputs are not permitted"); all others go as they came.
 */
const UNKNOWN = new Set(
  `logit_bias logprobs top_logprobs user store service_tier stream_options functions function_call modalities audio verbosity
  web_search_options safety_identifier max_completion_tokens seed safe_mode`.split(/\s+/),
)

/** An OpenAI chat request in Mistral's words. Source: docs.mistral.ai, API, chat completion. */
export function chatRequest(request: Json, context: TranslationContext): Translated {
  if (context.options.mistral_fim_completion === 'true')
    return fillRequest({...request, prompt: request.prompt ?? lastText(request)}, context)
  const choice = choiceIn(request)
  const tools = typeof choice === 'object' ? toolsIn(request) : chosenTools(request)
  const kept = Object.fromEntries(
    Object.entries(request).filter(([name, value]) => !UNKNOWN.has(name) && value !== null),
  )
  const body = {
    ...kept,
    model: context.model,
    messages: messagesIn(request).map(message),
    max_tokens: mostTokens(request),
    random_seed: request.random_seed ?? request.seed ?? undefined,
    safe_prompt: request.safe_prompt ?? request.safe_mode ?? undefined,
    tools: tools.length > 0 ? tools.map(tool => ({type: 'function', function: tool})) : undefined,
    tool_choice: tools.length > 0 ? chosen(choice, request) : undefined,
    ...(context.is_stream ? {stream: true} : {}),
  }
  return {path: '/chat/completions', body}
}

/** The text of the last message: the prompt of a chat that is to be filled in (docs/providers.md, Mistral AI). */
function lastText(request: Json): string {
  const last = messagesIn(request).at(-1)
  return last ? textIn(last.raw.content, `${last.field}.content`) : ''
}

function chosen(choice: ToolChoice | undefined, request: Json): unknown {
  if (typeof choice === 'object') return request.tool_choice
  return choice === 'required' ? 'any' : choice
}

function message(source: ChatMessage): Json {
  const {role, raw, field} = source
  const content = contentOut(raw.content, `${field}.content`)
  const name = typeof raw.name === 'string' ? raw.name : undefined
  if (role === 'tool') return {role, content, tool_call_id: callId(answeredIn(source)), name}
  if (role !== 'assistant') return {role, content}
  const thoughts = thoughtsIn(source).map(text => ({type: 'thinking', thinking: [{type: 'text', text}]}))
  const calls = callsIn(source).map(call => callOut({...call, id: callId(call.id)}))
  const spoken = typeof content === 'string' ? (content === '' ? [] : [{type: 'text', text: content}]) : content
  return {
    role,
    content: thoughts.length > 0 ? [...thoughts, ...spoken] : content,
    ...(calls.length > 0 ? {tool_calls: calls} : {}),
    ...(raw.prefix === true ? {prefix: true} : {}),
  }
}

function contentOut(content: unknown, field: string): string | readonly Json[] {
  const parts = partsIn(content, field).filter(part => !isThought(part))
  if (parts.length === 0) return ''
  if (parts.length === 1 && parts[0]!.type === 'text') return parts[0]!.raw.text as string
  return parts.map(partOut)
}

/** Source: docs.mistral.ai, content chunks. */
function partOut(part: Part): Json {
  const {type, raw} = part
  switch (type) {
    case 'text':
      return {type, text: raw.text}
    case 'image_url':
      return {type, image_url: imageIn(part)}
    case 'input_audio': {
      const {data} = object(raw.input_audio)
      return {type, input_audio: data ?? raw.input_audio}
    }
    case 'file': {
      const {file_id, file_data, filename} = object(raw.file)
      if (typeof file_id === 'string') return {type, file_id}
      if (typeof file_data === 'string') return {type: 'document_url', document_url: file_data, document_name: filename}
      throw unsupportedPart(part)
    }
    case 'document_url':
    case 'reference':
      return raw
    default:
      throw unsupportedPart(part)
  }
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Mistral takes ids of nine letters and digits alone (error 3280); one from elsewhere becomes such, the same one each
 * time.
 */
export function callId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id
  return [...createHash('sha256').update(id).digest().subarray(0, 9)]
    .map(byte => ALPHABET[byte % ALPHABET.length])
    .join('')
}
