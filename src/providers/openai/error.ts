import type {EndpointName} from '../../schema/endpoints.ts'

/** A failure, as the client reads it. */
export interface ClientFault {
  readonly type: string
  readonly message: string
}

/**
 * The event that tells a client, inside its stream, that the answer breaks off here. No `[DONE]` follows, so that no
 * client takes the received part for the whole. `is_mid_event`: the bytes so far end inside an event, which is closed
 * first.
 */
export function faultEvent(endpoint: EndpointName, {type, message}: ClientFault, is_mid_event: boolean): Buffer {
  return Buffer.from((is_mid_event ? '\n\n' : '') + eventOf(endpoint, type, message))
}

function eventOf(endpoint: EndpointName, type: string, message: string): string {
  const error = {message, type, param: null, code: null}
  if (endpoint === 'messages')
    return `event: error\ndata: ${JSON.stringify({type: 'error', error: {type, message}})}\n\n`
  // The Responses API tells an error flat; clients of the other APIs look for `error`. Both are there.
  if (endpoint === 'createModelResponse') {
    return `event: error\ndata: ${JSON.stringify({type: 'error', code: type, message, param: null, error})}\n\n`
  }
  return `data: ${JSON.stringify({error})}\n\n`
}
