import type {EndpointName} from '../../schema/endpoints.ts'
import {streamError} from '../messages/error.ts'

const OF_GUARDRAILS = 'hooks_failed'

/** A failure, as the client reads it. */
export interface ClientFault {
  readonly type: string
  readonly message: string
}

/** The place at which a stream breaks off. */
interface BrokenOff {
  /** The bytes so far end inside an event, which is closed first. */
  readonly is_mid_event: boolean
  /** The number of the last event of a response; null where its events have none. */
  readonly sequence_number?: number | null
}

/**
 * The event that tells a client, inside its stream, that the answer breaks off here. No `[DONE]` follows, so that no
 * client takes the received part for the whole.
 */
export function faultEvent(
  endpoint: EndpointName,
  fault: ClientFault,
  {is_mid_event, sequence_number}: BrokenOff,
): Buffer {
  return Buffer.from((is_mid_event ? '\n\n' : '') + eventOf(endpoint, fault, sequence_number ?? null))
}

function eventOf(endpoint: EndpointName, {type, message}: ClientFault, sequence_number: number | null): string {
  const error = {message, type, param: null, code: null}
  if (endpoint === 'messages') {
    // Clients know Anthropic's types alone, but for the one by which those of guardrails go.
    const event = type === OF_GUARDRAILS ? {type: 'error', error: {type, message}} : streamError(error)
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`
  }
  // The Responses API tells an error flat; clients of the other APIs look for `error`. Both are there.
  if (endpoint === 'createModelResponse') {
    // Every event of a numbered stream has the next number: strict clients read none without it.
    const numbered = sequence_number === null ? {} : {sequence_number: sequence_number + 1}
    const event = {type: 'error', ...numbered, code: type, message, param: null, error}
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`
  }
  return `data: ${JSON.stringify({error})}\n\n`
}
