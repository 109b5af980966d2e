import {createHash} from 'node:crypto'
import {object} from '../../base/json-object.ts'
import type {Context, Json, Translated} from '../translation.ts'
import {
  imageIn,
  isThought,
  type Message,
  messagesIn,
  mostTokens,
  type Part,
  partsIn,
  textIn,
  thoughtsIn,
  unsupportedPart,
} from '../unified/read.ts'
import {answeredIn, type Choice, callOut, callsIn, choiceIn, chosenTools, toolsIn} from '../unified/tools.ts'
import {fillRequest} from './complete.ts'

/** OpenAI's words that Mistral refuses as unknown (422, "extra inputs are not permitted"); all others go as they came. */
const UNKNOWN = new Set(
  `logit_bias logprobs top_logprobs user store service_tier stream_options functions function_call modalities audio verbosity
  web_search_options safety_identifier max_completion_tokens seed safe_mode`.split(/\s+/),
)

/** An OpenAI chat request in Mistral's words (reference: Mistral). Source: docs.mistral.ai, API, chat completion. */
export function chatRequest(asked: Json, context: Context): Translated {
  if (context.options.mistral_fim_completion === 'true') return fillRequest({...asked, prompt: asked.prompt ?? lastText(asked)}, context)
  const choice = choiceIn(asked)
  const tools = typeof choice === 'object' ? toolsIn(asked) : chosenTools(asked)
  const kept = Object.fromEntries(Object.entries(asked).filter(([name, value]) => !UNKNOWN.has(name) && value !== null))
  const body = {
    ...kept,
    model: context.model,
    messages: messagesIn(asked).map(message),
    max_tokens: mostTokens(asked),
    random_seed: asked.random_seed ?? asked.seed ?? undefined,
    safe_prompt: asked.safe_prompt ?? asked.safe_mode ?? undefined,
    tools: tools.length > 0 ? tools.map(tool => ({type: 'function', function: tool})) : undefined,
    tool_choice: tools.length > 0 ? chosen(choice, asked) : undefined,
    stream: context.is_stream,
  }
  return {path: '/chat/completions', body}
}

/** What the last message says: the prompt of a chat that is to be filled in (reference: the header `mistral-fim-completion`). */
function lastText(asked: Json): string {
  const last = messagesIn(asked).at(-1)
  return last ? textIn(last.said.content, `${last.field}.content`) : ''
}

function chosen(choice: Choice | undefined, asked: Json): unknown {
  if (typeof choice === 'object') return asked.tool_choice
  return choice === 'required' ? 'any' : choice
}

function message(asked: Message): Json {
  const {role, said, field} = asked
  const content = contentOut(said.content, `${field}.content`)
  const name = typeof said.name === 'string' ? said.name : undefined
  if (role === 'tool') return {role, content, tool_call_id: callId(answeredIn(asked)), name}
  if (role !== 'assistant') return {role, content}
  const thoughts = thoughtsIn(asked).map(text => ({type: 'thinking', thinking: [{type: 'text', text}]}))
  const calls = callsIn(asked).map(call => callOut({...call, id: callId(call.id)}))
  const spoken = typeof content === 'string' ? (content === '' ? [] : [{type: 'text', text: content}]) : content
  return {
    role,
    content: thoughts.length > 0 ? [...thoughts, ...spoken] : content,
    ...(calls.length > 0 ? {tool_calls: calls} : {}),
    ...(said.prefix === true ? {prefix: true} : {}),
  }
}

function contentOut(content: unknown, field: string): string | readonly Json[] {
  const parts = partsIn(content, field).filter(part => !isThought(part))
  if (parts.length === 0) return ''
  if (parts.length === 1 && parts[0]!.type === 'text') return parts[0]!.said.text as string
  return parts.map(partOut)
}

/** Source: docs.mistral.ai, content chunks. */
function partOut(part: Part): Json {
  const {type, said} = part
  switch (type) {
    case 'text':
      return {type, text: said.text}
    case 'image_url':
      return {type, image_url: imageIn(part)}
    case 'input_audio': {
      const {data} = object(said.input_audio)
      return {type, input_audio: data ?? said.input_audio}
    }
    case 'file': {
      const {file_id, file_data, filename} = object(said.file)
      if (typeof file_id === 'string') return {type, file_id}
      if (typeof file_data === 'string') return {type: 'document_url', document_url: file_data, document_name: filename}
      throw unsupportedPart(part)
    }
    case 'document_url':
    case 'reference':
      return said
    default:
      throw unsupportedPart(part)
  }
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Mistral takes ids of nine letters and digits alone (error 3280); one from elsewhere becomes such, the same one each time. */
export function callId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id
  return [...createHash('sha256').update(id).digest().subarray(0, 9)].map(byte => ALPHABET[byte % ALPHABET.length]).join('')
}
