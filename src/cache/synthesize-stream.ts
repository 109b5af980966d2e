import {isObject} from '../base/json-object.ts'
import {parseExactly} from './exact-json.ts'
import {MAX_MEMBERS, type StreamedEndpoint} from './rules.ts'
import {synthesizeChat, synthesizeText} from './synthesize-choices.ts'
import {synthesizeMessage} from './synthesize-messages.ts'
import {synthesizeResponse} from './synthesize-responses.ts'

export interface ReplayOptions {
  /**
   * The client asked for usage in an event of its own (`stream_options.include_usage`); else the last chunk of the
   * answer carries it.
   */
  readonly include_usage?: boolean
}

/**
 * A stored answer as the server-sent events that `endpoint` would have streamed, whole; what
 * `assemble` makes of them is the same answer again. Null when the answer is not of the endpoint's shape: then it is no
 * hit.
 */
export function synthesizeStream(
  endpoint: StreamedEndpoint,
  answer: Buffer,
  {include_usage = false}: ReplayOptions = {},
): Buffer | null {
  const json = parseExactly(answer.toString('utf8'))
  if (!isObject(json) || Object.keys(json).length > MAX_MEMBERS) return null
  switch (endpoint) {
    case 'chatComplete':
      return plain(synthesizeChat(json, include_usage))
    case 'complete':
      return plain(synthesizeText(json, include_usage))
    case 'messages':
      return named(synthesizeMessage(json))
    case 'createModelResponse':
      return named(synthesizeResponse(json))
  }
}

function plain(chunks: readonly object[] | null): Buffer | null {
  return chunks && Buffer.from(`${chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
}

function named(events: readonly {readonly type: string}[] | null): Buffer | null {
  return events && Buffer.from(events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}
