import {object} from '../../../base/json-object.ts'
import type {Json} from '../../../providers/translation.ts'

/**
 * The vendor's own words for an answer that was cut for what it says (OpenAI, Realtime API, `response.status_details`).
 */
const CUT = {status: 'incomplete', status_details: {type: 'incomplete', reason: 'content_filter'}} as const
const DONE_KEYS = ['object', 'id', 'conversation_id', 'output_modalities', 'modalities', 'max_output_tokens'] as const

/**
 * An event of an answer that does not leave, without a word of it: what the records need of it, and the client to know
 * that it is over.
 */
export function wordless(event: Json): Json {
  const {type, event_id = null, item_id, content_index, usage} = event
  const response = object(event.response)
  switch (type) {
    case 'response.created':
      return {type, event_id, response: {id: response.id ?? null, status: 'in_progress', output: []}}
    case 'response.done': {
      const facts = Object.fromEntries(DONE_KEYS.filter(key => key in response).map(key => [key, response[key]]))
      return {type, event_id, response: {...facts, ...CUT, output: [], usage: numbersOf(response.usage)}}
    }
    case 'conversation.item.input_audio_transcription.completed':
      return {type, event_id, item_id, content_index, transcript: '', usage: numbersOf(usage)}
    case 'error':
      return {
        type,
        event_id,
        error: {
          type: 'server_error',
          message: 'The provider reported an error.',
          event_id: object(event.error).event_id,
        },
      }
    default:
      return {type}
  }
}

/** Usage is numbers, and the names of its own type. */
function numbersOf(value: unknown): unknown {
  if (typeof value === 'number' || value === 'tokens' || value === 'duration') return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, numbersOf(each)]))
}
