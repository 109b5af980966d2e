import {topLevel} from '../../base/json.ts'
import {object, parsed, parseJson} from '../../base/json-object.ts'
import type {Json} from '../../providers/translation.ts'

/** The type of an event; null for a message that is no event: not JSON, or without a type. */
export function typeOf(payload: Buffer): string | null {
  try {
    const span = topLevel(payload, NO_KEYS).get('type')
    if (!span) return null
    const type: unknown = parseJson(payload.toString('utf8', span.start, span.end))
    return typeof type === 'string' ? type : null
  } catch {
    return null
  }
}

const NO_KEYS: ReadonlySet<string> = new Set()

/** An event as an object; an empty one where it is none. Nothing in it is trusted. */
export function eventIn(payload: Buffer): Json {
  return object(parsed(payload.toString('utf8')))
}

export function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/**
 * Events of a client that no answer of the model can follow by themselves (OpenAI, Realtime API, client events). Every
 * other one may lead to a turn: it asks for a response, or it is sound that the provider listens to and answers when it
 * will (server VAD).
 */
const QUIET: ReadonlySet<string> = new Set([
  'session.update',
  'transcription_session.update',
  'conversation.item.create',
  'conversation.item.delete',
  'conversation.item.retrieve',
  'conversation.item.truncate',
  'input_audio_buffer.clear',
  'output_audio_buffer.clear',
  'response.cancel',
])

/** `quiet`, `heard` (it may lead to a turn), or `asked` (it requests one). What we cannot read may lead to one. */
export function leadOf(type: string | null): 'quiet' | 'heard' | 'asked' {
  if (type === 'response.create') return 'asked'
  return type !== null && QUIET.has(type) ? 'quiet' : 'heard'
}

/** The HTTP status that says best what an error inside a session is; for the log, where people look for statuses. */
export function statusOf(error: Json): number {
  const type = text(error.type) ?? ''
  const code = text(error.code) ?? ''
  if (type === 'invalid_request_error') return 400
  if (type === 'authentication_error' || code === 'invalid_api_key') return 401
  if (type.includes('rate_limit') || code.includes('rate_limit') || code === 'insufficient_quota') return 429
  return 500
}

/** The model of the session in an event: `session.created`, `session.updated`, `response.done`. */
export function modelOf(event: Json): string | null {
  return text(object(event.session).model) ?? text(object(event.response).model)
}
