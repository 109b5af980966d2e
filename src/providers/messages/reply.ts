import {parsedObject} from '../../base/json-object.ts'
import {InvalidResponseFault, type Json, type TranslationContext} from '../translation.ts'
import {finishOf} from './finish.ts'
import {type ChatFollower, followWhole, type Opening} from './follower.ts'
import {messageUsage} from './usage.ts'

/** Stop reasons of Anthropic's that OpenAI has no word for: kept where the provider's own ones are shown. */
const OWN: ReadonlySet<string> = new Set(['stop_sequence', 'pause_turn', 'refusal', 'model_context_window_exceeded'])

/**
 * A chat completion as a message object (docs.anthropic.com, Messages). Throws `InvalidResponseFault` for what is none.
 */
export function toMessage(completion: Json, context: TranslationContext): Json {
  const {follower, steps} = followWhole(completion, context)
  const is_cut = finishOf(follower.finish_reason) === 'length'
  const content: Json[] = []
  let block: Json = {}
  let kind: Opening['kind'] = 'text'
  let text = ''
  for (const step of steps) {
    if (step.does === 'open') {
      block = openBlock(step.block)
      kind = step.block.kind
      text = ''
    } else if (step.does === 'more') text += step.text
    else if (kind === 'thinking') content.push({...block, thinking: text, signature: step.signature})
    else if (kind === 'redacted_thinking' || kind === 'picture') content.push(block)
    else if (kind === 'call') content.push({...block, input: inputOf(text, is_cut, context)})
    else content.push({...block, text})
  }
  return {
    ...messageHead(follower, context),
    content,
    stop_reason: stopReason(follower),
    stop_sequence: null,
    usage: messageUsage(follower.usage),
  }
}

/** The members that a whole message and `message_start` share. */
export function messageHead({id, model}: ChatFollower, {provider}: TranslationContext): Json {
  return {id: id.startsWith('msg_') ? id : `msg_${id}`, type: 'message', role: 'assistant', model, provider}
}

/** Anthropic's answers have no pictures: a text names what is left out. */
export const NO_PICTURES = '[The model drew a picture, which this API cannot hold.]'

/** A content block as it begins. */
export function openBlock(block: Opening): Json {
  if (block.kind === 'thinking') return {type: 'thinking', thinking: '', signature: ''}
  if (block.kind === 'redacted_thinking') return {type: 'redacted_thinking', data: block.data}
  if (block.kind === 'picture') return {type: 'text', text: NO_PICTURES}
  // A call's extras (thought signatures) go along, for clients send content back as they got it.
  if (block.kind === 'call') return {type: 'tool_use', id: block.id, name: block.name, input: {}, ...block.extra}
  return {type: 'text', text: ''}
}

/** Why the answer stopped (data-plane digest 17, reverse map). A filter ends the turn; a refusal is marked as one. */
export function stopReason({finish_reason, has_calls, has_refusal}: ChatFollower): string {
  if (OWN.has(finish_reason)) return finish_reason
  const finish = finishOf(finish_reason)
  if (finish === 'length') return 'max_tokens'
  // Some servers end with `stop` although they call; a client that goes by the reason would never run the tool.
  if (finish === 'tool_calls' || (finish === 'stop' && has_calls)) return 'tool_use'
  return has_refusal ? 'refusal' : 'end_turn'
}

/** A call's arguments as an object. None are `{}`, as are those that the token limit cut. */
function inputOf(text: string, is_cut: boolean, {provider}: TranslationContext): Json {
  if (text.trim() === '') return {}
  const input = parsedObject(text)
  if (input) return input
  if (is_cut) return {}
  throw new InvalidResponseFault(`${provider} called a tool with arguments that are no JSON object`)
}
