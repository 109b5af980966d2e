import {object} from '../../../base/json-object.ts'
import type {Json} from '../../../providers/translation.ts'
import {text} from '../events.ts'

/**
 * Which answer an event is about: `response`, with its id; `heard`, what is written down of a client's words; else an
 * item, or nothing.
 */
export interface EventPlace {
  readonly kind: 'response' | 'heard' | 'other'
  /** Null where it is about no answer by itself. */
  readonly answer: string | null
  readonly item: string | null
  /** Nothing of the answer comes behind it. */
  readonly is_last: boolean
  /** The provider repeats what its client sent: no words of the model's. */
  readonly is_echo: boolean
}

const HEARD = 'conversation.item.input_audio_transcription.'

export function placeOf(type: string, event: Json): EventPlace {
  const item = object(event.item)
  const item_id = text(event.item_id) ?? text(item.id)
  if (type.startsWith(HEARD)) {
    const is_last = type === `${HEARD}completed` || type === `${HEARD}failed`
    return {
      kind: 'heard',
      answer: `heard ${item_id} ${String(event.content_index ?? 0)}`,
      item: item_id,
      is_last,
      is_echo: false,
    }
  }
  const response = text(event.response_id) ?? (type.startsWith('response.') ? text(object(event.response).id) : null)
  if (response !== null)
    return {
      kind: 'response',
      answer: `response ${response}`,
      item: item_id,
      is_last: type === 'response.done',
      is_echo: false,
    }
  return {kind: 'other', answer: null, item: item_id, is_last: true, is_echo: isEcho(type, item)}
}

/** Sessions, and items that are not the model's. */
function isEcho(type: string, item: Json): boolean {
  if (/^(?:transcription_)?session\./.test(type)) return true
  return (
    type.startsWith('conversation.item.') &&
    (item.role === 'user' || item.role === 'system' || item.type === 'function_call_output')
  )
}
